/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tensors.h"

#include "base/xalloc.h"
#include "view/by.h"
#include "view/device_text.h"

#include <math.h>
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

/* ---- the tables ---- */

struct category {
	const char *at, *label, *known_by;
	int64_t device, pid; /* -1: none */
	int64_t bytes;
	uint64_t count;
	enum tare_evidence evidence;
	double share, ratio;
};

static const struct tare_column category_columns[] = {
	TARE_COLUMN(category, at, "at", NULL, TEXT),
	TARE_COLUMN(category, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(category, label, "label", "TENSORS", TEXT),
	TARE_COLUMN(category, count, NULL, "NR", COUNT, .is_sum = true),
	TARE_COLUMN(category, bytes, "bytes", "MiB", BYTES, .is_sum = true),
	TARE_COLUMN(category, count, "count", NULL, COUNT),
	TARE_COLUMN(category, share, NULL, "%", PERCENT, .is_sum = true),
	TARE_COLUMN(category, evidence, "evidence", NULL, TEXT, .name = tare_evidence_name),
	TARE_COLUMN(category, pid, "pid", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(category, ratio, "parameters_ratio", "× parameters", NUMBER, .is_sum = true),
	TARE_COLUMN(category, known_by, NULL, "known by", TEXT),
};

struct tensor {
	const char *at, *label, *shown;
	int64_t device; /* -1: none */
	const char *category, *rule;
	enum tare_evidence evidence;
	struct tare_tensor_row of;
};

static const struct tare_column tensor_columns[] = {
	TARE_COLUMN(tensor, at, "at", NULL, TEXT),
	TARE_COLUMN(tensor, device, "device", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(tensor, label, "label", NULL, TEXT),
	TARE_COLUMN(tensor, shown, NULL, "TENSOR", TEXT),
	TARE_COLUMN(tensor, of.bytes, "bytes", "MiB", BYTES),
	TARE_COLUMN(tensor, of.count, "count", NULL, COUNT),
	TARE_COLUMN(tensor, evidence, "evidence", NULL, TEXT, .name = tare_evidence_name),
	TARE_COLUMN(tensor, of.pid, "pid", NULL, ID),
	TARE_COLUMN(tensor, category, "category", "for", TEXT),
	TARE_COLUMN(tensor, rule, "rule", NULL, TEXT),
	TARE_COLUMN(tensor, of.name, "name", NULL, TEXT),
	TARE_COLUMN(tensor, of.line, "line", NULL, TEXT),
	TARE_COLUMN(tensor, of.short_line, NULL, "made at", TEXT),
	TARE_COLUMN(tensor, of.born_ns, "born_ns", NULL, TIME, .unknown = TARE_UNKNOWN_NEGATIVE),
};

/* What a category takes for each byte of parameters: how training grows with its model. */
static double ratio(int64_t bytes, int64_t parameters)
{
	return parameters > 0 ? (double)bytes / (double)parameters : NAN;
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
	int64_t parameters = parameters_of(sums, n), all = 0;

	for (int i = 0; i < n; i++)
		all += sums[i].bytes;
	for (int i = 0; i < n; i++) {
		const struct tare_category_sum *s = &sums[i];
		bool is_said = s->evidence == TARE_EVIDENCE_WITNESS;

		tare_emit_add(e,
			      &(struct category){ .at = p->ledger->at,
						  .label = tare_category_name(s->category),
						  .known_by = is_said ? "the program" : "rules",
						  .device = p->device ? p->device->index : -1,
						  .pid = p->host ? p->host->pid : -1,
						  .bytes = s->bytes,
						  .count = s->count,
						  .evidence = s->evidence,
						  .share = all ? (double)s->bytes / (double)all : 0,
						  .ratio = ratio(s->bytes, parameters) });
	}
	tare_emit_sum(e, "all tensors");
}

static const char *label_of(const struct tare_tensor_row *t)
{
	return t->name ? t->name : t->line ? t->line : t->count > 1 ? "folded away" : "no line";
}

/* On the screen no more than fit. */
static void add_tensors(struct tare_emit *e, const struct place *p)
{
	bool is_text = tare_emit_is_for_people(e);
	struct tensor rest = { 0 };
	struct tare_str label = { 0 };

	for (int i = 0; i < p->rows->count; i++) {
		const struct tare_tensor_row *t = &p->rows->items[i];
		const struct tare_rule_info *rule = &tare_rules[t->rule];

		if (is_text && i >= SCREEN_TENSORS) {
			rest.of.bytes += t->bytes;
			continue;
		}
		tare_emit_add(e, &(struct tensor){ .at = p->ledger->at,
						   .label = label_of(t),
						   .shown = t->name        ? t->name
							    : t->count > 1 ? "several, folded away"
									   : NULL,
						   .device = p->device ? p->device->index : -1,
						   .category = tare_category_name(rule->category),
						   .rule = rule->name,
						   .evidence = rule->evidence,
						   .of = *t });
	}
	if (is_text && p->rows->count > SCREEN_TENSORS) {
		tare_str_addf(&label, "%d more", p->rows->count - SCREEN_TENSORS);
		rest.shown = tare_str_text(&label);
		tare_emit_add(e, &rest);
		tare_str_free(&label);
	}
}

/* ---- for scripts ---- */

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

static void show(struct tare_emit *e, bool is_each, const struct place *p)
{
	struct tare_str title = { 0 };

	if (!p->rows->count)
		return;
	if (p->device) {
		tare_str_addf(&title, "GPU %d  ", p->device->index);
		tare_str_add(&title, p->device->name ? p->device->name : "");
	} else {
		tare_str_add(&title, "CPU  ");
		tare_str_add(&title, p->host->name ? p->host->name : "");
		tare_str_addf(&title, " (pid %lld)", (long long)p->host->pid);
	}
	tare_str_add(&title, " · ");
	tare_device_text_instant(&title, p->ledger, p->device ? p->device->t_ns : p->ledger->t_ns);
	if (is_each)
		tare_emit_table(e, "tensor", tare_str_text(&title), TARE_COLUMNS(tensor_columns));
	else
		tare_emit_table(e, "category", tare_str_text(&title),
				TARE_COLUMNS(category_columns));
	(is_each ? add_tensors : add_categories)(e, p);
	tare_emit_table_end(e);
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
	(tare_emit_is_for_people(e) ? show_text : show_data)(e, ask);
}
