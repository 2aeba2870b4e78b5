/* SPDX-License-Identifier: Apache-2.0 */
/* From samples to a history: what the moments that were kept are made up of. */
#include "ledger/history/history.h"

#include "base/comparator.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "ledger/core/fold.h"

#include <stdlib.h>
#include <string.h>

/* Bands of a device: the accounts, and of PyTorch's allocator (rule "tensors") what its segments hold. */
enum { BAND_TENSORS = TARE_ACCOUNT_NR, BAND_PARTLY, BAND_HELD, BAND_CACHED, BAND_UNEXPLAINED, BAND_NR };

static const struct tare_memory_history_band beyond[BAND_NR - TARE_ACCOUNT_NR] = {
	[BAND_TENSORS - TARE_ACCOUNT_NR] = { .key = "tensors", .label = "live tensors" },
	[BAND_PARTLY - TARE_ACCOUNT_NR] = { .key = "partly", .label = "cached beside live tensors" },
	[BAND_HELD - TARE_ACCOUNT_NR] = { .key = "held", .label = "cached for CUDA graphs" },
	[BAND_CACHED - TARE_ACCOUNT_NR] = { .key = "cached", .label = "cached, to give back", .elastic = true },
	[BAND_UNEXPLAINED - TARE_ACCOUNT_NR] = { .key = "unexplained", .label = "unexplained", .is_unexplained = true },
};

static struct tare_memory_history_band band_of(int band)
{
	if (band >= TARE_ACCOUNT_NR)
		return beyond[band - TARE_ACCOUNT_NR];
	return (struct tare_memory_history_band){ .key = tare_accounts[band].key,
		                                      .label = tare_accounts[band].label,
		                                      .elastic = tare_accounts[band].elastic };
}

/* `parts` are sums by account, and the further ones of account_now. */
static void spread(const int64_t *parts, int64_t used, int64_t bands[BAND_NR])
{
	int64_t subdivided = parts[TARE_NOW_SUBDIVIDED] + parts[TARE_NOW_SUBDIVIDED_VMM];

	memset(bands, 0, BAND_NR * sizeof(*bands));
	for (int a = 1 + TARE_ACCOUNT_NONE; a < TARE_ACCOUNT_NR; a++)
		bands[a] = parts[a];
	bands[TARE_ACCOUNT_ALLOCATION] -= parts[TARE_NOW_SUBDIVIDED];
	bands[TARE_ACCOUNT_VMM] -= parts[TARE_NOW_SUBDIVIDED_VMM];
	bands[BAND_TENSORS] = parts[TARE_BUCKET_TENSOR];
	bands[BAND_PARTLY] = parts[TARE_BUCKET_PARTLY];
	bands[BAND_HELD] = parts[TARE_BUCKET_HELD];
	bands[BAND_CACHED] = subdivided - bands[BAND_TENSORS] - bands[BAND_PARTLY] - bands[BAND_HELD];
	bands[BAND_UNEXPLAINED] = used;
	for (int i = 0; i < BAND_UNEXPLAINED; i++)
		bands[BAND_UNEXPLAINED] -= bands[i];
}

void tare_history_advance(struct tare_history_part *p, struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	int64_t until = t < f->seen_ns ? t : f->seen_ns;

	if (p->heap_lines_nr)
		tare_heap_lines_advance(p, f, d, t);
	if (!d->samples.width || t <= f->known_ns || (d->will_be_measured && !d->is_measured))
		return;
	tare_samples_hold(&d->samples, until, d->used, d->live, d->account_now);
	if (tare_step_curves_wait(p->step_curves, d->index))
		tare_history_step_device(p->step_curves, f, d, until);
}

void tare_history_used(struct tare_history_part *p, struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	tare_history_advance(p, f, d, t);
}

void tare_history_host(struct tare_history_part *p, struct tare_fold *f, int64_t t)
{
	struct tare_host_fold *h = &f->host;
	int64_t until = t < f->seen_ns ? t : f->seen_ns;

	if (!h->samples.width || t <= f->known_ns)
		return;
	tare_samples_hold(&h->samples, until, h->live, 0, h->parts);
	if (tare_step_curves_wait(p->step_curves, -1))
		tare_history_step_host(p->step_curves, f, until);
}

/* Where a history starts: if much time passes before anything happens, shortly before that. */
static int64_t start_of(const struct tare_fold *f)
{
	int64_t margin = (f->seen_ns - f->first_ns) / 20;

	if (f->known_ns > 0 || f->first_ns > f->seen_ns || f->first_ns < f->seen_ns / 3)
		return 0;
	return f->first_ns - margin > 0 ? f->first_ns - margin : 0;
}

/* Begins samples; a fold that goes on from a state has some already, of other columns. */
static void begin_samples(const struct tare_fold *f, struct tare_samples *s, int64_t start, int part_nr)
{
	bool has_parts = f->history || f->keeps_history;

	if (!has_parts)
		tare_samples_forget_parts(s);
	if (s->width)
		tare_samples_stretch(s, start, f->seen_ns);
	else
		tare_samples_begin(s, start, f->seen_ns, f->known_ns, has_parts ? part_nr : 0);
}

