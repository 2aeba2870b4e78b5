/* SPDX-License-Identifier: Apache-2.0 */
/* A call, and what it did. */
#ifndef TARE_LEDGER_STEP_H
#define TARE_LEDGER_STEP_H

#include "ledger/core/object_state.h"

/* What a thread's last DEL took away: an UNDO brings it back. */
struct tare_undo {
	struct tare_object_live *objects;
	size_t object_nr, object_cap;
	struct tare_ops ops;
	int context; /* that ended, -1: none */
	uint64_t handle;
};

/* An EVENT, with what the fold needs of it. */
struct tare_step {
	int process, device; /* device -1: none */
	uint32_t tid;
	uint8_t effect, class;
	uint16_t flags;
	uint64_t owner;
	uint32_t site;      /* where what it makes was asked for; of what goes: 0 */
	uint32_t call_site; /* where it was called */
	int64_t begin, end;
	int64_t reading_before, reading_after; /* how far off its readings may be; 0: not told */
	int64_t weigh_begin, weigh_end;        /* between which they are */
	const char *phase;                     /* path of the one that was open around it; NULL: none, not known */
	int64_t local_growth;                  /* LAUNCH: not yet booked; -1: not computed yet */
	uint64_t context, handle, parent, asked, granted, before, after, peers_before, peers_after;
	uint64_t local, limit;
	const char *name; /* of the function, the recording's; or NULL */
};

/* A point at which the driver may give memory back; nothing else happens in it. */
static inline bool tare_step_is_sync(const struct tare_step *s)
{
	return s->class == TARE_CLASS_POOL && s->effect == TARE_EFFECT_CHANGE && !s->handle && !s->parent && !s->asked;
}

/* Rule "taking": what makes something gives nothing back, so a fall inside is somebody else's. */
static inline bool tare_step_only_takes(const struct tare_step *s)
{
	return !(s->flags & TARE_EVENT_FAILED) && (s->effect == TARE_EFFECT_NEW || s->class == TARE_CLASS_DRIVER);
}

/* What cuCtxSetLimit calls them. */
enum { TARE_LIMIT_STACK_SIZE = 0, TARE_LIMIT_MALLOC_HEAP_SIZE = 2 };

/* What a step did, apart from what was measured. */
struct tare_applied {
	int64_t known;   /* sum of its ops */
	bool takes_rest; /* what was measured beyond the known goes to `bucket` */
	int bucket;      /* -1: none */
	int context;
	int64_t ended_unexplained; /* what was unexplained in the context that it ended */
	int graph;                 /* row that the call is about, -1: none */
	int capture;               /* row that is being captured by it, -1: none */
	bool changes_graphs;       /* one came or went: what is held for them has to be looked at */
	bool sets_used;            /* what is in use after it is shown with the graph */
};

/* A graph, as others need to know it. */
struct tare_capture_group {
	int process;
	uint32_t pool; /* of the framework, from 1; 0: of none */
	bool is_there; /* what is held for it may be used */
};

#endif
