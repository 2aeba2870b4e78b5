/* SPDX-License-Identifier: Apache-2.0 */
/* `tare report DB`: the report of a sweep. */
#include "cmd/report.h"

#include "base/str.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/output.h"
#include "db/db.h"
#include "view/sweep.h"

#include <stdlib.h>
#include <string.h>

static int parse_claims(const struct tare_operands *texts, struct tare_sweep_claim *out, struct tare_arena *memory,
                        struct tare_err *err)
{
	for (size_t i = 0; i < texts->count; i++) {
		const char *equals = strrchr(texts->items[i], '=');
		uint64_t bytes;

		if (!equals || equals == texts->items[i] || tare_units_parse_bytes(equals + 1, &bytes) != 0 ||
		    bytes > INT64_MAX)
			return tare_err_set(err, TARE_E_USAGE,
			                    "--claim %s: it takes NAME=SIZE, such as context=500MiB, allocations/PyTorch=2GiB, "
			                    "total=2.76GB",
			                    texts->items[i]);
		out[i].name = tare_arena_strndup(memory, texts->items[i], (size_t)(equals - texts->items[i]));
		out[i].bytes = (int64_t)bytes;
	}
	return 0;
}

static void render(struct tare_str *out, const struct tare_report_sweep *o, const struct tare_sweep_view *view)
{
	struct tare_emit e;

	tare_emit_begin(&e, o->format, out);
	e.style = tare_terminal_style(stdout);
	tare_emit_simulated(&e, view->summary->is_simulated);
	if (tare_emit_is_for_people(&e))
		tare_sweep_text(&e, view);
	else
		tare_sweep_data(&e, view->summary);
	tare_emit_end(&e);
}

static int show(const struct tare_report_sweep *o, const struct tare_sweep_view *view, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	render(&text, o, view);
	return tare_cmd_write_file(o->output ? o->output : "-", &text, err);
}

int tare_report_sweep(const struct tare_report_sweep *o, struct tare_err *err)
{
	TARE_FREED_HERE struct tare_sweep_claim *claims = tare_xcalloc(o->claims->count + 1, sizeof(*claims));
	TARE_FREED_BY(tare_arena_free) struct tare_arena memory = { 0 };
	struct tare_summary summary = { 0 };
	struct tare_db *db = NULL;
	int rc = parse_claims(o->claims, claims, &memory, err);

	if (!rc)
		rc = tare_db_open(&db, o->path, TARE_DB_READ, err);
	if (!rc)
		rc = tare_summary_load(db, o->baseline, o->timed, &summary, err);
	if (!rc) {
		struct tare_sweep_view view = { &summary, claims, o->claims->count };

		rc = show(o, &view, err);
		tare_summary_free(&summary);
	}
	tare_db_close(db);
	return rc;
}
