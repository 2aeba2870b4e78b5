/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows of a device the screen shows, and how they are called. A ledger can have thousands of
 * rows (a row per function, per owner …) and a screen has forty lines: accounts are always shown,
 * what lies below them is shown while it is large enough and added up when it is not.
 */
#ifndef TARE_VIEW_TEXT_ROWS_H
#define TARE_VIEW_TEXT_ROWS_H

#include "base/owned.h"
#include "base/str.h"
#include "view/columns.h"

struct tare_text_cell {
	bool is_present, is_contended;
	int64_t bytes, low, high;
};

struct tare_text_row {
	TARE_OWNED struct tare_str label;
	int indent; /* levels below the device */
	bool elastic;
	bool is_category; /* what tensors are for: `evidence` is of that, not of the bytes */
	enum tare_account account;
	enum tare_evidence evidence;
	TARE_OWNED struct tare_text_cell *cells; /* one per column */
};

struct tare_text_rows {
	TARE_OWNED_MANY(count) struct tare_text_row *rows;
	size_t count, cap;
	int column_nr;
	/* What the first "(15·2)" means, "15 at peak · 2 at end", where no label had the room to say it; else empty. */
	TARE_OWNED struct tare_str counts, counts_mean;
};

/* `room`: columns of a label that the screen has for counts in words. */
void tare_text_rows_build(struct tare_text_rows *out, const struct tare_columns *columns, size_t room);
TARE_FREES(tare_text_rows_free, tare_text_rows);

#endif
