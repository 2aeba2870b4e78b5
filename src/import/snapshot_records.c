/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace from its begin to its end: what was there before, the events of all GPUs in order of time, and at the end what is
 * there as the file says, wherever that does not follow from the events.
 */
#include "import/snapshot_records.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>

#define TIME_MAX_US (INT64_C(1) << 52) /* later is no time */
#define ORDER_NS    1000000            /* from one event to the next of a snapshot that has no times */
#define AFTER_NS    100000             /* the program went on when the snapshot was taken */

/* Events of a GPU, or annotations: each in its own order, and all of them merged by time. */
struct lane {
	struct tare_snapshot_gpu *gpu; /* NULL: annotations */
	size_t at, count;
	size_t mallocs;
	int64_t last_us;
};

struct teller {
	struct tare_snapshot_world world;
	struct lane *lanes;
	size_t lane_count;
	int64_t first_us;
	struct tare_map open; /* name of an annotation → its number */
	uint64_t annotations;
	struct tare_snapshot_told *told;
};

/* ---- times ---- */

static int64_t file_time(const struct teller *c, const struct lane *lane)
{
	int64_t us =
		lane->gpu ? tare_times_at(&lane->gpu->trace->times, lane->at) : c->world.trace->annotations[lane->at].time_us;

	return us > 0 && us < TIME_MAX_US ? us : 0;
}

/* Of what a lane tells next: not before what it told last. */
static int64_t time_of(const struct teller *c, const struct lane *lane)
{
	int64_t us = file_time(c, lane);

	return us > lane->last_us ? us : lane->last_us;
}

static struct lane *earliest(struct teller *c)
{
	struct lane *first = NULL;

	for (size_t i = 0; i < c->lane_count; i++) {
		struct lane *lane = &c->lanes[i];

		if (lane->at < lane->count && (!first || time_of(c, lane) < time_of(c, first)))
			first = lane;
	}
	return first;
}

/* The clock stands at the next thing that is told. */
static void set_clock(struct teller *c, struct lane *lane)
{
	int64_t ns;

	lane->last_us = time_of(c, lane);
	ns = lane->last_us > c->first_us ? (lane->last_us - c->first_us) * 1000 : 0;
	if (!c->first_us)
		ns = c->world.now_ns + ORDER_NS;
	if (ns > c->world.now_ns)
		c->world.now_ns = ns;
}

/* ---- the begin ---- */

TARE_COMPARATOR_OF_POINTERS(by_pool, struct tare_trace_segment, TARE_RISING(pool) TARE_RISING(address))

static void tell_start(struct tare_snapshot_gpu *g)
{
	const struct tare_trace_device *d = g->trace;
	const struct tare_trace_segment **sorted = tare_xcalloc(d->start_segment_count + 1, sizeof(*sorted));

	for (size_t i = 0; i < d->start_segment_count; i++)
		sorted[i] = &d->start_segments[i];
	TARE_SORT(sorted, d->start_segment_count, by_pool);
	for (size_t i = 0; i < d->start_segment_count; i++) {
		tare_snapshot_world_enter_pool(g, sorted[i]->pool, sorted[i]->stream);
		tare_snapshot_world_segment(g, sorted[i], 0);
	}
	tare_snapshot_world_enter_pool(g, 0, 0);
	free(sorted);
	for (size_t i = 0; i < d->start_count; i++)
		if (!d->starts[i].is_pending)
			tare_snapshot_world_block(g, d->starts[i].address, d->starts[i].size,
			                          d->start_segments[d->starts[i].segment].stream, d->starts[i].stack);
}

/* ---- events ---- */

/* What a driver call is about. */
static struct tare_trace_segment segment_of(const struct tare_trace *t, const struct tare_trace_device *d,
                                            const struct tare_trace_event *e)
{
	enum tare_trace_kind kind = tare_trace_kind(e);
	const struct tare_trace_segment *in = NULL;

	if (kind == TARE_TRACE_MAP || kind == TARE_TRACE_UNMAP)
		in = tare_trace_reservation(d, tare_trace_address(t, e));
	return (struct tare_trace_segment){ .address = tare_trace_address(t, e),
		                                .size = tare_trace_size(e),
		                                .is_expandable = kind == TARE_TRACE_MAP || kind == TARE_TRACE_UNMAP,
		                                .is_small = in && in->is_small };
}

