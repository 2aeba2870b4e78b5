/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks and segments out of the events of a recording, as PyTorch's own history of them has them. */
#include "export/blocks.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/text.h"
#include "ledger/owner.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

/* Where a block or a segment is, while it is there. */
struct there {
	uint64_t size;
	const struct tare_block_stack *stack;
};

/* Of one process on one device. */
struct pool {
	int device;
	int64_t pid;
	int process;                 /* of the recording */
	struct tare_map live, given; /* address → place in `there` */
};

struct reader {
	struct tare_export_blocks *out;
	const struct tare_ledger *ledger;
	struct pool *pools;
	size_t nr, cap;
	struct there *there;
	size_t there_nr, there_cap;
	struct tare_map stacks; /* process and id → the stack */
	uint64_t stack_nr;
};

/* The device of the ledger; -1: it is not of it, or later than its moment. */
static int device_of(const struct reader *r, const struct tare_event *e)
{
	for (int i = 0; e->device && i < r->ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &r->ledger->devices[i];

		if (d->index == tare_device_number(e->device) && (!d->host || !strcmp(d->host, e->device->host)))
			return e->at_ns <= d->t_ns ? i : -1;
	}
	return -1;
}

static struct pool *pool_of(struct reader *r, const struct tare_event *e, int device)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->pools[i].device == device && r->pools[i].process == e->process->index)
			return &r->pools[i];
	return TARE_ADD(r->pools, r->nr, r->cap,
	                (struct pool){ .device = device, .pid = e->process->pid, .process = e->process->index });
}

static const char *clean(struct reader *r, const char *text)
{
	struct tare_str out = { 0 };
	const char *kept;

	tare_text_add_name(&out, text ? text : "");
	kept = tare_arena_strdup(&r->out->arena, tare_str_text(&out));
	tare_str_free(&out);
	return kept;
}

static const struct tare_block_stack *stack_of(struct reader *r, const struct tare_event *e)
{
	struct tare_block_stack *stack;
	struct tare_block_frame *frames;
	uint64_t *known;
	bool is_new;

	if (!e->python || !e->python->depth)
		return NULL;
	known = tare_map_put(&r->stacks, (uint64_t)(uint32_t)e->process->index << 32 | e->python->id, &is_new);
	if (!is_new)
		return (const struct tare_block_stack *)(uintptr_t)*known;
	stack = tare_arena_alloc(&r->out->arena, sizeof(*stack));
	frames = tare_arena_alloc(&r->out->arena, e->python->depth * sizeof(*frames));
	for (uint32_t i = 0; i < e->python->depth; i++)
		frames[i] = (struct tare_block_frame){ clean(r, e->python->lines[i].function),
			                                   clean(r, e->python->lines[i].file), e->python->lines[i].line };
	*stack = (struct tare_block_stack){ r->stack_nr++, frames, e->python->depth };
	*known = (uint64_t)(uintptr_t)stack;
	return stack;
}

/* The oldest go, half of what is kept at a time. */
static void add(struct reader *r, const struct pool *p, const struct tare_event *e, enum tare_block_action action,
                uint64_t address, const struct there *there)
{
	struct tare_export_blocks *out = r->out;

	if (out->nr == (size_t)2 * TARE_EXPORT_EVENTS_MAX) {
		memmove(out->events, out->events + TARE_EXPORT_EVENTS_MAX, TARE_EXPORT_EVENTS_MAX * sizeof(*out->events));
		out->nr = TARE_EXPORT_EVENTS_MAX;
		out->dropped += TARE_EXPORT_EVENTS_MAX;
	}
	TARE_APPEND(out->events, out->nr, out->cap) = (struct tare_block_event){ .action = action,
		                                                                     .device = p->device,
		                                                                     .pid = p->pid,
		                                                                     .t_ns = e->at_ns,
		                                                                     .address = address,
		                                                                     .size = there->size,
		                                                                     .stack = there->stack };
}

