/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the trace of an allocator from a recording. The recording has the blocks that PyTorch's allocator handed out
 * and took back, with their streams, and what PyTorch's library asked the driver for. That is what a memory snapshot
 * has, but for two things: the size of a block is that which the allocator made it, not that which was asked for, and
 * a block that other streams still use is recorded when it is freed, not when these streams are done
 * (src/replay/wait.c).
 */
#include "cmd/whatif_recording.h"

#include "base/array.h"
#include "base/xalloc.h"
#include "cmd/whatif_reader.h"
#include "ledger/owner.h"
#include "replay/whatif.h"
#include "trace/description.h"

#include <stdlib.h>

/* ---- events ---- */

static void add(struct tare_whatif_reader *r, uint32_t pool, struct tare_snapshot_event event)
{
	if (!r->rc && !r->most--)
		r->rc = tare_err_set(r->err, TARE_E_LIMIT, "more events than are replayed here");
	event.has_pool = pool != 0;
	event.pool = tare_whatif_pool_id(pool);
	if (!r->rc)
		r->rc = tare_trace_add(r->t, &event, r->err);
}

static struct tare_whatif_allocator *allocator_of(struct tare_whatif_reader *r, const struct tare_event *e)
{
	uint32_t device = (uint32_t)(e->process->index * TARE_TRACE_DEVICES + e->device->index);

	for (size_t i = r->count; i--;)
		if (r->allocators[i].device == device)
			return &r->allocators[i];
	return TARE_ADD(r->allocators, r->count, r->cap, (struct tare_whatif_allocator){ .device = device });
}

static uint64_t key_of(const struct tare_event *e, uint32_t id)
{
	return (uint64_t)(uint32_t)e->process->index << 32 | id;
}

/* The number of the line that stands for a stack: the innermost of the program, not of PyTorch. */
static uint32_t line_of(struct tare_whatif_reader *r, const struct tare_event *e)
{
	const struct tare_line *line;
	bool is_new;
	uint64_t *number;

	if (!e->python || !e->python->depth)
		return 0;
	number = tare_map_put(&r->lines, key_of(e, e->python->id), &is_new);
	if (!is_new)
		return (uint32_t)*number;
	line = &e->python->lines[0];
	for (uint32_t i = 0; i < e->python->depth; i++)
		if (tare_whatif_is_of_program(e->python->lines[i].file)) {
			line = &e->python->lines[i];
			break;
		}
	*number = tare_trace_add_line(r->t, line->file, line->line, line->function);
	return (uint32_t)*number;
}

/* What waits was mapped, or unmapped, in one go. */
static void flush(struct tare_whatif_reader *r, struct tare_whatif_allocator *a)
{
	struct tare_whatif_waiting w = a->waits;

	if (!w.size)
		return;
	a->waits.size = 0;
	add(r, w.pool,
	    (struct tare_snapshot_event){ .device = a->device, .action = w.action, .address = w.address, .size = w.size });
}

static void wait(struct tare_whatif_reader *r, struct tare_whatif_allocator *a, enum tare_snapshot_action action,
                 const struct tare_whatif_given *g)
{
	if (!a->waits.size || a->waits.action != action || a->waits.pool != g->pool ||
	    a->waits.address + a->waits.size != g->address) {
		flush(r, a);
		a->waits = (struct tare_whatif_waiting){ action, g->address, 0, g->pool };
	}
	a->waits.size += g->size;
}

static uint32_t pool_of(const struct tare_whatif_reader *r, const struct tare_event *e, uint32_t tid)
{
	return tare_whatif_pools_of(&r->pools, e->process->index, tid);
}