static void tell_event(struct tare_snapshot_gpu *g, struct lane *lane)
{
	const struct tare_trace *t = g->world->trace;
	const struct tare_trace_device *d = g->trace;
	const struct tare_trace_event *e = &d->events[lane->at];
	enum tare_trace_kind kind = tare_trace_kind(e);
	uint64_t stream = t->streams[tare_trace_stream(e)];
	struct tare_trace_segment s;

	switch (kind) {
	case TARE_TRACE_MALLOC:
		tare_snapshot_world_enter_pool(g, tare_trace_pool(d, lane->at), stream);
		tare_snapshot_world_block(g, tare_trace_address(t, e), d->sizes[lane->mallocs++], stream, tare_trace_stack(e));
		return;
	case TARE_TRACE_FREE:
	case TARE_TRACE_REQUESTED:
	case TARE_TRACE_COMPLETED: /* of what was requested, nothing is left to be told */
		tare_snapshot_world_block_gone(g, tare_trace_address(t, e));
		return;
	case TARE_TRACE_SEGMENT_ALLOC:
	case TARE_TRACE_MAP:
		s = segment_of(t, d, e);
		tare_snapshot_world_enter_pool(g, tare_trace_pool(d, lane->at), stream);
		tare_snapshot_world_segment(g, &s, tare_trace_stack(e));
		return;
	case TARE_TRACE_SEGMENT_FREE:
	case TARE_TRACE_UNMAP:
		s = segment_of(t, d, e);
		tare_snapshot_world_segment_gone(g, &s);
		return;
	case TARE_TRACE_OOM:
		tare_snapshot_world_out_of_memory(g, tare_trace_size(e), tare_trace_address(t, e), tare_trace_stack(e));
		return;
	}
}

/* The end of an annotation is that of the last of its name. */
static void tell_annotation(struct teller *c, const struct tare_snapshot_annotation *a)
{
	const char *name = tare_snapshot_text(c->world.trace->snapshot, a->name);
	uint64_t id = 0;

	if (!a->is_end) {
		*tare_map_put(&c->open, a->name, NULL) = ++c->annotations;
		tare_snapshot_world_annotate(&c->world, TARE_PHASE_BEGIN, name, c->annotations);
	} else if (tare_map_remove(&c->open, a->name, &id)) {
		tare_snapshot_world_annotate(&c->world, TARE_PHASE_END, NULL, id);
	}
}

/*
 * ---- the end ----
 *
 * What is there and should not be goes, and what is not there comes. Where events contradict the end, or each other, as
 * blocks outside of all segments do, nobody knows what the ledger makes of them: then all of it goes and comes.
 */

/* Addresses of `known` that are not in `wanted`, or with another value; the caller frees them. */
static uint64_t *wrong_of(const struct tare_map *known, const struct tare_map *wanted, size_t *count)
{
	const struct tare_map_slot *slot;
	uint64_t *wrong = NULL;
	size_t cap = 0;

	*count = 0;
	for (size_t at = 0; (slot = tare_map_next(known, &at));) {
		const uint64_t *bytes = tare_map_get(wanted, slot->key);

		if (bytes && *bytes == slot->value)
			continue;
		TARE_APPEND(wrong, *count, cap) = slot->key;
	}
	return wrong;
}

static void remove_wrong_blocks(struct teller *c, struct tare_snapshot_gpu *g)
{
	const struct tare_trace_device *d = g->trace;
	TARE_FREED_BY(tare_map_free) struct tare_map wanted = { 0 };
	size_t count;
	uint64_t *wrong;

	for (size_t i = 0; i < d->block_count && !d->contradictions; i++)
		if (d->blocks[i].state == TARE_SNAPSHOT_ALLOCATED)
			*tare_map_put(&wanted, d->blocks[i].address, NULL) = d->blocks[i].size;
	wrong = wrong_of(&g->blocks, &wanted, &count);
	for (size_t i = 0; i < count; i++)
		tare_snapshot_world_block_gone(g, wrong[i]);
	c->told->corrected += count;
	free(wrong);
}

