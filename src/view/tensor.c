/* SPDX-License-Identifier: Apache-2.0 */
/* `--by tensor`: every live tensor. On the screen those that differ in nothing that is shown share a row. */
#include "base/array.h"
#include "base/comparator.h"
#include "base/units.h"
#include "view/by.h"
#include "view/tensors.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SCREEN_TENSORS = 50, LOOK_BACK = 64, WIDE = 110 /* columns */ };

struct tensor {
	const char *at, *label, *shown;
	int64_t device; /* -1: none */
	const char *category, *rule, *module, *class;
	const char *made_at; /* of one that has a name; the others are called so */
	enum tare_evidence evidence;
	struct tare_tensor_row of;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(tensor, at, "at", NULL, TEXT),
	TARE_COLUMN(tensor, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(tensor, label, "label", NULL, TEXT),
	TARE_COLUMN(tensor, shown, NULL, "TENSOR", TEXT),
	TARE_COLUMN(tensor, of.bytes, "bytes", "MiB", BYTES),
	TARE_COLUMN(tensor, of.count, "count", "NR", COUNT, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(tensor, evidence, "evidence", NULL, TEXT, .name = tare_evidence_name),
	TARE_COLUMN(tensor, of.pid, "pid", NULL, ID),
	TARE_COLUMN(tensor, of.address, "address", NULL, ADDRESS, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(tensor, category, "category", "for", TEXT, .is_whole = true),
	TARE_COLUMN(tensor, rule, "rule", NULL, TEXT),
	TARE_COLUMN(tensor, of.name, "name", NULL, TEXT),
	TARE_COLUMN(tensor, of.line, "line", NULL, TEXT),
	TARE_COLUMN(tensor, made_at, NULL, "made at", TEXT, .is_blank = true),
	TARE_COLUMN(tensor, of.born_ns, "born_ns", NULL, TIME, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(tensor, module, "module", "in", TEXT),
	TARE_COLUMN(tensor, class, "class", NULL, TEXT),
	TARE_COLUMN(tensor, of.shape, "shape", "shape", TEXT),
};

static const char *label_of(const struct tare_tensor_row *t)
{
	return t->name ? t->name : t->line ? t->line : "no line";
}

static struct tensor row_of(const struct tare_tensor_place *p, const struct tare_tensor_row *t)
{
	const struct tare_rule_info *rule = &tare_rules[t->rule];

	return (struct tensor){ .at = p->ledger->at,
		                    .label = label_of(t),
		                    .shown = t->name ? t->name : t->short_line,
		                    .made_at = t->name ? t->short_line : NULL,
		                    .device = p->device ? p->device->index : -1,
		                    .category = tare_category_name(rule->category),
		                    .rule = rule->name,
		                    .module = t->module ? t->module->path : NULL,
		                    .class = t->module ? t->module->class : NULL,
		                    .evidence = rule->evidence,
		                    .of = *t };
}

/* ---- for scripts ---- */

void tare_tensors_rows(struct tare_emit *e, const struct tare_by_ask *ask)
{
	tare_emit_table(e, "rows", NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < tare_tensor_place_nr(ask->ledgers[i]); k++) {
			struct tare_tensor_place p = tare_tensor_place(ask->ledgers[i], k);

			for (int t = 0; t < p.rows->count; t++) {
				struct tensor row = row_of(&p, &p.rows->items[t]);

				tare_emit_add(e, &row);
			}
		}
	tare_emit_table_end(e);
}

/* ---- for people ---- */

/* Tensors that have no name, and one size, line and category. */
struct group {
	const struct tare_tensor_row *first;
	uint64_t count, modules; /* modules: other than that of the first */
	int64_t bytes;
};

struct groups {
	struct group *items;
	size_t count, cap;
};

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* What one variable keeps may have one name many times; what a module says has its own. */
static bool has_own_name(const struct tare_tensor_row *t)
{
	return t->name && tare_rules[t->rule].evidence == TARE_EVIDENCE_WITNESS;
}

static bool is_alike(const struct tare_tensor_row *a, const struct tare_tensor_row *b)
{
	return !has_own_name(a) && !has_own_name(b) && is_same_text(a->name, b->name) && a->count == 1 && b->count == 1 &&
	       a->bytes == b->bytes && tare_rules[a->rule].category == tare_rules[b->rule].category &&
	       is_same_text(a->short_line, b->short_line) && is_same_text(a->shape, b->shape) &&
	       is_same_text(a->module ? a->module->class : NULL, b->module ? b->module->class : NULL);
}

/* Rows come by size, so one like it is near. */
static struct group *group_of(struct groups *g, const struct tare_tensor_row *t)
{
	size_t i = g->count;

	for (; i-- > 0 && g->count - i <= LOOK_BACK && g->items[i].first->bytes == t->bytes;)
		if (is_alike(g->items[i].first, t))
			return &g->items[i];
	return TARE_ADD(g->items, g->count, g->cap, (struct group){ .first = t });
}

/* The largest first; those of one size in the order of the rows. */
TARE_COMPARATOR(by_bytes, struct group, TARE_FALLING(bytes) TARE_RISING(first))

static void fold(struct groups *g, const struct tare_tensor_rows *rows)
{
	for (int i = 0; i < rows->count; i++) {
		const struct tare_tensor_row *t = &rows->items[i];
		struct group *group = group_of(g, t);

		group->count += t->count;
		group->bytes += t->bytes;
		group->modules += group->first->module != t->module;
	}
	TARE_SORT(g->items, g->count, by_bytes);
}

static void add_group(struct tare_emit *e, const struct tare_tensor_place *p, const struct group *g)
{
	struct tensor row = row_of(p, g->first);
	TARE_FREED_BY(tare_str_free) struct tare_str module = { 0 };

	row.of.count = g->count;
	row.of.bytes = g->bytes;
	if (row.module && g->modules) {
		tare_str_addf(&module, "%s and like it", row.module);
		row.module = tare_str_text(&module);
	}
	tare_emit_add(e, &row);
}

/* Rows that would show as 0.0 MiB are summed up, unless there are no others, or only one of them. */
static size_t count_shown(const struct groups *g)
{
	size_t n = g->count;

	while (n && g->items[n - 1].bytes < TARE_UNITS_LEAST)
		n--;
	if (!n || n + 1 == g->count)
		n = g->count;
	return n < SCREEN_TENSORS ? n : SCREEN_TENSORS;
}

static void add_rest(struct tare_emit *e, const struct groups *g, size_t shown)
{
	struct tensor rest = { .device = -1 };
	TARE_FREED_BY(tare_str_free) struct tare_str label = { 0 };

	for (size_t i = shown; i < g->count; i++) {
		rest.of.bytes += g->items[i].bytes;
		rest.of.count += g->items[i].count;
	}
	tare_str_addf(&label, "%llu more", (unsigned long long)rest.of.count);
	rest.shown = tare_str_text(&label);
	tare_emit_add(e, &rest);
}

/* Where there is little room, what a tensor is for and which one it is says more than the line that made it. */
static void leave_out_made_at(const struct tare_emit *e, struct tare_column *shown, size_t count)
{
	for (size_t i = 0; i < count && e->style.is_screen && e->style.width < WIDE; i++)
		if (shown[i].offset == offsetof(struct tensor, made_at))
			shown[i].head = NULL;
}

void tare_tensors_text(struct tare_emit *e, const struct tare_tensor_place *p)
{
	struct tare_column mine[sizeof(columns) / sizeof(columns[0])];
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };
	struct groups g = { 0 };
	size_t shown;

	fold(&g, p->rows);
	shown = count_shown(&g);
	tare_tensor_place_title(&title, p);
	memcpy(mine, columns, sizeof(columns));
	leave_out_made_at(e, TARE_COLUMNS(mine));
	tare_emit_table(e, "tensor", tare_str_text(&title), TARE_COLUMNS(mine));
	for (size_t i = 0; i < shown; i++)
		add_group(e, p, &g.items[i]);
	if (shown < g.count)
		add_rest(e, &g, shown);
	tare_emit_table_end(e);
	tare_tensor_place_shared(e, p);
	tare_emit_gap(e);
	free(g.items);
}