void tare_history_begin(struct tare_history_part *p, struct tare_fold *f)
{
	int64_t start;

	p->step_curves = f->step_curves;
	f->known_ns = INT64_MIN;
	if (f->kept && f->known_ns < f->kept->dropped_ns)
		f->known_ns = f->kept->dropped_ns;
	if (f->known_ns < 0)
		f->known_ns = INT64_MIN;
	start = start_of(f);
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			begin_samples(f, &f->devices[i]->samples, start, TARE_NOW_NR);
	begin_samples(f, &f->host.samples, start, TARE_HOST_PARTS);
	tare_heap_lines_begin(p, f);
}

/* ---- what is shown of it ---- */

/* A panel in the making: all bands of all its points. */
struct sheet {
	struct tare_arena *memory;
	struct tare_memory_history_panel *panel;
	const struct tare_samples *samples;
	int band_nr;
	struct tare_memory_history_band bands[BAND_NR]; /* room for the bands of CPUs, too */
	int64_t *cells;                                 /* by point; the peak comes last */
};

static bool is_empty(const struct sheet *s, int band)
{
	size_t rows = s->panel->point_nr + s->panel->has_peak;

	for (size_t i = 0; i < rows; i++)
		if (s->cells[i * (size_t)s->band_nr + (size_t)band])
			return false;
	return true;
}

/* Orders the bands that hold something: elastic ones behind others, and `unexplained` last. */
static void order_bands(const struct sheet *s, int *order)
{
	struct tare_memory_history_panel *p = s->panel;

	p->bands = tare_arena_alloc(s->memory, (size_t)s->band_nr * sizeof(*p->bands));
	for (int pass = 0; pass < 3; pass++)
		for (int i = 0; i < s->band_nr; i++) {
			const struct tare_memory_history_band *b = &s->bands[i];

			if ((b->is_unexplained ? 2 : b->elastic ? 1 : 0) != pass || is_empty(s, i))
				continue;
			order[p->band_nr] = i;
			p->bands[p->band_nr++] = *b;
		}
}

static const int64_t *pick(const struct sheet *s, size_t row, const int *order)
{
	int64_t *bytes = tare_arena_alloc(s->memory, (size_t)s->panel->band_nr * sizeof(*bytes) + 1);

	for (int i = 0; i < s->panel->band_nr; i++)
		bytes[i] = s->cells[row * (size_t)s->band_nr + (size_t)order[i]];
	return bytes;
}

static void finish_sheet(struct sheet *s)
{
	struct tare_memory_history_panel *p = s->panel;
	int order[BAND_NR];

	order_bands(s, order);
	for (size_t i = 0; i < p->point_nr; i++)
		p->points[i].bytes = pick(s, i, order);
	if (p->has_peak)
		p->peak.bytes = pick(s, p->point_nr, order);
	free(s->cells);
}

/* Room for the cells of every sample that was kept, and for those of the peak. */
static void start_sheet(struct sheet *s, size_t *places)
{
	struct tare_memory_history_panel *p = s->panel;

	p->point_nr = tare_samples_list(s->samples, places);
	p->points = tare_arena_alloc(s->memory, p->point_nr * sizeof(*p->points) + 1);
	for (size_t i = 0; i < p->point_nr; i++) {
		const struct tare_sample *sample = tare_sample_at(s->samples, places[i]);

		p->points[i] = (struct tare_memory_history_point){ .t_ns = sample->t, .used = sample->used };
	}
	s->cells = tare_xcalloc((p->point_nr + 1) * (size_t)s->band_nr, sizeof(*s->cells));
}

static void at_moment(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                      int64_t parts[TARE_NOW_NR])
{
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device) {
		const struct tare_bucket *b = &f->buckets[i];
		int64_t bytes = tare_fold_amount(f, b, m)->bytes;

		parts[b->account] += bytes;
		if (b->is_subdivided)
			parts[tare_now_subdivided(b)] += bytes;
	}
}

static void add_device(struct tare_fold *f, const struct tare_device_fold *d, struct sheet *s, size_t *places)
{
	int64_t parts[TARE_NOW_NR] = { 0 };
	struct tare_memory_history_panel *p = s->panel;

	s->samples = &d->samples;
	s->band_nr = BAND_NR;
	for (int i = 0; i < BAND_NR; i++)
		s->bands[i] = band_of(i);
	start_sheet(s, places);
	for (size_t i = 0; i < p->point_nr; i++)
		spread(tare_sample_parts(s->samples, places[i]), p->points[i].used, s->cells + i * BAND_NR);
	p->has_peak = d->has_moment[TARE_MOMENT_PEAK];
	if (p->has_peak) {
		p->peak.t_ns = d->moment_ns[TARE_MOMENT_PEAK];
		p->peak.used = d->moment_used[TARE_MOMENT_PEAK];
		at_moment(f, d, TARE_MOMENT_PEAK, parts);
		spread(parts, p->peak.used, s->cells + p->point_nr * BAND_NR);
	}
	finish_sheet(s);
}

