/* SPDX-License-Identifier: Apache-2.0 */
#include "view/timeline.h"

#include "base/units.h"

struct span {
	int64_t from_ns, to_ns, most;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(span, from_ns, "from_ns", "FROM", DURATION, .as = TARE_AS_FROM),
	TARE_COLUMN(span, to_ns, "to_ns", "TO", DURATION, .as = TARE_AS_TO),
	TARE_COLUMN(span, most, "most_bytes", "MOST", BYTES, .as = TARE_AS_VALUE,
		    .unknown = TARE_UNKNOWN_NEGATIVE),
};

static void add_spans(struct tare_emit *e, const struct tare_timeline *t)
{
	double width = (double)(t->to_ns - t->from_ns) / t->nr;

	for (int i = 0; i < t->nr; i++)
		tare_emit_add(e, &(struct span){ t->from_ns + (int64_t)(width * i),
						 i + 1 == t->nr
							 ? t->to_ns
							 : t->from_ns + (int64_t)(width * (i + 1)),
						 t->used[i] });
}

void tare_timeline_show(struct tare_emit *e, const struct tare_timeline *timeline,
			const struct tare_timeline_peak *peak)
{
	char mib[TARE_UNITS_TEXT_MAX], time[TARE_UNITS_TEXT_MAX];
	struct tare_str title = { 0 };

	if (timeline->nr < 2)
		return;
	if (peak)
		tare_str_addf(&title, "peak %s at %s", tare_units_mib(mib, peak->bytes),
			      tare_units_duration(time, peak->t_ns));
	tare_emit_shape(e, TARE_SHAPE_SERIES, "course", peak ? tare_str_text(&title) : NULL,
			TARE_COLUMNS(columns));
	add_spans(e, timeline);
	tare_emit_table_end(e);
	tare_str_free(&title);
}
