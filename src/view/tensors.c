/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tensors.h"

#include "base/xalloc.h"
#include "view/by.h"
#include "view/device_text.h"

#include <stdlib.h>
#include <string.h>

enum { SCREEN_TENSORS = 50 };

/* Where tensors are: on a GPU, or in the memory of the CPU, of one process. */
struct place {
	const struct tare_ledger *ledger;
	const struct tare_device_ledger *device; /* NULL: the CPU, and then … */
	const struct tare_host_ledger *host;
	const struct tare_tensor_rows *rows;
};

static int place_nr(const struct tare_ledger *l)
{
	return l->device_nr + l->host_nr;
}

static struct place place_of(const struct tare_ledger *l, int i)
{
	const struct tare_host_ledger *host;

	if (i < l->device_nr)
		return (struct place){ l, &l->devices[i], NULL, &l->devices[i].tensors };
	host = &l->hosts[i - l->device_nr];
	return (struct place){ l, NULL, host, &host->blocks };
}

bool tare_tensors_is_any(const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < place_nr(ask->ledgers[i]); k++)
			if (place_of(ask->ledgers[i], k).rows->count)
				return true;
	return false;
}

static int by_bytes(const void *a, const void *b)
{
	const struct tare_category_sum *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (int)x->category - (int)y->category;
}

int tare_category_sums(const struct tare_tensor_rows *rows,
		       struct tare_category_sum sums[TARE_CATEGORY_NR])
{
	int n = 0;

	memset(sums, 0, TARE_CATEGORY_NR * sizeof(*sums));
	for (int i = 0; i < rows->count; i++)
		tare_category_sums_add(sums, rows->items[i].rule, rows->items[i].bytes,
				       rows->items[i].count);
	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		if (sums[c].count)
			sums[n++] = sums[c];
	qsort(sums, (size_t)n, sizeof(*sums), by_bytes);
	return n;
}

/* ---- for scripts ---- */

static const struct tare_column category_columns[] = {
	TARE_LOOSE("at", "", TEXT),     TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("label", "", TEXT),  TARE_LOOSE("bytes", "", BYTES),
	TARE_LOOSE("count", "", COUNT), TARE_LOOSE("evidence", "", TEXT),
	TARE_LOOSE("pid", "", COUNT),   TARE_LOOSE("parameters_ratio", "", NUMBER),
};

static const struct tare_column tensor_columns[] = {
	TARE_LOOSE("at", "", TEXT),     TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("label", "", TEXT),  TARE_LOOSE("bytes", "", BYTES),
	TARE_LOOSE("count", "", COUNT), TARE_LOOSE("evidence", "", TEXT),
	TARE_LOOSE("pid", "", COUNT),   TARE_LOOSE("category", "", TEXT),
	TARE_LOOSE("rule", "", TEXT),   TARE_LOOSE("name", "", TEXT),
	TARE_LOOSE("line", "", TEXT),   TARE_LOOSE("born_ns", "", DURATION),
};

static void add_head(struct tare_emit *e, const struct place *p, const char *label, int64_t bytes,
		     uint64_t count, enum tare_evidence evidence)
{
	tare_emit_cell_text(e, p->ledger->at);
	if (p->device)
		tare_emit_cell_int(e, p->device->index);
	else
		tare_emit_cell_unknown(e);
	tare_emit_cell_text(e, label);
	tare_emit_cell_int(e, bytes);
	tare_emit_cell_uint(e, count);
	tare_emit_cell_text(e, tare_evidence_name(evidence));
}

/* What a category takes for each byte of parameters: how training grows with its model. */
static void add_ratio(struct tare_emit *e, int64_t bytes, int64_t parameters)
{
	if (parameters > 0)
		tare_emit_cell_number(e, (double)bytes / (double)parameters);
	else
		tare_emit_cell_unknown(e);
}

static int64_t parameters_of(const struct tare_category_sum *sums, int n)
{
	for (int i = 0; i < n; i++)
		if (sums[i].category == TARE_CATEGORY_PARAMETER)
			return sums[i].bytes;
	return 0;
}

static void add_categories(struct tare_emit *e, const struct place *p)
{
	struct tare_category_sum sums[TARE_CATEGORY_NR];
	int n = tare_category_sums(p->rows, sums);
	int64_t parameters = parameters_of(sums, n);

	for (int i = 0; i < n; i++) {
		add_head(e, p, tare_category_name(sums[i].category), sums[i].bytes, sums[i].count,
			 sums[i].evidence);
		if (p->host)
			tare_emit_cell_int(e, p->host->pid);
		else
			tare_emit_cell_unknown(e);
		add_ratio(e, sums[i].bytes, parameters);
		tare_emit_row(e);
	}
}

static const char *label_of(const struct tare_tensor_row *t)
{
	return t->name ? t->name : t->line ? t->line : t->count > 1 ? "folded away" : "no line";
}

static void add_tensors(struct tare_emit *e, const struct place *p)
{
	for (int i = 0; i < p->rows->count; i++) {
		const struct tare_tensor_row *t = &p->rows->items[i];
		const struct tare_rule_info *rule = &tare_rules[t->rule];

		add_head(e, p, label_of(t), t->bytes, t->count, rule->evidence);
		tare_emit_cell_int(e, t->pid);
		tare_emit_cell_text(e, tare_category_name(rule->category));
		tare_emit_cell_text(e, rule->name);
		tare_emit_cell_text(e, t->name);
		tare_emit_cell_text(e, t->line);
		if (t->born_ns == -1)
			tare_emit_cell_unknown(e);
		else
			tare_emit_cell_int(e, t->born_ns);
		tare_emit_row(e);
	}
}

