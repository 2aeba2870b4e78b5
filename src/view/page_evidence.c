/* SPDX-License-Identifier: Apache-2.0 */
/* Of each row of the ledger at the peak: how it is known, which call gives it back, and which lines it is of. */
#include "view/page.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/emit.h"
#include "base/map.h"
#include "base/sat.h"
#include "base/text.h"
#include "view/ledger_view.h"
#include "view/residue.h"

#include <stdlib.h>
#include <string.h>

enum { CPU = -1, LINES_MAX = 5, ROWS_MAX = 400 /* of a device */ };

static const struct kind {
	enum tare_account account;
	const char *name, *rule, *same, *said;
} kinds[] = {
#define TARE_EVIDENCE_ROW(ACCOUNT, name, rule, same, said) { TARE_ACCOUNT_##ACCOUNT, name, rule, same, said },
#include "view/evidence.def"
};

enum { KIND_NR = sizeof(kinds) / sizeof(kinds[0]) };

/* The account's row "libc10_cuda" has parts whose names are Tare's; a library that is called so has none above it of its account. */
static bool is_of_library(const struct tare_device_ledger *d, const struct tare_row *row)
{
	return row->parent >= 0 && d->rows[row->parent].parent >= 0 && d->rows[row->parent].account == row->account &&
	       d->rows[d->rows[row->parent].parent].account == row->account;
}

static int kind_of(const struct tare_device_ledger *d, const struct tare_row *row)
{
	const struct tare_row *named = row->is_category ? &d->rows[row->parent] : row;
	const char *name = tare_text_last_part(named->path);

	for (int i = 0; i < KIND_NR; i++) {
		bool is_part = *kinds[i].name && strcmp(kinds[i].name, "libc10") != 0;

		if (kinds[i].account == row->account && !strncmp(name, kinds[i].name, strlen(kinds[i].name)) &&
		    (!is_part || is_of_library(d, named)))
			return i;
	}
	return -1;
}

/* ---- lines ---- */

struct from {
	const struct tare_ledger_line *line;
	int64_t bytes;
	uint64_t count;
};

TARE_COMPARATOR(by_size, struct from, TARE_FALLING(bytes) TARE_ALPHABETIC(line->label))

/* What a line has of a row: of live tensors its blocks, else its parts of that account, and of that owner where the row has one. */
static void take(struct from *out, const struct tare_ledger_line *line, const struct tare_row *row, const char *owner)
{
	if (row->has_categories || (row->leaf && owner && !strcmp(owner, "tensors"))) {
		out->bytes = line->tensors.bytes;
		out->count = line->tensors.count;
		return;
	}
	for (int i = 0; i < line->part_nr; i++) {
		const struct tare_line_part *part = &line->parts[i];

		if (part->account != row->account || (owner && (!part->owner || strcmp(part->owner, owner) != 0)))
			continue;
		out->bytes += part->bytes;
		out->count += part->count;
	}
}

/* NULL: the row is of all owners of its account. */
static const char *owner_of(const struct tare_device_ledger *d, const struct tare_row *row)
{
	return row->parent >= 0 && d->rows[row->parent].account == row->account ? tare_text_last_part(row->path) : NULL;
}

static void add_line(struct tare_emit *e, const struct from *from)
{
	tare_emit_open(e, NULL, '{');
	tare_emit_str(e, "line", from->line->label);
	tare_emit_int(e, "bytes", from->bytes);
	tare_emit_uint(e, "count", from->count);
	tare_emit_close(e);
}

/* The same line under several stacks is one. */
struct lines {
	struct from *items;
	size_t nr, cap;
	struct tare_strmap places; /* of a label: 1 + place */
};

static void add_from(struct lines *all, const struct from *from)
{
	uint64_t *place;
	bool is_new;

	if (!from->bytes)
		return;
	place = tare_strmap_put(&all->places, from->line->label, &is_new);
	if (is_new) {
		TARE_APPEND(all->items, all->nr, all->cap) = (struct from){ .line = from->line };
		*place = all->nr;
	}
	all->items[*place - 1].bytes += from->bytes;
	all->items[*place - 1].count += from->count;
}

static void write_lines(struct tare_emit *e, struct lines *all)
{
	int64_t rest = 0;

	TARE_SORT(all->items, all->nr, by_size);
	tare_emit_open(e, "lines", '[');
	for (size_t i = 0; i < all->nr; i++) {
		if (i < LINES_MAX)
			add_line(e, &all->items[i]);
		else
			rest = tare_sat_add(rest, all->items[i].bytes);
	}
	tare_emit_close(e);
	tare_emit_uint(e, "more_lines", all->nr > LINES_MAX ? all->nr - LINES_MAX : 0);
	tare_emit_int(e, "more_bytes", rest);
	free(all->items);
	tare_strmap_free(&all->places);
}

