/* SPDX-License-Identifier: Apache-2.0 */
/* Records blocks of the heap: what malloc hands out, and what free takes back. */
#include "recorder/heap/heap.h"

#include "recorder/base/addresses.h"
#include "recorder/base/fork.h"
#include "recorder/base/parts.h"
#include "recorder/elf/object_record.h"
#include "recorder/elf/objects.h"
#include "recorder/log/emit.h"
#include "recorder/phase/phase.h"
#include "recorder/python/interpreter.h"
#include "recorder/python/stack.h"
#include "recorder/ring/ring.h"
#include "record/clock.h"

enum { TRY_EVERY = 64 };

bool tare_heap_is_whole TARE_HOT_DATA;
static uint32_t log2_mean;

void tare_heap_start(void)
{
	if (!tare_config.heap_mean)
		return;
	log2_mean = (uint32_t)__builtin_ctzll(tare_config.heap_mean);
	tare_heap_is_whole = tare_config.heap_mean == 1;
	tare_object_loaded_start();
	if (tare_addresses_suffice()) /* else there will be no log */
		tare_known_stacks_expect(tare_heap_is_whole);
}

/* In the books the heap is a device, whose memory is what was asked for. */
void tare_heap_opened(void)
{
	struct tare_rec_device rec = { .ordinal = TARE_HEAP_ORDINAL,
		                           .flags = TARE_DEVICE_HEAP,
		                           .total = TARE_NOT_KNOWN,
		                           .reserved = TARE_NOT_KNOWN,
		                           .used = TARE_NOT_KNOWN,
		                           .nvml_index = -1 };

	if (tare_config.heap_mean)
		tare_emit_device(&rec, tare_heap_is_whole ? "heap" : "heap, sampled");
}

static bool is_wanted(bool is_end)
{
	enum tare_control_command command;

	if (unlikely(!tare_config.heap_mean || !tare_config.enabled || tare_config.nop))
		return false;
	tare_fork_check();
	command = tare_ring_command();
	return command == TARE_COMMAND_RECORD || (command == TARE_COMMAND_PAUSE && is_end);
}

/* Where no extension module was imported yet nobody has looked for an interpreter. */
static bool has_python(void)
{
	static uint32_t tries;

	if (tare_python_is_to_stay())
		return true;
	if (__atomic_fetch_add(&tries, 1, __ATOMIC_RELAXED) % TRY_EVERY == 0)
		tare_python_try_program();
	return tare_python_is_to_stay();
}

/*
 * Python is asked only once it was checked elsewhere: that calls functions which allocate. Where its lines are known the
 * native stack ends at the interpreter: behind that it says the same, in as many ways as there are paths through Python.
 */
static void find_stacks(struct tare_rec_heap_block *rec)
{
	bool before = tare_objects_avoid_lock();

	if (tare_config.stacks & TARE_STACKS_PYTHON && has_python())
		rec->python = tare_python_stack();
	if (tare_config.stacks & TARE_STACKS_NATIVE)
		rec->stack = tare_emit_stack_until(rec->python ? tare_python_eval() : NULL);
	tare_objects_avoided_lock(before);
}

TARE_HOT static void record(const void *block, size_t bytes, enum tare_heap_source source, uint32_t sampling)
{
	struct tare_rec_heap_block rec = { .block = (uint64_t)(uintptr_t)block,
		                               .bytes = bytes,
		                               .tid = tare_fork_tid(),
		                               .device = TARE_HEAP_ORDINAL,
		                               .source = (uint8_t)source,
		                               .sampling = (uint8_t)sampling };

	tare_phase_log_opens();
	if (source != TARE_HEAP_OF_RESERVE)
		find_stacks(&rec);
	tare_emit_often(TARE_KIND_HEAP_BLOCK, &rec.head, sizeof(rec), tare_clock_ticks());
}

TARE_HOT void tare_heap_record(const void *block, size_t bytes)
{
	bool is_small = bytes < tare_config.heap_mean;

	if (!block || !is_wanted(false) || (is_small && !tare_sampling_takes(bytes, tare_config.heap_mean)) ||
	    (!tare_heap_is_whole && !tare_sampled_add(block)))
		return;
	record(block, bytes, TARE_HEAP_OF_MALLOC, is_small ? log2_mean : 0);
}

TARE_HOT struct tare_heap_leaving tare_heap_leave(const void *block)
{
	struct tare_heap_leaving leaving = { block, 0, false };

	if (!block || (!tare_heap_is_whole && !tare_sampled_take(block)) || !is_wanted(true))
		return leaving;
	leaving.is_known = true;
	leaving.stamp = tare_clock_ticks();
	return leaving;
}

TARE_HOT static void went(const struct tare_heap_leaving *leaving, enum tare_heap_flag flag)
{
	struct tare_rec_heap_freed rec = { .block = (uint64_t)(uintptr_t)leaving->block,
		                               .tid = tare_fork_tid(),
		                               .device = TARE_HEAP_ORDINAL,
		                               .flags = (uint16_t)flag };

	if (!leaving->is_known)
		return;
	if (tare_python_is_finalizing())
		rec.flags |= TARE_HEAP_FINALIZING;
	tare_emit_often(TARE_KIND_HEAP_FREED, &rec.head, sizeof(rec), leaving->stamp);
}

TARE_HOT void tare_heap_gone(const struct tare_heap_leaving *leaving)
{
	went(leaving, 0);
}

/* Of a small one that is drawn nobody knows yet whether it will be recorded. */
TARE_HOT void tare_heap_moved(const struct tare_heap_leaving *leaving, size_t bytes)
{
	went(leaving, tare_heap_is_whole || bytes >= tare_config.heap_mean ? TARE_HEAP_MOVING : 0);
}

void tare_heap_stayed(const struct tare_heap_leaving *leaving)
{
	if (leaving->is_known && !tare_heap_is_whole)
		tare_sampled_add(leaving->block);
}

void tare_heap_mapped(struct tare_heap_mapping mapping, enum tare_heap_source source)
{
	if (is_wanted(false))
		record(mapping.begin, mapping.bytes, source, 0);
}

uint64_t tare_heap_stamp(void)
{
	return is_wanted(true) ? tare_clock_ticks() : 0;
}

void tare_heap_unmapped(struct tare_heap_mapping mapping, enum tare_heap_goes how, uint64_t stamp)
{
	struct tare_rec_heap_unmapped rec = { .begin = (uint64_t)(uintptr_t)mapping.begin,
		                                  .bytes = mapping.bytes,
		                                  .tid = tare_fork_tid(),
		                                  .device = TARE_HEAP_ORDINAL,
		                                  .how = (uint16_t)how };

	if (stamp && is_wanted(true))
		tare_emit_often(TARE_KIND_HEAP_UNMAPPED, &rec.head, sizeof(rec), stamp);
}
