/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what tensors are for, and what each is called. */
#include "view/tensors.h"

#include "base/comparator.h"
#include "base/units.h"
#include "view/by.h"
#include "view/device_text.h"

#include <math.h>
#include <string.h>

int tare_tensor_place_nr(const struct tare_ledger *l)
{
	return l->device_nr + l->host_nr;
}

struct tare_tensor_place tare_tensor_place(const struct tare_ledger *l, int i)
{
	const struct tare_host_ledger *host;

	if (i < l->device_nr)
		return (struct tare_tensor_place){ l, &l->devices[i], NULL, &l->devices[i].tensors };
	host = &l->hosts[i - l->device_nr];
	return (struct tare_tensor_place){ l, NULL, host, &host->blocks };
}

void tare_tensor_place_title(struct tare_str *title, const struct tare_tensor_place *p)
{
	if (p->device) {
		tare_str_addf(title, "GPU %d  ", p->device->index);
		tare_device_text_name(title, p->device);
	} else {
		tare_str_add(title, "CPU  ");
		tare_str_add(title, p->host->name ? p->host->name : "");
		tare_str_addf(title, " (pid %lld)", (long long)p->host->pid);
	}
	tare_str_add(title, " · ");
	tare_device_text_instant(title, p->ledger, p->device ? p->device->t_ns : p->ledger->t_ns);
}

void tare_tensor_place_shared(struct tare_emit *e, const struct tare_tensor_place *p)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (p->host && p->host->tensors.mapped > 0)
		tare_emit_paragraph(e,
		                    "%s MiB of it are in shared memory and mapped files, where other "
		                    "processes may have them, too",
		                    tare_units_mib(text, p->host->tensors.mapped));
}

bool tare_tensors_is_any(const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < tare_tensor_place_nr(ask->ledgers[i]); k++)
			if (tare_tensor_place(ask->ledgers[i], k).rows->count)
				return true;
	return false;
}

TARE_COMPARATOR(by_bytes, struct tare_category_sum, TARE_FALLING(bytes) TARE_RISING(category))

int tare_category_sums(const struct tare_tensor_rows *rows, struct tare_category_sum sums[TARE_CATEGORY_NR])
{
	int n = 0;

	memset(sums, 0, TARE_CATEGORY_NR * sizeof(*sums));
	for (int i = 0; i < rows->count; i++)
		tare_category_sums_add(sums, rows->items[i].rule, rows->items[i].bytes, rows->items[i].count);
	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		if (sums[c].count)
			sums[n++] = sums[c];
	TARE_SORT(sums, n, by_bytes);
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

/*
 * What a category takes for each byte of parameters: how training grows with its model. Where there are next to no
 * parameters (a Gaussian process has three numbers) it grows with something else.
 */
static double ratio(int64_t bytes, int64_t parameters, int64_t all)
{
	return parameters > 0 && parameters >= all / TARE_PARAMETERS_COUNT ? (double)bytes / (double)parameters : NAN;
}

static int64_t parameters_of(const struct tare_category_sum *sums, int n)
{
	for (int i = 0; i < n; i++)
		if (sums[i].category == TARE_CATEGORY_PARAMETER)
			return sums[i].bytes;
	return 0;
}

static void add_categories(struct tare_emit *e, const struct tare_tensor_place *p)
{
	struct tare_category_sum sums[TARE_CATEGORY_NR];
	int n = tare_category_sums(p->rows, sums);
	int64_t parameters = parameters_of(sums, n), all = 0;

	for (int i = 0; i < n; i++)
		all += sums[i].bytes;
	for (int i = 0; i < n; i++) {
		const struct tare_category_sum *s = &sums[i];
		bool is_said = s->evidence == TARE_EVIDENCE_WITNESS;

		tare_emit_add(e, &(struct category){ .at = p->ledger->at,
		                                     .label = tare_category_name(s->category),
		                                     .known_by = is_said ? "the program" : "rules",
		                                     .device = p->device ? p->device->index : -1,
		                                     .pid = p->host ? p->host->pid : -1,
		                                     .bytes = s->bytes,
		                                     .count = s->count,
		                                     .evidence = s->evidence,
		                                     .share = all ? (double)s->bytes / (double)all : 0,
		                                     .ratio = ratio(s->bytes, parameters, all) });
	}
	tare_emit_sum(e, "all tensors");
}

/* ---- for scripts, and for people ---- */

static void show_data(struct tare_emit *e, const struct tare_by_ask *ask)
{
	tare_emit_table(e, "rows", NULL, TARE_COLUMNS(category_columns));
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < tare_tensor_place_nr(ask->ledgers[i]); k++) {
			struct tare_tensor_place p = tare_tensor_place(ask->ledgers[i], k);

			add_categories(e, &p);
		}
	tare_emit_table_end(e);
}

static void show(struct tare_emit *e, const struct tare_tensor_place *p)
{
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	tare_tensor_place_title(&title, p);
	tare_emit_table(e, "category", tare_str_text(&title), TARE_COLUMNS(category_columns));
	add_categories(e, p);
	tare_emit_table_end(e);
	tare_tensor_place_shared(e, p);
}

static void show_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledger_nr; i++)
		for (int k = 0; k < tare_tensor_place_nr(ask->ledgers[i]); k++) {
			struct tare_tensor_place p = tare_tensor_place(ask->ledgers[i], k);

			if (p.rows->count)
				(ask->by == TARE_BY_TENSOR ? tare_tensors_text : show)(e, &p);
		}
}

void tare_tensors_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	if (tare_emit_is_for_people(e))
		show_text(e, ask);
	else
		(ask->by == TARE_BY_TENSOR ? tare_tensors_rows : show_data)(e, ask);
}
