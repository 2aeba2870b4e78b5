/* SPDX-License-Identifier: Apache-2.0 */
/* Groups the rows of a ledger for `--by`, by the table of views. */
#include "view/by.h"

#include "base/array.h"
#include "base/comparator.h"

#include <stdlib.h>
#include <string.h>

#define TARE_BY(KEY, NAME, VIEW, FLAGS, HELP) NULL,
#define TARE_BY_EVENTS(KEY, NAME, EVENTS, MAKER, VIEW, FLAGS, HELP)                                                    \
	"this recording holds no " EVENTS " events, so there is nothing to show by " NAME " (" MAKER                       \
	"); --by account and --by owner always work",
static const char *const why_empty[TARE_BY_NR] = {
#include "view/by.def"
};

/* Every name has a bar in front, the first one too many. */
#define TARE_BY(KEY, NAME, VIEW, FLAGS, HELP)                       "|" NAME
#define TARE_BY_EVENTS(KEY, NAME, EVENTS, MAKER, VIEW, FLAGS, HELP) "|" NAME
const char tare_by_names_with_bar[] =
#include "view/by.def"
	;

const char *tare_by_why_empty(enum tare_by by)
{
	return why_empty[by];
}

static const struct tare_row *process_of(const struct tare_device_ledger *d, const struct tare_row *row)
{
	while (row->account != TARE_ACCOUNT_PROCESS && row->parent >= 0)
		row = &d->rows[row->parent];
	return row;
}

/* The label by which a leaf is grouped: leaves with the same label are one group. */
static const char *label_of(enum tare_by by, const struct tare_device_ledger *d, const struct tare_row *row)
{
	if (row->account == TARE_ACCOUNT_OTHER)
		return tare_accounts[row->account].label;
	if (by == TARE_BY_PROCESS)
		return process_of(d, row)->label;
	if (by == TARE_BY_ACCOUNT || !tare_account_has_libraries(row->account))
		return tare_accounts[row->account].label;
	return by == TARE_BY_OWNER ? tare_owner_name(tare_row_library(row)) : tare_row_library(row);
}

static struct tare_by_row *group_of(struct tare_by_rows *out, size_t start, const char *label, int64_t pid,
                                    enum tare_by by)
{
	for (size_t i = start; i < out->count; i++)
		if (!strcmp(out->rows[i].label, label) && (by != TARE_BY_PROCESS || out->rows[i].pid == pid))
			return &out->rows[i];
	return TARE_ADD(out->rows, out->count, out->cap, (struct tare_by_row){ .label = label, .pid = pid });
}

static int64_t weight(const struct tare_by_row *row)
{
	int64_t most = row->tensors.bytes > row->bytes ? row->tensors.bytes : row->bytes;
	int64_t host = row->host_anon + row->host_file;

	return host > most ? host : most;
}

static int64_t ever_bytes(const struct tare_by_row *row)
{
	return row->tensors.ever_bytes + row->ever_bytes;
}

TARE_COMPARATOR(compare, struct tare_by_row,
                TARE_FALLING_BY(weight(it)) TARE_FALLING_BY(ever_bytes(it)) TARE_ALPHABETIC(label))

static void add_rows(struct tare_by_rows *out, enum tare_by by, const struct tare_device_ledger *d)
{
	size_t start = out->count;

	for (int i = 0; i < d->row_nr; i++) {
		const struct tare_row *row = &d->rows[i];
		struct tare_by_row *group;

		if (!tare_row_is_end(row))
			continue;
		group = group_of(out, start, label_of(by, d, row), row->pid, by);
		group->bytes += row->bytes;
		group->count += row->count;
		group->driver_ns += row->driver_ns;
		if (row->evidence > group->evidence)
			group->evidence = row->evidence;
	}
}

TARE_COMPARATOR(by_label, struct tare_by_row, TARE_ALPHABETIC(label))

static void add_blocks(struct tare_blocks_ledger *sum, const struct tare_blocks_ledger *by)
{
	sum->bytes += by->bytes;
	sum->ever_bytes += by->ever_bytes;
	sum->count += by->count;
	sum->ever += by->ever;
}

