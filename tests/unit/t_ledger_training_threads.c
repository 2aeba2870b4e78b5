/* SPDX-License-Identifier: Apache-2.0 */
/* What tensors are for in a program of which several threads train. */
#include "host_training.h"
#include "test.h"

#include <string.h>

enum { MADE = 1 << 15 /* besides flags: it is handed out without Python */ };

/* A block of a thread, handed out or taken back (no frames, not MADE). */
static void of_thread(struct world *w, uint32_t tid, uint64_t at, unsigned int flags,
		      const struct tare_line *frames)
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

/* Of more threads than are told apart the others are counted, once each. */
TEST(threads_beyond_those_that_are_told_apart)
{
	struct world *w = world_new();
	struct tare_ledger l;
	bool is_said = false;

	now = 0;
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t tid = 1; tid <= 1027; tid++)
			of_thread(w, tid, OUT + 0x10000 * (uint64_t)tid + 64 * round, GRAD, linear);
	l = world_ledger(w, "end");
	for (int i = 0; i < l.degraded_nr; i++)
		is_said |= strstr(l.degraded[i], "3 more threads train") != NULL;
	CHECK(is_said);
	tare_ledger_free(&l);
	world_free(w);
}
