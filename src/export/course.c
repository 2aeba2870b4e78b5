/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over time as viewers of traces want it. The points are those of --svg and --html, so the size does not depend on the events. */
#include "export/course.h"

#include "base/xalloc.h"

#include <stdlib.h>

enum { LANES = 64, DEEPEST = 64 };

static void add_all(struct tare_export_courses *out, const struct tare_export *x, const struct tare_memory_history *h,
                    const char *by)
{
	for (int i = 0; h && i < h->panel_nr; i++) {
		int device = h->panels[i].device;
		struct tare_export_course *c = &out->items[out->nr++];

		*c = (struct tare_export_course){ .panel = &h->panels[i], .by = by };
		tare_export_device_name(&c->name, device < 0 ? NULL : &x->ledger->devices[device]);
	}
}

void tare_export_courses_make(struct tare_export_courses *out, const struct tare_export *x)
{
	int more = x->by_category ? x->by_category->panel_nr : 0;

	out->nr = 0;
	out->items = tare_xcalloc((size_t)(x->by_account->panel_nr + more) + 1, sizeof(*out->items));
	add_all(out, x, x->by_account, "account");
	add_all(out, x, x->by_category, "category");
}

void tare_export_courses_free(struct tare_export_courses *courses)
{
	for (size_t i = 0; i < courses->nr; i++)
		tare_str_free(&courses->items[i].name);
	free(courses->items);
}

/* The peak stands before the first point that is later, unless a point is the same. */
bool tare_export_course_next(const struct tare_export_course *course, size_t *at, struct tare_memory_history_point *out)
{
	const struct tare_memory_history_panel *p = course->panel;
	size_t peak = 0;
	bool is_new = p->has_peak;

	while (peak < p->point_nr && p->points[peak].t_ns <= p->peak.t_ns) {
		if (p->points[peak].t_ns == p->peak.t_ns && p->points[peak].used == p->peak.used)
			is_new = false;
		peak++;
	}
	if (*at >= p->point_nr + is_new)
		return false;
	if (is_new && *at == peak)
		*out = p->peak;
	else
		*out = p->points[*at - (is_new && *at > peak)];
	++*at;
	return true;
}

/* Spans that are open in a lane. */
struct lane {
	int64_t ends[DEEPEST];
	int nr;
};

static bool takes(struct lane *lane, const struct tare_memory_history_span *span)
{
	while (lane->nr && lane->ends[lane->nr - 1] <= span->begin_ns)
		lane->nr--;
	if (lane->nr == DEEPEST || (lane->nr && lane->ends[lane->nr - 1] < span->end_ns))
		return false;
	lane->ends[lane->nr++] = span->end_ns;
	return true;
}

int *tare_export_lanes(const struct tare_memory_history *h, int *nr)
{
	int *out = tare_xcalloc(h->span_nr + 1, sizeof(*out));
	struct lane *lanes = tare_xcalloc(LANES, sizeof(*lanes));

	*nr = 0;
	for (size_t i = 0; i < h->span_nr; i++) {
		if (h->spans[i].is_mark)
			continue;
		while (out[i] < LANES - 1 && !takes(&lanes[out[i]], &h->spans[i]))
			out[i]++;
		if (*nr <= out[i])
			*nr = out[i] + 1;
	}
	free(lanes);
	return out;
}

void tare_export_note_course(struct tare_export *x)
{
	tare_export_note(x,
	                 "a curve has the moment with least and with most in use of each of up to %d parts of the "
	                 "time, not each event",
	                 TARE_HISTORY_COLUMNS);
	if (x->by_account->dropped)
		tare_export_note(x, "%llu phases are too many to stand in it", (unsigned long long)x->by_account->dropped);
}
