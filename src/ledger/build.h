/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_BUILD_H
#define TARE_LEDGER_BUILD_H

#include "base/err.h"
#include "base/extent.h"
#include "ledger/ledger.h"
#include "ledger/line_names.h"
#include "ledger/memory_history.h"
#include "ledger/step_curves.h"
#include "trace/event.h"

/*
 * The fold: events in, ledgers out. It does no I/O, keeps no globals and reads no clock; the rules
 * it follows are in docs/LEDGER.md.
 *
 *     struct tare_instant at[2];
 *     struct tare_ledger ledgers[2];
 *
 *     if (tare_instant_parse("peak", &at[0], &err) || tare_instant_parse("end", &at[1], &err))
 *             return tare_cmd_fail(&err);
 *     tare_ledger_of_recording(rec, NULL, at, 2, ledgers);
 *     …
 *     tare_ledger_free(&ledgers[0]);
 *     tare_ledger_free(&ledgers[1]);
 */

/* The n-th phase of a name, or of a path of names, whose times are asked for. */
enum { TARE_PHASE_DEVICES = 64 };
struct tare_phase_watch {
	const char *name;
	uint64_t nth; /* from 1 */
	/* filled in: */
	uint64_t seen; /* how many phases there are of that name */
	bool is_found;
	uint64_t serial; /* for the fold */
	int64_t begin_ns, end_ns;
	int64_t peak_ns[TARE_PHASE_DEVICES]; /* by tare_device.index */
	int64_t host_peak_ns;                /* of tensors on the CPU */
};

/* Moments that each device has at a time of its own: the maximum of its `used`, its end … */
#define TARE_MOMENT(KEY, name, is_peak) TARE_MOMENT_##KEY,
enum tare_moment {
#include "ledger/core/moments.def"
	TARE_MOMENT_NR,
	TARE_MOMENT_NOW = TARE_MOMENT_NR
};
const char *tare_moment_name(enum tare_moment m);
bool tare_moment_is_peak(enum tare_moment m);

enum tare_instant_kind {
	TARE_INSTANT_MOMENT,
	TARE_INSTANT_TIME,     /* t_ns after the start of the recording */
	TARE_INSTANT_PHASE,    /* of a phase; tare_phase_instants_settle() makes it a time */
	TARE_INSTANT_OOM,      /* the nth moment at which memory ran out; tare_oom_instants_settle() */
	TARE_INSTANT_SNAPSHOT, /* a name: whoever has the recording makes a TIME of it */
};
enum tare_phase_point { TARE_PHASE_AT_BEGIN, TARE_PHASE_AT_PEAK, TARE_PHASE_AT_END };

struct tare_instant {
	enum tare_instant_kind kind;
	enum tare_moment moment; /* of TARE_INSTANT_MOMENT */
	int64_t t_ns;            /* of TARE_INSTANT_TIME */
	const char *text;        /* as it was asked for; becomes `at` of the ledger, which copies it */

	const char *phase; /* of TARE_INSTANT_PHASE: in `text`, not terminated */
	size_t phase_len;
	uint64_t nth; /* also of OOM */
	enum tare_phase_point point;
	bool is_per_device; /* of TIME: each device has its own, by tare_device.index */
	int64_t device_t_ns[TARE_PHASE_DEVICES];
};

/*
 * "peak", "peak:tensors", "end", "oom#2", "12.5s", "1500ms", "+3", "snapshot:1", "phase:NAME#2:peak". Returns 0 or
 * TARE_E_USAGE. `out->text` is `text`.
 */
int tare_instant_parse(const char *text, struct tare_instant *out, struct tare_err *err);
void tare_phase_instant_parse(const char *name, struct tare_instant *out); /* what follows "phase:" */

/* The earliest of its moments; INT64_MAX: it is no time. */
int64_t tare_instant_first_ns(const struct tare_instant *at);

