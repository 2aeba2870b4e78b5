/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory snapshot as torch.cuda.memory._dump_snapshot() writes it, for https://docs.pytorch.org/memory_viz and
 * torch.cuda._memory_viz. Segments of PyTorch's pool with their blocks, and what is outside of it as segments of their own, so that all
 * segments of a GPU sum to what is in use on it.
 */
#include "base/comparator.h"
#include "base/xalloc.h"
#include "export/memory_viz_values.h"

#include <stdlib.h>
#include <string.h>

/* Where segments lie that have no address: above every GPU's, and below where a page has to count otherwise. */
#define ROWS_AT (UINT64_C(1) << 52)

/* ---- segments ---- */

static void open_segment(struct tare_viz *w, int device, const struct tare_pool_segment *s, uint64_t address,
                         int64_t live)
{
	bool is_small = s->bytes == 2 << 20 && !s->is_expandable;

	tare_pickler_open(&w->p, '{');
	tare_viz_key_uint(w, "device", (uint64_t)tare_viz_number_of(w->x, device));
	tare_viz_key_uint(w, "address", address);
	tare_viz_key_uint(w, "total_size", (uint64_t)s->bytes);
	tare_viz_key_uint(w, "allocated_size", (uint64_t)live);
	tare_viz_key_uint(w, "active_size", (uint64_t)live);
	tare_viz_key_uint(w, "requested_size", (uint64_t)live);
	tare_viz_key_uint(w, "stream", s->stream.id);
	tare_viz_key_text(w, "segment_type", is_small ? "small" : "large");
	tare_pickler_text(&w->p, "segment_pool_id");
	tare_pickler_uint(&w->p, s->graph_pool);
	tare_pickler_uint(&w->p, 0);
	tare_pickler_pair(&w->p);
	tare_pickler_text(&w->p, "is_expandable");
	tare_pickler_flag(&w->p, s->is_expandable);
}

static void open_block(struct tare_viz *w, uint64_t address, uint64_t size, bool is_live)
{
	tare_pickler_open(&w->p, '{');
	tare_viz_key_uint(w, "address", address);
	tare_viz_key_uint(w, "size", size);
	tare_viz_key_uint(w, "requested_size", is_live ? size : 0);
	tare_viz_key_text(w, "state", is_live ? "active_allocated" : "inactive");
}

static void add_free(struct tare_viz *w, uint64_t address, uint64_t end)
{
	if (address >= end)
		return;
	open_block(w, address, end - address, false);
	tare_viz_add_stack(w, NULL);
	tare_pickler_close(&w->p, '}');
}

/* The live blocks that begin in the segment and lie in it, from `first` on; returns their number. */
static size_t blocks_in(const struct tare_viz *w, int device, const struct tare_pool_segment *s, size_t *first,
                        int64_t *bytes)
{
	const struct tare_export_blocks *b = w->x->blocks;
	uint64_t end = s->address + (uint64_t)s->bytes;
	size_t at = 0, to = b->live_nr;

	while (at < to) { /* the first at or behind the segment's begin */
		size_t middle = at + (to - at) / 2;
		const struct tare_export_block *l = &b->live[middle];
		bool is_before = l->device != device ? l->device < device
		                 : l->pid != s->pid  ? l->pid < s->pid
		                                     : l->address < s->address;

		at = is_before ? middle + 1 : at;
		to = is_before ? to : middle;
	}
	*first = at;
	for (*bytes = 0; at < b->live_nr && b->live[at].device == device && b->live[at].pid == s->pid &&
	                 b->live[at].address < end && b->live[at].size <= end - b->live[at].address;
	     at++)
		*bytes += (int64_t)b->live[at].size;
	return at - *first;
}