static void come(struct reader *r, struct pool *p, struct tare_map *map, const struct tare_event *e,
                 enum tare_block_action action, uint64_t address, uint64_t size)
{
	*tare_map_put(map, address, NULL) = r->there_nr;
	add(r, p, e, action, address,
	    TARE_ADD(r->there, r->there_nr, r->there_cap, (struct there){ size, stack_of(r, e) }));
}

/* What came before the recording, or while it was paused, is not known. */
static void go(struct reader *r, struct pool *p, struct tare_map *map, const struct tare_event *e,
               enum tare_block_action action, uint64_t address)
{
	uint64_t place;

	if (tare_map_remove(map, address, &place))
		add(r, p, e, action, address, &r->there[place]);
}

static void read_block(struct reader *r, const struct tare_event *e)
{
	const struct tare_rec_tensor *block = e->rec.tensor;
	int device = block->flags & TARE_TENSOR_HOST ? -1 : device_of(r, e);
	struct pool *p;

	if (device < 0)
		return;
	/* The end is just before the first block that goes because the program is over. */
	if (block->flags & TARE_TENSOR_FINALIZING && e->at_ns == r->ledger->devices[device].t_ns)
		return;
	p = pool_of(r, e, device);
	if (block->bytes > 0)
		come(r, p, &p->live, e, TARE_BLOCK_ALLOC, block->block, (uint64_t)block->bytes);
	else
		go(r, p, &p->live, e, TARE_BLOCK_FREE, block->block);
}

static void read_call(struct reader *r, const struct tare_event *e)
{
	const struct tare_rec_event *c = e->rec.event;
	bool is_map = c->class == TARE_CLASS_VMM_MAP;
	int device = device_of(r, e);
	struct pool *p;

	if (device < 0 || c->flags & TARE_EVENT_FAILED || (c->class != TARE_CLASS_DEVICE && !is_map))
		return;
	p = pool_of(r, e, device);
	if (c->effect == TARE_EFFECT_DEL)
		go(r, p, &p->given, e, is_map ? TARE_BLOCK_SEGMENT_UNMAP : TARE_BLOCK_SEGMENT_FREE, c->handle);
	else if (c->effect == TARE_EFFECT_NEW && tare_owner_is_pool_of(e->process, e->stack))
		come(r, p, &p->given, e, is_map ? TARE_BLOCK_SEGMENT_MAP : TARE_BLOCK_SEGMENT_ALLOC, c->handle,
		     c->granted && !is_map ? c->granted : c->asked);
}

TARE_COMPARATOR(by_place, struct tare_export_block, TARE_RISING(device) TARE_RISING(pid) TARE_RISING(address))

static void list_live(struct reader *r)
{
	const struct tare_map_slot *slot;
	size_t cap = 0;

	for (size_t i = 0; i < r->nr; i++)
		for (size_t at = 0; (slot = tare_map_next(&r->pools[i].live, &at));) {
			const struct there *there = &r->there[slot->value];

			TARE_APPEND(r->out->live, r->out->live_nr, cap) =
				(struct tare_export_block){ r->pools[i].device, r->pools[i].pid, slot->key, there->size, there->stack };
		}
	TARE_SORT(r->out->live, r->out->live_nr, by_place);
}

static void discard(struct reader *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		tare_map_free(&r->pools[i].live);
		tare_map_free(&r->pools[i].given);
	}
	free(r->pools);
	free(r->there);
	tare_map_free(&r->stacks);
}

void tare_export_blocks_read(struct tare_export_blocks *out, struct tare_recording *recording,
                             const struct tare_ledger *ledger)
{
	struct reader r = { .out = out, .ledger = ledger };
	struct tare_event e;

	while (tare_recording_next(recording, &e)) {
		if (!e.process || e.process->role != TARE_ROLE_PROGRAM)
			continue;
		if (e.kind == TARE_KIND_TENSOR)
			read_block(&r, &e);
		else if (e.kind == TARE_KIND_EVENT)
			read_call(&r, &e);
	}
	list_live(&r);
	discard(&r);
}

void tare_export_blocks_free(struct tare_export_blocks *blocks)
{
	free(blocks->events);
	free(blocks->live);
	tare_arena_free(&blocks->arena);
	*blocks = (struct tare_export_blocks){ 0 };
}
