/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory of some configurations consists of, beside what somebody claimed. */
#include "view/sweep.h"

#include "base/array.h"
#include "base/units.h"
#include "ledger/account.h"

#include <stdio.h>
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

static int by_index(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* All if they are few; else the ones that are spoken of, and the extremes. */
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
	qsort(b->shown, b->shown_nr, sizeof(*b->shown), by_index);
}

static struct row *row_of(struct breakdown *b, const struct tare_summary_part *part)
{
	for (size_t i = 0; i < b->row_nr; i++)
		if (!strcmp(b->rows[i].account, part->account) &&
		    !strcmp(b->rows[i].part, part->part))
			return &b->rows[i];
	b->rows = tare_array_reserve(b->rows, &b->row_cap, b->row_nr + 1, sizeof(*b->rows));
	b->rows[b->row_nr] = (struct row){ .account = part->account, .part = part->part };
	return &b->rows[b->row_nr++];
}

static int by_size(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return strcmp(x->account, y->account);
}

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
	if (b->row_nr)
		qsort(b->rows, b->row_nr, sizeof(*b->rows), by_size);
}

static const char *label_of(const char *account)
{
	for (int i = 0; i < TARE_ACCOUNT_NR; i++)
		if (tare_accounts[i].key && !strcmp(tare_accounts[i].key, account))
			return tare_accounts[i].label;
	return account;
}

