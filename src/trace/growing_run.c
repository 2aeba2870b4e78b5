/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows an event that was taken from a recording that is kept open, many at once: blocks of tensors, phases, blocks of the heap.
 * Records that a lane had one behind the other lie so in memory, too.
 */
#include "trace/growing_private.h"

#include "base/array.h"
#include "record/bound.h"

/* The nth of what follows, if that is of the same process, and up to then; NULL: it is not. */
static const struct tare_record *next_at(const struct tare_growing *g, size_t n, int64_t until_ns)
{
	const struct tare_held *last = &g->ordered.items[g->taken - 1], *h = last + 1 + n;

	return g->taken + n < g->looked && h->ns <= until_ns && h->process == last->process ? h->head : NULL;
}

/* Room for `columns` times as many as there may be. */
static uint64_t *reserve(struct tare_growing *g, size_t columns)
{
	g->run_memory =
		tare_array_reserve(g->run_memory, &g->run_cap, columns * (g->looked - g->taken), sizeof(*g->run_memory));
	return g->run_memory;
}

/* Time never runs backwards for who takes. */
static void take_times(struct tare_growing *g, size_t n, int64_t *times)
{
	const struct tare_held *h = &g->ordered.items[g->taken];

	for (size_t i = 0; i < n; i++) {
		g->now_ns = h[i].ns > g->now_ns ? h[i].ns : g->now_ns;
		times[i] = g->now_ns;
	}
	g->taken += n;
}

static const struct tare_rec_tensor *tensor_of(const struct tare_record *head)
{
	return head && head->kind == TARE_KIND_TENSOR ? (const struct tare_rec_tensor *)(const void *)head : NULL;
}

bool tare_growing_run(struct tare_growing *g, int64_t until_ns, struct tare_block_run *run)
{
	const struct tare_held *last = &g->ordered.items[g->taken - 1];
	const struct tare_rec_tensor *first = tensor_of(next_at(g, 0, until_ns)), *rec = first;
	size_t room = g->looked - g->taken, n = 0;
	uint64_t *stamps, *addresses, *which;
	int64_t *bytes, *times;

	if (!first || first->device != tensor_of(last->head)->device)
		return false;
	stamps = reserve(g, 5);
	addresses = stamps + room;
	which = addresses + room;
	bytes = (int64_t *)(which + room);
	times = bytes + room;
	for (; rec && rec == first + n && rec->device == first->device; rec = tensor_of(next_at(g, ++n, until_ns))) {
		stamps[n] = rec->head.stamp;
		addresses[n] = rec->block;
		which[n] = n;
		bytes[n] = rec->bytes;
	}
	take_times(g, n, times);
	*run = (struct tare_block_run){ .columns = { stamps, addresses, bytes, which, first },
		                            .times = times,
		                            .n = n,
		                            .refer = tare_recording_refer_to_block,
		                            .recording = g->recording,
		                            .process = last->process,
		                            .record = &g->referred };
	tare_bound_columns(&run->columns, n);
	return true;
}

bool tare_growing_phase_run(struct tare_growing *g, int64_t until_ns, struct tare_phase_run *run)
{
	const struct tare_held *last = &g->ordered.items[g->taken - 1];
	const struct tare_record *head = next_at(g, 0, until_ns);
	const uint8_t *first = (const uint8_t *)head;
	size_t n = 0;

	while (head && head->kind == TARE_KIND_PHASE && (const uint8_t *)head == first + n * TARE_PHASE_STRIDE)
		head = next_at(g, ++n, until_ns);
	if (!n)
		return false;
	*run = (struct tare_phase_run){ .records = first,
		                            .n = n,
		                            .refer = tare_recording_refer_to_phase,
		                            .recording = g->recording,
		                            .process = last->process };
	run->times = (int64_t *)reserve(g, 1);
	take_times(g, n, (int64_t *)g->run_memory);
	return true;
}

/* The ordinal of the device of a record of the heap; false: it is none. */
static bool heap_of(const struct tare_record *head, int *device)
{
	if (head && head->kind == TARE_KIND_HEAP_BLOCK)
		*device = ((const struct tare_rec_heap_block *)(const void *)head)->device;
	else if (head && head->kind == TARE_KIND_HEAP_FREED)
		*device = ((const struct tare_rec_heap_freed *)(const void *)head)->device;
	else
		return false;
	return true;
}

bool tare_growing_heap_run(struct tare_growing *g, int64_t until_ns, struct tare_heap_run *run)
{
	const struct tare_held *last = &g->ordered.items[g->taken - 1];
	const struct tare_record *head = next_at(g, 0, until_ns), **heads;
	int device, own;
	size_t n = 0;

	if (!heap_of(last->head, &device) || !heap_of(head, &own) || own != device)
		return false;
	heads = (const struct tare_record **)reserve(g, 2);
	for (; heap_of(head, &own) && own == device; head = next_at(g, ++n, until_ns)) {
		tare_bound_record(head->kind, (void *)(uintptr_t)head);
		heads[n] = head;
	}
	*run = (struct tare_heap_run){ .records = heads,
		                           .times = (int64_t *)(heads + (g->looked - g->taken)),
		                           .n = n,
		                           .refer = tare_recording_refer_to_heap,
		                           .recording = g->recording,
		                           .process = last->process };
	take_times(g, n, (int64_t *)(uintptr_t)run->times);
	return true;
}
