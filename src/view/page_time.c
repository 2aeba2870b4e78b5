/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over time, as data of a page: the points of a picture, and which moments have stacks. */
#include "view/page.h"

#include "base/comparator.h"
#include "base/emit.h"

static void add_band(struct tare_emit *e, const struct tare_memory_history_panel *panel, int band)
{
	const struct tare_memory_history_band *b = &panel->bands[band];

	tare_emit_open(e, NULL, '{');
	tare_emit_str(e, "key", b->key);
	tare_emit_str(e, "label", b->label);
	tare_emit_flag(e, "elastic", b->elastic);
	tare_emit_flag(e, "unexplained", b->is_unexplained);
	tare_emit_open(e, "bytes", '[');
	for (size_t i = 0; i < panel->point_nr; i++)
		tare_emit_int(e, NULL, panel->points[i].bytes[band]);
	tare_emit_close(e);
	if (panel->has_peak)
		tare_emit_int(e, "peak_bytes", panel->peak.bytes[band]);
	tare_emit_close(e);
}

static void add_panel(struct tare_emit *e, const struct tare_memory_history_panel *panel,
                      const struct tare_ledger *ledger)
{
	tare_emit_open(e, NULL, '{');
	if (panel->device >= 0)
		tare_emit_int(e, "device", ledger->devices[panel->device].index);
	else
		tare_emit_null(e, "device");
	tare_emit_open(e, "t_ns", '[');
	for (size_t i = 0; i < panel->point_nr; i++)
		tare_emit_int(e, NULL, panel->points[i].t_ns);
	tare_emit_close(e);
	tare_emit_open(e, "used_bytes", '[');
	for (size_t i = 0; i < panel->point_nr; i++)
		tare_emit_int(e, NULL, panel->points[i].used);
	tare_emit_close(e);
	if (panel->has_peak) {
		tare_emit_int(e, "peak_t_ns", panel->peak.t_ns);
		tare_emit_int(e, "peak_used_bytes", panel->peak.used);
	}
	tare_emit_open(e, "bands", '[');
	for (int i = 0; i < panel->band_nr; i++)
		add_band(e, panel, i);
	tare_emit_close(e);
	tare_emit_open(e, "bounds", '[');
	for (size_t i = 0; i < panel->bound_nr; i++) {
		const struct tare_memory_history_bounds *b = &panel->bounds[i];

		tare_emit_open(e, NULL, '[');
		tare_emit_int(e, NULL, b->from_ns);
		tare_emit_int(e, NULL, b->until_ns);
		tare_emit_int(e, NULL, b->low);
		tare_emit_int(e, NULL, b->high);
		tare_emit_close(e);
	}
	tare_emit_close(e);
	tare_emit_close(e);
}

static void add_span(struct tare_emit *e, const struct tare_memory_history_span *s)
{
	tare_emit_open(e, NULL, '{');
	tare_emit_str(e, "name", s->name);
	tare_emit_int(e, "from_ns", s->begin_ns);
	tare_emit_int(e, "to_ns", s->end_ns);
	tare_emit_uint(e, "count", s->count);
	tare_emit_flag(e, "mark", s->is_mark);
	tare_emit_close(e);
}

void tare_page_time(struct tare_emit *e, const char *key, const struct tare_memory_history *h,
                    const struct tare_ledger *ledger)
{
	tare_emit_open(e, key, '{');
	tare_emit_int(e, "from_ns", h->from_ns);
	tare_emit_int(e, "to_ns", h->end_ns);
	tare_emit_int(e, "known_ns", h->known_ns);
	tare_emit_open(e, "panels", '[');
	for (int i = 0; i < h->panel_nr; i++)
		add_panel(e, &h->panels[i], ledger);
	tare_emit_close(e);
	tare_emit_open(e, "spans", '[');
	for (size_t i = 0; i < h->span_nr; i++)
		add_span(e, &h->spans[i]);
	tare_emit_close(e);
	tare_emit_uint(e, "more_spans", h->dropped);
	tare_emit_close(e);
}

/* ---- moments ---- */

TARE_SCALAR_COMPARATOR(by_time, int64_t)

/* Of each of `parts` parts of the points the one with most in use. */
static int choose_of(const struct tare_memory_history_panel *panel, int parts, int64_t *out)
{
	size_t nr = panel->point_nr;
	int count = 0;

	for (int part = 0; part < parts; part++) {
		size_t from = nr * (size_t)part / (size_t)parts;
		size_t until = nr * (size_t)(part + 1) / (size_t)parts, most = from;

		for (size_t i = from; i < until; i++) /* a state that did not last is at no instant */
			if (panel->points[i].used > panel->points[most].used &&
			    (i + 1 == nr || panel->points[i + 1].t_ns > panel->points[i].t_ns))
				most = i;
		if (from < until)
			out[count++] = panel->points[most].t_ns;
	}
	return count;
}

int tare_page_choose(const struct tare_memory_history *history, int most, int64_t out[TARE_PAGE_MOMENTS])
{
	int shown = history->panel_nr < most ? history->panel_nr : most;
	int count = 0, kept = 0;

	for (int i = 0; i < shown; i++)
		count += choose_of(&history->panels[i], most / shown, out + count);
	TARE_SORT(out, count, by_time);
	for (int i = 0; i < count; i++)
		if (!kept || out[i] != out[kept - 1])
			out[kept++] = out[i];
	return kept;
}
