/* SPDX-License-Identifier: Apache-2.0 */
/* Lays one device at several instants side by side. */
#include "view/columns.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

const struct tare_device_ledger *tare_columns_device(const struct tare_ledger *ledger,
                                                     const struct tare_device_ledger *device)
{
	for (int i = 0; i < ledger->device_nr; i++) {
		const struct tare_device_ledger *d = &ledger->devices[i];

		if (device->host && d->host && strcmp(device->host, d->host) != 0)
			continue;
		if (device->uuid[0] && d->uuid[0] ? !strcmp(d->uuid, device->uuid) : d->index == device->index)
			return d;
	}
	return NULL;
}

static int find_line(const struct tare_columns *c, const struct tare_row *row)
{
	for (int i = 0; i < c->line_nr; i++)
		if (!strcmp(c->lines[i].row->path, row->path))
			return i;
	return -1;
}

/*
 * Rows come parent first, so the line before (`last`) is the new row's parent, its sibling before,
 * or something below that sibling. Behind the sibling's subtree is where it belongs: lines that
 * only another ledger has stay with their parent.
 */
static int place_after(const struct tare_columns *c, int last, int depth)
{
	int at = last + 1;

	while (at < c->line_nr && c->lines[at].row->depth > depth)
		at++;
	return last >= 0 && c->lines[last].row->depth < depth ? last + 1 : at;
}

static void insert_line(struct tare_columns *c, int at, const struct tare_row *row)
{
	struct tare_columns_line *line;

	c->lines = tare_xrealloc(c->lines, (size_t)c->line_nr + 1, sizeof(*c->lines));
	line = &c->lines[at];
	memmove(line + 1, line, (size_t)(c->line_nr - at) * sizeof(*line));
	c->line_nr++;
	*line = (struct tare_columns_line){
		.row = row,
		.cells = tare_xcalloc((size_t)c->column_nr, sizeof(*line->cells)),
	};
}

static void add_column(struct tare_columns *c, int column)
{
	const struct tare_device_ledger *device = c->devices[column];
	int last = -1;

	for (int i = 0; i < device->row_nr; i++) {
		const struct tare_row *row = &device->rows[i];
		int at = find_line(c, row);

		if (at < 0) {
			at = place_after(c, last, row->depth);
			insert_line(c, at, row);
		}
		c->lines[at].cells[column] = row;
		last = at;
	}
}

static void link_parents(struct tare_columns *c)
{
	for (int i = 0; i < c->line_nr; i++) {
		int up = i - 1;

		while (up >= 0 && c->lines[up].row->depth >= c->lines[i].row->depth)
			up--;
		c->lines[i].parent = up;
	}
}

void tare_columns_build(struct tare_columns *c, const struct tare_ledger *const *ledgers, int ledger_nr,
                        const struct tare_device_ledger *device)
{
	*c = (struct tare_columns){ .ledgers = ledgers, .column_nr = ledger_nr };
	c->devices = tare_xcalloc((size_t)ledger_nr, sizeof(*c->devices));
	for (int i = 0; i < ledger_nr; i++) {
		c->devices[i] = tare_columns_device(ledgers[i], device);
		if (c->devices[i])
			add_column(c, i);
	}
	link_parents(c);
}
