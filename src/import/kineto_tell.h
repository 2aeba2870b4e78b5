/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of torch.profiler, when all of it was read, as records in the order of time. */
#ifndef TARE_IMPORT_KINETO_TELL_H
#define TARE_IMPORT_KINETO_TELL_H

#include "import/kineto_spans.h"

enum { TARE_KINETO_GPUS = 64, TARE_KINETO_CPU = TARE_KINETO_GPUS };

enum tare_kineto_kind { TARE_KINETO_MEMORY, TARE_KINETO_BEGIN, TARE_KINETO_END };

struct tare_kineto_event {
	int64_t t_ns, tid;
	uint64_t address;             /* 0: not in the file */
	int64_t bytes;                /* < 0: taken back */
	uint64_t allocated, reserved; /* in all then; TARE_NOT_KNOWN: not in the file */
	uint32_t number;              /* in the file; of a begin and its end: the same */
	uint32_t name;                /* begin: string of the list of names */
	uint8_t kind;
	uint8_t device; /* its number, or TARE_KINETO_CPU */
};

struct tare_kineto_device {
	char *name;
	uint64_t total; /* TARE_NOT_KNOWN */
};

struct tare_kineto {
	struct tare_kineto_event *events;
	size_t count, cap;
	struct tare_kineto_spans spans;
	struct tare_kineto_device devices[TARE_KINETO_GPUS];
	int64_t first_ns;
};

struct tare_kineto_told {
	uint64_t gpus;
	uint64_t checked, apart; /* totals of the file, and of them those that are not what the events add up to */
	uint64_t before;         /* bytes of blocks of which nothing is told */
	uint64_t guessed;        /* blocks without an address */
	uint64_t lost, beyond;
	uint64_t most; /* bytes of blocks on a GPU */
	bool has_reserved, has_modules;
};

void tare_kineto_tell(struct tare_kineto *k, struct tare_import_out *out, struct tare_kineto_told *told);

#endif
