/* SPDX-License-Identifier: Apache-2.0 */
#include "view/device_text.h"

#include "base/units.h"
#include "trace/bytes.h"
#include "view/card.h"

#include <ctype.h>
#include <string.h>

void tare_device_text_mib(struct tare_str *out, uint64_t bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_add(out, tare_bytes_are_known(bytes) ? tare_units_mib(text, (int64_t)bytes)
						      : "not known");
}

/* "AT PEAK 1.9 s": the time only where each device has its own. "AT 12.5s" stays as it was asked. */
void tare_device_text_instant(struct tare_str *out, const struct tare_ledger *ledger, int64_t t_ns)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_add(out, "AT ");
	for (const char *p = ledger->at; *p; p++)
		tare_str_add_char(out, isalpha((unsigned char)ledger->at[0])
					       ? (char)toupper((unsigned char)*p)
					       : *p);
	if (t_ns >= 0 && !strncmp(ledger->at, "peak", 4))
		tare_str_addf(out, " %s", tare_units_duration(text, t_ns));
}

static void add_head_row(struct tare_text_table *t, const struct tare_columns *c,
			 const struct tare_ledger *const *ledgers)
{
	struct tare_text_table_row *row = tare_text_table_add(t);

	row->word = "evidence";
	row->tone = TARE_TONE_QUIET;
	for (int i = 0; i < c->column_nr; i++)
		tare_device_text_instant(&row->cells[i], ledgers[i],
					 c->devices[i] ? c->devices[i]->t_ns : -1);
}

/* Whose figure `used` is: the same for every instant of a device. */
static const char *used_label(const struct tare_device_ledger *d)
{
	if (d->used_by == TARE_EVIDENCE_INFERRED)
		return "used (no counter here: the sum of the rows)";
	if (!d->nvml)
		return "used (cuMemGetInfo: total less free)";
	return d->simulated ? "used (what nvidia-smi would show)" : "used (what nvidia-smi shows)";
}

static void add_used(struct tare_text_table *t, const struct tare_columns *c,
		     const struct tare_device_ledger *device)
{
	struct tare_text_table_row *row = tare_text_table_add(t);
	bool has_elastic = false;

	row->tone = TARE_TONE_STRONG;
	tare_str_add(&row->label, used_label(device));
	for (int i = 0; i < c->column_nr; i++) {
		tare_device_text_mib(&row->cells[i],
				     c->devices[i] ? c->devices[i]->used : TARE_NOT_KNOWN);
		has_elastic = has_elastic || (c->devices[i] && c->devices[i]->elastic);
	}
	if (!has_elastic)
		return;
	row = tare_text_table_add(t);
	tare_str_add(&row->label, "  need, without elastic (~) rows");
	for (int i = 0; i < c->column_nr; i++) {
		const struct tare_device_ledger *d = c->devices[i];

		tare_device_text_mib(&row->cells[i], d && d->used != TARE_NOT_KNOWN
							     ? d->used - (uint64_t)d->elastic
							     : TARE_NOT_KNOWN);
	}
}

void tare_device_text_head(struct tare_text_table *t, const struct tare_columns *c,
			   const struct tare_ledger *const *ledgers,
			   const struct tare_device_ledger *device)
{
	add_head_row(t, c, ledgers);
	add_used(t, c, device);
	tare_card_rows(t, c, device);
	tare_text_table_rule(t);
}

void tare_device_text_unexplained(struct tare_str *out, const struct tare_device_ledger *d)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (!d || d->used == TARE_NOT_KNOWN || d->used_by == TARE_EVIDENCE_INFERRED)
		tare_str_add(out, "not known");
	else
		tare_str_addf(out, "%s%s", d->unexplained > 0 ? "+" : "",
			      tare_units_mib(text, d->unexplained));
}

void tare_device_text_foot(struct tare_text_table *t, const struct tare_columns *c)
{
	struct tare_text_table_row *row = tare_text_table_add(t);

	tare_str_add(&row->label, "unexplained");
	row->tone = TARE_TONE_STRONG;
	for (int i = 0; i < c->column_nr; i++)
		tare_device_text_unexplained(&row->cells[i], c->devices[i]);
}

/* "GPU 0  NVIDIA H200 · total 143,771 = reserved 615 + used + free          MiB" */
static void add_title(struct tare_str *out, const struct tare_device_ledger *d, size_t width,
		      const struct tare_text_style *style)
{
	char text[TARE_UNITS_TEXT_MAX];
	struct tare_str title = { 0 };
	size_t columns;

	tare_str_addf(&title, "GPU %d  ", d->index);
	tare_card_title(&title, d);
	if (d->host) {
		tare_text_add_name(&title, d->host);
		tare_str_add(&title, " · ");
	}
	tare_text_add_name(&title, d->name ? d->name : "");
	if (d->simulated)
		tare_str_add(&title, " (simulated)");
	if (d->total != TARE_NOT_KNOWN && !d->card.is_there)
		tare_str_addf(&title, " · total %s", tare_units_count(text, d->total >> 20));
	if (d->total != TARE_NOT_KNOWN && !d->card.is_there && d->reserved != TARE_NOT_KNOWN)
		tare_str_addf(&title, " = reserved %s + used + free",
			      tare_units_count(text, d->reserved >> 20));
	columns = tare_str_columns(tare_str_text(&title));
	tare_str_add_repeat(&title, " ", columns + 5 < width ? width - columns - 3 : 2);
	tare_str_add(&title, "MiB");
	tare_text_tone(out, tare_str_text(&title), TARE_TONE_STRONG, style);
	tare_str_add_char(out, '\n');
	tare_str_free(&title);
}

void tare_device_text_draw(struct tare_str *out, const struct tare_text_table *t,
			   const struct tare_device_ledger *device, const char *timeline,
			   const struct tare_text_style *style)
{
	add_title(out, device, (size_t)tare_text_table_width(t, style), style);
	tare_str_add(out, timeline);
	tare_text_table_draw(out, t, style);
	tare_str_add_char(out, '\n');
	tare_card_text(out, device, style);
}

bool tare_device_text_is_touched(const struct tare_ledger *const *ledgers, int ledger_nr,
				 const struct tare_device_ledger *device)
{
	for (int i = 0; i < ledger_nr; i++) {
		const struct tare_device_ledger *d = tare_columns_device(ledgers[i], device);

		if (d && (d->unexplained || d->used_by == TARE_EVIDENCE_INFERRED))
			return true;
		for (int r = 0; d && r < d->row_nr; r++)
			if (d->rows[r].account != TARE_ACCOUNT_OTHER)
				return true;
	}
	return false;
}

const char *tare_device_text_evidence(const struct tare_device_ledger *device,
				      enum tare_evidence evidence)
{
	return evidence == TARE_EVIDENCE_WITNESS && device->nvml ? "NVML"
								 : tare_evidence_name(evidence);
}
