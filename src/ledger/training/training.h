/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of training, as tensors or phases tell them. Each thread of each process has its own in each memory; they
 * are told apart in three ways at once, and the best one that tells anything is shown.
 */
#ifndef TARE_LEDGER_TRAINING_H
#define TARE_LEDGER_TRAINING_H

#include "base/arena.h"
#include "base/map.h"
#include "ledger/core/change.h"
#include "ledger/ledger.h"
#include "record/format.h"

struct tare_device_fold;
struct tare_fold;
struct tare_phase_change;
struct tare_step;

/* Steps of one kind. Of many, every `stride`-th is kept: medians need no more. */
struct tare_training_list {
	bool is_open;
	int depth;                  /* of phases: how many are open that are called steps */
	int64_t begin_ns, first_ns; /* when the open and the first one began */
	uint64_t begin;             /* the moment at which the open one began */
	struct tare_training_step open, first;
	uint64_t count; /* closed ones */
	uint64_t stride;
	struct tare_training_step *items; /* without the first */
	size_t nr, cap;
	struct tare_training_mark *marks;
	size_t mark_nr, mark_cap;
	uint64_t mark_stride; /* steps behind the first of which one mark is kept */
};

/* training_most.c. Values of a figure, noted at moments: each step that begins is a moment. */
struct tare_training_noted {
	uint64_t moment;
	int64_t value;
};

struct tare_training_most {
	struct tare_training_noted *items;
	size_t nr, cap;
};

void tare_training_note(struct tare_training_most *m, uint64_t moment, int64_t value);
/* The most that was noted at this moment and later, or `least`. */
int64_t tare_training_since(const struct tare_training_most *m, uint64_t moment, int64_t least);
/* Are there more values than so many open steps may ask for? */
bool tare_training_is_long(const struct tare_training_most *m, size_t open_max);
void tare_training_forget(struct tare_training_most *m, const uint64_t *moments, size_t count);

/* What a piece of work of one kind made last, and what the piece of that kind before it did. */
struct tare_training_last {
	uint32_t section, site, before_site;
	int64_t bytes, before_bytes; /* 0: nothing */
};

/*
 * Optimizers that work in turn, as those of a generator and a discriminator do: their steps since the first of them was
 * at work last. An optimizer is told by the line that calls it.
 */
enum { TARE_TRAINING_OPTIMIZERS = 8 };
struct tare_training_round {
	uint32_t sites[TARE_TRAINING_OPTIMIZERS], nr;
	uint32_t before_nr; /* of the round before */
	int64_t begin_ns;
	struct tare_training_step sum;
};

/* A thread that trains, by its blocks in one memory. */
struct tare_training_thread {
	uint32_t tid;
	uint32_t section, backwards;
	uint32_t optimized;                 /* `backwards` when an optimizer's step ended last */
	uint32_t optimizer;                 /* site of the first block of the one that is at work */
	bool has_backward, has_optimizer;   /* since the last step of that kind ended */
	struct tare_training_last lasts[2]; /* backward passes, optimizers */
	int64_t last_ns;                    /* when one of these made its last block */
	struct tare_training_round round;
	struct tare_training_list lists[TARE_TRAINING_BY_NR];
};

/* All of one process in one memory. */
struct tare_training_threads {
	struct tare_training_thread *items;
	size_t count, cap;
	size_t last;            /* 1 + the place of the one that was looked for last */
	struct tare_map of_tid; /* → 1 + place */
	uint64_t moment;        /* how many steps have begun */
	struct tare_training_most used, live;
};

/* training_list.c. An end of what is not open is none. */
void tare_training_begin_step(struct tare_training_threads *at, struct tare_training_list *l, int64_t t, int64_t used,
                              int64_t live);
void tare_training_end_step(const struct tare_training_threads *at, struct tare_training_list *l, int64_t t);

