/* SPDX-License-Identifier: Apache-2.0 */
/* Samples the most that was in use in each part of the time. */
#include "view/timeline.h"

#include "base/units.h"

static const struct tare_column columns[] = {
	TARE_COLUMN(tare_timeline_span, from_ns, "from_ns", "FROM", TIME, .as = TARE_AS_FROM),
	TARE_COLUMN(tare_timeline_span, to_ns, "to_ns", "TO", TIME, .as = TARE_AS_TO),
	TARE_COLUMN(tare_timeline_span, most, "most_bytes", "MOST", BYTES, .as = TARE_AS_VALUE,
	            .unknown = TARE_UNKNOWN_NEGATIVE),
};

struct tare_timeline_span tare_timeline_span(const struct tare_timeline *t, int i)
{
	int64_t from = t->from_ns + t->width_ns * i;

	return (struct tare_timeline_span){
		.from_ns = from,
		.to_ns = i + 1 == t->nr ? t->to_ns : from + t->width_ns,
		.most = t->used[i],
	};
}

void tare_timeline_show(struct tare_emit *e, const struct tare_timeline *timeline,
                        const struct tare_timeline_peak *peak)
{
	char mib[TARE_UNITS_TEXT_MAX], time[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	if (timeline->nr < 2)
		return;
	if (peak)
		tare_str_addf(&title, "peak %s at %s", tare_units_mib(mib, peak->bytes), tare_units_duration(time, peak->t_ns));
	tare_emit_shape(e, TARE_SHAPE_SERIES, "course", peak ? tare_str_text(&title) : NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < timeline->nr; i++) {
		const struct tare_timeline_span span = tare_timeline_span(timeline, i);

		tare_emit_add(e, &span);
	}
	tare_emit_table_end(e);
}
