/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What malloc and its kin hand out and take back, and what is mapped (tare run --host). Only libtare_recorder_host.so exports these
 * functions (names.c); the rest of this folder is in libtare_recorder.so too, where nothing calls it.
 *
 * malloc is called with any lock of the program held, from constructors that run before ours, and by the dynamic linker.
 * So nothing here allocates, waits, or takes the linker's lock (elf/objects.h).
 */
#ifndef TARE_RECORDER_HEAP_H
#define TARE_RECORDER_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/heap/sampled.h"
#include "recorder/heap/sampling.h"
#include "recorder/recorder.h"

/*
 * A block was handed out; NULL: none was. Of those that are smaller than tare_config.heap_mean only some are recorded
 * (sampling.h).
 */
TARE_HOT void tare_heap_record(const void *block, size_t bytes);
static inline void tare_heap_made(const void *block, size_t bytes)
{
	if (!likely(tare_sampling_passes(bytes)))
		tare_heap_record(block, bytes);
}

/* Is every block recorded? Else those that were drawn, and larger ones. */
extern bool tare_heap_is_whole;

/* A block is about to go. What goes by realloc, which may refuse, goes in two steps: leave, and then moved, gone or stayed. */
struct tare_heap_leaving {
	const void *block;
	uint64_t stamp;
	bool is_known;
};
struct tare_heap_leaving tare_heap_leave(const void *block);
static inline bool tare_heap_may_know(const void *block)
{
	return tare_heap_is_whole || tare_sampled_may_be(block);
}
void tare_heap_gone(const struct tare_heap_leaving *leaving);
/* What it becomes has so many bytes, and is told of next. */
void tare_heap_moved(const struct tare_heap_leaving *leaving, size_t bytes);
void tare_heap_stayed(const struct tare_heap_leaving *leaving);

/* The time, for what follows; 0: nothing is recorded, and the time is not asked for, which may be forbidden. */
uint64_t tare_heap_stamp(void);
struct tare_heap_mapping {
	const void *begin;
	size_t bytes;
};
/* Memory of no file was mapped, addresses reserved, or made usable. */
void tare_heap_mapped(struct tare_heap_mapping mapping, enum tare_heap_source source);
/* Addresses were unmapped, mapped otherwise, or closed, by a call that began at `stamp`. */
void tare_heap_unmapped(struct tare_heap_mapping mapping, enum tare_heap_goes how, uint64_t stamp);

#endif