/* training_round.c. The optimizer at the site has ended a step; the training has ended. */
void tare_training_join(const struct tare_training_threads *at, const struct tare_fold *f,
                        struct tare_training_thread *t, int64_t end_ns);
void tare_training_end_round(const struct tare_training_threads *at, struct tare_training_thread *t);
/* A step that is over, and began then. */
void tare_training_keep_step(const struct tare_training_threads *at, struct tare_training_list *l,
                             const struct tare_training_step *step, int64_t begin_ns);

/* training_marks.c. The step that was closed last: when it was, and what it had at most. */
void tare_training_mark_step(struct tare_training_list *l, const struct tare_training_step *step, int64_t begin_ns);
/* Those of all threads, and no more than `most` of them. */
void tare_training_marks(const struct tare_training_threads *at, size_t most, struct tare_arena *memory,
                         struct tare_training *out);

/* The part. By process and memory: those of CPUs stand before the devices. */
struct tare_training_part {
	TARE_SAVED_BY_STATE(TARE_STATE_TRAININGS) struct tare_training_threads *places;
	int process_nr, device_nr;
};

void tare_training_begin(struct tare_training_part *p, const struct tare_fold *f);
void tare_training_call(struct tare_training_part *p, const struct tare_fold *f,
                        const struct tare_step *s); /* f->ops are its */
void tare_training_used(struct tare_training_part *p, const struct tare_fold *f, const struct tare_device_fold *d,
                        int64_t t);
/* A phase that is called a step has begun or ended on a device. */
void tare_training_phase_step(struct tare_training_part *p, const struct tare_fold *f,
                              const struct tare_phase_change *c);
static inline void tare_training_phase(struct tare_training_part *p, const struct tare_fold *f,
                                       const struct tare_phase_change *c)
{
	if (c->is_step && c->device >= 0)
		tare_training_phase_step(p, f, c);
}
void tare_training_finish(struct tare_training_part *p, const struct tare_fold *f);
void tare_training_rows(const struct tare_training_part *p, const struct tare_fold *f, struct tare_ledger *out);
const char *tare_training_check(const struct tare_training_part *p, const struct tare_fold *f);

/* Those of a process (device -1: in the memory of the CPU); NULL: it is none of the recording's. */
static inline struct tare_training_threads *tare_training_at(const struct tare_training_part *p, int process,
                                                             int device)
{
	if (process < 0 || process >= p->process_nr || device >= p->device_nr)
		return NULL;
	return &p->places[(size_t)process * ((size_t)p->device_nr + 1) + (size_t)(device + 1)];
}

/* Does anything of a training of any process wait for changes of the device? */
static inline bool tare_training_is_of(const struct tare_training_part *p, int device)
{
	for (int i = 0; i < p->process_nr; i++) {
		const struct tare_training_threads *at = tare_training_at(p, i, device);

		if (at && at->count)
			return true;
	}
	return false;
}

/* May it be the first block of a training? A forward of a program without modules is known by what autograd notes. */
static inline bool tare_training_begins(const struct tare_block_change *c)
{
	return (c->work == TARE_WORK_FORWARD && c->flags & TARE_TENSOR_GRAD) ||
	       (c->work == TARE_WORK_OTHER && c->flags & TARE_TENSOR_IN_GRAPH);
}

/* Most blocks are of nobody who trains. */
bool tare_training_take(struct tare_training_threads *at, const struct tare_fold *f,
                        const struct tare_block_change *c); /* has a step ended? */
void tare_training_count(const struct tare_fold *f, int process, struct tare_training_threads *at,
                         uint32_t tid); /* tells the books */
static inline void tare_training_block(struct tare_training_part *p, const struct tare_fold *f,
                                       const struct tare_block_change *c)
{
	struct tare_training_threads *at = tare_training_at(p, c->process, c->device);

	if (at && (at->count || tare_training_begins(c)) && tare_training_take(at, f, c))
		tare_training_count(f, c->process, at, c->tid);
}

#endif
