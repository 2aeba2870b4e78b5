/* SPDX-License-Identifier: Apache-2.0 */
/* What block_encode.c and block_decode.c agree on. */
#ifndef TARE_STORE_BLOCK_PRIVATE_H
#define TARE_STORE_BLOCK_PRIVATE_H

#include "store/block.h"

#include <string.h>

enum {
	FORMS_MAX = 256,
	THREADS = 1024, /* a power of two */
};

/*
 * Where the next record of a thread is expected: behind its last one, or, of a thread that is new, behind the last one of
 * all. Records without a thread belong to that of the record before.
 */
struct expected {
	struct {
		uint32_t tid;
		uint64_t position;
	} of[THREADS];
	uint32_t tid;
	uint64_t last;
};

/* The field that names the thread; NULL: there is none. */
static inline const struct tare_field *tid_field(const struct tare_kind_info *info)
{
	for (int i = 0; info && i < info->field_nr; i++)
		if (!strcmp(info->fields[i].name, "tid"))
			return &info->fields[i];
	return NULL;
}

static inline uint64_t *expected_of(struct expected *e, const struct tare_field *tid, const uint8_t *record)
{
	uint32_t slot;

	if (tid)
		e->tid = (uint32_t)tare_decode_value(tid, record) & ~TARE_TID_INSIDE;
	slot = e->tid % THREADS;
	if (e->of[slot].tid != e->tid) {
		e->of[slot].tid = e->tid;
		e->of[slot].position = e->last;
	}
	return &e->of[slot].position;
}

#endif
