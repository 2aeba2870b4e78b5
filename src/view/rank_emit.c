/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ranks: on the screen without what is the same or empty for all, as data with everything. */
#include "view/rank.h"

#include "base/units.h"
#include "view/by.h"

#include <stdlib.h>
#include <string.h>

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
	CODE,
	OOM,
	END_NS,
	FIRST,
	COUNT,
	EVIDENCE,
	DRIVER_NS,
	COLUMN_NR
};

static const struct tare_column columns[COLUMN_NR] = {
	[AT] = TARE_LOOSE("at", NULL, TEXT),
	[RANK] = TARE_LOOSE("rank", "RANK", COUNT),
	[LABEL] = TARE_LOOSE("label", NULL, TEXT),
	[ATTEMPT] = TARE_LOOSE("attempt", "ATTEMPT", COUNT),
	[JOB] = TARE_LOOSE("job", "JOB", TEXT),
	[HOST] = TARE_LOOSE("host", "HOST", TEXT),
	[LOCAL] = TARE_LOOSE("local_rank", "LOCAL", COUNT),
	[PID] = TARE_LOOSE("pid", NULL, COUNT),
	[DEVICE] = TARE_LOOSE("device", "GPU", COUNT),
	[T] = TARE_LOOSE("t_ns", "AT", DURATION),
	[USED] = TARE_LOOSE("device_used_bytes", "GPU USED", BYTES),
	[BYTES] = TARE_LOOSE("bytes", "OWN", BYTES),
#define X(KEY, NAME, HEAD) [PART + TARE_RANK_PART_##KEY] = TARE_LOOSE(NAME, HEAD, BYTES),
	TARE_RANK_PART_MAP(X)
#undef X
		[ELASTIC] = TARE_LOOSE("elastic_bytes", "ELASTIC", BYTES),
	[NEED] = TARE_LOOSE("need_bytes", "NEED", BYTES),
	[END] = TARE_LOOSE("end", "END", TEXT),
	[CODE] = TARE_LOOSE("code", NULL, COUNT),
	[OOM] = TARE_LOOSE("oom_killer", NULL, FLAG),
	[END_NS] = TARE_LOOSE("end_ns", NULL, DURATION),
	[FIRST] = TARE_LOOSE("failed_first", NULL, FLAG),
	[COUNT] = TARE_LOOSE("count", NULL, COUNT),
	[EVIDENCE] = TARE_LOOSE("evidence", NULL, TEXT),
	[DRIVER_NS] = TARE_LOOSE("driver_ns", NULL, DURATION),
};

static void add_if_known(struct tare_emit *e, int64_t v)
{
	if (v < 0)
		tare_emit_cell_unknown(e);
	else
		tare_emit_cell_int(e, v);
}

static const char *end_name(enum tare_rank_end end)
{
	static const char *const names[] = { [TARE_RANK_RUNS] = "runs",
					     [TARE_RANK_EXITED] = "exited",
					     [TARE_RANK_SIGNAL] = "signal",
					     [TARE_RANK_KILLED] = "killed" };

	return names[end];
}

static void add_end(struct tare_emit *e, const struct tare_rank_ledger *r)
{
	struct tare_str text = { 0 };

	if (e->format != TARE_EMIT_TEXT) {
		tare_emit_cell_text(e, end_name(r->end));
		return;
	}
	tare_rank_end_text(&text, r);
	tare_emit_cell_textf(e, "%s%s", tare_str_text(&text), r->is_first ? "  first" : "");
	tare_str_free(&text);
}

static void add_cell(struct tare_emit *e, int column, const struct tare_ledger *ledger,
		     const struct tare_rank_row *row)
{
	const struct tare_rank_ledger *r = row->rank;
	const struct tare_device_ledger *d = row->device;

	switch (column) {
	case AT:
		tare_emit_cell_text(e, ledger->at);
		return;
	case RANK:
		tare_emit_cell_int(e, r->rank);
		return;
	case LABEL:
		tare_emit_cell_textf(e, "rank %d", r->rank);
		return;
	case ATTEMPT:
		tare_emit_cell_int(e, r->attempt);
		return;
	case JOB:
		tare_emit_cell_text(e, r->job[0] ? r->job : NULL);
		return;
	case HOST:
		tare_emit_cell_text(e, r->host);
		return;
	case LOCAL:
		add_if_known(e, r->local);
		return;
	case PID:
		tare_emit_cell_int(e, r->pid);
		return;
	case DEVICE:
		add_if_known(e, d ? d->index : -1);
		return;
	case T:
		add_if_known(e, d ? d->t_ns : -1);
		return;
	case USED:
		if (d && d->used != UINT64_MAX)
			tare_emit_cell_uint(e, d->used);
		else
			tare_emit_cell_unknown(e);
		return;
	case BYTES:
		tare_emit_cell_int(e, row->bytes);
		return;
	case ELASTIC:
		tare_emit_cell_int(e, row->elastic);
		return;
	case NEED:
		tare_emit_cell_int(e, row->bytes - row->elastic);
		return;
	case END:
		add_end(e, r);
		return;
	case CODE:
		add_if_known(e, r->code);
		return;
	case OOM:
		tare_emit_cell_int(e, r->is_oom);
		return;
	case END_NS:
		if (r->end == TARE_RANK_RUNS)
			tare_emit_cell_unknown(e);
		else
			tare_emit_cell_int(e, r->end_ns);
		return;
	case FIRST:
		tare_emit_cell_int(e, r->is_first);
		return;
	case COUNT:
		tare_emit_cell_uint(e, row->count);
		return;
	case EVIDENCE:
		tare_emit_cell_text(e, tare_evidence_name(row->evidence));
		return;
	case DRIVER_NS:
		tare_emit_cell_uint(e, row->driver_ns);
		return;
	default:
		tare_emit_cell_int(e, row->part[column - PART]);
		return;
	}
}

