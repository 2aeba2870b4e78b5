/* SPDX-License-Identifier: Apache-2.0 */
/* Limits beside what was found: a table for people, rows for scripts, a sentence for a log. */
#include "view/budget.h"

#include "base/sat.h"
#include "base/units.h"
#include "view/by.h"

#include <stdlib.h>
#include <string.h>

static const char *const states[] = { "ok", "over", "unknown" };
static const char *const words[] = { "ok", "OVER", "not known" };
static const char *const kinds[] = { "size", "growth", "baseline" };

struct row {
	struct tare_str name, where;
	const char *check, *kind, *by, *at, *state, *word, *why, *file, *source;
	int64_t device, bytes, most, line, source_line;
	bool is_known, is_limited;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, name, NULL, "CHECK", TEXT, .is_main = true),
	TARE_COLUMN(row, check, "check", NULL, TEXT),
	TARE_COLUMN(row, kind, "kind", NULL, TEXT),
	TARE_COLUMN(row, by, "by", NULL, TEXT),
	TARE_COLUMN(row, at, "at", NULL, TEXT),
	TARE_COLUMN(row, where, NULL, "WHERE", TEXT, .is_quiet = true),
	TARE_COLUMN(row, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(row, bytes, "bytes", "IS", BYTES, .when = TARE_WHEN(row, is_known), .is_main = true),
	TARE_COLUMN(row, most, "limit_bytes", "LIMIT", BYTES, .when = TARE_WHEN(row, is_limited)),
	TARE_COLUMN(row, state, "state", NULL, TEXT),
	TARE_COLUMN(row, word, NULL, "", TEXT, .is_main = true),
	TARE_COLUMN(row, why, "why", NULL, TEXT),
	TARE_COLUMN(row, file, "budget", NULL, TEXT),
	TARE_COLUMN(row, line, "budget_line", NULL, ID, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(row, source, "file", NULL, TEXT),
	TARE_COLUMN(row, source_line, "line", NULL, ID, .unknown = TARE_UNKNOWN_ZERO),
};

void tare_budget_name(struct tare_str *out, const struct tare_budget_limit *l)
{
	tare_str_add(out, l->name);
	if (l->kind == TARE_LIMIT_SIZE && strcmp(l->at, "peak") != 0)
		tare_str_addf(out, "@%s", l->at);
}

static void add_where(struct tare_str *out, const struct tare_budget_limit *l)
{
	if (l->device == 1000)
		tare_str_add(out, "heap");
	else if (l->device >= 0)
		tare_str_addf(out, "GPU %lld", (long long)l->device);
	else if (l->is_known && l->kind != TARE_LIMIT_GROWTH)
		tare_str_add(out, "CPU");
}

void tare_budget_sentence(struct tare_str *out, const struct tare_budget_limit *l)
{
	char found[TARE_UNITS_TEXT_MAX] = "", most[TARE_UNITS_TEXT_MAX];
	const char *each = l->kind == TARE_LIMIT_GROWTH ? " a step" : "";
	struct tare_str where = { 0 };

	tare_budget_name(out, l);
	if (l->is_known)
		tare_str_addf(out, " is %s MiB%s", tare_units_mib(found, l->found), each);
	else
		tare_str_add(out, l->state == TARE_LIMIT_OVER ? " is above none" : " is not known");
	add_where(&where, l);
	if (where.len)
		tare_str_addf(out, " on %s%s", l->device < 0 ? "the " : "", tare_str_text(&where));
	tare_str_free(&where);
	if (l->is_known)
		tare_str_addf(out, ", the limit %s MiB", tare_units_mib(most, l->most));
	if (l->is_known && l->state == TARE_LIMIT_OVER && !strcmp(found, most))
		tare_str_addf(out, ", %s bytes less", tare_units_count(most, (uint64_t)(tare_sat_abs(l->found) - l->most)));
	if (l->why)
		tare_str_addf(out, ": %s", l->why);
}

static void add_row(struct tare_emit *e, const struct tare_budget_limit *l)
{
	struct row row = {
		.check = l->name,
		.kind = kinds[l->kind],
		.by = l->by >= 0 ? tare_by_infos[l->by].name : NULL,
		.at = l->at,
		.state = states[l->state],
		.word = words[l->state],
		.why = l->why,
		.file = l->file,
		.line = l->line,
		.source = l->source,
		.source_line = (int64_t)l->source_line,
		.device = l->device,
		.bytes = l->found,
		.most = l->most,
		.is_known = l->is_known,
		.is_limited = l->is_known || l->kind != TARE_LIMIT_BASELINE,
	};
	enum tare_text_tone tone = l->state == TARE_LIMIT_OVER ? TARE_TONE_ALARM : TARE_TONE_PLAIN;

	if (!l->is_known)
		row.most = (int64_t)l->bytes;
	tare_budget_name(&row.name, l);
	if (l->kind == TARE_LIMIT_GROWTH)
		tare_str_add(&row.name, ", a step");
	if (l->kind == TARE_LIMIT_BASELINE)
		tare_str_addf(&row.name, " %s", l->baseline);
	add_where(&row.where, l);
	tare_emit_add_as(e, &row, (struct tare_row_look){ .tone = tone });
	tare_str_free(&row.name);
	tare_str_free(&row.where);
}

void tare_budget_show(struct tare_emit *e, const struct tare_budget *b)
{
	size_t over = tare_budget_count(b, TARE_LIMIT_OVER);
	size_t unknown = tare_budget_count(b, TARE_LIMIT_UNKNOWN);

	tare_emit_uint(e, "tare", 1);
	tare_emit_flag(e, "ok", !over && !unknown);
	tare_emit_uint(e, "over", over);
	tare_emit_uint(e, "unknown", unknown);
	tare_emit_table(e, "checks", NULL, TARE_COLUMNS(columns));
	for (size_t i = 0; i < b->nr; i++)
		add_row(e, &b->limits[i]);
	tare_emit_table_end(e);
	for (size_t i = 0; i < b->nr; i++) {
		TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

		if (b->limits[i].state == TARE_LIMIT_OK)
			continue;
		tare_budget_sentence(&text, &b->limits[i]);
		tare_emit_note(e, "! %s", tare_str_text(&text));
	}
	if (over || unknown)
		tare_emit_note(e, "%zu of %zu over, %zu not known", over, b->nr, unknown);
	else
		tare_emit_note(e, "all %zu within their limits", b->nr);
}
