/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single blocks of PyTorch's allocator over time, for a picture of them. Its axis are the moments at which a block came or went: they are
 * cut into equal columns, and of each column the moment with least and the one with most in blocks is kept. A training that is short
 * beside its start has so as many moments as its blocks deserve. Of each memory those blocks are kept that take most room in the
 * picture; what is in blocks beyond them is of smaller ones.
 */
#ifndef TARE_LEDGER_BLOCK_COURSE_H
#define TARE_LEDGER_BLOCK_COURSE_H

#include "ledger/ledger.h"

enum { TARE_BLOCK_COURSES = 2000 /* of a memory */, TARE_BLOCK_COURSES_IN_ALL = 8000 };

struct tare_block_course {
	size_t from, until; /* moments of its memory; at `until` it was not there any more */
	int64_t born_ns;
	int64_t gone_ns; /* -1: it is there at the end */
	int64_t bytes;
	enum tare_category category;
	const char *name, *shape;            /* NULL: not known */
	const struct tare_ledger_line *line; /* which asked for it */
};

/* What there is from `t_ns` on. */
struct tare_block_moment {
	int64_t t_ns, bytes;
};

/* Of a GPU, or of the memory of CPUs. */
struct tare_block_memory {
	int device; /* index in tare_ledger.devices; -1: the memory of CPUs */
	struct tare_block_moment *moments;
	size_t moment_nr;
	struct tare_block_course *items; /* in the order in which they came */
	size_t nr;
	uint64_t smaller; /* blocks that are none of these */
};

/* A first fold counts, a second one, to which the same is given, tells. */
struct tare_block_courses {
	uint64_t changes; /* blocks that came or went; 0: not counted yet */
	struct tare_block_memory *memories;
	int memory_nr;
	struct tare_arena *memory;
};

void tare_block_courses_free(struct tare_block_courses *courses); /* empty afterwards */

#endif
