/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what is known of a moment whose events are gone. */
#include "view/extent.h"

#include "base/units.h"
#include "view/device_text.h"

/* … and as people read it */
struct shown {
	struct tare_extent_row of;
	int gpu;
};

struct shown_exact {
	struct tare_extent_exact of;
	int gpu;
};

#define GPU_COLUMN(row) TARE_COLUMN(row, gpu, NULL, "GPU", ID, .unknown = TARE_UNKNOWN_NEGATIVE)

static const struct tare_column columns[] = {
	TARE_COLUMN(tare_extent_row, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	GPU_COLUMN(shown),
	TARE_COLUMN(tare_extent_row, name, "name", "NAME", TEXT),
	TARE_COLUMN(tare_extent_row, of.low.used, "low_bytes", "LEAST IN USE", BYTES),
	TARE_COLUMN(tare_extent_row, of.low.t_ns, "low_t_ns", "AT", TIME),
	TARE_COLUMN(tare_extent_row, of.high.used, "high_bytes", "MOST IN USE", BYTES),
	TARE_COLUMN(tare_extent_row, of.high.t_ns, "high_t_ns", "AT", TIME),
	TARE_COLUMN(tare_extent_row, of.from_ns, "from_ns", "FROM", TIME),
	TARE_COLUMN(tare_extent_row, of.until_ns, "until_ns", "UNTIL", TIME),
};

static const struct tare_column exact_columns[] = {
	TARE_COLUMN(tare_extent_exact, t_ns, "t_ns", NULL, TIME),
	TARE_COLUMN(tare_extent_exact, at, "at", "AT", TEXT, .is_whole = true),
	TARE_COLUMN(tare_extent_exact, what, "what", "WHAT", TEXT),
	TARE_COLUMN(tare_extent_exact, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	GPU_COLUMN(shown_exact),
	TARE_COLUMN(tare_extent_exact, used, "used_bytes", "IN USE", BYTES, .unknown = TARE_UNKNOWN_NEGATIVE),
};

/* Is it known for every row how much was in use at exactly that moment? */
static bool is_instant(const struct tare_extent_view *view)
{
	for (size_t i = 0; i < view->row_nr; i++)
		if (!view->rows[i].of.what)
			return false;
	return view->row_nr > 0;
}

static void show_sentences(struct tare_emit *e, const struct tare_extent_view *view)
{
	char until[TARE_UNITS_TEXT_MAX];

	tare_units_duration(until, view->dropped_ns);
	if (is_instant(view))
		tare_emit_paragraph(e,
		                    "What was recorded before %s went to keep the recording under its cap: of %s only how much "
		                    "was in use is known, exactly.",
		                    until, view->at);
	else
		tare_emit_paragraph(e,
		                    "What was recorded before %s went to keep the recording under its cap, so %s is not known "
		                    "exactly: what was in use then lies between the least and the most of the time around it.",
		                    until, view->at);
	tare_emit_gap(e);
}

static void show_exacts(struct tare_emit *e, const struct tare_extent_view *view)
{
	tare_emit_table(e, "exact", "Known exactly near it", TARE_COLUMNS(exact_columns));
	for (size_t i = 0; i < view->exact_nr; i++)
		tare_emit_add(e, &(struct shown_exact){ view->exacts[i], tare_device_text_gpu(view->exacts[i].device) });
	tare_emit_table_end(e);
	if (tare_emit_is_for_people(e))
		tare_emit_note(e, "peak, end and every moment from then on are exact, too; of a "
		                  "state --at shows all");
}

void tare_extent_show(struct tare_emit *e, const struct tare_extent_view *view)
{
	tare_emit_uint(e, "tare", 1);
	tare_emit_open(e, "at", '{');
	tare_emit_str(e, "label", view->at);
	tare_emit_int(e, "t_ns", view->t_ns);
	tare_emit_close(e);
	tare_emit_flag(e, "is_exact", false);
	tare_emit_int(e, "dropped_until_ns", view->dropped_ns);
	show_sentences(e, view);
	tare_emit_table(e, "in_use", "In use", TARE_COLUMNS(columns));
	for (size_t i = 0; i < view->row_nr; i++)
		tare_emit_add(e, &(struct shown){ view->rows[i], tare_device_text_gpu(view->rows[i].device) });
	tare_emit_table_end(e);
	tare_emit_gap(e);
	show_exacts(e, view);
}
