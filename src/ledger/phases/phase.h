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

struct tare_phase_known {
	int process, parent; /* parent: another one, -1: none */
	int depth;
	const char *name, *domain; /* domain "": none */
	const char *path;
	uint8_t source, what;
	uint32_t threads;
	uint64_t repeats, unclosed;
	int64_t first_ns, last_ns, ns;
	struct tare_phase_total *totals; /* by device */
};

/* An open phase on one device. */
struct tare_phase_level {
	bool from_start; /* of the recording: `before` is 0, and the accounts had nothing */
	int64_t before, nested;
	struct tare_high_water peak;
	int64_t accounts[TARE_ACCOUNT_NR];
};

/* A phase that is open, or that some device has not seen the end of yet. */
struct tare_phase_frame {
	int known; /* -1: since the last mark */
	bool is_used, is_ended, is_unclosed;
	int process;
	uint32_t tid;
	uint64_t id, serial;
	int64_t begin_ns, end_ns;
	int below;  /* of the same thread, -1: none; where it is free: the next free one */
	int parent; /* the frame around it, if its serial is still … */
	uint64_t parent_serial;
	int devices_left;                /* that have to see its end */
	bool is_watched;                 /* somebody asked for it */
	struct tare_phase_level *levels; /* by device */
};

struct tare_phase_boundary {
	int64_t t;
	int frame;
	int into; /* what its end is booked to; -1: it begins */
};

/* What a device has taken of them. */
struct tare_phases_device {
	size_t next; /* boundary, counted from the first ever */
	int *open;   /* frames that are open here */
	size_t open_nr, open_cap;
};

enum { TARE_PHASES_RECENT = 1024 };

/* The part. */
struct tare_phases_part {
	struct tare_phases_device *devices;
	int device_nr;
	struct tare_phase_known *known;
	size_t known_nr, known_cap;
	struct tare_strmap known_of; /* process, parent, source, domain and name → 1 + place */
	int recent
		[TARE_PHASES_RECENT]; /* 1 + place of one that came lately, by a few bits of what it is known by */
	struct tare_map threads_seen;
	struct tare_phase_frame *frames;
	size_t frame_nr, frame_cap;
	int frame_free;
	uint64_t serial;
	struct tare_map top_of;    /* thread → 1 + frame */
	struct tare_map range_of;  /* range → 1 + frame */
	struct tare_map mark_of;   /* process → 1 + frame since its last mark */
	struct tare_map number_of; /* process and number in a checkpoint → 1 + known */
	struct tare_map open_of;   /* process and place in a checkpoint → 1 + frame */
	struct tare_phase_boundary *queue;
	size_t queue_nr, queue_cap;
	size_t queue_base; /* how many were taken out at its front */
	uint64_t stray;    /* pops and ends without a beginning */
	bool is_full;      /* no further names … */
	size_t open_nr;    /* … and how many are open at once */
	uint64_t dropped;  /* begun while too many were */
};

/* phase.c */
void tare_phases_begin(struct tare_phases_part *phases, const struct tare_fold *f);
void tare_phases_event(struct tare_phases_part *phases, struct tare_fold *f,
		       struct tare_device_fold *d, const struct tare_event *e);
/* Ends what is open in a process as if it had ended now; -1: in all, and no device is behind. */
void tare_phases_end(struct tare_phases_part *phases, struct tare_fold *f, int process, int64_t t);
void tare_phases_note_strays(struct tare_phases_part *phases, struct tare_fold *f);
void tare_phases_notes(struct tare_phases_part *phases, struct tare_fold *f);
void tare_phases_free(struct tare_phases_part *phases);
/* A call is of the innermost that the program has open on its thread, else that a library has: `phase`, its path. */
void tare_phases_step(const struct tare_phases_part *phases, struct tare_step *s);
int tare_phase_frame(struct tare_phases_part *phases, struct tare_fold *f, int known, int process,
		     uint32_t tid, uint64_t id, int64_t t);
void tare_phase_link(struct tare_phases_part *phases,
		     int frame); /* puts it where its end looks for it */
void tare_phase_free_frame(struct tare_phases_part *phases, int frame);
/* Tells the others; device -1: it has ended, whatever devices have settled. */
void tare_phase_change(struct tare_phases_part *phases, struct tare_fold *f, int known,
		       uint32_t tid, int device, int64_t begin_ns, int64_t t, bool is_end);
/* After a state was loaded: phases that somebody asked for by number, and that began before it. */
void tare_phases_count_watched(const struct tare_phases_part *phases, struct tare_fold *f);
bool tare_phase_is_watched(const struct tare_phases_part *phases, const struct tare_fold *f,
			   int known, int watch);

/* Does a boundary wait for the device? */
static inline bool tare_phases_wait(const struct tare_phases_part *phases,
				    const struct tare_device_fold *d)
{
	return phases->devices[d->index].next < phases->queue_base + phases->queue_nr;
}

/* phase_known.c: the place of a phase among the known ones */
int tare_phase_known(struct tare_phases_part *phases, struct tare_fold *f, int process, int parent,
		     const char *name, const char *domain, uint8_t source, uint8_t what);

/* phase_device.c: something is about to happen on the device at t; and its `used` has moved */
void tare_phases_advance(struct tare_phases_part *phases, struct tare_fold *f,
			 struct tare_device_fold *d, int64_t t);
void tare_phases_rebase(struct tare_phases_part *phases, const struct tare_device_fold *d,
			int64_t shift);
void tare_phase_queue(struct tare_phases_part *phases, struct tare_fold *f, int64_t t, int frame,
		      int into);
void tare_phase_peaks(struct tare_phases_part *phases, struct tare_device_fold *d);

/* phase_rows.c */
void tare_phases_rows(const struct tare_phases_part *phases, const struct tare_fold *f,
		      struct tare_ledger *out);

/* phase_load.c: the records of a checkpoint */
void tare_phases_load(struct tare_phases_part *phases, struct tare_fold *f,
		      const struct tare_event *e);

const char *tare_phases_check(const struct tare_phases_part *phases, const struct tare_fold *f);

#endif
