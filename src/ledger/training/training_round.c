/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several optimizers that work in turn make one step of training together: it ends where one of them is at work again.
 * How many there are is known only then, so their steps are summed up as they end.
 */
#include "ledger/training/training.h"

#include "ledger/core/fold.h"

static bool is_in(const struct tare_training_round *r, const struct tare_fold *f, uint32_t site)
{
	for (uint32_t i = 0; i < r->nr; i++)
		if (tare_fold_is_same_line(f, r->sites[i], site))
			return true;
	return false;
}

/* Peaks are the greatest of them, all else their sum. */
static void add(struct tare_training_step *sum, const struct tare_training_step *step)
{
	for (int i = 0; i < TARE_TRAINING_NR; i++) {
		int64_t *to = &sum->figures[i];
		int64_t by = step->figures[i];

		if (i != TARE_TRAINING_USED && i != TARE_TRAINING_LIVE)
			*to += by;
		else if (by > *to)
			*to = by;
	}
}

static void end(const struct tare_training_threads *at, struct tare_training_thread *t)
{
	struct tare_training_round *r = &t->round;

	if (r->nr)
		tare_training_keep_step(at, &t->lists[TARE_TRAINING_ROUNDS], &r->sum, r->begin_ns);
	*r = (struct tare_training_round){ .before_nr = r->nr };
}

void tare_training_join(const struct tare_training_threads *at, const struct tare_fold *f,
                        struct tare_training_thread *t, int64_t end_ns)
{
	const struct tare_training_step *step = &t->lists[TARE_TRAINING_OPTIMIZER].open;
	struct tare_training_round *r = &t->round;

	if (r->nr == TARE_TRAINING_OPTIMIZERS || is_in(r, f, t->optimizer))
		end(at, t);
	if (!r->nr)
		r->begin_ns = end_ns - step->figures[TARE_TRAINING_NS];
	r->sites[r->nr++] = t->optimizer;
	add(&r->sum, step);
}

/* The last round may be one that the program did not come to the end of. */
void tare_training_end_round(const struct tare_training_threads *at, struct tare_training_thread *t)
{
	if (t->round.nr >= t->round.before_nr)
		end(at, t);
}