static void show_data(struct tare_emit *e, const struct tare_by_ask *ask)
{
	bool is_each = ask->by == TARE_BY_TENSOR;

	if (is_each)
		tare_emit_table(e, "rows", NULL, TARE_COLUMNS(tensor_columns));
	else
		tare_emit_table(e, "rows", NULL, TARE_COLUMNS(category_columns));
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < place_nr(ask->ledgers[i]); k++) {
			struct place p = place_of(ask->ledgers[i], k);

			(is_each ? add_tensors : add_categories)(e, &p);
		}
	tare_emit_table_end(e);
}

/* ---- for people ---- */

static void show_categories(struct tare_emit *e, const char *title,
			    const struct tare_tensor_rows *rows)
{
	static const struct tare_column columns[] = {
		TARE_LOOSE(NULL, "TENSORS", TEXT),        TARE_LOOSE(NULL, "NR", COUNT),
		TARE_LOOSE(NULL, "MiB", BYTES),           TARE_LOOSE(NULL, "%", PERCENT),
		TARE_LOOSE(NULL, "× parameters", NUMBER), TARE_LOOSE(NULL, "known by", TEXT),
	};
	struct tare_category_sum sums[TARE_CATEGORY_NR];
	int n = tare_category_sums(rows, sums);
	int64_t all = 0, parameters = parameters_of(sums, n);
	uint64_t count = 0;

	for (int i = 0; i < n; i++) {
		all += sums[i].bytes;
		count += sums[i].count;
	}
	tare_emit_table(e, "category", title, columns, (int)(sizeof(columns) / sizeof(columns[0])));
	for (int i = 0; i < n; i++) {
		tare_emit_cell_text(e, tare_category_name(sums[i].category));
		tare_emit_cell_uint(e, sums[i].count);
		tare_emit_cell_int(e, sums[i].bytes);
		tare_emit_cell_number(e, all ? (double)sums[i].bytes / (double)all : 0);
		add_ratio(e, sums[i].bytes, parameters);
		tare_emit_cell_text(e, sums[i].evidence == TARE_EVIDENCE_WITNESS ? "the program"
										 : "rules");
		tare_emit_row(e);
	}
	tare_emit_rule(e);
	tare_emit_cell_text(e, "all tensors");
	tare_emit_cell_uint(e, count);
	tare_emit_cell_int(e, all);
	tare_emit_cell_number(e, 1);
	add_ratio(e, all, parameters);
	tare_emit_row(e);
	tare_emit_table_end(e);
}

static void show_tensors(struct tare_emit *e, const char *title,
			 const struct tare_tensor_rows *rows)
{
	static const struct tare_column columns[] = {
		TARE_LOOSE(NULL, "TENSOR", TEXT),
		TARE_LOOSE(NULL, "MiB", BYTES),
		TARE_LOOSE(NULL, "for", TEXT),
		TARE_LOOSE(NULL, "made at", TEXT),
	};
	int64_t rest = 0;

	tare_emit_table(e, "tensor", title, columns, (int)(sizeof(columns) / sizeof(columns[0])));
	for (int i = 0; i < rows->count; i++) {
		const struct tare_tensor_row *t = &rows->items[i];

		if (i >= SCREEN_TENSORS) {
			rest += t->bytes;
			continue;
		}
		tare_emit_cell_text(e, t->name        ? t->name
				       : t->count > 1 ? "several, folded away"
						      : "–");
		tare_emit_cell_int(e, t->bytes);
		tare_emit_cell_text(e, tare_category_name(tare_rules[t->rule].category));
		tare_emit_cell_text(e, t->short_line ? t->short_line : "–");
		tare_emit_row(e);
	}
	if (rows->count > SCREEN_TENSORS) {
		struct tare_str label = { 0 };

		tare_str_addf(&label, "%d more", rows->count - SCREEN_TENSORS);
		tare_emit_cell_text(e, tare_str_text(&label));
		tare_emit_cell_int(e, rest);
		tare_emit_row(e);
		tare_str_free(&label);
	}
	tare_emit_table_end(e);
}

static void show(struct tare_emit *e, bool is_each, const struct place *p)
{
	struct tare_str title = { 0 };

	if (!p->rows->count)
		return;
	if (p->device) {
		tare_str_addf(&title, "GPU %d  ", p->device->index);
		tare_text_add_name(&title, p->device->name ? p->device->name : "");
	} else {
		tare_str_add(&title, "CPU  ");
		tare_text_add_name(&title, p->host->name ? p->host->name : "");
		tare_str_addf(&title, " (pid %lld)", (long long)p->host->pid);
	}
	tare_str_add(&title, " · ");
	tare_device_text_instant(&title, p->ledger, p->device ? p->device->t_ns : p->ledger->t_ns);
	(is_each ? show_tensors : show_categories)(e, tare_str_text(&title), p->rows);
	tare_str_free(&title);
}

static void show_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < place_nr(ask->ledgers[i]); k++) {
			struct place p = place_of(ask->ledgers[i], k);

			show(e, ask->by == TARE_BY_TENSOR, &p);
		}
}

void tare_tensors_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	(e->format == TARE_EMIT_TEXT ? show_text : show_data)(e, ask);
}
