/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_BY_H
#define TARE_VIEW_BY_H

#include "base/emit.h"
#include "ledger/ledger.h"

#define TARE_BY(KEY, NAME, VIEW, FLAGS, HELP)                       TARE_BY_##KEY,
#define TARE_BY_EVENTS(KEY, NAME, EVENTS, MAKER, VIEW, FLAGS, HELP) TARE_BY_##KEY,
enum tare_by {
#include "view/by.def"
	TARE_BY_NR
};

/* "account|owner|…", for an option table. */
extern const char tare_by_names_with_bar[];
#define TARE_BY_NAMES (tare_by_names_with_bar + 1)

/* What a report is asked for. */
struct tare_by_ask {
	enum tare_by by;
	const struct tare_ledger *const *ledgers; /* of one recording at several instants */
	int ledger_nr;
	int64_t pid;     /* only this process; -1: all */
	uint64_t graphs; /* CUDA graphs that a server captures in all; 0: not known */
};

enum tare_by_flag {
	TARE_BY_OF_RECORDING = 1, /* the same at every instant: shown once */
	TARE_BY_OWN_NOTES = 2,    /* its text says what was not recorded as it should be */
	TARE_BY_AT_PEAK = 4,      /* one instant is enough where none was asked for */
	TARE_BY_AT_END = 64,      /* … and it is the end, unless nothing of it is there any more */
	TARE_BY_TENSORS = 8,      /* it shows single tensors, or sums of them */
	TARE_BY_BYTES = 16,       /* its rows are sizes: tare diff compares them (diff_read.c) */
	TARE_BY_CHANGES = 32,     /* … which are changes, each with a `path`, and sum to nothing */
};

struct tare_by_info {
	const char *name, *help;
	const char *events; /* what a recording must hold for it; NULL: nothing special */
	int flags;
	/* Is there anything to show, else the table is empty? */
	bool (*is_any)(const struct tare_by_ask *ask);
	/* People: a table per device, a column or a table per ledger. Data: tables of all ledgers. JSON: the member
	 * "rows" and what else there is, of ledgers[0], behind the member "by". */
	void (*show)(struct tare_emit *e, const struct tare_by_ask *ask);
};

#define TARE_BY(KEY, NAME, VIEW, FLAGS, HELP)                                                                          \
	bool VIEW##_is_any(const struct tare_by_ask *ask);                                                                 \
	void VIEW##_show(struct tare_emit *e, const struct tare_by_ask *ask);
#define TARE_BY_EVENTS(KEY, NAME, EVENTS, MAKER, VIEW, FLAGS, HELP) TARE_BY(KEY, NAME, VIEW, FLAGS, HELP)
#include "view/by.def"

/* by_views.c: the view that was asked for, or an empty table that says why it is empty. */
void tare_by_show(struct tare_emit *e, const struct tare_by_ask *ask);
bool tare_by_is_any(const struct tare_by_ask *ask);
extern const struct tare_by_info tare_by_infos[TARE_BY_NR];

/* One group of one device. */
struct tare_by_row {
	const struct tare_ledger *ledger;
	const struct tare_device_ledger *device; /* NULL: tensors on the CPU */
	const char *label;                       /* the ledger's */
	const struct tare_ledger_line *line;     /* LINE, STACK: one of the group; else NULL */
	int64_t pid;                             /* of its first row; -1: no process */
	int64_t bytes;
	uint64_t count, driver_ns;
	enum tare_evidence evidence;       /* the weakest in the group */
	struct tare_blocks_ledger tensors; /* LINE, STACK */
	uint64_t ever;                     /* of a heap, as of a line */
	int64_t ever_bytes;
	int64_t host_anon, host_file, unexplained; /* the same */
};

struct tare_by_rows {
	struct tare_by_row *rows; /* by device, then the largest first; those of the CPU last */
	size_t count, cap;
};

/* Groups the leaves of every device, so that rows and `unexplained` sum to `used`. */
void tare_by_build(struct tare_by_rows *out, enum tare_by by, const struct tare_ledger *ledger);
/* Leaves out lines that hold nothing of a heap any more. */
void tare_by_leave_out_empty(struct tare_by_rows *rows);
void tare_by_free(struct tare_by_rows *rows);

static inline bool tare_by_is_line(enum tare_by by)
{
	return by == TARE_BY_LINE || by == TARE_BY_STACK;
}

/* Has any line more to show than what it has of the device: tensors, host memory? */
bool tare_by_has_more(const struct tare_ledger *const *ledgers, int ledger_nr);

/* Why the table is empty, one sentence, or NULL when the recording can answer. */
const char *tare_by_why_empty(enum tare_by by);

/* by_cpu.c: why the view says nothing of a program that used the CPU only, the begin of a sentence; NULL: it does. */
const char *tare_by_why_not_on_cpu(const struct tare_by_ask *ask);

/* by_data.c: puts rows in the order of a column of data that --sort names; false: there is none of that name. */
bool tare_by_order(struct tare_emit *e, enum tare_by by, struct tare_by_rows *all, int ledger_nr);

/* by_text.c: groups of rows of ledgers, for people. */
void tare_by_rows_text(struct tare_emit *e, const struct tare_by_ask *ask);
/* Of LINE and STACK: the label without folders. */
const char *tare_by_short_name(const struct tare_by_row *row);
/* by_lines.c: the same of one device, with what lines have in tensors: a table for each ledger. */
void tare_by_lines_text(struct tare_emit *e, enum tare_by by, const struct tare_by_rows *all,
                        const struct tare_ledger *const *ledgers, int ledger_nr,
                        const struct tare_device_ledger *device);

/* by_host.c: what lines have in tensors on the CPU. */
void tare_by_host_text(struct tare_emit *e, enum tare_by by, const struct tare_by_rows *all,
                       const struct tare_ledger *const *ledgers, int ledger_nr, bool is_ordered);

#endif
