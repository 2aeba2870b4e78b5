/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the sizes that different views of a recording give for the same row at the same instant. */
#include "view/agree.h"

#include "view/agree_private.h"

#include "base/array.h"
#include "view/residue.h"
#include "view/tensors.h"
#include "view/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tare_said_add(struct tare_said *f, const char *row, int64_t bytes)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->items[i].row, row)) {
			f->items[i].bytes += bytes;
			return;
		}
	TARE_APPEND(f->items, f->count, f->cap) = (struct tare_said_row){ row, bytes };
}

static void said_free(struct tare_said *f)
{
	free(f->items);
	*f = (struct tare_said){ 0 };
}

static const int64_t *find(const struct tare_said *f, const char *row)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->items[i].row, row))
			return &f->items[i].bytes;
	return NULL;
}

static void compare_row(struct tare_agreement *a, const struct tare_said *x, const struct tare_said *y, const char *row,
                        const char *memory, int64_t t_ns)
{
	const int64_t *of_x = find(x, row), *of_y = find(y, row);
	int64_t says_x = of_x ? *of_x : 0, says_y = of_y ? *of_y : 0;

	a->figures++;
	if (says_x == says_y)
		return;
	if (!a->differ++)
		tare_str_addf(&a->why, "%s at %.9f s: %s has %lld bytes of %s, and %s has %lld", memory, (double)t_ns / 1e9,
		              x->view, (long long)says_x, row, y->view, (long long)says_y);
}

/* A row that a view has not is 0 there. */
static void said_compare(struct tare_agreement *a, const struct tare_said *x, const struct tare_said *y,
                         const char *memory, int64_t t_ns)
{
	for (size_t i = 0; i < x->count; i++)
		compare_row(a, x, y, x->items[i].row, memory, t_ns);
	for (size_t i = 0; i < y->count; i++)
		if (!find(x, y->items[i].row))
			compare_row(a, x, y, y->items[i].row, memory, t_ns);
}

/* ---- a picture and the table ---- */

static void add_picture(struct tare_said *f, const struct tare_memory_history_panel *panel,
                        const struct tare_memory_history_point *point)
{
	f->view = "the picture (--svg)";
	tare_said_add(f, "used", point->used);
	for (int i = 0; i < panel->band_nr; i++)
		tare_said_add(f, panel->bands[i].key, point->bytes[i]);
}

/* What of PyTorch's pool a picture has in bands of their own; else the row's account. */
static const char *band_of(const struct tare_row *row)
{
	static const char *const pool[] = { "tensors", "partly", "held", "cached" };
	const char *last = strrchr(row->path, '/');

	if (row->is_category)
		return row->label;
	for (size_t i = 0; last && i < sizeof(pool) / sizeof(pool[0]); i++)
		if ((row->account == TARE_ACCOUNT_ALLOCATION || row->account == TARE_ACCOUNT_VMM) && !strcmp(last + 1, pool[i]))
			return pool[i];
	return tare_accounts[row->account].key;
}

static void add_table(struct tare_said *f, const struct tare_device_ledger *d)
{
	f->view = "the table of accounts";
	tare_said_add(f, "used", (int64_t)d->used);
	tare_said_add(f, "unexplained", d->unexplained);
	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].leaf)
			tare_said_add(f, band_of(&d->rows[i]), d->rows[i].bytes);
}

static void add_hosts(struct tare_said *f, const struct tare_ledger *l)
{
	f->view = "the table of tensors on the CPU";
	for (int i = 0; i < l->host_nr; i++) {
		const struct tare_host_ledger *h = &l->hosts[i];
		int64_t rest = h->tensors.bytes;

		tare_said_add(f, "used", rest);
		for (int k = 0; k < h->category_nr; k++) {
			tare_said_add(f, tare_category_name(h->categories[k].category), h->categories[k].bytes);
			rest -= h->categories[k].bytes;
		}
		tare_said_add(f, "tensors", rest);
	}
}

/* ---- the views of one ledger ---- */

struct place {
	const struct tare_ledger *l;
	const struct tare_device_ledger *d; /* NULL: the CPU */
	const char *memory;
	int64_t t_ns;
};

static void compare_sum(struct tare_agreement *a, const struct place *p, const char *view, int64_t bytes,
                        const char *other, int64_t of_other)
{
	struct tare_said x = { .view = view }, y = { .view = other };

	tare_said_add(&x, "all rows", bytes);
	tare_said_add(&y, "all rows", of_other);
	said_compare(a, &x, &y, p->memory, p->t_ns);
	said_free(&x);
	said_free(&y);
}

static int64_t residue_of(const struct tare_device_ledger *d)
{
	struct tare_residue_rows rows;
	int64_t sum = 0;

	tare_residue_build(&rows, d);
	for (size_t i = 0; i < rows.count; i++)
		sum += rows.rows[i].bytes;
	tare_residue_free(&rows);
	return sum;
}

/* Every view that parts a device into rows has all that is explained; and live tensors, by line, are those of the table. */
static void agree_rows(struct tare_agreement *a, const struct place *p)
{
	static const enum tare_by all[] = { TARE_BY_ACCOUNT, TARE_BY_OWNER, TARE_BY_PROCESS,
		                                TARE_BY_LIBRARY, TARE_BY_LINE,  TARE_BY_STACK };
	int64_t explained = (int64_t)p->d->used - p->d->unexplained;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct tare_by_rows rows;
		int64_t sum = 0;
		char view[40];

		snprintf(view, sizeof(view), "--by %s", tare_by_infos[all[i]].name);
		tare_by_build(&rows, all[i], p->l);
		for (size_t r = 0; r < rows.count; r++)
			sum += rows.rows[r].device == p->d ? rows.rows[r].bytes : 0;
		tare_by_free(&rows);
		compare_sum(a, p, view, sum, "the table of accounts", explained);
	}
	if (tare_device_ledger_is_gpu(p->d))
		compare_sum(a, p, "--by residue", residue_of(p->d), "the table of accounts", explained);
}