/* The stream of a block: that of the memory it lies in, of which the first block says it. */
static uint64_t stream_of(struct tare_whatif_reader *r, struct tare_whatif_allocator *a, const struct tare_event *e)
{
	const struct tare_rec_tensor *block = e->rec.tensor;
	bool is_said = block->flags & (TARE_TENSOR_ON_STREAM | TARE_TENSOR_ON_DEFAULT);
	uint64_t *own = block->flags & TARE_TENSOR_ON_STREAM ? tare_map_get(&r->streams, key_of(e, block->tid)) : NULL;
	uint64_t said = own ? *own : 0, end = block->block + (uint64_t)block->bytes;
	const struct tare_trace_segment *at = tare_ranges_find(&a->ranges, block->block);
	const struct tare_whatif_given *first = at ? &a->given[at->serial] : NULL;

	if (!first)
		return said;
	if (first->has_stream)
		said = first->stream;
	for (; at < a->ranges.items + a->ranges.count && at->address < end; at++) {
		struct tare_whatif_given *g = &a->given[at->serial];

		if (!g->has_stream && (is_said || first->has_stream)) {
			g->has_stream = true;
			g->stream = said;
		}
	}
	return said;
}

/* A segment is rounded up by as much as this. */
#define ROUNDED_BYTES (UINT64_C(2) << 20)

static uint64_t asked_for(const struct tare_whatif_reader *r, uint64_t size)
{
	bool is_near = r->split && size >= r->split && size < r->split + ROUNDED_BYTES;

	return is_near ? r->split - 512 : size;
}

static void hand_out(struct tare_whatif_reader *r, struct tare_whatif_allocator *a, const struct tare_event *e)
{
	const struct tare_rec_tensor *block = e->rec.tensor;

	*tare_map_put(&a->blocks, block->block, NULL) = (uint64_t)block->bytes;
	add(r, pool_of(r, e, block->tid),
	    (struct tare_snapshot_event){ .device = a->device,
	                                  .action = TARE_SNAPSHOT_ALLOC,
	                                  .address = block->block,
	                                  .size = asked_for(r, (uint64_t)block->bytes),
	                                  .stream = stream_of(r, a, e),
	                                  .stack = line_of(r, e) });
}

static void take_back(struct tare_whatif_reader *r, struct tare_whatif_allocator *a, uint64_t address)
{
	uint64_t size;

	if (!tare_map_remove(&a->blocks, address, &size))
		return; /* handed out before the recording, or while it was paused */
	add(r, 0,
	    (struct tare_snapshot_event){
			.device = a->device, .action = TARE_SNAPSHOT_FREE, .address = address, .size = size });
}

static void read_block(struct tare_whatif_reader *r, const struct tare_event *e)
{
	struct tare_whatif_allocator *a;

	if (!e->device || (e->rec.tensor->flags & TARE_TENSOR_HOST))
		return;
	r->t->is_simulated |= (e->device->flags & TARE_DEVICE_SIMULATED) != 0;
	a = allocator_of(r, e);
	flush(r, a);
	if (e->rec.tensor->bytes > 0)
		hand_out(r, a, e);
	else
		take_back(r, a, e->rec.tensor->block);
}

static void give(struct tare_whatif_reader *r, struct tare_whatif_allocator *a, const struct tare_whatif_given *g)
{
	*tare_map_put(&a->given_at, g->address, NULL) = a->given_nr;
	TARE_APPEND(a->given, a->given_nr, a->given_cap) = *g;
	tare_ranges_add(&a->ranges, &(struct tare_trace_segment){
									.address = g->address, .size = g->size, .serial = (int64_t)a->given_nr - 1 });
	if (g->is_expandable) {
		wait(r, a, TARE_SNAPSHOT_SEGMENT_MAP, g);
		return;
	}
	flush(r, a);
	add(r, g->pool,
	    (struct tare_snapshot_event){
			.device = a->device, .action = TARE_SNAPSHOT_SEGMENT_ALLOC, .address = g->address, .size = g->size });
}

static void give_back(struct tare_whatif_reader *r, struct tare_whatif_allocator *a, uint64_t address)
{
	struct tare_whatif_given *g;
	uint64_t place;

	if (!tare_map_remove(&a->given_at, address, &place))
		return; /* not of the pool, or given before the recording */
	g = &a->given[place];
	tare_ranges_cut(&a->ranges, g->address, g->size, NULL);
	if (g->is_expandable) {
		wait(r, a, TARE_SNAPSHOT_SEGMENT_UNMAP, g);
		return;
	}
	flush(r, a);
	add(r, g->pool,
	    (struct tare_snapshot_event){
			.device = a->device, .action = TARE_SNAPSHOT_SEGMENT_FREE, .address = address, .size = g->size });
}

