/* SPDX-License-Identifier: Apache-2.0 */
/* What tensors are for in a program of which several threads train. */
#include "host_training.h"
#include "ledger/training/training.h"
#include "test.h"

#include <stdlib.h>

enum { MADE = 1 << 15 /* besides flags: it is handed out without Python */ };

/* A block of a thread, handed out or taken back (no frames, not MADE). */
static void of_thread(struct world *w, uint32_t tid, uint64_t at, unsigned int flags, const struct tare_line *frames)
{
	struct world_block b = { .is_host = true, .t = ++now * MS, .block = at, .tid = tid };

	for (int i = 0; frames && frames[i].file; i++)
		b.frames[i] = frames[i];
	b.bytes = frames || flags & MADE ? 1000 + (int64_t)at : 0;
	b.flags = flags & ~(unsigned int)MADE;
	world_block(w, b);
}

/* What one thread does is no end of what another one does. */
TEST(categories_of_threads_that_train)
{
	enum { OTHER = 0x10000 };
	struct world *w = world_new();
	int64_t forward_at, step_at;

	now = 0;
	for (int i = 0; i < 3; i++) {
		of_thread(w, 1, X, 0, program);
		of_thread(w, 1, OUT, GRAD, linear);
		of_thread(w, 2, OTHER + X, 0, program);
		of_thread(w, 1, INNER, GRAD, relu);
		of_thread(w, 2, OTHER + OUT, GRAD, linear);
		forward_at = now;
		of_thread(w, 1, INNER, 0, NULL);
		of_thread(w, 2, OTHER + GRADIENT, IN_BACKWARD, backward);
		of_thread(w, 1, LOSS, GRAD, loss);
		of_thread(w, 2, OTHER + PASSING, IN_BACKWARD, backward);
		of_thread(w, 1, GRADIENT, IN_BACKWARD, backward);
		of_thread(w, 2, OTHER + OUT, IN_BACKWARD, NULL);
		if (!i)
			of_thread(w, 2, OTHER + STATE, 0, adam);
		of_thread(w, 1, OUT, IN_BACKWARD, NULL);
		of_thread(w, 2, OTHER + PASSING, IN_BACKWARD, NULL);
		of_thread(w, 2, OTHER + SCRATCH, 0, adam);
		of_thread(w, 1, SCRATCH, 0, adam);
		step_at = now;
		of_thread(w, 2, OTHER + SCRATCH, 0, NULL);
		of_thread(w, 2, OTHER + GRADIENT, 0, NULL);
		of_thread(w, 2, OTHER + X, 0, NULL);
		of_thread(w, 1, SCRATCH, 0, NULL);
		of_thread(w, 1, GRADIENT, 0, NULL);
		of_thread(w, 1, X, 0, NULL);
		of_thread(w, 1, LOSS, 0, NULL);
	}
	CHECK_STR(rule_at(w, forward_at, INNER), "inner");
	CHECK_STR(rule_at(w, forward_at, OUT), "saved");
	CHECK_STR(rule_at(w, forward_at, X), "given");
	CHECK_STR(rule_at(w, forward_at, OTHER + X), "given");
	CHECK_STR(rule_at(w, forward_at, OTHER + OUT), "saved");
	CHECK_STR(rule_at(w, step_at, GRADIENT), "gradient");
	CHECK_STR(rule_at(w, step_at, OTHER + GRADIENT), "gradient");
	CHECK_STR(rule_at(w, step_at, SCRATCH), "scratch");
	CHECK_STR(rule_at(w, step_at, OTHER + SCRATCH), "scratch");
	CHECK_STR(rule_at(w, step_at, OTHER + STATE), "state");
	world_free(w);
}

