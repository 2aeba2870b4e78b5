/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases. What the threads push and pop is known when a record
 * comes; what a device had in use then is known only when every call before has been settled. So a
 * boundary waits in a queue, and each device takes it when it gets there (tare_phases_advance).
 *
 * Amounts of a device are kept relative to what it had in use at the start, which may still move.
 */
#ifndef TARE_LEDGER_PHASE_H
#define TARE_LEDGER_PHASE_H

#include "ledger/core/fold.h"

/* All repeats of a phase on one device. */
struct tare_phase_total {
	uint64_t seen; /* repeats that are in here */
	int64_t before, after;
	int64_t change, change_min, change_max;
	int64_t own, own_min, own_max;
	struct tare_high_water peak;
	int64_t parts[TARE_ACCOUNT_NR];
};

/* What was read of a process since some moment; before: at that moment, -1: it had not been read. */
struct tare_phase_resident {
	uint64_t readings;
	int64_t before, last, most, most_ns;
};

/* All repeats of a phase; after: -1: no reading fell into the last one. */
struct tare_phase_resident_total {
	uint64_t readings, without_change; /* repeats whose change is not known */
	int64_t after, change, most, most_ns;
};

struct tare_phase_known {
	int process, parent; /* parent: another one, -1: none */
	int depth;
	const char *name, *domain; /* domain "": none */
	const char *path;
	uint8_t source, what;
	TARE_NOT_SAVED uint8_t step;         /* is it called a step of training: 1 no, 2 yes; 0: not asked yet */
	TARE_NOT_SAVED uint64_t last_thread; /* 1 + tid of the one that began it last; 0: not known */
	uint32_t threads;
	uint64_t repeats, unclosed;
	int namesake;   /* the first known one of that name, maybe itself, … */
	uint64_t named; /* … which counts all that began with it */
	int64_t first_ns, last_ns, ns;
	TARE_SAVED_BY_STATE(TARE_STATE_DEVICES) struct tare_phase_total *totals; /* by device */
	struct tare_phase_total host;                                            /* of tensors on the CPU */
	struct tare_phase_resident_total resident;
};

/* An open phase on one device. */
struct tare_phase_level {
	bool from_start; /* of the recording: `before` is 0, and the accounts had nothing */
	int64_t before, nested;
	int64_t accounts[TARE_ACCOUNT_NR];
};

/* The same on the CPU. */
struct tare_phase_host_level {
	bool from_start, is_open; /* is_open: it began there */
	int64_t before, nested, peak, peak_ns;
};

/* A phase that is open, or that some device has not seen the end of yet. */
struct tare_phase_frame {
	int known; /* -1: since the last mark */
	bool is_used, is_ended;
	bool is_watched;                /* somebody asked for it */
	TARE_NOT_SAVED bool is_library; /* a library's: its phase has a domain */
	TARE_NOT_SAVED uint8_t source;
	int process;
	uint32_t tid;
	int below;  /* of the same thread, -1: none; where it is free: the next free one */
	int parent; /* the frame around it, if its serial is still … */
	uint64_t parent_serial;
	uint64_t id, serial, nth; /* nth of its name */
	int64_t begin_ns;
	TARE_SAVED_BY_STATE(TARE_STATE_DEVICES) struct tare_phase_level *levels; /* by device */
	struct tare_phase_host_level host;
	struct tare_phase_resident resident;
};

struct tare_phase_boundary {
	int64_t t;
	int frame;
	int into; /* what its end is booked to; -1: it begins */
};

/*
 * The most in use since they began, of so many of the frames that are open on a device and stand next to each other: a program may leave
 * thousands open, and what is more than ever since one of them is so for all that began later.
 */
struct tare_phase_peak {
	size_t frame_nr;
	bool is_later; /* than they began; else it was so when each of them did */
	struct tare_high_water most;
};

/* What a device has taken of them. */
struct tare_phases_device {
	size_t next; /* boundary, counted from the first ever */
	int *open;   /* frames that are open here */
	size_t open_nr, open_cap;
	struct tare_phase_peak *peaks; /* of all that are open, in their order; the CPU has none */
	size_t peak_nr, peak_cap;
};

