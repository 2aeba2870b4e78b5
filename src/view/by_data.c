/* SPDX-License-Identifier: Apache-2.0 */
/* `--by X` for scripts: JSON members and CSV rows from the same cells. */
#include "view/by.h"

#include "view/graph.h"
#include "view/pool.h"
#include "view/rank.h"
#include "view/stream.h"
#include "view/tensors.h"

static const struct tare_column columns[] = {
	TARE_LOOSE("at", "", TEXT),
	TARE_LOOSE("device", "", COUNT),
	TARE_LOOSE("label", "", TEXT),
	TARE_LOOSE("bytes", "", BYTES),
	TARE_LOOSE("count", "", COUNT),
	TARE_LOOSE("evidence", "", TEXT),
	TARE_LOOSE("driver_ns", "", DURATION),
	TARE_LOOSE("pid", "", COUNT),
	TARE_LOOSE("file", "", TEXT),
	TARE_LOOSE("line", "", COUNT),
	TARE_LOOSE("function", "", TEXT),
	TARE_LOOSE("tensor_bytes", "", BYTES),
	TARE_LOOSE("tensors", "", COUNT),
	TARE_LOOSE("handed_bytes", "", BYTES),
	TARE_LOOSE("handed", "", COUNT),
	TARE_LOOSE("host_anon_bytes", "", BYTES),
	TARE_LOOSE("host_file_bytes", "", BYTES),
	TARE_LOOSE("unexplained_bytes", "", BYTES),
};

enum { COLUMN_NR = sizeof(columns) / sizeof(columns[0]), LINE_COLUMN_NR = 10 };

static void add_line(struct tare_emit *e, const struct tare_by_row *row)
{
	const struct tare_ledger_line *line = row->line;

	tare_emit_cell_text(e, line->file);
	if (line->file && line->line)
		tare_emit_cell_uint(e, line->line);
	else
		tare_emit_cell_unknown(e);
	tare_emit_cell_text(e, line->file ? line->function : NULL);
	tare_emit_cell_int(e, row->tensors.bytes);
	tare_emit_cell_uint(e, row->tensors.count);
	if (row->device) {
		tare_emit_cell_int(e, row->tensors.ever_bytes);
		tare_emit_cell_uint(e, row->tensors.ever);
		tare_emit_cell_int(e, row->host_anon);
		tare_emit_cell_int(e, row->host_file);
		tare_emit_cell_int(e, row->unexplained);
	} else {
		for (int i = 0; i < 5; i++)
			tare_emit_cell_unknown(e);
	}
}

static void add_row(struct tare_emit *e, enum tare_by by, const struct tare_by_row *row)
{
	tare_emit_cell_text(e, row->ledger->at);
	if (row->device)
		tare_emit_cell_int(e, row->device->index);
	else
		tare_emit_cell_unknown(e);
	tare_emit_cell_text(e, row->label);
	tare_emit_cell_int(e, row->bytes);
	tare_emit_cell_uint(e, row->count);
	tare_emit_cell_text(e, tare_evidence_name(row->evidence));
	tare_emit_cell_int(e, (int64_t)row->driver_ns);
	if (by == TARE_BY_PROCESS && row->pid >= 0)
		tare_emit_cell_int(e, row->pid);
	else
		tare_emit_cell_unknown(e);
	if (row->line)
		add_line(e, row);
	tare_emit_row(e);
}

void tare_by_data(struct tare_emit *e, enum tare_by by, const struct tare_ledger *const *ledgers,
		  int ledger_nr)
{
	int n = e->format == TARE_EMIT_JSON ? 1 : ledger_nr;

	if (by == TARE_BY_RANK && ledgers[0]->rank_nr) {
		tare_rank_data(e, ledgers, ledger_nr);
		return;
	}
	if (by == TARE_BY_GRAPH) {
		tare_graph_data(e, ledgers, ledger_nr);
		return;
	}
	if (by == TARE_BY_POOL && tare_pool_is_any(ledgers, ledger_nr)) {
		tare_pool_data(e, ledgers, ledger_nr);
		return;
	}
	if (by == TARE_BY_STREAM && tare_streams_is_any(ledgers, ledger_nr)) {
		tare_streams_data(e, ledgers, ledger_nr);
		return;
	}
	if ((by == TARE_BY_CATEGORY || by == TARE_BY_TENSOR) &&
	    tare_tensors_is_any(ledgers, ledger_nr)) {
		tare_tensors_data(e, by == TARE_BY_TENSOR, ledgers, ledger_nr);
		return;
	}
	tare_emit_str(e, "by", tare_by_infos[by].name);
	tare_emit_table(e, "rows", NULL, columns,
			COLUMN_NR - (tare_by_is_line(by) ? 0 : LINE_COLUMN_NR));
	for (int i = 0; i < n; i++) {
		struct tare_by_rows rows;

		tare_by_build(&rows, by, ledgers[i]);
		for (size_t r = 0; r < rows.count; r++)
			add_row(e, by, &rows.rows[r]);
		tare_by_free(&rows);
	}
	tare_emit_table_end(e);
	if (tare_by_why_empty(by))
		tare_emit_str(e, "note", tare_by_why_empty(by));
}
