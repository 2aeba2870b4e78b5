/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_EMIT_SORT_H
#define TARE_BASE_EMIT_SORT_H

#include "base/emit_table.h"

/* A table in the order that e->sort asks for, if it has such a column; only emit.c calls these. */
void tare_emit_order_begin(struct tare_emit *e, struct tare_emit_table *t);
void tare_emit_order_add(struct tare_emit_table *t, struct tare_row_look look);
void tare_emit_order_flush(struct tare_emit *e, struct tare_emit_table *t);
void tare_emit_order_end(struct tare_emit *e, struct tare_emit_table *t);

#endif