static void read_call(struct tare_whatif_reader *r, const struct tare_event *e)
{
	const struct tare_rec_event *c = e->rec.event;
	bool is_mapping = c->class == TARE_CLASS_VMM_MAP;
	uint64_t size = c->granted && !is_mapping ? c->granted : c->asked;

	if (!e->device || (c->flags & TARE_EVENT_FAILED) || (c->class != TARE_CLASS_DEVICE && !is_mapping))
		return;
	if (c->effect == TARE_EFFECT_DEL)
		give_back(r, allocator_of(r, e), c->handle);
	else if (c->effect == TARE_EFFECT_NEW && tare_owner_is_pool_of(e->process, e->stack))
		give(r, allocator_of(r, e),
		     &(struct tare_whatif_given){ .address = c->handle,
		                                  .size = size,
		                                  .pool = pool_of(r, e, c->tid),
		                                  .is_expandable = is_mapping,
		                                  .is_small = size == TARE_ALLOC_SMALL_SEGMENT });
}

static void read_oom(struct tare_whatif_reader *r, const struct tare_event *e)
{
	struct tare_whatif_allocator *a;

	if (!e->device || e->rec.oom->device < 0)
		return;
	a = allocator_of(r, e);
	flush(r, a);
	add(r, 0,
	    (struct tare_snapshot_event){ .device = a->device,
	                                  .action = TARE_SNAPSHOT_OOM,
	                                  .address = e->rec.oom->free > 0 ? (uint64_t)e->rec.oom->free : 0,
	                                  .size = e->rec.oom->asked,
	                                  .stack = line_of(r, e) });
}

static void read_event(struct tare_whatif_reader *r, const struct tare_event *e)
{
	switch (e->kind) {
	case TARE_KIND_STREAM:
		*tare_map_put(&r->streams, key_of(e, e->rec.stream->tid), NULL) = e->rec.stream->id;
		break;
	case TARE_KIND_TENSOR:
		read_block(r, e);
		break;
	case TARE_KIND_EVENT:
		tare_whatif_pools_event(&r->pools, e);
		read_call(r, e);
		break;
	case TARE_KIND_MEMPOOL:
		tare_whatif_pools_event(&r->pools, e);
		break;
	case TARE_KIND_OOM:
		read_oom(r, e);
		break;
	default:
		break;
	}
}

/* ---- the whole ---- */

/* PYTORCH_CUDA_ALLOC_CONF of `tare`, whose environment the program had; NULL: not set, or not known. */
static char *conf_of(const char *folder)
{
	static const char *const names[] = { "environment.PYTORCH_CUDA_ALLOC_CONF", "environment.PYTORCH_ALLOC_CONF" };
	const struct tare_json_value *described;
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };
	const char *conf = NULL;

	tare_description_read(&arena, folder, &described, NULL);
	for (int i = 0; i < 2 && !conf; i++)
		conf = tare_json_get_str(described, names[i]);
	return conf ? tare_xstrdup(conf) : NULL;
}

static void read_all(struct tare_whatif_reader *r)
{
	struct tare_event e;

	while (!r->rc && tare_recording_next(r->recording, &e))
		if (e.process && e.process->role == TARE_ROLE_PROGRAM)
			read_event(r, &e);
	for (size_t i = 0; i < r->count; i++) {
		flush(r, &r->allocators[i]);
		tare_whatif_end(r, &r->allocators[i]);
	}
}

int tare_whatif_recording(struct tare_trace *t, struct tare_recording *recording, const char *folder,
                          const struct tare_whatif_reading *reading, struct tare_err *err)
{
	struct tare_whatif_reader r = {
		.t = t, .recording = recording, .most = reading->most, .split = reading->split, .err = err
	};
	int rc;

	tare_trace_begin(t);
	t->is_recording = true;
	t->finds_waits = reading->finds_waits;
	t->conf = conf_of(folder);
	read_all(&r);
	if (!r.rc && !t->device_count)
		r.rc = tare_err_set(err, TARE_E_NOT_FOUND, "%s: no process in it has blocks of PyTorch's on a GPU", folder);
	rc = tare_trace_end(t, r.rc);
	tare_whatif_reader_free(&r);
	return rc;
}
