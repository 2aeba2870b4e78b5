/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a program that uses tensors: what each has of the device and in blocks, at one instant a table. */
#include "view/by.h"

#include "base/units.h"
#include "base/xalloc.h"
#include "view/device_text.h"

#include <stdlib.h>
#include <string.h>

enum { HOST, DEVICE, TENSORS, BLOCKS, EVER, EVER_BYTES, COLUMN_NR };

static const char *const heads[COLUMN_NR] = {
	[HOST] = "host",     [DEVICE] = "device", [TENSORS] = "tensors",
	[BLOCKS] = "blocks", [EVER] = "ever",     [EVER_BYTES] = "ever MiB",
};

/* Of what is gone only lines with a hundredth of all that was ever handed out are worth a row. */
enum { WORTH = 100 };

const char *tare_by_short_name(const struct tare_by_row *row)
{
	return row->label == row->line->label ? row->line->short_label : row->line->short_stack;
}

static int by_short_name(const void *a, const void *b)
{
	const struct tare_by_row *const *x = a, *const *y = b;

	return strcmp(tare_by_short_name(*x), tare_by_short_name(*y));
}

/* What each row is called: two files of one name are told apart by their folders. */
static const char **names_of(const struct tare_by_row *rows, size_t count)
{
	const struct tare_by_row **sorted = tare_xcalloc(count + 1, sizeof(*sorted));
	const char **names = tare_xcalloc(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		sorted[i] = &rows[i];
	if (count)
		qsort(sorted, count, sizeof(*sorted), by_short_name);
	for (size_t i = 0; i < count; i++) {
		bool is_shared = (i && !by_short_name(&sorted[i - 1], &sorted[i])) ||
				 (i + 1 < count && !by_short_name(&sorted[i], &sorted[i + 1]));

		names[sorted[i] - rows] =
			is_shared ? sorted[i]->label : tare_by_short_name(sorted[i]);
	}
	free(sorted);
	return names;
}

static void add_cells(struct tare_text_table_row *row, const struct tare_blocks_ledger *t)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_add(&row->cells[TENSORS], t->ever ? tare_units_mib(text, t->bytes) : "–");
	tare_str_add(&row->cells[BLOCKS], t->ever ? tare_units_count(text, t->count) : "–");
	tare_str_add(&row->cells[EVER], t->ever ? tare_units_count(text, t->ever) : "–");
	tare_str_add(&row->cells[EVER_BYTES], t->ever ? tare_units_mib(text, t->ever_bytes) : "–");
}

static void add_host(struct tare_text_table_row *row, int64_t bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (bytes)
		tare_str_addf(&row->cells[HOST], "%s%s", bytes > 0 ? "+" : "",
			      tare_units_mib(text, bytes));
	else
		tare_str_add(&row->cells[HOST], "–");
}

static bool is_worth_a_row(const struct tare_by_row *r, const struct tare_blocks_ledger *all)
{
	return r->bytes || r->unexplained || r->host_anon || r->host_file || r->tensors.count ||
	       r->tensors.ever_bytes >= all->ever_bytes / WORTH;
}

static void add_rest(struct tare_text_table *t, size_t count, const struct tare_blocks_ledger *rest)
{
	struct tare_text_table_row *row = tare_text_table_add(t);

	tare_str_addf(&row->label, "  %zu more that hold nothing", count);
	row->tone = TARE_TONE_QUIET;
	add_host(row, 0);
	tare_str_add(&row->cells[DEVICE], "–");
	add_cells(row, rest);
}

static void add(struct tare_blocks_ledger *sum, const struct tare_blocks_ledger *by)
{
	sum->bytes += by->bytes;
	sum->count += by->count;
	sum->ever += by->ever;
	sum->ever_bytes += by->ever_bytes;
}

static void add_rows(struct tare_text_table *t, const struct tare_by_row *rows, size_t count,
		     const struct tare_blocks_ledger *all)
{
	struct tare_blocks_ledger rest = { 0 };
	const char **names = names_of(rows, count);
	char text[TARE_UNITS_TEXT_MAX];
	size_t rest_nr = 0;

	for (size_t i = 0; i < count; i++) {
		struct tare_text_table_row *row;

		if (!is_worth_a_row(&rows[i], all)) {
			add(&rest, &rows[i].tensors);
			rest_nr++;
			continue;
		}
		row = tare_text_table_add(t);
		tare_str_add(&row->label, "  ");
		tare_text_add_name(&row->label, names[i]);
		add_host(row, rows[i].host_anon + rows[i].host_file);
		tare_str_add(&row->cells[DEVICE],
			     rows[i].bytes ? tare_units_mib(text, rows[i].bytes) : "–");
		add_cells(row, &rows[i].tensors);
	}
	if (rest_nr)
		add_rest(t, rest_nr, &rest);
	free(names);
}

static void add_head(struct tare_text_table *t, const struct tare_ledger *ledger,
		     const struct tare_device_ledger *device, const struct tare_blocks_ledger *all,
		     int64_t host)
{
	struct tare_text_table_row *row = tare_text_table_add(t);

	tare_device_text_instant(&row->label, ledger, device ? device->t_ns : -1);
	row->tone = TARE_TONE_QUIET;
	for (int i = 0; i < COLUMN_NR; i++)
		tare_str_add(&row->cells[i], heads[i]);
	row = tare_text_table_add(t);
	tare_str_add(&row->label, "used, and tensors in it");
	row->tone = TARE_TONE_STRONG;
	add_host(row, host);
	tare_device_text_mib(&row->cells[DEVICE], device->used);
	add_cells(row, all);
	tare_text_table_rule(t);
}

static void add_foot(struct tare_text_table *t, const struct tare_device_ledger *device)
{
	struct tare_text_table_row *row = tare_text_table_add(t);

	tare_str_add(&row->label, "unexplained");
	row->tone = TARE_TONE_STRONG;
	tare_device_text_unexplained(&row->cells[DEVICE], device);
}

static void add_table(struct tare_str *out, const struct tare_by_rows *rows,
		      const struct tare_ledger *ledger, const struct tare_device_ledger *device,
		      const struct tare_text_style *style)
{
	struct tare_text_table t = { .column_nr = COLUMN_NR };
	struct tare_blocks_ledger all = { 0 };
	size_t first = 0, count = 0;
	int64_t host = 0;

	for (size_t i = 0; i < rows->count; i++) {
		if (rows->rows[i].device != device)
			continue;
		first = count ? first : i;
		count++;
		add(&all, &rows->rows[i].tensors);
		host += rows->rows[i].host_anon + rows->rows[i].host_file;
	}
	add_head(&t, ledger, device, &all, host);
	if (count)
		add_rows(&t, rows->rows + first, count, &all);
	add_foot(&t, device);
	tare_device_text_draw(out, &t, device, "", style);
	tare_text_table_free(&t);
}

void tare_by_lines_text(struct tare_str *out, const struct tare_by_rows *all,
			const struct tare_ledger *const *ledgers, int ledger_nr,
			const struct tare_device_ledger *device,
			const struct tare_text_style *style)
{
	for (int i = 0; i < ledger_nr; i++) {
		const struct tare_device_ledger *d = tare_columns_device(ledgers[i], device);

		if (d)
			add_table(out, &all[i], ledgers[i], d, style);
	}
}