static void add_name(struct tare_str *out, const char *account, const char *part)
{
	tare_str_add(out, label_of(account));
	if (*part)
		tare_str_addf(out, ": %s", part);
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

static void add_claims(struct tare_doc *d, const struct tare_sweep_view *view)
{
	static const struct tare_doc_column columns[] = {
		{ "", false },
		{ "CLAIMED MiB", true },
		{ "MEASURED MiB", true },
		{ "MEASURED LESS CLAIMED MiB", true },
	};
	const struct tare_summary *s = view->summary;
	const struct tare_summary_cell *c = &s->cells[s->baseline];
	int64_t claimed = 0, found = 0;
	bool has_total = false;
	char text[TARE_UNITS_TEXT_MAX];

	if (!view->claim_nr)
		return;
	tare_doc_heading(d, "Beside what was claimed, for %s", c->label);
	tare_doc_table(d, columns, 4);
	for (size_t i = 0; i < view->claim_nr; i++) {
		const struct tare_sweep_claim *claim = &view->claims[i];
		int64_t bytes = measured(c, claim->name), less = bytes - claim->bytes;
		bool is_total = !strcmp(claim->name, "total");

		has_total |= is_total;
		claimed += is_total ? 0 : claim->bytes;
		found += is_total ? 0 : bytes;
		tare_doc_cell(d, "%s", claim->name);
		tare_sweep_add_mib(d, claim->bytes);
		tare_sweep_add_mib(d, bytes);
		tare_units_mib(text, less);
		tare_doc_cell(d, "%s%s", less > 0 ? "+" : "", text);
		tare_doc_row(d, is_total ? TARE_TONE_STRONG : TARE_TONE_PLAIN);
	}
	tare_doc_cell(d, "nobody claimed");
	tare_doc_cell(d, "–");
	tare_sweep_add_mib(d, c->peak - found);
	tare_doc_row(d, TARE_TONE_PLAIN);
	if (!has_total) {
		tare_doc_cell(d, "total");
		tare_sweep_add_mib(d, claimed);
		tare_sweep_add_mib(d, c->peak);
		tare_units_mib(text, c->peak - claimed);
		tare_doc_cell(d, "%s%s", c->peak > claimed ? "+" : "", text);
		tare_doc_row(d, TARE_TONE_STRONG);
	}
	tare_doc_paragraph(
		d,
		"Measured memory holds the context and the code once, as a part of it; they are not to be taken "
		"off again.");
}

/* ---- the table and the bars ---- */

static void add_table(struct tare_doc *d, struct breakdown *b)
{
	struct tare_doc_column columns[SHOWN_MAX + 1] = { { "MiB", false } };
	struct tare_str name = { 0 };

	for (size_t k = 0; k < b->shown_nr; k++)
		columns[k + 1] = (struct tare_doc_column){ b->s->cells[b->shown[k]].label, true };
	tare_doc_table(d, columns, b->shown_nr + 1);
	for (size_t i = 0; i < b->row_nr; i++) {
		if (b->rows[i].most < 51 << 10) /* 0.0 MiB everywhere */
			continue;
		tare_str_cut(&name, 0);
		add_name(&name, b->rows[i].account, b->rows[i].part);
		tare_doc_cell(d, "%s", tare_str_text(&name));
		for (size_t k = 0; k < b->shown_nr; k++)
			tare_sweep_add_mib(d, b->rows[i].bytes[k] < 0 ? 0 : b->rows[i].bytes[k]);
		tare_doc_row(d, TARE_TONE_PLAIN);
	}
	tare_str_free(&name);
	tare_doc_cell(d, "all of it");
	for (size_t k = 0; k < b->shown_nr; k++) {
		int64_t sum = 0;

		for (size_t i = 0; i < b->row_nr; i++)
			sum += b->rows[i].bytes[k];
		tare_sweep_add_mib(d, sum);
	}
	tare_doc_row(d, TARE_TONE_STRONG);
	tare_doc_cell(d, "unexplained");
	for (size_t k = 0; k < b->shown_nr; k++) {
		char text[TARE_UNITS_TEXT_MAX];

		tare_doc_cell(d, "%s", tare_units_mib(text, b->s->cells[b->shown[k]].unexplained));
	}
	tare_doc_row(d, TARE_TONE_QUIET);
}

/* The eight largest accounts of all cells, and the rest. */
enum { NAMES_MAX = 8 };

static void add_bar(struct tare_doc *d, const struct breakdown *b, size_t names,
		    const struct tare_summary_cell *c)
{
	double parts[NAMES_MAX + 1] = { 0 };
	char text[TARE_UNITS_TEXT_MAX], value[TARE_UNITS_TEXT_MAX + 8];

	for (size_t i = 0; i < c->part_nr; i++) {
		size_t at = 0;

		while (at < names && (strcmp(b->rows[at].account, c->parts[i].account) != 0 ||
				      strcmp(b->rows[at].part, c->parts[i].part) != 0))
			at++;
		parts[at] += (double)c->parts[i].bytes;
	}
	snprintf(value, sizeof(value), "%s MiB", tare_units_mib(text, c->peak));
	tare_doc_bar(d, c->label, value, parts);
}

static void add_bars(struct tare_doc *d, const struct breakdown *b)
{
	const struct tare_summary *s = b->s;
	struct tare_str texts[NAMES_MAX + 1] = { { 0 } };
	const char *names[NAMES_MAX + 1];
	size_t n = b->row_nr < NAMES_MAX ? b->row_nr : NAMES_MAX;
	int64_t limit = s->card_bytes >= 0 ? s->card_bytes : s->gpu_bytes;

	for (size_t i = 0; i < n; i++) {
		add_name(&texts[i], b->rows[i].account, b->rows[i].part);
		names[i] = tare_str_text(&texts[i]);
	}
	names[n] = "everything else";
	tare_doc_bars(d, names, n + 1, limit > 0 ? (double)limit : 0, "size of the card");
	for (size_t i = 0, shown = 0; i < s->cell_nr && shown < BARS_MAX; i++)
		if (s->cells[i].part_nr) {
			add_bar(d, b, n, &s->cells[i]);
			shown++;
		}
	for (size_t i = 0; i < n; i++)
		tare_str_free(&texts[i]);
}

void tare_sweep_breakdown(struct tare_doc *d, const struct tare_sweep_view *view)
{
	struct breakdown b = { .s = view->summary };

	choose(&b);
	if (b.shown_nr) {
		collect(&b);
		tare_doc_heading(d, "What the memory is, at the peak");
		add_bars(d, &b);
		add_table(d, &b);
		add_claims(d, view);
	}
	free(b.rows);
}
