/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of tensors and of the heap, and phases, of a world many at once, as a recording that is in segments gives them. */
#include "ledger_world_private.h"

#include <string.h>

enum { RUN_MAX = 50 };

static struct tare_rec_tensor records[RUN_MAX];
static uint64_t stamps[RUN_MAX], addresses[RUN_MAX], which[RUN_MAX];
static int64_t times[RUN_MAX], bytes[RUN_MAX];

static void refer(const struct tare_block_run *run, size_t i, struct tare_event *e)
{
	const struct world *w = run->recording;

	*e = w->items[w->at - run->n + i].event;
}

static void put(size_t i, const struct tare_event *e)
{
	times[i] = e->at_ns;
	stamps[i] = e->rec.head->stamp;
	addresses[i] = e->rec.tensor->block;
	bytes[i] = e->rec.tensor->bytes;
	which[i] = i;
	records[i] = *e->rec.tensor;
	/* An event has pointers to these; records name them. */
	records[i].python = e->python ? e->python->id : 0;
	records[i].stack = e->stack ? 1 : 0;
	/* What has a column of its own is not to be looked for here. */
	records[i].block = 0;
	records[i].bytes = -1;
}

bool world_run(void *arg, int64_t until_ns, struct tare_block_run *run)
{
	struct world *w = arg;
	const struct tare_event *last = &w->items[w->at - 1].event;

	*run = (struct tare_block_run){
		.columns = { stamps, addresses, bytes, which, records }, .times = times, .refer = refer, .recording = w
	};
	for (; w->at < w->item_nr && run->n < RUN_MAX; w->at++) {
		const struct tare_event *e = &w->items[w->at].event;

		if (e->kind != TARE_KIND_TENSOR || e->process != last->process || e->device != last->device ||
		    e->at_ns > until_ns)
			break;
		put(run->n++, e);
	}
	return run->n > 0;
}

/* As they lie in a block of a segment. */
static struct {
	_Alignas(struct tare_rec_phase) uint8_t bytes[TARE_PHASE_STRIDE];
} phases[RUN_MAX];

static void refer_to_phase(const struct tare_phase_run *run, size_t i, struct tare_event *e)
{
	const struct world *w = run->recording;

	*e = w->items[w->at - run->n + i].event;
}

bool world_phase_run(void *arg, int64_t until_ns, struct tare_phase_run *run)
{
	struct world *w = arg;
	const struct tare_event *last = &w->items[w->at - 1].event;

	*run =
		(struct tare_phase_run){ .records = phases[0].bytes, .times = times, .refer = refer_to_phase, .recording = w };
	for (; w->at < w->item_nr && run->n < RUN_MAX; w->at++) {
		const struct tare_event *e = &w->items[w->at].event;

		if (e->kind != TARE_KIND_PHASE || e->process != last->process || e->at_ns > until_ns)
			break;
		times[run->n] = e->at_ns;
		memcpy(phases[run->n++].bytes, e->rec.phase, sizeof(*e->rec.phase));
	}
	return run->n > 0;
}

/* Of the heap: the same with the ids that an event has as pointers. */
static union {
	struct tare_record head;
	struct tare_rec_heap_block block;
	struct tare_rec_heap_freed freed;
} heap[RUN_MAX];
static const struct tare_record *heads[RUN_MAX];

static void refer_to_heap(const struct tare_heap_run *run, size_t i, struct tare_event *e)
{
	const struct world *w = run->recording;

	*e = w->items[w->at - run->n + i].event;
}

static void put_heap(size_t i, const struct tare_event *e)
{
	times[i] = e->at_ns;
	heads[i] = &heap[i].head;
	if (e->kind == TARE_KIND_HEAP_FREED) {
		heap[i].freed = *e->rec.heap_freed;
	} else {
		heap[i].block = *e->rec.heap_block;
		heap[i].block.python = e->python ? e->python->id : 0;
		heap[i].block.stack = e->stack ? e->stack->id : 0;
	}
	heap[i].head.kind = (uint16_t)e->kind;
}

bool world_heap_run(void *arg, int64_t until_ns, struct tare_heap_run *run)
{
	struct world *w = arg;
	const struct tare_event *last = &w->items[w->at - 1].event;

	*run = (struct tare_heap_run){ .records = heads, .times = times, .refer = refer_to_heap, .recording = w };
	for (; w->at < w->item_nr && run->n < RUN_MAX; w->at++) {
		const struct tare_event *e = &w->items[w->at].event;

		if ((e->kind != TARE_KIND_HEAP_BLOCK && e->kind != TARE_KIND_HEAP_FREED) || e->process != last->process ||
		    e->device != last->device || e->at_ns > until_ns)
			break;
		put_heap(run->n++, e);
	}
	return run->n > 0;
}