/* Phases become times: TARE_E_USAGE with near names where there is no such phase. Before a build. */
struct tare_recording;
int tare_phase_instants_settle(struct tare_recording *recording, struct tare_instant *instants, int nr,
                               struct tare_err *err);

/* "oom" and "oom#2" become times: TARE_E_NOT_FOUND where memory did not run out (so often). */
int tare_oom_instants_settle(struct tare_recording *recording, struct tare_instant *instants, int nr,
                             struct tare_err *err);

/*
 * Events in the order of tare_recording_next(). They are read twice; the first time what follows outline(), which may be
 * NULL, counts as tare_recording_outline() says.
 */
struct tare_ledger_source {
	bool (*next)(void *arg, struct tare_event *e);
	void (*rewind)(void *arg);
	void *arg;
	void (*outline)(void *arg);
	bool (*run)(void *arg, int64_t until_ns, struct tare_block_run *run); /* as tare_recording_run(); or NULL */
	bool (*phase_run)(void *arg, int64_t until_ns,
	                  struct tare_phase_run *run); /* as tare_recording_phase_run(); or NULL */
	bool (*heap_run)(void *arg, int64_t until_ns,
	                 struct tare_heap_run *run); /* as tare_recording_heap_run(); or NULL */
};

/* Events before a moment went, and no state stands for them: what is known of that time. */
struct tare_ledger_kept {
	int64_t dropped_ns;
	const struct tare_extent_list *extents;
	const struct tare_device *const *devices; /* that may have some of these, as a recording numbers them */
	int device_nr;
};

struct tare_ledger_opts {
	uint64_t page_bytes;      /* size of the pages in which the driver takes memory; 0: 2 MiB */
	int64_t weigh_ns;         /* how long a weighing may last, before and after a call; 0: 20 µs */
	const char *const *notes; /* sentences to stand first in `degraded`, such as the reader's */
	int note_nr;
	const struct tare_process *const *processes; /* of which events may be missing, all of them even */
	int process_nr;
	const struct tare_ledger_kept *kept; /* some events are not there; or NULL */
	const char *lines;                   /* FILE:LINE that should be phases, one per line; NULL: none */
	bool without_heap_lines; /* what each place has of the heap is left out: of a million places naming takes long */
	bool without_tensors;    /* the rows of single tensors are left out: of many they take much memory */
	bool without_stacks;     /* a line is told without the stack that leads to it */
	struct tare_line_names
		*line_names; /* {0}, of this fold alone, to be freed after its ledgers; NULL: each has its own */
	bool is_brief;   /* nobody asks what grows, nor what training had at most */
	struct tare_phase_watch *watches;
	int watch_nr;
	struct tare_memory_history *history; /* filled in, if it is not NULL; tare_memory_history_free() it */
	/* an earlier history, whose tensors are to be told apart by category; or NULL */
	const struct tare_memory_history *history_by_category;
	struct tare_memory_history *lines_of_heap; /* an earlier history, whose heap is to be told apart by line; or NULL */
	struct tare_block_courses
		*block_courses; /* single blocks over time: what a fold has counted, the next one tells; or NULL */
	struct tare_step_curves *step_curves; /* that were begun, to be filled in; or NULL */
};

/* One ledger per instant, in one fold. `opts` may be NULL. */
void tare_ledger_build(const struct tare_ledger_source *source, const struct tare_ledger_opts *opts,
                       const struct tare_instant *instants, int instant_nr, struct tare_ledger *out);

/*
 * As tare_ledger_build(), from a recording that was opened for reading; its notes stand first in `degraded`, its
 * remarks are `notes`.
 */
void tare_ledger_of_recording(struct tare_recording *recording, const struct tare_ledger_opts *opts,
                              const struct tare_instant *instants, int instant_nr, struct tare_ledger *out);

void tare_ledger_free(struct tare_ledger *ledger); /* empty afterwards; {0} is fine */

#endif