/* Which lines a category is of only its tensors say. */
static void add_lines(struct tare_emit *e, const struct tare_device_ledger *d, const struct tare_row *row)
{
	bool is_any = row->account != TARE_ACCOUNT_PROCESS && !row->is_category;
	const char *owner = owner_of(d, row);
	struct lines all = { 0 };

	for (int i = 0; i < d->line_nr && is_any; i++) {
		struct from from = { .line = &d->lines[i] };

		if (row->pid >= 0 && d->lines[i].pid != row->pid)
			continue;
		take(&from, &d->lines[i], row, owner);
		add_from(&all, &from);
	}
	write_lines(e, &all);
}

/* ---- rows ---- */

/* Only of what counts there: parents are several things. */
static const char *residue_of(const struct tare_device_ledger *d, const struct tare_row *row)
{
	bool is_known = tare_device_ledger_is_gpu(d) && row->leaf;

	return is_known ? tare_residues[tare_residue_of(d, row)].key : NULL;
}

static void open_row(struct tare_emit *e, int device, const char *path, int kind, bool is_category, const char *residue)
{
	tare_emit_open(e, NULL, '{');
	tare_emit_int(e, "device", device);
	tare_emit_str(e, "path", path);
	tare_emit_int(e, "kind", kind);
	tare_emit_flag(e, "is_category", is_category);
	tare_emit_str(e, "residue", residue);
}

static void add_row(struct tare_emit *e, const struct tare_device_ledger *d, const struct tare_row *row)
{
	int kind = kind_of(d, row);

	if (kind < 0)
		return;
	open_row(e, d->index, row->path, kind, row->is_category, residue_of(d, row));
	add_lines(e, d, row);
	tare_emit_close(e);
}

/* "process:431/tensors", as tare_host_json() calls it. */
static void add_host_row(struct tare_emit *e, const struct tare_host_ledger *h, const char *part, const char *category)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };
	struct lines all = { 0 };
	int kind = 0;

	while (kinds[kind].account != TARE_ACCOUNT_NONE || strcmp(kinds[kind].name, part) != 0)
		kind++;
	tare_host_path(&path, h, part, category);
	open_row(e, CPU, tare_str_text(&path), kind, category != NULL, NULL);
	for (int i = 0; i < h->line_nr && !category && !strcmp(part, "tensors"); i++)
		add_from(&all, &(struct from){ &h->lines[i], h->lines[i].tensors.bytes, h->lines[i].tensors.count });
	write_lines(e, &all);
	tare_emit_close(e);
}

static void add_host(struct tare_emit *e, const struct tare_host_ledger *h)
{
	if (!h->tensors.is_known)
		return;
	add_host_row(e, h, "tensors", NULL);
	for (int i = 0; i < h->category_nr; i++)
		add_host_row(e, h, "tensors", tare_category_name(h->categories[i].category));
	add_host_row(e, h, "mapped", NULL);
	if (h->tensors.is_partial)
		add_host_row(e, h, "paused", NULL);
}

static void add_kinds(struct tare_emit *e)
{
	tare_emit_open(e, "kinds", '[');
	for (int i = 0; i < KIND_NR; i++) {
		const struct tare_account_info *account = &tare_accounts[kinds[i].account];

		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "said", kinds[i].said);
		tare_emit_str(e, "rule", kinds[i].rule);
		tare_emit_str(e, "same", kinds[i].same);
		/* What is said of an account is not said of its parts. */
		tare_emit_str(e, "why", *kinds[i].name ? "" : account->why);
		tare_emit_str(e, "less", *kinds[i].name ? "" : account->less);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

static void add_categories(struct tare_emit *e)
{
	tare_emit_open(e, "categories", '[');
	for (int i = 0; i < TARE_CATEGORY_NR; i++) {
		tare_emit_open(e, NULL, '{');
		tare_emit_str(e, "category", tare_category_name(i));
		tare_emit_str(e, "what", tare_category_what(i));
		tare_emit_str(e, "less", tare_category_less(i));
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

void tare_page_evidence(struct tare_emit *e, const struct tare_page *p)
{
	/* Tensors on the CPU may have a peak of their own. */
	const struct tare_ledger *l = &p->ledgers[0], *cpu = p->ledger_nr > 2 ? &p->ledgers[2] : l;

	tare_emit_open(e, "evidence", '{');
	add_kinds(e);
	add_categories(e);
	tare_emit_open(e, "rows", '[');
	for (int d = 0; d < l->device_nr; d++)
		for (int i = 0; i < l->devices[d].row_nr && i < ROWS_MAX; i++)
			add_row(e, &l->devices[d], &l->devices[d].rows[i]);
	for (int i = 0; i < cpu->host_nr && i < ROWS_MAX; i++)
		add_host(e, &cpu->hosts[i]);
	tare_emit_close(e);
	tare_emit_close(e);
	tare_emit_open(e, "calls", '{');
	if (p->calls)
		tare_time_view(e, p->calls);
	tare_emit_close(e);
	tare_emit_open(e, "explained", '[');
	if (p->explain)
		p->explain(p->of_explain, e);
	tare_emit_close(e);
}
