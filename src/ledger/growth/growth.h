/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What grows. The time of the recording, from the first event that has to do with memory, is cut into columns; of each
 * place in a program, and of each process, the least that it held in every column is kept. What is given back before a column ends is in no such figure, so a
 * step's own tensors, a sawtooth and a buffer leave it flat, and what is never given back makes it rise.
 */
#ifndef TARE_LEDGER_GROWTH_H
#define TARE_LEDGER_GROWTH_H

#include "ledger/core/fold.h"
#include "ledger/line.h"

enum {
	TARE_GROWTH_COLUMNS = 256,
	TARE_GROWTH_COURSES = 4096, /* of more than so many nothing is kept */
};

/* What a course is of. */
enum tare_growth_of { TARE_GROWTH_BUCKET, TARE_GROWTH_SITE, TARE_GROWTH_RESIDENT };

/*
 * The least that a bucket, the blocks of a site in the memory of the CPU, or the anonymous memory of a process came to
 * in each column. Less than is worth a row counts as nothing. Of RESIDENT -1: it was not read in that column.
 */
struct tare_growth_course {
	uint8_t of;
	int id; /* of the bucket, the site, the process */
	int64_t least[TARE_GROWTH_COLUMNS];
};

/* How many steps of training a process had made when each column began, by what steps are known by. */
struct tare_growth_process {
	int64_t first_ns, made_ns; /* when it made a tensor, or an object of the driver, first and last; 0: never */
	int64_t code_ns;           /* when it loaded code last, or used more of what lies in files than ever */
	int64_t file_bytes;        /* so much of them had been resident at most, then */
	int columns;               /* that have begun */
	uint32_t begun[TARE_TRAINING_BY_NR * TARE_GROWTH_COLUMNS];
};

struct tare_growth_clock {
	int column; /* that is under way; those before are kept */
};

/* The part. */
struct tare_growth_part {
	int64_t start_ns; /* when the first column begins, which all that was before is in; 0: not known yet */
	int shift;        /* a column is 2^shift ns */
	/* That of blocks in the memory of CPUs stands before those of the devices. */
	struct tare_growth_clock *clocks;
	int clock_nr;
	struct tare_growth_process *processes;
	int process_nr;
	struct tare_growth_course *items;
	size_t count, cap;
	int tidied;               /* the column in which courses that do not rise were given up last */
	struct tare_map place_of; /* what it is of → 1 + place in items */
};

void tare_growth_begin(struct tare_growth_part *p, struct tare_fold *f);
void tare_growth_event(struct tare_growth_part *p, struct tare_fold *f, struct tare_device_fold *d,
                       const struct tare_event *e);
void tare_growth_advance(struct tare_growth_part *p, struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_growth_host(struct tare_growth_part *p, struct tare_fold *f, int64_t t);
void tare_growth_call(struct tare_growth_part *p, const struct tare_fold *f, const struct tare_step *s);
void tare_growth_rows(const struct tare_growth_part *p, const struct tare_fold *f, struct tare_ledger *out);
const char *tare_growth_check(const struct tare_growth_part *p, const struct tare_fold *f);

/* When that column begins. */
static inline int64_t tare_growth_time(const struct tare_growth_part *p, int column)
{
	return p->start_ns + column * (INT64_C(1) << p->shift);
}

/* In which column is that moment? */
static inline int tare_growth_column(const struct tare_growth_part *p, int64_t t)
{
	int64_t column = t > p->start_ns ? (t - p->start_ns) >> p->shift : 0;

	return column < TARE_GROWTH_COLUMNS ? (int)column : TARE_GROWTH_COLUMNS - 1;
}

static inline void tare_growth_made(struct tare_growth_process *process, int64_t t)
{
	if (!process->first_ns)
		process->first_ns = t;
	if (process->made_ns < t)
		process->made_ns = t;
}

/* Told of every block. */
static inline void tare_growth_block(struct tare_growth_part *p, const struct tare_fold *f,
                                     const struct tare_block_change *c)
{
	(void)f;
	tare_growth_made(&p->processes[c->process], c->born_ns);
}

/* The end of the column of time that the device is in. */
static inline int64_t tare_growth_calm_until(const struct tare_growth_part *p, const struct tare_device_fold *d)
{
	int column = d->index + 1 < p->clock_nr ? p->clocks[d->index + 1].column : TARE_GROWTH_COLUMNS;

	if (column < 0)
		return INT64_MIN;
	return column + 1 < TARE_GROWTH_COLUMNS ? tare_growth_time(p, column + 1) - 1 : INT64_MAX;
}

/* ---- compilers.c ---- */

/* Was it asked for while a compiler ran: XLA's, PyTorch's, a driver's? By the functions in its stack. */
bool tare_growth_is_compiling(const struct tare_site *site);

/* ---- arenas.c: what Python mapped, by several lines ---- */

struct tare_growth_arenas {
	const struct tare_fold *fold;
	const struct tare_growth_course *const *courses; /* of what was mapped, by lines of Python */
	size_t count;
	int process;     /* that is asked about */
	int first, last; /* columns that are over, between which all of it together grew */
};

/* The line of the innermost function that they have in common, and `site`, by which most came; NULL: of no function that goes on. */
const struct tare_line *tare_growth_of_arenas(const struct tare_growth_arenas *a, uint32_t *site);

/* ---- law.c: does a course grow? ---- */

struct tare_growth_question {
	const int64_t *bytes;       /* the least in each column */
	const int64_t *turns;       /* steps that had been made when it began, or the time */
	int first, end;             /* columns that are asked about */
	int64_t least;              /* a growth of fewer bytes is none */
	double least_part;          /* of what there is at the end */
	double tidied;              /* of the columns, the part in which it may be tidied up at the end */
	int64_t least_turns;        /* in which it has to grow … */
	double least_part_of_turns; /* … and of those that are asked about */
};

struct tare_growth_answer {
	int first, last;   /* columns between which it grows */
	int64_t bytes;     /* by so many in all */
	double per_turn;   /* and by so many in one turn */
	double confidence; /* 0: it does not grow */
};

struct tare_growth_answer tare_growth_judge(const struct tare_growth_question *q);

#endif
