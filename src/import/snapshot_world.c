/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as tare run would have made them: a segment is memory that PyTorch's library asked the driver for, a block is
 * a tensor's. A snapshot has no threads: each GPU is told as if one thread of the program had used it, and one of autograd.
 */
#include "import/snapshot_records.h"

#include "base/number.h"
#include "base/xalloc.h"
#include "import/torch_library.h"

#include <stdlib.h>

/* Sizes in which PyTorch maps expandable segments. */
#define SMALL_GRANULE (UINT64_C(2) << 20)
#define LARGE_GRANULE (UINT64_C(20) << 20)

#define PIECES_MAX 250000

enum { OUT_OF_MEMORY = 2 /* CUresult */ };

static uint32_t thread_of(const struct tare_snapshot_gpu *g, bool is_backward)
{
	return 2 * (uint32_t)g->device + 1 + is_backward;
}

/* What is mapped or unmapped by an event; size 0: nothing. */
static struct tare_trace_segment mapped_by(const struct tare_trace *t, const struct tare_trace_device *d,
                                           const struct tare_trace_event *e)
{
	enum tare_trace_kind kind = tare_trace_kind(e);
	struct tare_trace_segment s = { .address = tare_trace_address(t, e) };
	const struct tare_trace_segment *in;

	if (kind != TARE_TRACE_MAP && kind != TARE_TRACE_UNMAP)
		return s;
	in = tare_trace_reservation(d, s.address);
	s.size = tare_trace_size(e);
	s.is_small = in && in->is_small;
	s.address -= in ? in->address : 0;
	return s;
}

/*
 * Large parts of expandable segments are mapped and unmapped in multiples of one size, in this process. A file that has
 * more than PIECES_MAX of them is told in larger ones.
 */
static void find_granules(struct tare_snapshot_gpu *g)
{
	const struct tare_trace_device *d = g->trace;
	uint64_t large = LARGE_GRANULE, pieces = 0, times;

	for (size_t i = 0; i < d->count; i++) {
		struct tare_trace_segment s = mapped_by(g->world->trace, d, &d->events[i]);

		if (s.size && !s.is_small)
			large = tare_common_divisor(tare_common_divisor(large, s.size), s.address);
		pieces += s.size / (s.is_small ? SMALL_GRANULE : LARGE_GRANULE);
	}
	for (size_t i = 0; i < d->segment_count; i++)
		if (d->segments[i].is_expandable)
			pieces += d->segments[i].size / (d->segments[i].is_small ? SMALL_GRANULE : LARGE_GRANULE);
	times = 1 + pieces / PIECES_MAX;
	g->small_granule = times * SMALL_GRANULE;
	g->large_granule = times * (large < SMALL_GRANULE ? SMALL_GRANULE : large);
}

void tare_snapshot_world_begin(struct tare_snapshot_world *w, const struct tare_trace *trace,
                               struct tare_import_out *out)
{
	*w = (struct tare_snapshot_world){ .out = out, .trace = trace };
	tare_snapshot_lines_begin(&w->lines, trace->snapshot, out);
	tare_torch_library_name(out);
	w->gpus = tare_xcalloc(trace->device_count + 1, sizeof(*w->gpus));
	for (size_t i = 0; i < trace->device_count; i++) {
		w->gpus[i] = (struct tare_snapshot_gpu){
			.world = w,
			.trace = &trace->devices[i],
			.device = tare_import_device(out, "", (int)trace->devices[i].device, TARE_NOT_KNOWN),
		};
		find_granules(&w->gpus[i]);
	}
}

void tare_snapshot_world_end(struct tare_snapshot_world *w)
{
	for (size_t i = 0; i < w->trace->device_count; i++) {
		tare_map_free(&w->gpus[i].blocks);
		tare_map_free(&w->gpus[i].pieces);
	}
	free(w->gpus);
	tare_snapshot_lines_end(&w->lines);
}

/* No two records have one time, so their order is that in which they are told. */
static int64_t tick(struct tare_snapshot_world *w)
{
	return w->now_ns++;
}

/* ---- blocks ---- */

static void say_stream(struct tare_snapshot_gpu *g, uint64_t stream, uint32_t tid)
{
	struct tare_rec_stream rec = { .head = { .kind = TARE_KIND_STREAM },
		                           .id = stream,
		                           .tid = tid,
		                           .device = (int16_t)g->device,
		                           .ids = TARE_STREAM_IDS_ODD };

	tare_import_add(g->world->out, tick(g->world), &rec, sizeof(rec), NULL, 0);
}