static void remove_wrong_pieces(struct teller *c, struct tare_snapshot_gpu *g)
{
	const struct tare_trace_device *d = g->trace;
	TARE_FREED_BY(tare_map_free) struct tare_map wanted = { 0 };
	size_t count;
	uint64_t *wrong;

	for (size_t i = 0; i < d->segment_count && !d->contradictions; i++)
		for (uint64_t at = d->segments[i].address, bytes; (bytes = tare_snapshot_world_piece(g, &d->segments[i], at));
		     at += bytes)
			*tare_map_put(&wanted, at, NULL) = tare_snapshot_piece_word(bytes, d->segments[i].is_expandable);
	wrong = wrong_of(&g->pieces, &wanted, &count);
	for (size_t i = 0; i < count; i++)
		tare_snapshot_world_piece_gone(g, wrong[i]);
	c->told->corrected += count;
	free(wrong);
}

static void add_missing(struct teller *c, struct tare_snapshot_gpu *g)
{
	const struct tare_trace_device *d = g->trace;
	size_t had = g->pieces.count;

	for (size_t i = 0; i < d->segment_count; i++)
		tare_snapshot_world_segment(g, &d->segments[i], 0);
	c->told->corrected += g->pieces.count - had;
	for (size_t i = 0; i < d->segment_count; i++)
		for (size_t k = 0; k < d->segments[i].block_count; k++) {
			const struct tare_snapshot_block *b = &d->blocks[d->segments[i].first_block + k];

			if (b->state != TARE_SNAPSHOT_ALLOCATED || !b->size || tare_map_get(&g->blocks, b->address))
				continue;
			tare_snapshot_world_block(g, b->address, b->size, d->segments[i].stream, b->stack);
			c->told->corrected++;
		}
}

static void tell_end(struct teller *c, struct tare_snapshot_gpu *g)
{
	tare_snapshot_world_enter_pool(g, 0, 0);
	remove_wrong_blocks(c, g);
	remove_wrong_pieces(c, g);
	add_missing(c, g);
}

/* ---- all ---- */

static void tell_all(struct teller *c)
{
	const struct tare_trace *t = c->world.trace;

	for (size_t i = 0; i < t->device_count; i++)
		tell_start(&c->world.gpus[i]);
	for (struct lane *lane; (lane = earliest(c)); lane->at++) {
		set_clock(c, lane);
		if (lane->gpu)
			tell_event(lane->gpu, lane);
		else
			tell_annotation(c, &t->annotations[lane->at]);
	}
	for (size_t i = 0; i < t->device_count; i++)
		tell_end(c, &c->world.gpus[i]);
	tare_import_until(c->world.out, c->world.now_ns + AFTER_NS);
}

static void begin(struct teller *c, const struct tare_trace *t, struct tare_import_out *out)
{
	int64_t us;

	c->lanes = tare_xcalloc(t->device_count + 1, sizeof(*c->lanes));
	c->lane_count = t->device_count + 1;
	tare_snapshot_world_begin(&c->world, t, out);
	for (size_t i = 0; i < t->device_count; i++)
		c->lanes[i] = (struct lane){ .gpu = &c->world.gpus[i], .count = t->devices[i].count };
	c->lanes[t->device_count] = (struct lane){ .count = t->annotation_count };
	for (size_t i = 0; i < c->lane_count; i++)
		if (c->lanes[i].count && (us = file_time(c, &c->lanes[i])) && (!c->first_us || us < c->first_us))
			c->first_us = us;
}

void tare_snapshot_tell(const struct tare_trace *trace, struct tare_import_out *out, struct tare_snapshot_told *told)
{
	struct teller c = { .told = told };

	*told = (struct tare_snapshot_told){ 0 };
	begin(&c, trace, out);
	tell_all(&c);
	told->graphs = c.world.graphs;
	told->lineless = c.world.lineless;
	tare_map_free(&c.open);
	free(c.lanes);
	tare_snapshot_world_end(&c.world);
}