enum {
	TARE_PHASES_MAX = 20000, /* a program that makes a name for every repeat must not need memory for each */
	TARE_PHASES_RECENT = 1024
};

/* The same as ids say it, of no domain; `known` 0: none. */
struct tare_phase_named {
	uint32_t name;
	int process, parent;
	uint8_t source;
	int known; /* 1 + its place */
};

/* A phase as records say it, whose texts stay where they are; place 0: none. */
struct tare_phase_recent {
	const char *name, *domain;
	int process, parent;
	uint8_t source, what;
	int place; /* 1 + its own among the known ones */
};

/* The part. */
struct tare_phases_part {
	struct tare_phases_device *devices; /* by device */
	int device_nr;
	struct tare_phases_device host;
	/* The most in tensors on the CPU since the last boundary; and when the last block came or went there. */
	int64_t host_most, host_most_ns, host_since_ns;
	TARE_SAVED_AS_MANY(process_nr) struct tare_phase_resident *residents; /* by process, since it began */
	int process_nr;
	struct tare_phase_known *known;
	size_t known_nr, known_cap;
	struct tare_strmap known_of; /* process, parent, source, domain and name → 1 + place */
	struct tare_strmap named;    /* name → 1 + place of the first */
	TARE_NOT_SAVED struct tare_phase_recent recent[TARE_PHASES_RECENT]; /* that came lately, by a few bits … */
	TARE_NOT_SAVED struct tare_phase_named pushed[TARE_PHASES_RECENT];  /* … and were pushed in runs */
	struct tare_map threads_seen;
	struct tare_phase_frame *frames;
	size_t frame_nr, frame_cap;
	int frame_free;
	uint64_t serial;
	struct tare_map top_of; /* thread → 1 + frame, 0: none */
	TARE_NOT_SAVED struct {
		uint64_t key;
		uint64_t *frame;
	} top; /* where top_of has the thread that was asked for last; NULL: it may be elsewhere by now */
	struct tare_map range_of; /* range → 1 + frame */
	struct tare_map mark_of;  /* process → 1 + frame since its last mark */
	struct tare_phase_boundary *queue;
	size_t queue_nr, queue_cap;
	size_t queue_base; /* how many were taken out at its front */
	size_t taken;      /* by the CPU and all devices; frames that ended before are free */
	uint64_t stray;    /* pops and ends without a beginning */
	bool is_full;      /* no further names … */
	size_t open_nr;    /* … and how many are open at once */
	uint64_t dropped;  /* begun while too many were */
};

/* phases.c */
void tare_phases_begin(struct tare_phases_part *phases, const struct tare_fold *f);
void tare_phases_event(struct tare_phases_part *phases, struct tare_fold *f, struct tare_device_fold *d,
                       const struct tare_event *e);
/* Ends what is open in a process as if it had ended now; -1: in all, and no device is behind. */
void tare_phases_end(struct tare_phases_part *phases, struct tare_fold *f, int process, int64_t t);
void tare_phases_note_strays(struct tare_phases_part *phases, struct tare_fold *f);
void tare_phases_notes(struct tare_phases_part *phases, struct tare_fold *f);
/* A known phase begins, in a frame of its thread (-1: none). It ends. */
struct tare_phase_begin {
	int known, process, outer;
	uint32_t tid;
	uint64_t id;
	int64_t t;
};
void tare_phase_begin(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_phase_begin *b);
void tare_phase_end(struct tare_phases_part *phases, struct tare_fold *f, int frame, int64_t t, bool is_unclosed);
/* A record of a phase; after one, or many of them: what can be taken of it at once, is. */
void tare_phase_take(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_event *e);
void tare_phases_settle(struct tare_phases_part *phases, struct tare_fold *f);

/* phase_stack.c: a call is of the innermost that the program has open on its thread, else that a library has: `phase`, its path */
void tare_phases_step(const struct tare_phases_part *phases, struct tare_step *s);