void tare_snapshot_world_block(struct tare_snapshot_gpu *g, uint64_t address, uint64_t bytes, uint64_t stream,
                               uint32_t stack)
{
	struct tare_snapshot_world *w = g->world;
	bool is_backward = tare_snapshot_lines_are_backward(&w->lines, stack), is_new;
	struct tare_rec_tensor rec = { .head = { .kind = TARE_KIND_TENSOR },
		                           .block = address,
		                           .bytes = (int64_t)bytes,
		                           .tid = thread_of(g, is_backward),
		                           .device = (int16_t)g->device,
		                           .python = tare_snapshot_lines_of(&w->lines, stack) };
	uint64_t *at;

	if (!bytes)
		return;
	tare_snapshot_world_block_gone(g, address); /* its end is not in the file */
	at = tare_map_put(&g->blocks, address, &is_new);
	*at = bytes;
	g->allocated += bytes;
	w->lineless += !rec.python && !is_backward;
	rec.flags = stream ? TARE_TENSOR_ON_STREAM : TARE_TENSOR_ON_DEFAULT;
	if (is_backward)
		rec.flags |= TARE_TENSOR_BACKWARD;
	if (stream && (g->stream != stream || is_backward))
		say_stream(g, stream, rec.tid);
	if (!is_backward && stream)
		g->stream = stream;
	tare_import_add(w->out, tick(w), &rec, sizeof(rec), NULL, 0);
}

void tare_snapshot_world_block_gone(struct tare_snapshot_gpu *g, uint64_t address)
{
	struct tare_rec_tensor rec = {
		.head = { .kind = TARE_KIND_TENSOR }, .block = address, .tid = thread_of(g, false), .device = (int16_t)g->device
	};
	uint64_t bytes;

	if (!tare_map_remove(&g->blocks, address, &bytes))
		return;
	g->allocated -= bytes;
	rec.bytes = -(int64_t)bytes;
	tare_import_add(g->world->out, tick(g->world), &rec, sizeof(rec), NULL, 0);
}

/* ---- segments ---- */

static struct tare_rec_event call(const struct tare_snapshot_gpu *g, enum tare_effect effect, enum tare_class class,
                                  const char *api)
{
	struct tare_rec_event rec =
		tare_torch_library_call(effect, class, (int)g->device, tare_import_string(g->world->out, api));

	rec.tid = thread_of(g, false);
	return rec;
}

static void add_call(struct tare_snapshot_gpu *g, struct tare_rec_event *rec)
{
	tare_import_add(g->world->out, tick(g->world), rec, sizeof(*rec), NULL, 0);
}

uint64_t tare_snapshot_world_piece(const struct tare_snapshot_gpu *g, const struct tare_trace_segment *s, uint64_t at)
{
	uint64_t left = s->address + s->size - at, granule;

	if (!s->is_expandable)
		return at == s->address ? s->size : 0;
	granule = s->is_small ? g->small_granule : g->large_granule;
	return left < granule ? left : granule;
}

/* Where a call was made, as far as the file says. */
struct place {
	uint32_t python;
	bool is_backward;
};

static struct place place_of(struct tare_snapshot_lines *lines, uint32_t stack)
{
	struct place place = { tare_snapshot_lines_of(lines, stack), tare_snapshot_lines_are_backward(lines, stack) };

	if (!place.python && !place.is_backward)
		place.python = tare_snapshot_lines_of_none(lines);
	return place;
}

static void set_place(struct tare_rec_event *rec, const struct place *place)
{
	rec->python = place->python;
	if (place->is_backward)
		rec->flags |= TARE_EVENT_BACKWARD;
}

/* Its handle is given back at once, and the mapping keeps the memory: so it goes with that. */
static void map_piece(struct tare_snapshot_gpu *g, uint64_t at, uint64_t bytes, const struct place *place)
{
	struct tare_rec_event memory = call(g, TARE_EFFECT_NEW, TARE_CLASS_VMM, "cuMemCreate");
	struct tare_rec_event mapping = call(g, TARE_EFFECT_NEW, TARE_CLASS_VMM_MAP, "cuMemMap");
	struct tare_rec_event release = call(g, TARE_EFFECT_DEL, TARE_CLASS_VMM, "cuMemRelease");

	set_place(&memory, place);
	set_place(&mapping, place);
	memory.handle = mapping.handle = mapping.parent = release.handle = at;
	memory.asked = memory.granted = mapping.asked = mapping.granted = bytes;
	add_call(g, &memory);
	add_call(g, &mapping);
	add_call(g, &release);
}

static void allocate(struct tare_snapshot_gpu *g, uint64_t at, uint64_t bytes, const struct place *place)
{
	struct tare_rec_event rec = call(g, TARE_EFFECT_NEW, TARE_CLASS_DEVICE, "cudaMalloc");

	rec.handle = at;
	rec.asked = rec.granted = bytes;
	set_place(&rec, place);
	add_call(g, &rec);
}

static void release(struct tare_snapshot_gpu *g, uint64_t at, uint64_t bytes, bool is_expandable)
{
	struct tare_rec_event rec = is_expandable ? call(g, TARE_EFFECT_DEL, TARE_CLASS_VMM_MAP, "cuMemUnmap")
	                                          : call(g, TARE_EFFECT_DEL, TARE_CLASS_DEVICE, "cudaFree");

	rec.handle = at;
	rec.asked = rec.granted = bytes;
	add_call(g, &rec);
}

