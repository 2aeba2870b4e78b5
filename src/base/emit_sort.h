/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_EMIT_SORT_H
#define TARE_BASE_EMIT_SORT_H

#include "base/emit_table.h"

/* A table in the order that e->sort asks for, if it has such a column; only emit.c calls the first four. */
void tare_emit_order_begin(struct tare_emit *e, struct tare_emit_table *t);
void tare_emit_order_add(struct tare_emit_table *t, struct tare_row_look look);
void tare_emit_order_flush(struct tare_emit *e, struct tare_emit_table *t);
void tare_emit_order_end(struct tare_emit *e, struct tare_emit_table *t);

/*
 * For people, whose tables have not all columns that data has: the column of `columns` that e->sort names, with the sign that
 * it is ordered by; `count`: none. The caller orders the rows before it adds them, and they stay in that order.
 */
size_t tare_emit_order_find(struct tare_emit *e, const struct tare_column *columns, size_t count, int *sign);
/* NAN: it is no number. */
double tare_cell_number(const struct tare_cell *c);
int tare_cell_compare(const struct tare_cell *x, const struct tare_cell *y, int sign);

#endif