static void add_segment(struct tare_viz *w, int device, const struct tare_pool_segment *s)
{
	uint64_t begin = tare_viz_address_of(w, s->pid, s->address), at = begin;
	size_t first, nr;
	int64_t live;

	nr = blocks_in(w, device, s, &first, &live);
	open_segment(w, device, s, begin, live);
	tare_viz_add_stack(w, NULL);
	tare_pickler_text(&w->p, "blocks");
	tare_pickler_open(&w->p, '[');
	for (size_t i = 0; i < nr; i++) {
		const struct tare_export_block *b = &w->x->blocks->live[first + i];
		uint64_t address = tare_viz_address_of(w, b->pid, b->address);

		add_free(w, at, address);
		open_block(w, address, b->size, true);
		tare_viz_add_stack(w, b->stack);
		tare_pickler_close(&w->p, '}');
		at = address + b->size;
	}
	add_free(w, at, begin + (uint64_t)s->bytes);
	tare_pickler_close(&w->p, ']');
	tare_pickler_close(&w->p, '}');
	w->pool += s->bytes;
	w->astray -= nr;
}

TARE_COMPARATOR(by_address, struct tare_pool_segment, TARE_RISING(pid) TARE_RISING(address))

/* What is mapped side by side is one segment to PyTorch, and a block may lie in several mappings. */
static void add_segments(struct tare_viz *w, int device)
{
	const struct tare_device_ledger *d = &w->x->ledger->devices[device];
	struct tare_pool_segment *s = tare_xcalloc((size_t)d->segment_nr + 1, sizeof(*s));

	for (int i = 0; i < d->segment_nr; i++)
		s[i] = d->segments[i];
	TARE_SORT(s, d->segment_nr, by_address);
	for (int i = 0; i < d->segment_nr; i++) {
		const struct tare_pool_segment *next = &s[i + 1];

		if (i + 1 < d->segment_nr && s[i].is_expandable && next->is_expandable && s[i].pid == next->pid &&
		    s[i].graph_pool == next->graph_pool && s[i].address + (uint64_t)s[i].bytes == next->address) {
			s[i + 1].bytes += s[i].bytes;
			s[i + 1].address = s[i].address;
			s[i + 1].stream = s[i].stream;
		} else {
			add_segment(w, device, &s[i]);
		}
	}
	free(s);
}

/* A stack of the report as a segment that is one block. */
static void add_row(struct tare_viz *w, int device, const struct tare_export_sample *sample, int64_t bytes)
{
	const struct tare_pool_segment s = { .bytes = bytes };
	uint64_t address = w->next_row;

	open_segment(w, device, &s, address, bytes);
	tare_viz_add_stack(w, NULL);
	tare_pickler_text(&w->p, "blocks");
	tare_pickler_open(&w->p, '[');
	open_block(w, address, (uint64_t)bytes, true);
	tare_pickler_text(&w->p, "frames");
	tare_pickler_open(&w->p, '[');
	if (!sample)
		tare_viz_add_frame(w, "in PyTorch's pool, in segments that are not known", "tare", 0);
	for (uint32_t i = sample ? sample->frame_nr : 0; i--;) {
		const struct tare_export_frame *f = &w->x->stacks->frames[sample->frames[i]];

		tare_viz_add_frame(w, f->function, f->file[0] ? f->file : "tare", f->line);
	}
	tare_pickler_close(&w->p, ']');
	tare_pickler_close(&w->p, '}');
	tare_pickler_close(&w->p, ']');
	tare_pickler_close(&w->p, '}');
	w->next_row += ((uint64_t)bytes + (2 << 20) - 1) >> 21 << 21;
}

static void add_rows(struct tare_viz *w, struct tare_export *x, int device)
{
	int64_t pool = 0;

	for (size_t i = 0; i < x->stacks->nr; i++) {
		const struct tare_export_sample *s = &x->stacks->samples[i];

		if (s->device != &x->ledger->devices[device])
			continue;
		if (s->is_of_pool)
			pool += s->bytes;
		else if (s->bytes > 0)
			add_row(w, device, s, s->bytes);
		else if (s->bytes < 0)
			tare_export_note(x, "%lld bytes that are explained beyond what is in use have no segment",
			                 (long long)-s->bytes);
	}
	if (pool > w->pool)
		add_row(w, device, NULL, pool - w->pool);
	else if (pool < w->pool)
		tare_export_note(x, "segments have %lld bytes more than the rows of the pool", (long long)(w->pool - pool));
	w->pool = 0;
}

/* ---- history ---- */