static void agree_data(struct tare_agreement *a, const struct place *p, enum tare_by by, const struct tare_said *table)
{
	struct tare_by_ask ask = { .by = by, .ledgers = &p->l, .ledger_nr = 1, .pid = -1 };
	struct tare_said json = { .view = "its JSON" }, csv = { .view = "its CSV" };
	TARE_FREED_BY(tare_arena_free) struct tare_arena memory = { 0 };

	tare_said_json(&json, &memory, &ask, p->d ? p->d->index : -1);
	tare_said_csv(&csv, &memory, &ask, p->d ? p->d->index : -1);
	said_compare(a, table, &json, p->memory, p->t_ns);
	said_compare(a, table, &csv, p->memory, p->t_ns);
	said_free(&json);
	said_free(&csv);
}

static void agree_accounts(struct tare_agreement *a, const struct place *p)
{
	struct tare_said table = { .view = "--by account" };
	struct tare_by_rows rows;

	tare_by_build(&rows, TARE_BY_ACCOUNT, p->l);
	for (size_t r = 0; r < rows.count; r++)
		if (rows.rows[r].device == p->d)
			tare_said_add(&table, rows.rows[r].label, rows.rows[r].bytes);
	agree_data(a, p, TARE_BY_ACCOUNT, &table);
	tare_by_free(&rows);
	said_free(&table);
}

/* What of a device or a process is in the rows of its tensors, and in no row of a category: trials, what is mapped. */
static bool has_more_blocks(const struct place *p)
{
	for (int i = 0; p->d && i < p->d->row_nr; i++)
		if (p->d->rows[i].account == TARE_ACCOUNT_TRIAL || (p->d->rows[i].leaf && p->d->rows[i].pool))
			return true;
	for (int i = 0; !p->d && i < p->l->host_nr; i++)
		if (p->l->hosts[i].tensors.mapped || (p->l->hosts[i].tensors.bytes && !p->l->hosts[i].category_nr))
			return true;
	return false;
}

static void add_category_view(struct tare_said *f, const struct place *p)
{
	f->view = "--by category";
	for (int i = 0; i < tare_tensor_place_nr(p->l); i++) {
		struct tare_tensor_place place = tare_tensor_place(p->l, i);
		struct tare_category_sum sums[TARE_CATEGORY_NR];
		int n = place.device == p->d ? tare_category_sums(place.rows, sums) : 0;

		for (int k = 0; k < n; k++)
			tare_said_add(f, tare_category_name(sums[k].category), sums[k].bytes);
	}
}

static void keep_categories(struct tare_said *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->count; i++)
		for (int c = 0; c < TARE_CATEGORY_NR; c++)
			if (!strcmp(f->items[i].row, tare_category_name((enum tare_category)c)))
				f->items[kept++] = f->items[i];
	f->count = kept;
}

static void agree_categories(struct tare_agreement *a, const struct place *p, struct tare_said *table)
{
	TARE_FREED_BY(said_free) struct tare_said view = { 0 };

	add_category_view(&view, p);
	agree_data(a, p, TARE_BY_CATEGORY, &view);
	keep_categories(table);
	if (!has_more_blocks(p))
		said_compare(a, &view, table, p->memory, p->t_ns);
}

void tare_agree_at(struct tare_agreement *a, const struct tare_ledger *l, const struct tare_memory_history_panel *panel,
                   const struct tare_memory_history_point *point)
{
	const struct tare_device_ledger *d = panel->device < 0 ? NULL : &l->devices[panel->device];
	struct tare_said picture = { 0 }, table = { 0 };
	char memory[32] = "CPU";
	struct place p = { l, d, memory, point->t_ns };

	if (d)
		snprintf(memory, sizeof(memory), "GPU %d", d->index);
	if (d && d->used == TARE_NOT_KNOWN)
		return;
	add_picture(&picture, panel, point);
	if (d)
		add_table(&table, d);
	else
		add_hosts(&table, l);
	said_compare(a, &picture, &table, memory, point->t_ns);
	if (d) {
		agree_rows(a, &p);
		agree_accounts(a, &p);
	}
	agree_categories(a, &p, &table);
	said_free(&picture);
	said_free(&table);
}

/* ---- the line of time ---- */

void tare_agree_time(struct tare_agreement *a, const struct tare_ledger *l,
                     const struct tare_memory_history_panel *panel)
{
	const struct tare_timeline *t = panel->device < 0 ? &l->host_timeline : &l->devices[panel->device].timeline;
	struct place p = { .l = l, .memory = panel->device < 0 ? "CPU" : "GPU" };
	size_t at = 0;

	for (int i = 0; i < t->nr; i++) {
		struct tare_timeline_span span = tare_timeline_span(t, i);
		int64_t most = -1;

		for (; at < panel->point_nr && (panel->points[at].t_ns < span.to_ns || i == t->nr - 1); at++)
			if (most < panel->points[at].used)
				most = panel->points[at].used;
		p.t_ns = span.from_ns;
		/* Where records are missing neither says anything: the picture is hatched. */
		if (most >= 0 && span.most >= 0)
			compare_sum(a, &p, "--by time", span.most, "the picture (--svg)", most);
	}
}
