/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory of some configurations consists of, beside what somebody claimed. */
#include "view/sweep.h"

#include "base/array.h"
#include "base/comparator.h"
#include "ledger/account.h"
#include "view/sheet.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 6, BARS_MAX = 40 };

struct row {
	const char *account, *part;
	int64_t bytes[SHOWN_MAX], most;
};

struct breakdown {
	const struct tare_summary *s;
	size_t shown[SHOWN_MAX], shown_nr;
	struct row *rows;
	size_t row_nr, row_cap;
};

static void show(struct breakdown *b, size_t cell)
{
	for (size_t i = 0; i < b->shown_nr; i++)
		if (b->shown[i] == cell)
			return;
	if (cell < b->s->cell_nr && b->s->cells[cell].part_nr && b->shown_nr < SHOWN_MAX)
		b->shown[b->shown_nr++] = cell;
}

TARE_SCALAR_COMPARATOR(by_index, size_t)

/* As many configurations as there is room for: first the baseline, the best one, and those with the smallest and the largest peak. */
static void choose(struct breakdown *b)
{
	const struct tare_summary *s = b->s;
	size_t least = s->cell_nr, most = s->cell_nr;

	show(b, s->baseline);
	show(b, s->best);
	for (size_t i = 0; i < s->cell_nr; i++) {
		if (!s->cells[i].part_nr)
			continue;
		if (least == s->cell_nr || s->cells[i].peak < s->cells[least].peak)
			least = i;
		if (most == s->cell_nr || s->cells[i].peak > s->cells[most].peak)
			most = i;
	}
	show(b, least);
	show(b, most);
	for (size_t i = 0; i < s->cell_nr; i++)
		show(b, i);
	TARE_SORT(b->shown, b->shown_nr, by_index);
}

static struct row *row_of(struct breakdown *b, const struct tare_summary_part *part)
{
	for (size_t i = 0; i < b->row_nr; i++)
		if (!strcmp(b->rows[i].account, part->account) && !strcmp(b->rows[i].part, part->part))
			return &b->rows[i];
	return TARE_ADD(b->rows, b->row_nr, b->row_cap, (struct row){ .account = part->account, .part = part->part });
}

TARE_COMPARATOR(by_size, struct row, TARE_FALLING(most) TARE_ALPHABETIC(account))

static void collect(struct breakdown *b)
{
	for (size_t k = 0; k < b->shown_nr; k++) {
		const struct tare_summary_cell *c = &b->s->cells[b->shown[k]];

		for (size_t i = 0; i < c->part_nr; i++)
			row_of(b, &c->parts[i])->bytes[k] += c->parts[i].bytes;
	}
	for (size_t i = 0; i < b->row_nr; i++)
		for (size_t k = 0; k < b->shown_nr; k++)
			if (b->rows[i].most < b->rows[i].bytes[k])
				b->rows[i].most = b->rows[i].bytes[k];
	TARE_SORT(b->rows, b->row_nr, by_size);
}

/* Accounts of the CPU, which is no device of a ledger. */
static const struct {
	const char *key, *label;
} cpu_accounts[] = { { "tensors", "tensors" }, { "mapped", "shared memory and mapped files" } };

static const char *label_of(const char *account)
{
	for (size_t i = 0; i < sizeof(cpu_accounts) / sizeof(cpu_accounts[0]); i++)
		if (!strcmp(cpu_accounts[i].key, account))
			return cpu_accounts[i].label;
	for (int i = 0; i < TARE_ACCOUNT_NR; i++)
		if (tare_accounts[i].key && !strcmp(tare_accounts[i].key, account))
			return tare_accounts[i].label;
	return account;
}

/* On the CPU the heading says already that it is about tensors. */
static void add_name(struct tare_str *out, const struct tare_summary *s, const struct row *row)
{
	if (s->is_cpu && *row->part) {
		tare_str_add(out, row->part);
		return;
	}
	tare_str_add(out, label_of(row->account));
	if (*row->part)
		tare_str_addf(out, ": %s", row->part);
}

/* ---- claims ---- */

