/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_REORDER_H
#define TARE_TRACE_REORDER_H

#include "record/bound.h"
#include "trace/log.h"

/*
 * One lane of a log in the order of its stamps. A thread writes its records in an order which is almost that of
 * their stamps: an event may be stamped with the begin of its call. How far off it is ("lag") is measured by
 * a first pass over the log; then records are held back for that long and no longer. What comes of it is blocks of records, as
 * segments have them.
 */

/* Later than this nothing comes that is not damage. */
#define TARE_REORDER_LAG_MAX ((uint64_t)TARE_MOST_LAG)

struct tare_lag {
	uint64_t high;        /* the latest stamp so far that is believed */
	uint64_t lag;         /* the most that a record was behind it */
	unsigned outlier_run; /* records in a row that are too far behind it */
};

/* Takes the stamp of the next record in; what `high` is afterwards is the time it is now. */
void tare_lag_add(struct tare_lag *lag, uint64_t stamp);

struct tare_reorder;
struct tare_record_block;

/* A part of a log. */
struct tare_range {
	uint64_t begin, end; /* positions */
	uint64_t first;      /* stamp of its first record that belongs in the order of time; 0: it has none */
};

/* These parts of `log`, in this order. `log` belongs to the caller and is read by nobody else. */
struct tare_reorder *tare_reorder_new(struct tare_log *log, const struct tare_range *ranges, size_t range_nr,
                                      uint64_t lag);
void tare_reorder_free(struct tare_reorder *r);
void tare_reorder_rewind(struct tare_reorder *r);
/* From the next rewind on parts at the begin are left out that have only records up to that stamp; 0: none are. */
void tare_reorder_pass_over(struct tare_reorder *r, uint64_t stamp);

/*
 * The next records that belong in the order of time, as they lie in the log but with room for all fields of their kind: those that one
 * lacks are 0. Good until the next call; NULL at the end. All are of the segment `*segment`; 0: of none.
 */
const struct tare_record_block *tare_reorder_block(struct tare_reorder *r, uint32_t *segment);

#endif