static void add_event(struct tare_viz *w, const struct tare_block_event *e, const char *action)
{
	tare_pickler_open(&w->p, '{');
	tare_viz_key_text(w, "action", action);
	tare_viz_key_uint(w, "addr", tare_viz_address_of(w, e->pid, e->address));
	tare_viz_key_uint(w, "size", e->size);
	tare_viz_key_uint(w, "stream", 0);
	tare_pickler_text(&w->p, "time_us");
	tare_pickler_int(&w->p, (w->x->began_ns + e->t_ns) / 1000);
	tare_viz_add_stack(w, e->stack);
	tare_pickler_close(&w->p, '}');
}

static void add_trace(struct tare_viz *w, int number)
{
	static const char *const actions[] = {
		[TARE_BLOCK_ALLOC] = "alloc",
		[TARE_BLOCK_FREE] = "free_requested",
		[TARE_BLOCK_SEGMENT_ALLOC] = "segment_alloc",
		[TARE_BLOCK_SEGMENT_FREE] = "segment_free",
		[TARE_BLOCK_SEGMENT_MAP] = "segment_map",
		[TARE_BLOCK_SEGMENT_UNMAP] = "segment_unmap",
	};

	tare_pickler_open(&w->p, '[');
	for (size_t i = 0; i < w->x->blocks->nr; i++) {
		const struct tare_block_event *e = &w->x->blocks->events[i];

		if (tare_viz_number_of(w->x, e->device) != number || !tare_viz_is_shown(w->x, e->device))
			continue;
		add_event(w, e, actions[e->action]);
		if (e->action == TARE_BLOCK_FREE)
			add_event(w, e, "free_completed");
	}
	tare_pickler_close(&w->p, ']');
}

static void add_notes(struct tare_viz *w, struct tare_export *x, bool is_empty)
{
	if (is_empty)
		tare_export_note(
			x, "no GPU and no tensors are in the recording, and that page shows nothing else: the file is empty; "
			   "pprof and speedscope show the heap");
	if (x->blocks->dropped)
		tare_export_note(x, "%zu earlier events of PyTorch's allocator are not in the file: its page shows no more",
		                 x->blocks->dropped);
	if (w->astray)
		tare_export_note(x, "%llu live blocks lie in no segment that is known", (unsigned long long)w->astray);
	tare_export_note_stacks(x);
	tare_pickler_text(&w->p, "tare");
	tare_pickler_open(&w->p, '{');
	tare_viz_key_text(w, "title", x->title);
	tare_viz_key_text(w, "at", x->ledger->at);
	tare_viz_key_text(w, "notes", tare_str_text(&x->notes));
	tare_pickler_close(&w->p, '}');
}

int tare_export_memory_viz(struct tare_str *out, struct tare_export *x, struct tare_err *err)
{
	struct tare_viz w = { .x = x, .next_row = ROWS_AT, .astray = x->blocks->live_nr };
	int most = -1;

	(void)err;
	tare_pickler_begin(&w.p, out);
	tare_pickler_open(&w.p, '{');
	tare_pickler_text(&w.p, "segments");
	tare_pickler_open(&w.p, '[');
	for (int i = 0; i < x->ledger->device_nr; i++) {
		if (!tare_viz_is_shown(x, i))
			continue;
		add_segments(&w, i);
		add_rows(&w, x, i);
		most = tare_viz_number_of(x, i) > most ? tare_viz_number_of(x, i) : most;
	}
	tare_pickler_close(&w.p, ']');
	tare_pickler_text(&w.p, "device_traces");
	tare_pickler_open(&w.p, '[');
	for (int number = 0; number <= most; number++)
		add_trace(&w, number);
	tare_pickler_close(&w.p, ']');
	tare_pickler_text(&w.p, "allocator_settings");
	tare_pickler_open(&w.p, '{');
	tare_pickler_close(&w.p, '}');
	tare_pickler_text(&w.p, "external_annotations");
	tare_pickler_open(&w.p, '[');
	tare_pickler_close(&w.p, ']');
	add_notes(&w, x, most < 0);
	tare_pickler_close(&w.p, '}');
	tare_pickler_end(&w.p);
	tare_map_free(&w.stacks);
	return 0;
}