/* phase_run.c: many records of a process, between which nothing else comes */
void tare_phases_take_run(struct tare_phases_part *phases, struct tare_fold *f, int process,
                          const struct tare_phase_run *run);

/* phase_watch.c: phases that somebody asked for by name begin, and end */
void tare_phase_watch_begin(struct tare_phases_part *phases, struct tare_fold *f, struct tare_phase_frame *x);
void tare_phase_watch_end(struct tare_fold *f, const struct tare_phase_frame *x, int64_t t);
/* After a state was loaded: phases that somebody asked for by number, and that began before it. */
void tare_phases_count_watched(const struct tare_phases_part *phases, struct tare_fold *f);

/* Does a boundary wait for the device? Then it is to advance now. */
static inline int64_t tare_phases_calm_until(const struct tare_phases_part *phases, const struct tare_device_fold *d)
{
	return phases->devices[d->index].next < phases->queue_base + phases->queue_nr ? INT64_MIN : INT64_MAX;
}

/* Repeats of it are steps of training. */
static inline bool tare_phase_is_step(struct tare_phase_known *k)
{
	if (!k->step)
		k->step = tare_training_is_step(k->name) ? 2 : 1;
	return k->step == 2;
}

/* phase_known.c: the place of a phase among the known ones */
int tare_phase_known(struct tare_phases_part *phases, struct tare_fold *f, int process, int parent, const char *name,
                     const char *domain, uint8_t source, uint8_t what);
/* So many more began with its name; returns how many there are by now. */
static inline uint64_t tare_phase_count_name(struct tare_phases_part *phases, int known, uint64_t more)
{
	return phases->known[phases->known[known].namesake].named += more;
}

/* phase_peak.c: of frames that are open on a device */
void tare_phase_peaks_add(struct tare_phases_device *own, struct tare_phase_peak peak);
/* It was at `most`, which is later than all of them began. */
void tare_phase_peaks_raise(struct tare_phases_device *own, const struct tare_high_water *most);
/* That of the one at a place (tare_phase_place_on), which began then and has ended, of `nr` that they are of. */
struct tare_high_water tare_phase_peaks_take(struct tare_phases_device *own, size_t nr, size_t place, int64_t begin_ns);
/* Are they of as many as are open? */
bool tare_phase_peaks_are_whole(const struct tare_phases_device *own);

/* phase_device.c: of a state that does not say the peaks of all that are open, what is in use is taken for them */
void tare_phase_begin_peaks(struct tare_phases_device *own, const struct tare_device_fold *d);
/* Something is about to happen on the device at t; and its `used` has moved. */
void tare_phases_advance(struct tare_phases_part *phases, struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_phases_rebase(struct tare_phases_part *phases, const struct tare_device_fold *d, int64_t shift);

/* phase_host.c: something is about to happen to a block on the CPU at t; and a boundary has come */
void tare_phases_host(struct tare_phases_part *phases, struct tare_fold *f, int64_t t);
void tare_phases_host_catch_up(struct tare_phases_part *phases, struct tare_fold *f);

/* What was read of the process last; -1: nothing. */
static inline int64_t tare_phase_resident_last(const struct tare_phases_part *phases, int process)
{
	return process < phases->process_nr && phases->residents[process].readings ? phases->residents[process].last : -1;
}

/* phase_resident.c: of a phase as it would be if it had begun with its process; a reading; its end */
void tare_phase_resident_widen(struct tare_phases_part *phases, const struct tare_fold *f);
struct tare_phase_resident tare_phase_resident_so_far(const struct tare_phases_part *phases, int process);
void tare_phase_resident_read(struct tare_phases_part *phases, const struct tare_event *e);
void tare_phase_resident_add(struct tare_phase_resident_total *sum, const struct tare_phase_resident *r);

/* phase_rows.c */
void tare_phases_rows(const struct tare_phases_part *phases, const struct tare_fold *f, struct tare_ledger *out);

const char *tare_phases_check(const struct tare_phases_part *phases, const struct tare_fold *f);

#endif
