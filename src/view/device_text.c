/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the head and the foot of a table about a device. */
#include "view/device_text.h"

#include "base/simulated.h"
#include "base/units.h"
#include "record/bytes.h"
#include "view/card.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

void tare_device_text_mib(struct tare_str *out, uint64_t bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_add(out, tare_bytes_are_known(bytes) ? tare_units_mib(text, (int64_t)bytes) : "not known");
}

struct tare_value tare_device_text_bytes(uint64_t bytes)
{
	if (!tare_bytes_are_known(bytes))
		return tare_value_text("not known");
	return tare_value_of(TARE_COL_BYTES, (int64_t)bytes);
}

/* "AT PEAK 1.9 s": the time only where each device has its own. "AT 12.5s" stays as it was asked. */
void tare_device_text_instant(struct tare_str *out, const struct tare_ledger *ledger, int64_t t_ns)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_add(out, "AT ");
	for (const char *p = ledger->at; *p; p++)
		tare_str_add_char(out, isalpha((unsigned char)ledger->at[0]) ? (char)toupper((unsigned char)*p) : *p);
	if (t_ns >= 0 && !strncmp(ledger->at, "peak", 4))
		tare_str_addf(out, " %s", tare_units_duration(text, t_ns));
}

/* Whose figure `used` is: the same for every instant of a device. */
static const char *used_label(const struct tare_device_ledger *d)
{
	if (d->is_heap)
		return "asked for, whether touched or not";
	if (d->used_by == TARE_EVIDENCE_INFERRED)
		return "used (no counter here: the sum of the rows)";
	if (d->imported)
		return "used (as it was printed)";
	if (!d->nvml)
		return "used (cuMemGetInfo: total less free)";
	return d->simulated ? "used (what nvidia-smi would show)" : "used (what nvidia-smi shows)";
}

/* By how much what was asked for is off, where only some blocks were recorded. */
static void add_error(struct tare_sheet *s, const struct tare_columns *c)
{
	bool is_any = false;

	for (int i = 0; i < c->column_nr; i++)
		is_any |= c->devices[i] && c->devices[i]->heap_error;
	if (!is_any)
		return;
	for (int i = 0; i < c->column_nr; i++)
		if (c->devices[i])
			s->row->cells[i] = tare_device_text_bytes(c->devices[i]->heap_error);
	tare_str_add(&s->row->label, "standard error: it was sampled");
	tare_sheet_add(s, (struct tare_row_look){ .level = 1 });
}

void tare_device_text_used(struct tare_sheet *s, const struct tare_columns *c, const struct tare_device_ledger *device)
{
	bool has_elastic = false;

	tare_str_add(&s->row->label, used_label(device));
	for (int i = 0; i < c->column_nr; i++) {
		s->row->cells[i] = tare_device_text_bytes(c->devices[i] ? c->devices[i]->used : TARE_NOT_KNOWN);
		has_elastic = has_elastic || (c->devices[i] && c->devices[i]->elastic);
	}
	tare_sheet_add(s, (struct tare_row_look){ .tone = TARE_TONE_STRONG });
	for (int i = 0; has_elastic && i < c->column_nr; i++) {
		const struct tare_device_ledger *d = c->devices[i];

		s->row->cells[i] =
			tare_device_text_bytes(d && d->used != TARE_NOT_KNOWN ? d->used - (uint64_t)d->elastic : TARE_NOT_KNOWN);
	}
	if (has_elastic) {
		tare_str_add(&s->row->label, "need, without elastic (~) rows");
		tare_sheet_add(s, (struct tare_row_look){ .level = 1 });
	}
	add_error(s, c);
	tare_card_rows(s, c, device);
	tare_emit_rule(s->e);
}

struct tare_value tare_device_text_unexplained(const struct tare_device_ledger *d)
{
	if (!d || d->used == TARE_NOT_KNOWN || d->used_by == TARE_EVIDENCE_INFERRED)
		return tare_value_text("not known");
	return tare_value_of(d->unexplained > 0 ? TARE_COL_CHANGE : TARE_COL_BYTES, d->unexplained);
}

void tare_device_text_place(struct tare_str *out, int64_t index)
{
	if (index == TARE_HEAP_ORDINAL)
		tare_str_add(out, "heap");
	else
		tare_str_addf(out, "GPU %" PRId64, index);
}

int tare_device_text_gpu(int64_t index)
{
	return index == TARE_HEAP_ORDINAL ? -1 : (int)index;
}

void tare_device_text_number(struct tare_str *title, const struct tare_device_ledger *d, const char *behind)
{
	if (tare_device_ledger_is_gpu(d))
		tare_str_addf(title, "GPU %d%s", d->index, behind);
}

void tare_device_text_name(struct tare_str *out, const struct tare_device_ledger *d)
{
	tare_str_addf(out, "%s%s", d->name ? d->name : "", tare_simulated_mark(d->simulated));
}

/* "GPU 0  NVIDIA H200 · total 143,771 = reserved 615 + used + free          MiB" */
void tare_device_text_title(struct tare_str *title, const struct tare_device_ledger *d)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_device_text_number(title, d, "  ");
	tare_card_title(title, d);
	if (d->host)
		tare_str_addf(title, "%s · ", d->host);
	tare_device_text_name(title, d);
	if (d->total != TARE_NOT_KNOWN && !d->card.is_there)
		tare_str_addf(title, " · total %s", tare_units_count(text, d->total >> 20));
	if (d->total != TARE_NOT_KNOWN && !d->card.is_there && d->reserved != TARE_NOT_KNOWN)
		tare_str_addf(title, " = reserved %s + used + free", tare_units_count(text, d->reserved >> 20));
}

void tare_device_text_begin(struct tare_sheet *s, struct tare_emit *e, const struct tare_columns *c,
                            const struct tare_ledger *const *ledgers, const struct tare_device_ledger *device)
{
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	tare_sheet_begin(s, e, (size_t)c->column_nr);
	s->word_head = "evidence";
	for (int i = 0; i < c->column_nr; i++)
		tare_device_text_instant(&s->heads[i], ledgers[i], c->devices[i] ? c->devices[i]->t_ns : -1);
	tare_device_text_title(&title, device);
	tare_sheet_open(s, tare_str_text(&title), TARE_COL_BYTES);
}

void tare_device_text_end(struct tare_sheet *s, const struct tare_columns *c)
{
	bool is_weighed = true; /* nobody weighs a heap */

	for (int i = 0; i < c->column_nr; i++)
		is_weighed &= !c->devices[i] || !c->devices[i]->is_heap;
	for (int i = 0; is_weighed && i < c->column_nr; i++)
		s->row->cells[i] = tare_device_text_unexplained(c->devices[i]);
	if (is_weighed) {
		tare_str_add(&s->row->label, "unexplained");
		tare_sheet_add(s, (struct tare_row_look){ .tone = TARE_TONE_STRONG });
	}
	tare_sheet_end(s);
}

void tare_device_text_behind(struct tare_emit *e, const struct tare_device_ledger *device)
{
	tare_emit_gap(e);
	tare_card_text(e, device);
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

const char *tare_device_text_evidence(const struct tare_device_ledger *device, enum tare_evidence evidence)
{
	return evidence == TARE_EVIDENCE_WITNESS && device->nvml ? "NVML" : tare_evidence_name(evidence);
}
