/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_COLUMNS_H
#define TARE_VIEW_COLUMNS_H

#include "base/owned.h"
#include "ledger/ledger.h"

/*
 * One device at several instants, side by side: every row that any of the ledgers has, once, in
 * display order, with a cell per ledger. A cell is NULL where that ledger has no such row.
 */
struct tare_columns_line {
	const struct tare_row *row; /* of the first ledger that has it: for what does not change */
	TARE_OWNED const struct tare_row **cells;
	int parent; /* index of a line, -1: directly below the device */
};

struct tare_columns {
	TARE_OWNED const struct tare_device_ledger **devices; /* per column; NULL: unknown at that instant */
	const struct tare_ledger *const *ledgers;             /* per column */
	int column_nr;
	TARE_OWNED struct tare_columns_line *lines;
	int line_nr;
};

/* `ledgers` are of one recording; `device` is a device of any of them. Free with …_free(). */
void tare_columns_build(struct tare_columns *c, const struct tare_ledger *const *ledgers, int ledger_nr,
                        const struct tare_device_ledger *device);
TARE_FREES(tare_columns_free, tare_columns);

/* The same device in another ledger, by UUID, else by index; or NULL. */
const struct tare_device_ledger *tare_columns_device(const struct tare_ledger *ledger,
                                                     const struct tare_device_ledger *device);

#endif