static void add_lines(struct tare_by_rows *out, enum tare_by by, const struct tare_ledger_line *lines, int nr)
{
	for (int i = 0; i < nr; i++) {
		const struct tare_ledger_line *l = &lines[i];

		TARE_APPEND(out->rows, out->count, out->cap) =
			(struct tare_by_row){ .label = by == TARE_BY_STACK ? l->stack : l->label,
			                      .line = l,
			                      .pid = l->pid,
			                      .bytes = l->bytes,
			                      .count = l->count,
			                      .driver_ns = l->driver_ns,
			                      .evidence = l->evidence,
			                      .tensors = l->tensors,
			                      .ever = l->ever,
			                      .ever_bytes = l->ever_bytes,
			                      .unexplained = l->unexplained,
			                      .host_anon = l->host_anon,
			                      .host_file = l->host_file };
	}
}

/* There may be as many lines as stacks, so those with one label are brought together by sorting. */
static void merge_lines(struct tare_by_rows *out, size_t start)
{
	size_t kept = start;

	if (out->count == start)
		return;
	TARE_SORT(out->rows + start, out->count - start, by_label);
	for (size_t i = start + 1; i < out->count; i++) {
		struct tare_by_row *group = &out->rows[kept], *row = &out->rows[i];

		if (strcmp(group->label, row->label)) {
			out->rows[++kept] = *row;
			continue;
		}
		group->bytes += row->bytes;
		group->count += row->count;
		group->driver_ns += row->driver_ns;
		if (row->evidence > group->evidence)
			group->evidence = row->evidence;
		add_blocks(&group->tensors, &row->tensors);
		group->ever += row->ever;
		group->ever_bytes += row->ever_bytes;
		group->unexplained += row->unexplained;
		group->host_anon += row->host_anon;
		group->host_file += row->host_file;
	}
	out->count = kept + 1;
}

static void add_device(struct tare_by_rows *out, enum tare_by by, const struct tare_ledger *ledger,
                       const struct tare_device_ledger *d)
{
	size_t start = out->count;

	if (tare_by_is_line(by)) {
		add_lines(out, by, d->lines, d->line_nr);
		merge_lines(out, start);
	} else {
		add_rows(out, by, d);
	}
	for (size_t i = start; i < out->count; i++) {
		out->rows[i].ledger = ledger;
		out->rows[i].device = d;
	}
	if (out->count > start)
		TARE_SORT(out->rows + start, out->count - start, compare);
}

/* Tensors on the CPU are of no device: of their bytes only what the program asked for is known. */
static void add_hosts(struct tare_by_rows *out, enum tare_by by, const struct tare_ledger *ledger)
{
	size_t start = out->count;

	for (int i = 0; i < ledger->host_nr; i++)
		add_lines(out, by, ledger->hosts[i].lines, ledger->hosts[i].line_nr);
	add_lines(out, by, ledger->shared.lines, ledger->shared.line_nr);
	merge_lines(out, start);
	for (size_t i = start; i < out->count; i++) {
		out->rows[i].ledger = ledger;
		out->rows[i].bytes = out->rows[i].tensors.bytes;
		out->rows[i].count = out->rows[i].tensors.count;
	}
	if (out->count > start)
		TARE_SORT(out->rows + start, out->count - start, compare);
}

void tare_by_build(struct tare_by_rows *out, enum tare_by by, const struct tare_ledger *ledger)
{
	*out = (struct tare_by_rows){ 0 };
	for (int i = 0; i < ledger->device_nr && !why_empty[by]; i++)
		add_device(out, by, ledger, &ledger->devices[i]);
	if (tare_by_is_line(by))
		add_hosts(out, by, ledger);
}

static bool has_more(const struct tare_device_ledger *d)
{
	for (int i = 0; i < d->line_nr; i++)
		if (d->lines[i].tensors.ever || d->lines[i].host_anon || d->lines[i].host_file)
			return true;
	return false;
}

bool tare_by_has_more(const struct tare_ledger *const *ledgers, int ledger_nr)
{
	for (int i = 0; i < ledger_nr; i++)
		for (int k = 0; k < ledgers[i]->device_nr; k++)
			if (has_more(&ledgers[i]->devices[k]))
				return true;
	return false;
}

void tare_by_leave_out_empty(struct tare_by_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].bytes || rows->rows[i].count || !rows->rows[i].ever)
			rows->rows[kept++] = rows->rows[i];
	rows->count = kept;
}

void tare_by_free(struct tare_by_rows *rows)
{
	free(rows->rows);
	*rows = (struct tare_by_rows){ 0 };
}
