/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ranks: on the screen without what is the same or empty for all, as data with everything. */
#include "view/rank.h"

#include "view/by.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const char *at, *job, *host;
	struct tare_str label, shown_end;
	const char *end;
	int64_t device, t_ns; /* -1: none */
	uint64_t used;
	int64_t need;
	bool has_ended;
	struct tare_rank_ledger rank;
	struct tare_rank_row of;
};

enum column {
	AT,
	RANK,
	LABEL,
	ATTEMPT,
	JOB,
	HOST,
	LOCAL,
	PID,
	DEVICE,
	T,
	USED,
	BYTES,
	PART,
	ELASTIC = PART + TARE_RANK_PART_NR,
	NEED,
	END,
	SHOWN_END,
	CODE,
	OOM,
	END_NS,
	FIRST,
	COUNT,
	EVIDENCE,
	DRIVER_NS,
	COLUMN_NR
};

#define SAID .unknown = TARE_UNKNOWN_NEGATIVE

static const struct tare_column columns[COLUMN_NR] = {
	[AT] = TARE_COLUMN(row, at, "at", NULL, TEXT),
	[RANK] = TARE_COLUMN(row, rank.rank, "rank", "RANK", ID),
	[LABEL] = TARE_COLUMN(row, label, "label", NULL, TEXT),
	[ATTEMPT] = TARE_COLUMN(row, rank.attempt, "attempt", "ATTEMPT", ID),
	[JOB] = TARE_COLUMN(row, job, "job", "JOB", TEXT),
	[HOST] = TARE_COLUMN(row, host, "host", "HOST", TEXT),
	[LOCAL] = TARE_COLUMN(row, rank.local, "local_rank", "LOCAL", ID, SAID),
	[PID] = TARE_COLUMN(row, rank.pid, "pid", NULL, ID),
	[DEVICE] = TARE_COLUMN(row, device, "device", "GPU", ID, SAID),
	[T] = TARE_COLUMN(row, t_ns, "t_ns", "AT", TIME, SAID),
	[USED] = TARE_COLUMN(row, used, "device_used_bytes", "GPU USED", BYTES, .unknown = TARE_UNKNOWN_HUGE),
	[BYTES] = TARE_COLUMN(row, of.bytes, "bytes", "OWN", BYTES),
#define X(KEY, NAME, HEAD)                                                                                             \
	[PART + TARE_RANK_PART_##KEY] = TARE_COLUMN(row, of.part[TARE_RANK_PART_##KEY], NAME, HEAD, BYTES),
	TARE_RANK_PART_MAP(X)
#undef X
		[ELASTIC] = TARE_COLUMN(row, of.elastic, "elastic_bytes", "ELASTIC", BYTES),
	[NEED] = TARE_COLUMN(row, need, "need_bytes", "NEED", BYTES),
	[END] = TARE_COLUMN(row, end, "end", NULL, TEXT),
	[SHOWN_END] = TARE_COLUMN(row, shown_end, NULL, "END", TEXT),
	[CODE] = TARE_COLUMN(row, rank.code, "code", NULL, COUNT, SAID),
	[OOM] = TARE_COLUMN(row, rank.is_oom, "oom_killer", NULL, FLAG),
	[END_NS] = TARE_COLUMN(row, rank.end_ns, "end_ns", NULL, TIME, .when = TARE_WHEN(row, has_ended)),
	[FIRST] = TARE_COLUMN(row, rank.is_first, "failed_first", NULL, FLAG),
	[COUNT] = TARE_COLUMN(row, of.count, "count", NULL, COUNT),
	[EVIDENCE] = TARE_COLUMN(row, of.evidence, "evidence", NULL, TEXT, .name = tare_evidence_name),
	[DRIVER_NS] = TARE_COLUMN(row, of.driver_ns, "driver_ns", NULL, DURATION),
};

static const char *end_name(enum tare_rank_end end)
{
	static const char *const names[] = { [TARE_RANK_RUNS] = "runs",
		                                 [TARE_RANK_EXITED] = "exited",
		                                 [TARE_RANK_SIGNAL] = "signal",
		                                 [TARE_RANK_KILLED] = "killed" };

	return names[end];
}

static void add_row(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_rank_row *of)
{
	const struct tare_rank_ledger *r = of->rank;
	const struct tare_device_ledger *d = of->device;
	struct row row = { .at = ledger->at,
		               .job = r->job[0] ? r->job : NULL,
		               .host = r->host,
		               .end = end_name(r->end),
		               .device = d ? d->index : -1,
		               .t_ns = d ? d->t_ns : -1,
		               .used = d ? d->used : UINT64_MAX,
		               .need = of->bytes - of->elastic,
		               .has_ended = r->end != TARE_RANK_RUNS,
		               .rank = *r,
		               .of = *of };

	tare_str_addf(&row.label, "rank %d", r->rank);
	tare_rank_end_text(&row.shown_end, r);
	tare_str_add(&row.shown_end, r->is_first ? "  first" : "");
	tare_emit_add(e, &row);
	tare_str_free(&row.label);
	tare_str_free(&row.shown_end);
}

/* On the screen a column that says the same of every rank, or nothing, only takes room. */
static bool is_shown(int column, const struct tare_rank_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct tare_rank_row *row = &rows->rows[i];
		const struct tare_rank_ledger *r = row->rank, *first = rows->rows[0].rank;

		if ((column == ATTEMPT && r->attempt) || (column == LOCAL && r->local != r->rank) ||
		    (column == JOB && strcmp(r->job, first->job)) || (column == HOST && strcmp(r->host, first->host)) ||
		    ((column == ELASTIC || column == NEED) && row->elastic) ||
		    (column >= PART && column < ELASTIC && row->part[column - PART]))
			return true;
	}
	return column != ATTEMPT && column != LOCAL && column != JOB && column != HOST && (column < PART || column > NEED);
}

