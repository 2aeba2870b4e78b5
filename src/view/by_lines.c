/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a program that uses tensors: what each has of the device and in blocks, at one instant a table. */
#include "view/by.h"

#include "base/comparator.h"
#include "base/xalloc.h"
#include "view/card.h"
#include "view/device_text.h"
#include "view/stack_tree.h"

#include <stdlib.h>
#include <string.h>

/* One line of the program, or all other lines together, or the whole device. */
struct row {
	struct tare_str label;
	struct tare_value device;
	int64_t host;
	bool has_tensors;
	struct tare_blocks_ledger tensors;
};

#define TENSORS(FIELD, KEY, HEAD, KIND)                                                                                \
	TARE_COLUMN(row, tensors.FIELD, KEY, HEAD, KIND, .when = TARE_WHEN(row, has_tensors))

/* Of what is gone only lines with a hundredth of all that was ever handed out are worth a row. */
enum { WORTH = 100 };

const char *tare_by_short_name(const struct tare_by_row *row)
{
	return row->label == row->line->label ? row->line->short_label : row->line->short_stack;
}

TARE_COMPARATOR_OF_POINTERS(by_short_name, struct tare_by_row, TARE_ALPHABETIC_BY(tare_by_short_name(it)))

/* The label of each row: where two files have the same name, the label has their folders. */
static const char **names_of(const struct tare_by_row *rows, size_t count)
{
	const struct tare_by_row **sorted = tare_xcalloc(count + 1, sizeof(*sorted));
	const char **names = tare_xcalloc(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		sorted[i] = &rows[i];
	TARE_SORT(sorted, count, by_short_name);
	for (size_t i = 0; i < count; i++) {
		bool is_shared = (i && !by_short_name(&sorted[i - 1], &sorted[i])) ||
		                 (i + 1 < count && !by_short_name(&sorted[i], &sorted[i + 1]));

		names[sorted[i] - rows] = is_shared ? sorted[i]->label : tare_by_short_name(sorted[i]);
	}
	free(sorted);
	return names;
}

static bool is_worth_a_row(const struct tare_by_row *r, const struct tare_blocks_ledger *all)
{
	return r->bytes || r->unexplained || r->host_anon || r->host_file || r->tensors.count ||
	       r->tensors.ever_bytes >= all->ever_bytes / WORTH;
}

static void add(struct tare_blocks_ledger *sum, const struct tare_blocks_ledger *by)
{
	sum->bytes += by->bytes;
	sum->count += by->count;
	sum->ever += by->ever;
	sum->ever_bytes += by->ever_bytes;
}

static void add_row(struct tare_emit *e, struct row *row, struct tare_row_look look)
{
	row->has_tensors = row->tensors.ever > 0;
	tare_emit_add_as(e, row, look);
	tare_str_free(&row->label);
}

static void show_stack(void *arg, const char *label, const struct tare_by_row *sums, struct tare_row_look look)
{
	struct tare_emit *e = arg;
	struct row row = { 0 };

	tare_str_add(&row.label, label);
	if (sums) {
		row.host = sums->host_anon + sums->host_file;
		row.tensors = sums->tensors;
		if (sums->bytes)
			row.device = tare_value_of(TARE_COL_BYTES, sums->bytes);
	}
	add_row(e, &row, look);
}

/* Are frames left out? */
static bool add_stacks(struct tare_emit *e, const struct tare_by_row *rows, size_t count)
{
	struct tare_stack_tree tree = { .column_nr = 1 };
	bool leaves_out;

	for (size_t i = 0; i < count; i++)
		tare_stack_tree_add(&tree, &rows[i], 0);
	tare_stack_tree_show(&tree, show_stack, e);
	leaves_out = tree.leaves_out;
	tare_stack_tree_free(&tree);
	return leaves_out;
}

static void add_rest(struct tare_emit *e, size_t count, const struct tare_blocks_ledger *rest)
{
	struct row row = { .tensors = *rest };

	tare_str_addf(&row.label, "%zu more that hold nothing", count);
	add_row(e, &row, (struct tare_row_look){ .level = 1, .tone = TARE_TONE_QUIET });
}

static void add_rows(struct tare_emit *e, const struct tare_by_row *rows, size_t count,
                     const struct tare_blocks_ledger *all)
{
	struct tare_blocks_ledger rest = { 0 };
	const char **names = names_of(rows, count);
	size_t rest_nr = 0;

	for (size_t i = 0; i < count; i++) {
		struct row row = { .host = rows[i].host_anon + rows[i].host_file, .tensors = rows[i].tensors };

		if (!is_worth_a_row(&rows[i], all)) {
			add(&rest, &rows[i].tensors);
			rest_nr++;
			continue;
		}
		tare_str_add(&row.label, names[i]);
		if (rows[i].bytes)
			row.device = tare_value_of(TARE_COL_BYTES, rows[i].bytes);
		add_row(e, &row, (struct tare_row_look){ .level = 1 });
	}
	if (rest_nr)
		add_rest(e, rest_nr, &rest);
	free(names);
}

static void add_used(struct tare_emit *e, const struct tare_device_ledger *device, const struct tare_blocks_ledger *all,
                     int64_t host)
{
	struct row row = { .host = host, .device = tare_device_text_bytes(device->used), .tensors = *all };

	tare_str_add(&row.label, "used, and tensors in it");
	add_row(e, &row, (struct tare_row_look){ .tone = TARE_TONE_STRONG });
	tare_emit_rule(e);
}

static void add_unexplained(struct tare_emit *e, const struct tare_device_ledger *device)
{
	struct row row = { .device = tare_device_text_unexplained(device) };

	tare_str_add(&row.label, "unexplained");
	add_row(e, &row, (struct tare_row_look){ .tone = TARE_TONE_STRONG, .is_blank = true });
}

static const struct tare_column columns[] = {
	TARE_COLUMN(row, label, "label", NULL /* the instant */, TEXT),
	TARE_COLUMN(row, host, "host_bytes", "host", CHANGE, .unknown = TARE_UNKNOWN_ZERO),
	TARE_COLUMN(row, device, "bytes", "device", BYTES),
	TENSORS(bytes, "tensor_bytes", "tensors", BYTES),
	TENSORS(count, "tensors", "blocks", COUNT),
	TENSORS(ever, "handed", "ever", COUNT),
	TENSORS(ever_bytes, "handed_bytes", "ever MiB", BYTES),
};

static void add_table(struct tare_emit *e, enum tare_by by, const struct tare_by_rows *rows,
                      const struct tare_ledger *ledger, const struct tare_device_ledger *device)
{
	struct tare_blocks_ledger all = { 0 };
	struct tare_column shown[sizeof(columns) / sizeof(columns[0])];
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 }, instant = { 0 };
	size_t first = 0, count = 0;
	bool leaves_out = false;
	int64_t host = 0;

	for (size_t i = 0; i < rows->count; i++) {
		if (rows->rows[i].device != device)
			continue;
		first = count ? first : i;
		count++;
		add(&all, &rows->rows[i].tensors);
		host += rows->rows[i].host_anon + rows->rows[i].host_file;
	}
	tare_device_text_title(&title, device);
	tare_device_text_instant(&instant, ledger, device->t_ns);
	memcpy(shown, columns, sizeof(columns));
	shown[0].head = tare_str_text(&instant);
	tare_emit_shape(e, TARE_SHAPE_TREE, "rows", tare_str_text(&title), TARE_COLUMNS(shown));
	add_used(e, device, &all, host);
	if (by == TARE_BY_STACK)
		leaves_out = add_stacks(e, rows->rows + first, count);
	else if (count)
		add_rows(e, rows->rows + first, count, &all);
	if (!device->is_heap)
		add_unexplained(e, device);
	tare_emit_table_end(e);
	tare_stack_tree_note(e, leaves_out);
	tare_emit_gap(e);
	tare_card_text(e, device);
}

void tare_by_lines_text(struct tare_emit *e, enum tare_by by, const struct tare_by_rows *all,
                        const struct tare_ledger *const *ledgers, int ledger_nr,
                        const struct tare_device_ledger *device)
{
	for (int i = 0; i < ledger_nr; i++) {
		const struct tare_device_ledger *d = tare_columns_device(ledgers[i], device);

		if (d)
			add_table(e, by, &all[i], ledgers[i], d);
	}
}
