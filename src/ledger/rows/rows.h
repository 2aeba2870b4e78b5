/* SPDX-License-Identifier: Apache-2.0 */
/* Rows, lines and notes of a ledger at an instant. */
#ifndef TARE_LEDGER_ROWS_H
#define TARE_LEDGER_ROWS_H

#include "ledger/parts/parts.h"

/* lines.c: the same sums as in the rows, by site */
void tare_fold_lines(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                     struct tare_arena *memory, struct tare_device_ledger *out);

/*
 * snapshot.c: the time up to which pauses and losses make a moment's rows less sure: at `end` all, however
 * long before the device changed last.
 */
int64_t tare_fold_doubt_ns(const struct tare_fold *f, enum tare_moment m, int64_t t);
int64_t tare_fold_doubt_ns_of(const struct tare_instant *at, const struct tare_ledger *l);

/* rows.c, snapshot.c */
void tare_fold_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                    struct tare_arena *memory, struct tare_device_ledger *out);
void tare_fold_snapshot(struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m, int64_t t,
                        struct tare_ledger *out);
void tare_fold_snapshot_begin(struct tare_fold *f, const char *at, struct tare_ledger *out);
void tare_fold_snapshot_hosts(struct tare_fold *f, enum tare_moment m, struct tare_ledger *out);
void tare_fold_snapshot_end(struct tare_fold *f, const struct tare_instant *at, struct tare_ledger *out);
/* pinned_rows.c: what processes have pinned in contexts of the device is added to theirs */
void tare_fold_pinned_rows(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                           struct tare_ledger *out);
/* notes.c: sentences */
void tare_fold_notes(struct tare_fold *f);

#endif
