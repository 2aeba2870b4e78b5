/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_WEIGH_PLACE_H
#define TARE_WEIGH_PLACE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/owned.h"
#include "weigh/weigh.h"
#include "witness/smaps.h"

/* stacks.c: where the threads of a process have their stack pointers, as far as the kernel tells. {0}: nowhere. */
struct tare_weigh_stacks {
	uint64_t *pointers; /* the lowest first */
	size_t count, cap;
};

void tare_weigh_stacks_find(struct tare_weigh_stacks *s, const char *root, pid_t pid);
bool tare_weigh_stacks_have(const struct tare_weigh_stacks *s, uint64_t start, uint64_t end);
void tare_weigh_stacks_free(struct tare_weigh_stacks *s);

/* What tells which row a mapping of a process is of: its name, and what lies around it. */
struct tare_weigh_mappings {
	TARE_OWNED struct tare_smaps_mapping *items;
	size_t count, cap;
	TARE_OWNED struct tare_strmap run;   /* names of files of which something is run */
	TARE_OWNED struct tare_strmap spans; /* bytes that a file's mappings have together */
	bool has_driver;                     /* CUDA's */
	TARE_OWNED struct tare_weigh_stacks stacks;
	TARE_OWNED struct tare_arena arena;
};

/* Which row a mapping is of. */
struct tare_weigh_place {
	enum tare_weigh_kind kind;
	const char *row, *file;
};

/* For tare_smaps_read(): `arg` is a struct tare_weigh_mappings. */
void tare_weigh_keep(void *arg, const struct tare_smaps_mapping *mapping);
TARE_FREES(tare_weigh_forget, tare_weigh_mappings);

struct tare_weigh_place tare_weigh_place_of(const struct tare_weigh_mappings *all, size_t at);

#endif
