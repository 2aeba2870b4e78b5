/* SPDX-License-Identifier: Apache-2.0 */
/* A small report in any format: a table of accounts with a title, a rule and a note. */
#ifndef EMIT_ACCOUNT_H
#define EMIT_ACCOUNT_H

#include "base/emit.h"

struct account {
	const char *name, *label;
	int64_t bytes;
	int count;
	const char *evidence;
	bool is_elastic, is_known;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(account, name, NULL, "ACCOUNT", TEXT),
	TARE_COLUMN(account, label, "label", NULL, TEXT),
	TARE_COLUMN(account, bytes, "bytes", "AT PEAK", BYTES, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(account, count, "count", "count", COUNT, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(account, evidence, "evidence", "evidence", TEXT),
	TARE_COLUMN(account, is_elastic, "elastic", NULL, FLAG, .when = TARE_WHEN(account, is_known)),
};

static void ledger(enum tare_emit_format format, struct tare_str *out)
{
	struct tare_emit e;

	tare_emit_begin(&e, format, out);
	tare_emit_int(&e, "tare", 1);
	tare_emit_table(&e, "accounts", "GPU 0  NVIDIA H200", TARE_COLUMNS(columns));
	tare_emit_add_as(&e,
	                 &(struct account){ .name = "context",
	                                    .label = "context",
	                                    .bytes = INT64_C(549004083),
	                                    .count = 1,
	                                    .evidence = "weighed",
	                                    .is_known = true },
	                 (struct tare_row_look){ .level = 1 });
	tare_emit_add(&e, &(struct account){ .name = "~ größe, \"cached\"",
	                                     .label = "größe, \"cached\"",
	                                     .bytes = INT64_C(8876002509),
	                                     .count = -1,
	                                     .is_elastic = true,
	                                     .is_known = true });
	tare_emit_rule(&e);
	tare_emit_add(&e, &(struct account){ .name = "unexplained", .bytes = -1, .count = -1 });
	tare_emit_table_end(&e);
	tare_emit_note(&e, "! %d hints", 2);
	tare_emit_end(&e);
}

#endif