/* What a claim is about: an account, one part of it, or everything. */
static bool is_about(const char *claim, const char *account, const char *part)
{
	size_t len = strlen(account);

	if (strncmp(claim, account, len) != 0)
		return false;
	return !claim[len] || (claim[len] == '/' && !strcmp(claim + len + 1, part));
}

static int64_t measured(const struct tare_summary_cell *c, const char *claim)
{
	int64_t sum = 0;

	if (!strcmp(claim, "total"))
		return c->peak;
	for (size_t i = 0; i < c->part_nr; i++)
		if (is_about(claim, c->parts[i].account, c->parts[i].part))
			sum += c->parts[i].bytes;
	return sum;
}

struct claim {
	const char *name;
	int64_t claimed; /* -1: nobody did */
	int64_t measured;
	struct tare_value less;
};

static const struct tare_column claim_columns[] = {
	TARE_COLUMN(claim, name, "name", "", TEXT),
	TARE_COLUMN(claim, claimed, "claimed_bytes", "CLAIMED", BYTES, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(claim, measured, "measured_bytes", "MEASURED", BYTES),
	TARE_COLUMN(claim, less, "less_bytes", "MEASURED LESS CLAIMED", CHANGE, .is_blank = true),
};

static void add_claim(struct tare_emit *e, const char *name, int64_t claimed, int64_t found)
{
	enum tare_column_kind kind = found > claimed ? TARE_COL_CHANGE : TARE_COL_BYTES;
	struct claim row = { .name = name, .claimed = claimed, .measured = found };
	bool is_total = !strcmp(name, "total");

	if (claimed >= 0)
		row.less = tare_value_of(kind, found - claimed);
	tare_emit_add_as(e, &row, (struct tare_row_look){ .tone = is_total ? TARE_TONE_STRONG : TARE_TONE_PLAIN });
}

static void add_claims(struct tare_emit *e, const struct tare_sweep_view *view)
{
	const struct tare_summary *s = view->summary;
	const struct tare_summary_cell *c = &s->cells[s->baseline];
	int64_t claimed = 0, found = 0;
	bool has_total = false;

	if (!view->claim_nr)
		return;
	tare_emit_gap(e);
	tare_emit_heading(e, "Beside what was claimed, for %s", c->label);
	tare_emit_table(e, "claims", NULL, TARE_COLUMNS(claim_columns));
	for (size_t i = 0; i < view->claim_nr; i++) {
		const struct tare_sweep_claim *claim = &view->claims[i];
		int64_t bytes = measured(c, claim->name);
		bool is_total = !strcmp(claim->name, "total");

		has_total |= is_total;
		claimed += is_total ? 0 : claim->bytes;
		found += is_total ? 0 : bytes;
		add_claim(e, claim->name, claim->bytes, bytes);
	}
	add_claim(e, "nobody claimed", -1, c->peak - found);
	if (!has_total)
		add_claim(e, "total", claimed, c->peak);
	tare_emit_table_end(e);
	if (s->is_cpu)
		return;
	tare_emit_gap(e);
	tare_emit_paragraph(
		e, "Measured memory holds the context and the code once, as a part of it; they are not to be taken "
		   "off again.");
}

/* ---- the table and the bars ---- */

static struct tare_value bytes(int64_t bytes)
{
	return tare_value_of(TARE_COL_BYTES, bytes);
}

static void add_table(struct tare_emit *e, struct breakdown *b)
{
	struct tare_sheet s;

	tare_sheet_begin(&s, e, b->shown_nr);
	s.label_head = "MiB";
	for (size_t k = 0; k < b->shown_nr; k++)
		tare_str_add(&s.heads[k], b->s->cells[b->shown[k]].label);
	tare_sheet_open(&s, NULL, TARE_COL_COUNT);
	for (size_t i = 0; i < b->row_nr; i++) {
		if (b->rows[i].most < 51 << 10) /* 0.0 MiB everywhere */
			continue;
		add_name(&s.row->label, b->s, &b->rows[i]);
		for (size_t k = 0; k < b->shown_nr; k++)
			s.row->cells[k] = bytes(b->rows[i].bytes[k] < 0 ? 0 : b->rows[i].bytes[k]);
		tare_sheet_add(&s, (struct tare_row_look){ 0 });
	}
	tare_str_add(&s.row->label, "all of it");
	for (size_t k = 0; k < b->shown_nr; k++) {
		int64_t sum = 0;

		for (size_t i = 0; i < b->row_nr; i++)
			sum += b->rows[i].bytes[k];
		s.row->cells[k] = bytes(sum);
	}
	tare_sheet_add(&s, (struct tare_row_look){ .tone = TARE_TONE_STRONG });
	if (b->s->is_cpu) { /* exact, so nothing is left over */
		tare_sheet_end(&s);
		return;
	}
	tare_str_add(&s.row->label, "unexplained");
	for (size_t k = 0; k < b->shown_nr; k++)
		s.row->cells[k] = bytes(b->s->cells[b->shown[k]].unexplained);
	tare_sheet_add(&s, (struct tare_row_look){ .tone = TARE_TONE_QUIET });
	tare_sheet_end(&s);
}

/* The eight largest accounts of all cells, and the rest. */
enum { NAMES_MAX = 8 };

struct bar {
	const char *label, *name;
	int64_t from, to, peak;
};

static const struct tare_column bar_columns[] = {
	TARE_COLUMN(bar, label, "label", NULL, TEXT, .as = TARE_AS_LANE),
	TARE_COLUMN(bar, name, "part", NULL, TEXT, .as = TARE_AS_NAME),
	TARE_COLUMN(bar, from, "from_bytes", NULL, BYTES, .as = TARE_AS_FROM),
	TARE_COLUMN(bar, to, "to_bytes", NULL, BYTES, .as = TARE_AS_TO),
	TARE_COLUMN(bar, peak, "peak_bytes", NULL, BYTES, .as = TARE_AS_VALUE, .unknown = TARE_UNKNOWN_NEGATIVE),
};

static void add_bar(struct tare_emit *e, const struct breakdown *b, size_t count, const char *const *names,
                    const struct tare_summary_cell *c)
{
	int64_t parts[NAMES_MAX + 1] = { 0 }, at = 0;

	for (size_t i = 0; i < c->part_nr; i++) {
		size_t k = 0;

		while (k < count &&
		       (strcmp(b->rows[k].account, c->parts[i].account) != 0 || strcmp(b->rows[k].part, c->parts[i].part) != 0))
			k++;
		parts[k] += c->parts[i].bytes;
	}
	for (size_t k = 0; k <= count; k++) {
		int64_t to = at + (parts[k] > 0 ? parts[k] : 0);

		tare_emit_add(e, &(struct bar){ c->label, names[k], at, to, c->peak });
		at = to;
	}
}

static void add_bars(struct tare_emit *e, const struct breakdown *b)
{
	const struct tare_summary *s = b->s;
	struct tare_str texts[NAMES_MAX + 1] = { { 0 } };
	const char *names[NAMES_MAX + 1];
	size_t n = b->row_nr < NAMES_MAX ? b->row_nr : NAMES_MAX;
	int64_t limit = s->card_bytes >= 0 ? s->card_bytes : s->gpu_bytes;

	for (size_t i = 0; i < n; i++) {
		add_name(&texts[i], s, &b->rows[i]);
		names[i] = tare_str_text(&texts[i]);
	}
	names[n] = "everything else";
	tare_emit_shape(e, TARE_SHAPE_INTERVALS, "parts", NULL, TARE_COLUMNS(bar_columns));
	for (size_t i = 0, shown = 0; i < s->cell_nr && shown < BARS_MAX; i++)
		if (s->cells[i].part_nr) {
			add_bar(e, b, n, names, &s->cells[i]);
			shown++;
		}
	if (limit > 0)
		tare_emit_mark(e, (double)limit, "size of the card");
	tare_emit_table_end(e);
	for (size_t i = 0; i < n; i++)
		tare_str_free(&texts[i]);
}

void tare_sweep_breakdown(struct tare_emit *e, const struct tare_sweep_view *view)
{
	struct breakdown b = { .s = view->summary };

	choose(&b);
	if (b.shown_nr) {
		collect(&b);
		tare_sweep_heading(e, b.s->is_cpu ? "What the tensors are, when they were most"
		                                  : "What the memory is, at the peak");
		add_bars(e, &b);
		add_table(e, &b);
		add_claims(e, view);
	}
	free(b.rows);
}