static size_t choose(struct tare_column *out, const struct tare_rank_rows *rows)
{
	size_t n = 0;

	for (int i = 0; i < COLUMN_NR; i++)
		if (columns[i].head && is_shown(i, rows))
			out[n++] = columns[i];
	return n;
}

struct imbalance {
	int64_t most_rank, least_rank;
	const char *part;
	struct tare_rank_spread of;
};

static const struct tare_column imbalance_columns[] = {
	TARE_COLUMN(imbalance, most_rank, "most_rank", NULL, COUNT),
	TARE_COLUMN(imbalance, of.most_bytes, "most_bytes", NULL, BYTES),
	TARE_COLUMN(imbalance, least_rank, "least_rank", NULL, COUNT),
	TARE_COLUMN(imbalance, of.least_bytes, "least_bytes", NULL, BYTES),
	TARE_COLUMN(imbalance, of.median_bytes, "median_bytes", NULL, BYTES),
	TARE_COLUMN(imbalance, part, "part", NULL, TEXT),
	TARE_COLUMN(imbalance, of.part_bytes, "part_bytes", NULL, BYTES),
};

static void add_imbalance(struct tare_emit *e, const struct tare_rank_rows *rows)
{
	struct imbalance i = { 0 };
	bool is_any;

	tare_rank_spread(&i.of, rows, rows->rows[rows->count - 1].rank);
	is_any = i.of.most != NULL;
	if (is_any) {
		i.most_rank = i.of.most->rank;
		i.least_rank = i.of.least->rank;
		i.part = i.of.part_bytes ? columns[PART + i.of.part].key : NULL;
	}
	tare_emit_object(e, "imbalance", TARE_COLUMNS(imbalance_columns), is_any ? &i : NULL);
}

static void show_data(struct tare_emit *e, const struct tare_by_ask *ask)
{
	struct tare_rank_rows rows = { 0 };

	tare_emit_table(e, "rows", NULL, TARE_COLUMNS(columns));
	for (int i = 0; i < ask->ledger_nr; i++) {
		tare_rank_rows_free(&rows);
		tare_rank_rows_build(&rows, ask->ledgers[i]);
		for (size_t r = 0; r < rows.count; r++)
			add_row(e, ask->ledgers[i], &rows.rows[r]);
	}
	tare_emit_table_end(e);
	add_imbalance(e, &rows);
	tare_rank_rows_free(&rows);
}

static void add_title(struct tare_str *title, const struct tare_ledger *ledger)
{
	const struct tare_rank_ledger *first = &ledger->ranks[0];

	tare_str_addf(title, "Ranks at %s", ledger->at);
	if (first->launcher[0])
		tare_str_addf(title, " · %s", first->launcher);
	if (first->job[0] && !strcmp(first->job, ledger->ranks[ledger->rank_nr - 1].job))
		tare_str_addf(title, " · job %s", first->job);
}

static void add_table(struct tare_emit *e, const struct tare_ledger *ledger, const struct tare_rank_rows *rows)
{
	struct tare_column shown[COLUMN_NR];
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	add_title(&title, ledger);
	tare_emit_table(e, "rows", tare_str_text(&title), shown, choose(shown, rows));
	for (size_t i = 0; i < rows->count; i++)
		if (!tare_rank_is_elsewhere(rows, i))
			add_row(e, ledger, &rows->rows[i]);
	tare_emit_table_end(e);
}

static void show_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledger_nr; i++) {
		struct tare_rank_rows rows;

		tare_rank_rows_build(&rows, ask->ledgers[i]);
		if (i)
			tare_emit_gap(e);
		add_table(e, ask->ledgers[i], &rows);
		if (i == ask->ledger_nr - 1)
			tare_rank_notes(e, ask->ledgers[i], &rows);
		tare_rank_rows_free(&rows);
	}
}

bool tare_rank_is_any(const struct tare_by_ask *ask)
{
	return ask->ledgers[ask->ledger_nr - 1]->rank_nr > 0;
}

void tare_rank_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	(tare_emit_is_for_people(e) ? show_text : show_data)(e, ask);
}