/* Names the parts of the host's samples by their processes; several share the last part. */
static void name_parts(struct tare_fold *f, struct sheet *s)
{
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_process_fold *p = f->processes[i];
		struct tare_memory_history_band *b = p && p->host_part ? &s->bands[p->host_part - 1] : NULL;
		TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

		if (!b)
			continue;
		if (b->label)
			tare_str_add(&text, "further processes");
		else
			tare_str_addf(&text, "%s (pid %u)", p->process->program, p->process->pid);
		b->key = "tensors";
		b->label = tare_arena_strdup(s->memory, tare_str_text(&text));
	}
}

static void fill_host(struct sheet *s, size_t row, const int64_t *parts)
{
	memcpy(s->cells + row * TARE_HOST_PARTS, parts, TARE_HOST_PARTS * sizeof(*parts));
}

static void add_host(struct tare_fold *f, struct sheet *s, size_t *places)
{
	struct tare_memory_history_panel *p = s->panel;
	const struct tare_host_fold *h = &f->host;
	size_t most = 0;

	p->device = -1;
	s->samples = &h->samples;
	s->band_nr = TARE_HOST_PARTS;
	name_parts(f, s);
	start_sheet(s, places);
	for (size_t i = 0; i < p->point_nr; i++) {
		fill_host(s, i, tare_sample_parts(s->samples, places[i]));
		if (p->points[i].used > p->points[most].used)
			most = i;
	}
	p->has_peak = h->has_moment[TARE_MOMENT_HOST] && p->point_nr && p->points[most].used == h->most;
	if (p->has_peak) {
		p->peak = p->points[most];
		fill_host(s, p->point_nr, tare_sample_parts(s->samples, places[most]));
	}
	finish_sheet(s);
}

TARE_COMPARATOR(by_from, struct tare_memory_history_bounds, TARE_RISING(from_ns))

/* device -1: of tensors on the CPU */
static void add_bounds(const struct tare_fold *f, struct tare_arena *memory, int device,
                       struct tare_memory_history_panel *p)
{
	size_t nr = f->kept && f->kept->extents ? f->kept->extents->nr : 0;

	p->bounds = tare_arena_alloc(memory, nr * sizeof(*p->bounds) + 1);
	for (size_t i = 0; i < nr; i++) {
		const struct tare_extent *x = &f->kept->extents->items[i];

		if (!x->what && x->device == device && x->from_ns < f->kept->dropped_ns)
			p->bounds[p->bound_nr++] =
				(struct tare_memory_history_bounds){ x->from_ns, x->until_ns, x->low.used, x->high.used, x->high.t_ns };
	}
	TARE_SORT(p->bounds, p->bound_nr, by_from);
}

void tare_history_close(struct tare_history_part *p, struct tare_fold *f)
{
	struct tare_memory_history *out = f->history;
	struct tare_arena *memory;
	size_t *places;

	tare_heap_lines_close(p, f);
	if (!out)
		return;
	if (f->history_by_category) {
		tare_history_by_category(p, f, out);
		return;
	}
	memory = tare_xcalloc(1, sizeof(*memory));
	places = tare_xcalloc((size_t)TARE_HISTORY_COLUMNS * TARE_SAMPLE_NR, sizeof(*places));
	*out = (struct tare_memory_history){ .memory = memory,
		                                 .from_ns = f->host.samples.start,
		                                 .end_ns = f->seen_ns,
		                                 .known_ns = f->known_ns > 0 ? f->known_ns : 0 };
	out->panels = tare_arena_alloc(memory, (size_t)(f->device_nr + 1) * sizeof(*out->panels));
	for (int i = 0; i < f->device_nr; i++) {
		struct sheet s = { .memory = memory };

		if (!f->devices[i])
			continue;
		out->panel_nr++;
		s.panel = &out->panels[tare_fold_device_place(f, f->devices[i])];
		s.panel->device = tare_fold_device_place(f, f->devices[i]);
		add_device(f, f->devices[i], &s, places);
		add_bounds(f, memory, i, s.panel);
	}
	if (f->host.most) {
		struct sheet s = { .memory = memory, .panel = &out->panels[out->panel_nr++] };

		add_host(f, &s, places);
		add_bounds(f, memory, -1, s.panel);
	}
	tare_history_spans(p, out);
	free(places);
}

/*
 * Checks that no span ends before it begins, and that samples reach no further than the recording.
 */
const char *tare_history_check(const struct tare_history_part *p, const struct tare_fold *f)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].end < p->items[i].begin || !p->items[i].count)
			return "a phase ends before it begins";
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] && f->devices[i]->samples.width && f->devices[i]->samples.until > f->seen_ns &&
		    f->seen_ns > f->known_ns)
			return "the samples of a device reach behind the last event";
	return NULL;
}

void tare_memory_history_free(struct tare_memory_history *history)
{
	if (history->memory)
		tare_arena_free(history->memory);
	free(history->memory);
	*history = (struct tare_memory_history){ 0 };
}
