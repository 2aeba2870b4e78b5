/* SPDX-License-Identifier: Apache-2.0 */
/* `--by time`: how much was in use in each part of the time: a series for each GPU, and one for tensors on the CPU. */
#include "view/by.h"

#include "base/units.h"
#include "view/device_text.h"
#include "view/timeline.h"

struct row {
	int64_t device; /* -1: the CPU */
	const char *label;
	struct tare_timeline_span span;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, label, "label", NULL, TEXT),
	TARE_COLUMN(row, span.from_ns, "from_ns", "FROM", TIME, .as = TARE_AS_FROM),
	TARE_COLUMN(row, span.to_ns, "to_ns", "TO", TIME, .as = TARE_AS_TO),
	TARE_COLUMN(row, span.most, "bytes", "MOST IN USE", BYTES, .as = TARE_AS_VALUE, .unknown = TARE_UNKNOWN_NEGATIVE),
};

static void add_rows(struct tare_emit *e, int device, const char *label, const struct tare_timeline *t)
{
	for (int i = 0; i < t->nr; i++)
		tare_emit_add(e, &(struct row){ device, label, tare_timeline_span(t, i) });
}

static void show_data(struct tare_emit *e, const struct tare_ledger *ledger)
{
	tare_emit_shape(e, TARE_SHAPE_SERIES, "rows", NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < ledger->device_nr; i++)
		add_rows(e, ledger->devices[i].index, ledger->devices[i].name, &ledger->devices[i].timeline);
	add_rows(e, -1, "CPU", &ledger->host_timeline);
	tare_emit_table_end(e);
}

/* ---- for people ---- */

static void show_series(struct tare_emit *e, const char *title, const struct tare_timeline *t)
{
	tare_emit_shape(e, TARE_SHAPE_SERIES, "rows", title, TARE_COLUMNS(columns));
	add_rows(e, -1, NULL, t);
	tare_emit_table_end(e);
}

static void show_device(struct tare_emit *e, const struct tare_device_ledger *d)
{
	char mib[TARE_UNITS_TEXT_MAX], time[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	tare_device_text_title(&title, d);
	show_series(e, tare_str_text(&title), &d->timeline);
	if (d->peak_used <= INT64_MAX && d->peak_t_ns >= 0)
		tare_emit_note(e, "peak %s MiB at %s", tare_units_mib(mib, (int64_t)d->peak_used),
		               tare_units_duration(time, d->peak_t_ns));
	tare_emit_gap(e);
}

static void show_people(struct tare_emit *e, const struct tare_ledger *ledger)
{
	for (int i = 0; i < ledger->device_nr; i++)
		if (tare_device_text_is_touched(&ledger, 1, &ledger->devices[i]) || ledger->devices[i].timeline.nr)
			show_device(e, &ledger->devices[i]);
	if (ledger->host_timeline.nr)
		show_series(e, "CPU  tensors: MiB that were asked for, whether resident or not", &ledger->host_timeline);
}

bool tare_memory_history_is_any(const struct tare_by_ask *ask)
{
	return ask->ledgers[0]->device_nr > 0 || ask->ledgers[0]->host_timeline.nr > 0;
}

void tare_memory_history_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	(tare_emit_is_for_people(e) ? show_people : show_data)(e, ask->ledgers[0]);
}
