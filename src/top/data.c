/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the rows of `tare top` as JSON. */
#include "top/data.h"

struct row {
	const char *kind, *label, *path, *evidence, *uuid, *source, *recording;
	int64_t number, parent, level, gpu, bytes, total, pid, steps;
	bool is_known, is_part, is_simulated, is_gpu;
};

#define NEGATIVE .unknown = TARE_UNKNOWN_NEGATIVE

static const struct tare_column columns[] = {
	TARE_COLUMN(row, number, "row", "ROW", ID),
	TARE_COLUMN(row, parent, "parent", "PARENT", ID, NEGATIVE),
	TARE_COLUMN(row, level, "level", "LEVEL", ID),
	TARE_COLUMN(row, kind, "kind", "KIND", TEXT),
	TARE_COLUMN(row, label, "label", "LABEL", TEXT),
	TARE_COLUMN(row, gpu, "gpu", "GPU", ID, NEGATIVE),
	TARE_COLUMN(row, bytes, "bytes", "BYTES", BYTES, .when = TARE_WHEN(row, is_known)),
	TARE_COLUMN(row, is_part, "part", "PART", FLAG),
	TARE_COLUMN(row, total, "total_bytes", "TOTAL", BYTES, NEGATIVE),
	TARE_COLUMN(row, evidence, "evidence", "EVIDENCE", TEXT),
	TARE_COLUMN(row, path, "path", "PATH", TEXT),
	TARE_COLUMN(row, pid, "pid", "PID", ID, NEGATIVE),
	TARE_COLUMN(row, steps, "steps", "STEPS", COUNT, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(row, recording, "recording", "RECORDING", TEXT),
	TARE_COLUMN(row, uuid, "uuid", "UUID", TEXT),
	TARE_COLUMN(row, source, "source", "SOURCE", TEXT),
	TARE_COLUMN(row, is_simulated, "simulated", "SIMULATED", FLAG, .when = TARE_WHEN(row, is_gpu)),
};

struct recording {
	const char *path, *host, *failure;
	int64_t reads, cost_ns;
};

static const struct tare_column recording_columns[] = {
	TARE_COLUMN(recording, path, "path", "RECORDING", TEXT),
	TARE_COLUMN(recording, host, "host", "HOST", TEXT),
	TARE_COLUMN(recording, failure, "failure", "FAILURE", TEXT),
	TARE_COLUMN(recording, reads, "reads", "READS", COUNT),
	TARE_COLUMN(recording, cost_ns, "read_ns", "LAST READING", DURATION),
};

static void add_row(struct tare_emit *e, const struct tare_top_row *r, size_t i)
{
	const struct row row = {
		.kind = tare_top_kind_name(r->kind),
		.label = r->label,
		.path = r->path,
		.evidence = *r->evidence ? r->evidence : NULL,
		.uuid = r->uuid && *r->uuid ? r->uuid : NULL,
		.source = r->source,
		.recording = r->follow ? r->follow->path : NULL,
		.number = (int64_t)i,
		.parent = r->parent,
		.level = r->level,
		.gpu = r->gpu,
		.bytes = r->bytes,
		.total = r->total,
		.pid = r->pid,
		.steps = (int64_t)r->steps,
		.is_known = r->is_known,
		.is_part = r->is_part,
		.is_simulated = r->is_simulated,
		.is_gpu = r->kind == TARE_TOP_GPU,
	};

	tare_emit_add(e, &row);
}

void tare_top_data(struct tare_emit *e, const struct tare_top_picture *p)
{
	tare_emit_uint(e, "tare", 1);
	tare_emit_str(e, "host", p->machine->host);
	tare_emit_int(e, "realtime_ns", p->realtime_ns);
	tare_emit_str(e, "no_gpu", p->machine->nvml ? NULL : p->machine->failure.text);
	tare_emit_table(e, "rows", "Memory", TARE_COLUMNS(columns));
	for (size_t i = 0; i < p->tree->count; i++)
		add_row(e, &p->tree->rows[i], i);
	tare_emit_table_end(e);
	tare_emit_table(e, "recordings", "Recordings", TARE_COLUMNS(recording_columns));
	for (size_t i = 0; i < p->found->count; i++) {
		const struct tare_follow *f = p->found->items[i];

		tare_emit_add(e, &(struct recording){ f->path, f->host, f->failure.code ? f->failure.text : NULL,
		                                      (int64_t)f->reads, f->cost_ns });
	}
	tare_emit_table_end(e);
}