/* On the screen a column that says the same of every rank, or nothing, only takes room. */
static bool is_shown(int column, const struct tare_rank_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct tare_rank_row *row = &rows->rows[i];
		const struct tare_rank_ledger *r = row->rank, *first = rows->rows[0].rank;

		if ((column == ATTEMPT && r->attempt) || (column == LOCAL && r->local != r->rank) ||
		    (column == JOB && strcmp(r->job, first->job)) ||
		    (column == HOST && strcmp(r->host, first->host)) ||
		    ((column == ELASTIC || column == NEED) && row->elastic) ||
		    (column >= PART && column < ELASTIC && row->part[column - PART]))
			return true;
	}
	return column != ATTEMPT && column != LOCAL && column != JOB && column != HOST &&
	       (column < PART || column > NEED);
}

static size_t choose(int *chosen, struct tare_column *out, enum tare_emit_format format,
		     const struct tare_rank_rows *rows)
{
	size_t n = 0;

	for (int i = 0; i < COLUMN_NR; i++) {
		if (format == TARE_EMIT_TEXT && (!columns[i].head || !is_shown(i, rows)))
			continue;
		out[n] = columns[i];
		chosen[n++] = i;
	}
	return n;
}

static void add_rows(struct tare_emit *e, const struct tare_ledger *ledger,
		     const struct tare_rank_rows *rows, const int *chosen, size_t n)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (e->format == TARE_EMIT_TEXT && tare_rank_is_aside(rows, i))
			continue;
		for (size_t c = 0; c < n; c++)
			add_cell(e, chosen[c], ledger, &rows->rows[i]);
		tare_emit_row(e);
	}
}

static void add_spread(struct tare_emit *e, const struct tare_rank_rows *rows)
{
	const struct tare_rank_ledger *last = rows->rows[rows->count - 1].rank;
	struct tare_rank_spread s;

	tare_rank_spread(&s, rows, last);
	if (!s.most) {
		tare_emit_null(e, "imbalance");
		return;
	}
	tare_emit_open(e, "imbalance", '{');
	tare_emit_int(e, "most_rank", s.most->rank);
	tare_emit_int(e, "most_bytes", s.most_bytes);
	tare_emit_int(e, "least_rank", s.least->rank);
	tare_emit_int(e, "least_bytes", s.least_bytes);
	tare_emit_int(e, "median_bytes", s.median_bytes);
	tare_emit_str(e, "part", s.part_bytes ? columns[PART + s.part].key : NULL);
	tare_emit_int(e, "part_bytes", s.part_bytes);
	tare_emit_close(e);
}

static void show_data(struct tare_emit *e, const struct tare_by_ask *ask)
{
	struct tare_column shown[COLUMN_NR];
	struct tare_rank_rows rows = { 0 };
	int chosen[COLUMN_NR];
	size_t column_nr = choose(chosen, shown, e->format, &rows);

	tare_emit_table(e, "rows", NULL, shown, column_nr);
	for (int i = 0; i < ask->ledger_nr; i++) {
		tare_rank_rows_free(&rows);
		tare_rank_rows_build(&rows, ask->ledgers[i]);
		add_rows(e, ask->ledgers[i], &rows, chosen, column_nr);
	}
	tare_emit_table_end(e);
	add_spread(e, &rows);
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

static void add_table(struct tare_emit *e, const struct tare_ledger *ledger,
		      const struct tare_rank_rows *rows)
{
	struct tare_column shown[COLUMN_NR];
	struct tare_str title = { 0 };
	int chosen[COLUMN_NR];
	size_t n;

	add_title(&title, ledger);
	n = choose(chosen, shown, TARE_EMIT_TEXT, rows);
	tare_emit_table(e, "rows", tare_str_text(&title), shown, n);
	add_rows(e, ledger, rows, chosen, n);
	tare_emit_table_end(e);
	tare_str_free(&title);
}

static void show_text(struct tare_emit *e, const struct tare_by_ask *ask)
{
	for (int i = 0; i < ask->ledger_nr; i++) {
		struct tare_rank_rows rows;

		tare_rank_rows_build(&rows, ask->ledgers[i]);
		if (i)
			tare_str_add_char(e->out, '\n');
		add_table(e, ask->ledgers[i], &rows);
		if (i == ask->ledger_nr - 1)
			tare_rank_notes(e->out, ask->ledgers[i], &rows, (size_t)ask->style->width);
		tare_rank_rows_free(&rows);
	}
}

bool tare_rank_is_any(const struct tare_by_ask *ask)
{
	return ask->ledgers[ask->ledger_nr - 1]->rank_nr > 0;
}

void tare_rank_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	(e->format == TARE_EMIT_TEXT ? show_text : show_data)(e, ask);
}