/* A GPU has one thread of autograd's engine for all threads that train on it. */
TEST(categories_of_threads_that_share_an_engine)
{
	enum { OTHER = 0x10000, ROOT = 0xa000, ENGINE = 9 };
	struct world *w = world_new();
	int64_t pass_at, step_at;

	now = 0;
	for (int i = 0; i < 3; i++) {
		of_thread(w, 1, X, 0, program);
		of_thread(w, 1, OUT, GRAD, linear);
		of_thread(w, 2, OTHER + X, 0, program);
		of_thread(w, 2, OTHER + OUT, GRAD, linear);
		of_thread(w, 1, ROOT, GRAD, backward);
		of_thread(w, ENGINE, GRADIENT, IN_BACKWARD | MADE, NULL);
		of_thread(w, 2, OTHER + INNER, GRAD, relu);
		of_thread(w, ENGINE, PASSING, IN_BACKWARD | MADE, NULL);
		pass_at = now;
		of_thread(w, ENGINE, OUT, IN_BACKWARD, NULL);
		of_thread(w, 2, OTHER + INNER, 0, NULL);
		of_thread(w, ENGINE, PASSING, IN_BACKWARD, NULL);
		of_thread(w, 1, ROOT, 0, NULL);
		of_thread(w, 2, OTHER + ROOT, GRAD, backward);
		of_thread(w, ENGINE, OTHER + GRADIENT, IN_BACKWARD | MADE, NULL);
		of_thread(w, 1, SCRATCH, 0, adam);
		of_thread(w, ENGINE, OTHER + OUT, IN_BACKWARD, NULL);
		of_thread(w, 2, OTHER + ROOT, 0, NULL);
		of_thread(w, 2, OTHER + SCRATCH, 0, adam);
		step_at = now;
		of_thread(w, 1, SCRATCH, 0, NULL);
		of_thread(w, 2, OTHER + SCRATCH, 0, NULL);
		of_thread(w, 1, GRADIENT, 0, NULL);
		of_thread(w, 2, OTHER + GRADIENT, 0, NULL);
		of_thread(w, 1, X, 0, NULL);
		of_thread(w, 2, OTHER + X, 0, NULL);
	}
	CHECK_STR(rule_at(w, pass_at, OUT), "saved");
	CHECK_STR(rule_at(w, pass_at, GRADIENT), "gradient");
	CHECK_STR(rule_at(w, pass_at, PASSING), "backward");
	CHECK_STR(rule_at(w, pass_at, X), "given");
	CHECK_STR(rule_at(w, pass_at, OTHER + INNER), "inner"); /* that pass was not its own */
	CHECK_STR(rule_at(w, step_at, SCRATCH), "scratch");     /* nor was this one */
	CHECK_STR(rule_at(w, step_at, OTHER + SCRATCH), "scratch");
	CHECK_STR(rule_at(w, step_at, OTHER + GRADIENT), "gradient");
	world_free(w);
}

/* All at once, each with steps of its own: each step's most is that of its own time. */
TEST(threads_by_the_thousand)
{
	enum { THREADS = 2000, STEPS = 3, ROOM = 0x10000 };
	struct world *w = world_new();
	struct tare_ledger l;

	now = 0;
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t tid = 1; tid <= THREADS; tid++)
			of_thread(w, tid, OUT + ROOM * (uint64_t)tid, GRAD, linear);
		for (uint32_t tid = 1; tid <= THREADS; tid++)
			of_thread(w, tid, GRADIENT + ROOM * (uint64_t)tid, IN_BACKWARD, backward);
		for (uint32_t tid = 1; tid <= THREADS; tid++) {
			of_thread(w, tid, OUT + ROOM * (uint64_t)tid, 0, NULL);
			of_thread(w, tid, GRADIENT + ROOM * (uint64_t)tid, 0, NULL);
		}
	}
	l = world_ledger(w, "end");
	CHECK_INT(l.training_nr, 1);
	CHECK_INT(l.trainings[0].thread_nr, THREADS);
	CHECK_INT(l.trainings[0].count, THREADS * STEPS);
	CHECK_INT(l.trainings[0].counts[THREADS - 1], STEPS);
	CHECK_INT(l.trainings[0].steady.figures[TARE_TRAINING_LIVE], l.trainings[0].first.figures[TARE_TRAINING_LIVE]);
	tare_ledger_free(&l);
	world_free(w);
}

/* As one who looks at all values since each moment. */
TEST(training_most_since_any_moment)
{
	enum { MOMENTS = 400, EACH = 3, OPEN = 20 };
	static int64_t values[MOMENTS][EACH];
	struct tare_training_most m = { 0 };
	uint32_t state = 7;

	for (uint64_t moment = 0; moment < MOMENTS; moment++) {
		uint64_t open[OPEN];
		size_t count = 0;

		for (int i = 0; i < EACH; i++) {
			state = state * 1664525 + 1013904223;
			values[moment][i] = (state >> 16) % 1000 + (MOMENTS - (int64_t)moment) * 3;
			tare_training_note(&m, moment, values[moment][i]);
		}
		for (uint64_t from = moment % 7; from <= moment; from += moment / OPEN + 1) {
			int64_t most = 0;

			for (uint64_t k = from; k <= moment; k++)
				for (int i = 0; i < EACH; i++)
					most = most < values[k][i] ? values[k][i] : most;
			open[count++] = from;
			CHECK_INT(tare_training_since(&m, from, 0), most);
		}
		CHECK_INT(tare_training_since(&m, moment + 1, 5), 5);
		if (moment % 50 != 49)
			continue;
		/* Those that may still be asked for, after the others went. */
		int64_t before[OPEN];
		for (size_t i = 0; i < count; i++)
			before[i] = tare_training_since(&m, open[i], 0);
		tare_training_forget(&m, open, count);
		CHECK(m.nr <= count);
		for (size_t i = 0; i < count; i++)
			CHECK_INT(tare_training_since(&m, open[i], 0), before[i]);
		tare_training_forget(&m, NULL, 0);
		for (uint64_t k = 0; k <= moment; k++)
			for (int i = 0; i < EACH; i++)
				values[k][i] = 0;
	}
	free(m.items);
}