void tare_snapshot_world_segment(struct tare_snapshot_gpu *g, const struct tare_trace_segment *s, uint32_t stack)
{
	const struct place place = place_of(&g->world->lines, stack);

	for (uint64_t at = s->address, bytes; (bytes = tare_snapshot_world_piece(g, s, at)); at += bytes) {
		bool is_new;
		uint64_t *known = tare_map_put(&g->pieces, at, &is_new);

		if (!is_new) /* it is there already: the file contradicts itself */
			continue;
		*known = tare_snapshot_piece_word(bytes, s->is_expandable);
		g->reserved += bytes;
		(s->is_expandable ? map_piece : allocate)(g, at, bytes, &place);
	}
}

void tare_snapshot_world_piece_gone(struct tare_snapshot_gpu *g, uint64_t at)
{
	uint64_t word;

	if (!tare_map_remove(&g->pieces, at, &word))
		return;
	g->reserved -= word >> 1;
	release(g, at, word >> 1, word & 1);
}

void tare_snapshot_world_segment_gone(struct tare_snapshot_gpu *g, const struct tare_trace_segment *s)
{
	for (uint64_t at = s->address, bytes; (bytes = tare_snapshot_world_piece(g, s, at)); at += bytes)
		tare_snapshot_world_piece_gone(g, at);
}

/* ---- captures ---- */

/* An id (N, 0) is one of a graph; what torch.cuda.MemPool makes has (0, N). */
static bool is_of_graph(const struct tare_trace *t, uint32_t pool)
{
	return pool && pool < t->pool_count && t->pools[pool].a > 0;
}

static void begin_capture(struct tare_snapshot_gpu *g, const struct tare_snapshot_pool *pool)
{
	struct tare_rec_event rec = call(g, TARE_EFFECT_CHANGE, TARE_CLASS_CAPTURE, "cudaStreamBeginCapture");

	rec.stack = 0; /* not PyTorch's allocator begins it */
	rec.flags = TARE_EVENT_POOL_TOLD;
	rec.limit = TARE_GRAPH_CALL_BEGIN;
	rec.handle = g->captured;
	rec.asked = (uint64_t)pool->a;
	rec.granted = (uint64_t)pool->b;
	add_call(g, &rec);
}

static void end_capture(struct tare_snapshot_gpu *g)
{
	struct tare_rec_event rec = call(g, TARE_EFFECT_CHANGE, TARE_CLASS_CAPTURE, "cudaStreamEndCapture");

	rec.stack = 0;
	rec.limit = TARE_GRAPH_CALL_END;
	rec.handle = g->captured;
	rec.parent = ++g->world->graphs; /* any number: the file does not name graphs */
	add_call(g, &rec);
}

void tare_snapshot_world_enter_pool(struct tare_snapshot_gpu *g, uint32_t pool, uint64_t stream)
{
	const struct tare_trace *t = g->world->trace;
	uint32_t to = is_of_graph(t, pool) ? pool : 0;

	if (g->pool == to)
		return;
	if (g->pool)
		end_capture(g);
	g->pool = to;
	g->captured = stream;
	if (to)
		begin_capture(g, &t->pools[to]);
}

/* ---- moments ---- */

/* Where the device had less than was asked for, the driver refused; else the program has a limit of its own. */
static void refuse(struct tare_snapshot_gpu *g, uint64_t asked, const struct place *place)
{
	struct tare_rec_event rec = call(g, TARE_EFFECT_NEW, TARE_CLASS_DEVICE, "cudaMalloc");

	rec.flags = TARE_EVENT_FAILED;
	rec.result = OUT_OF_MEMORY;
	rec.asked = asked;
	set_place(&rec, place);
	add_call(g, &rec);
}

void tare_snapshot_world_out_of_memory(struct tare_snapshot_gpu *g, uint64_t asked, uint64_t left, uint32_t stack)
{
	struct tare_snapshot_world *w = g->world;
	const struct place place = place_of(&w->lines, stack);
	struct tare_rec_oom rec = { .head = { .kind = TARE_KIND_OOM },
		                        .asked = asked,
		                        .allocated = g->allocated,
		                        .reserved = g->reserved,
		                        .tid = thread_of(g, false),
		                        .device = (int16_t)g->device,
		                        .python = tare_snapshot_lines_of(&w->lines, stack),
		                        .free = -1,
		                        .room = TARE_NOT_KNOWN };

	if (left < asked)
		refuse(g, asked, &place);
	tare_import_add(w->out, tick(w), &rec, sizeof(rec), NULL, 0);
}

void tare_snapshot_world_annotate(struct tare_snapshot_world *w, enum tare_phase_what what, const char *name,
                                  uint64_t id)
{
	struct tare_rec_phase rec = { .head = { .kind = TARE_KIND_PHASE },
		                          .tid = 1,
		                          .what = (uint8_t)what,
		                          .source = TARE_PHASE_BY_TORCH,
		                          .name = name ? tare_import_string(w->out, name) : 0,
		                          .id = id };

	tare_import_add(w->out, tick(w), &rec, sizeof(rec), NULL, 0);
}
