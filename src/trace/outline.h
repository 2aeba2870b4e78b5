/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes an event needless to who looks ahead (tare_recording_outline()): a later one of the same place, with events of
 * places alone between both. Events of no place are all given.
 */
#ifndef TARE_TRACE_OUTLINE_H
#define TARE_TRACE_OUTLINE_H

#include "record/format.h"

enum {
	TARE_PLACE_DEVICES = 64,
	TARE_PLACE_PHASE = TARE_PLACE_DEVICES + 1,
	TARE_PLACE_HEAP_BLOCK,
	TARE_PLACE_HEAP_FREED,
	TARE_PLACE_MODULE,
	TARE_PLACE_NR
};

/* Of a tensor its device; -1: it is of no place. */
static inline int tare_outline_place(const struct tare_record *head)
{
	const struct tare_rec_tensor *rec = (const void *)head;

	switch (head->kind) {
	case TARE_KIND_TENSOR:
		return rec->device >= -1 && rec->device < TARE_PLACE_DEVICES ? rec->device + 1 : -1;
	case TARE_KIND_PHASE:
		return TARE_PLACE_PHASE;
	case TARE_KIND_HEAP_BLOCK:
		return TARE_PLACE_HEAP_BLOCK;
	case TARE_KIND_HEAP_FREED:
		return TARE_PLACE_HEAP_FREED;
	case TARE_KIND_MODULE:
		return TARE_PLACE_MODULE;
	default:
		return -1;
	}
}

/* Does something begin with an event of that place? Then the first is always given. */
static inline bool tare_outline_begins(int place)
{
	return place >= 0 && place != TARE_PLACE_HEAP_FREED && place != TARE_PLACE_MODULE;
}

#endif
