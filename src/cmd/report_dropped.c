/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a moment whose events went to keep a recording under its cap. */
#include "cmd/report.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/extent.h"
#include "base/str.h"
#include "view/extent.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR = 6 };

struct found {
	struct tare_extent_row *rows;
	size_t row_nr, row_cap;
	struct tare_extent_exact *exacts;
	size_t exact_nr, exact_cap;
};

static bool has(const struct tare_extent *x, int64_t t)
{
	return x->from_ns <= t && t <= x->until_ns;
}

/* At the peak of a phase each device has a time of its own. */
static int64_t time_on(const struct tare_instant *at, int device)
{
	bool is_own = at->is_per_device && device >= 0 && device < TARE_PHASE_DEVICES;

	return is_own ? at->device_t_ns[device] : at->t_ns;
}

bool tare_report_is_dropped(const struct tare_recording *recording, const struct tare_instant *at)
{
	const struct tare_extent_list *list = tare_recording_extents(recording);

	if (at->kind != TARE_INSTANT_TIME || tare_instant_first_ns(at) >= tare_recording_dropped_ns(recording))
		return false;
	for (size_t i = 0; list && i < list->nr; i++)
		if (has(&list->items[i], time_on(at, list->items[i].device)))
			return true;
	return false;
}

static const struct tare_device *device_of(const struct tare_recording *recording, int index)
{
	for (int i = 0; i < tare_recording_device_nr(recording); i++)
		if (tare_recording_device(recording, i)->index == index)
			return tare_recording_device(recording, i);
	return NULL;
}

/* d NULL: the CPU */
static int64_t number_of(const struct tare_device *d)
{
	return d ? tare_device_number(d) : -1;
}

static const char *name_of(const struct tare_device *d)
{
	if (!d)
		return "tensors on the CPU";
	return d->name ? d->name : "";
}

/* Calls under way at a state are in the span before it and the one behind it: what both say is joined. */
static void add_span(struct found *found, const struct tare_device *d, const struct tare_extent *x)
{
	struct tare_extent_row *row = NULL;

	for (size_t i = 0; i < found->row_nr && !row; i++)
		if (found->rows[i].of.device == x->device)
			row = &found->rows[i];
	if (!row) {
		TARE_APPEND(found->rows, found->row_nr, found->row_cap) =
			(struct tare_extent_row){ number_of(d), name_of(d), *x };
		return;
	}
	row->of.low = x->low.used < row->of.low.used ? x->low : row->of.low;
	row->of.high = x->high.used > row->of.high.used ? x->high : row->of.high;
	row->of.from_ns = x->from_ns < row->of.from_ns ? x->from_ns : row->of.from_ns;
	row->of.until_ns = x->until_ns > row->of.until_ns ? x->until_ns : row->of.until_ns;
}

/* An instant that is known says more than the span that it is in. */
static void find_spans(const struct tare_recording *recording, const struct tare_instant *at, bool is_instant,
                       struct found *found)
{
	const struct tare_extent_list *list = tare_recording_extents(recording);

	for (size_t i = 0; i < list->nr; i++) {
		const struct tare_extent *x = &list->items[i];
		const struct tare_device *d = device_of(recording, x->device);

		if ((d || x->device < 0) && has(x, time_on(at, x->device)) && (x->what != NULL) == is_instant)
			add_span(found, d, x);
	}
}

static bool is_exact(const struct tare_extent *x, const struct found *found)
{
	for (size_t i = 0; i < found->row_nr; i++)
		if (found->rows[i].of.device == x->device)
			return true;
	return false;
}

/* Of devices for which no instant is known. */
static void find_other_spans(const struct tare_recording *recording, const struct tare_instant *at, struct found *found)
{
	struct found spans = { 0 };

	find_spans(recording, at, false, &spans);
	for (size_t i = 0; i < spans.row_nr; i++)
		if (!is_exact(&spans.rows[i].of, found)) {
			TARE_APPEND(found->rows, found->row_nr, found->row_cap) = spans.rows[i];
		}
	free(spans.rows);
}

static void add_exact(struct found *found, const struct tare_extent_exact *exact)
{
	TARE_APPEND(found->exacts, found->exact_nr, found->exact_cap) = *exact;
}

TARE_COMPARATOR(by_time, struct tare_extent_exact, TARE_RISING(t_ns) TARE_RISING(device))

/* In order of time, the one farther away of the first and the last goes. */
static void keep_nearest(struct found *found, int64_t t)
{
	size_t first = 0, nr = found->exact_nr;

	for (; nr > NEAR; nr--)
		if (t - found->exacts[first].t_ns > found->exacts[first + nr - 1].t_ns - t)
			first++;
	for (size_t i = 0; i < nr && first; i++)
		found->exacts[i] = found->exacts[first + i];
	found->exact_nr = nr;
}

static void name_moments(struct found *found)
{
	for (size_t i = 0; i < found->exact_nr; i++) {
		int64_t t = found->exacts[i].t_ns;

		found->exacts[i].at = tare_str_format("%" PRId64 ".%09" PRId64 "s", t / 1000000000, t % 1000000000);
	}
}

static void find_exact(const struct tare_recording *recording, int64_t t, struct found *found)
{
	const struct tare_extent_list *list = tare_recording_extents(recording);
	size_t nr = tare_recording_state_nr(recording);

	for (size_t i = nr; i < nr + tare_recording_kept_nr(recording); i++)
		add_exact(found,
		          &(struct tare_extent_exact){
					  .t_ns = tare_recording_state(recording, i).until_ns, .what = "state", .device = -1, .used = -1 });
	for (size_t i = 0; i < list->nr; i++) {
		const struct tare_extent *x = &list->items[i];
		const struct tare_device *d = device_of(recording, x->device);

		if (x->what && (d || x->device < 0))
			add_exact(found, &(struct tare_extent_exact){
								 .t_ns = x->from_ns, .what = x->what, .device = number_of(d), .used = x->low.used });
	}
	TARE_SORT(found->exacts, found->exact_nr, by_time);
	keep_nearest(found, t);
	name_moments(found);
}

void tare_report_dropped(struct tare_emit *e, const struct tare_recording *recording, const struct tare_instant *at)
{
	struct found found = { 0 };

	find_spans(recording, at, true, &found);
	find_other_spans(recording, at, &found);
	find_exact(recording, at->t_ns, &found);
	tare_extent_show(e, &(struct tare_extent_view){ .at = at->text ? at->text : "",
	                                                .t_ns = at->t_ns,
	                                                .dropped_ns = tare_recording_dropped_ns(recording),
	                                                .rows = found.rows,
	                                                .row_nr = found.row_nr,
	                                                .exacts = found.exacts,
	                                                .exact_nr = found.exact_nr });
	for (size_t i = 0; i < found.exact_nr; i++)
		free((char *)found.exacts[i].at);
	free(found.exacts);
	free(found.rows);
}
