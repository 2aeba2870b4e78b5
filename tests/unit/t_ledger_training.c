/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "steps": the first step of training beside the others. */
#include "ledger_world.h"
#include "test.h"
#include "torch_frames.h"

#define BASE UINT64_C(0x7f0000000000)
#define C10  "/site-packages/torch/lib/libc10_cuda.so"
#define TRY  "/opt/libcudnn/libc10_cuda.so"

/* Where blocks are, and how the program trains. */
struct how {
	bool is_host, has_optimizer, clips;
	int backwards;                     /* of a step */
	int large;                         /* the step that takes 9 MiB more; 0: none */
	const struct tare_line *optimizer; /* its first block; NULL: `adam` */
	uint32_t tid;
};

static void block(struct world *w, const struct how *how, int64_t t, uint64_t at, int64_t mib, unsigned int flags,
                  const struct tare_line *frames)
{
	struct world_block b = { .is_host = how->is_host,
		                     .t = t,
		                     .block = BASE + (at + 100 * how->tid) * MIB,
		                     .bytes = mib * MIB,
		                     .tid = how->tid,
		                     .flags = flags };

	for (int i = 0; frames && frames[i].file; i++)
		b.frames[i] = frames[i];
	world_block(w, b);
}

/* x of 2 MiB, y of 4, a gradient of 1; at first the optimizer's state, of 2, then a scratch of 3. */
static void step(struct world *w, const struct how *how, int64_t t, bool is_first)
{
	const struct tare_line *optimizer = how->optimizer ? how->optimizer : adam;

	for (int i = 0; i < how->backwards; i++, t += 6 * MS) {
		block(w, how, t, 1, 2, 0, program);
		block(w, how, t + 1 * MS, 3, 4, TARE_TENSOR_GRAD, linear);
		if (!i)
			block(w, how, t + 2 * MS, 7, 1, TARE_TENSOR_BACKWARD, backward);
		block(w, how, t + 3 * MS, 3, 0, TARE_TENSOR_BACKWARD, backward);
		block(w, how, t + 4 * MS, 1, 0, 0, NULL);
	}
	if (how->clips) {
		block(w, how, t - 1 * MS, 20, 1, 0, program);
		block(w, how, t - 1 * MS, 20, 0, 0, NULL);
	}
	if (how->has_optimizer && is_first)
		block(w, how, t, 10, 2, 0, optimizer);
	if (how->has_optimizer) {
		block(w, how, t + MS, 12, 3, 0, optimizer);
		block(w, how, t + 2 * MS, 12, 0, 0, NULL);
	}
	block(w, how, t + 3 * MS, 7, 0, 0, NULL);
}

/* A parameter of 1 MiB, then steps of so many ms, after an evaluation that is no part of the first. */
static void train(struct world *w, const struct how *how, int steps, int64_t first_ms, int64_t ms)
{
	int64_t t = 100 * MS;

	block(w, how, 10 * MS, 0, 1, 0, init);
	block(w, how, 20 * MS, 3, 4, 0, linear);
	block(w, how, 21 * MS, 3, 0, 0, NULL);
	for (int i = 0; i < steps; i++) {
		step(w, how, t, i == 0);
		if (i && i + 1 == how->large) {
			block(w, how, t + 4 * MS, 30, 9, 0, program);
			block(w, how, t + 5 * MS, 30, 0, 0, NULL);
		}
		t += (i ? ms : first_ms) * MS;
	}
	block(w, how, t, 1, 2, 0, program);
}

static int64_t first_of(const struct tare_ledger *l, enum tare_training_figure figure)
{
	return l->trainings[0].first.figures[figure];
}

static int64_t steady_of(const struct tare_ledger *l, enum tare_training_figure figure)
{
	return l->trainings[0].steady.figures[figure];
}

static void check_only(const struct tare_ledger *l, int by, int count)
{
	CHECK_INT(l->training_nr, 1);
	CHECK_INT(l->trainings[0].by, by);
	CHECK_INT(l->trainings[0].count, count);
}

TEST(training_on_a_gpu)
{
	static const struct how how = { .has_optimizer = true, .backwards = 1 };
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 40 * MIB, 600 * MIB);
	train(w, &how, 5, 50, 20);
	/* In the first step a trial, another allocation after one that was refused, and a wait. */
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 110 * MS, .end = 111 * MS,
	     .handle = BASE + 200 * MIB, .context = 0xc0, .asked = 30 * MIB, .granted = 30 * MIB, .weigh = true,
	     .before = 640 * MIB, .after = 670 * MIB, .owner = TRY);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = 112 * MS, .end = 113 * MS,
	     .handle = BASE + 200 * MIB, .context = 0xc0, .weigh = true, .before = 670 * MIB, .after = 640 * MIB);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 114 * MS, .end = 115 * MS, .context = 0xc0,
	     .asked = 999 * MIB, .flags = TARE_EVENT_FAILED, .weigh = true, .before = 640 * MIB, .after = 640 * MIB,
	     .owner = C10);
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 116 * MS, .end = 117 * MS,
	     .handle = BASE + 300 * MIB, .context = 0xc0, .asked = 2 * MIB, .granted = 2 * MIB, .weigh = true,
	     .before = 640 * MIB, .after = 642 * MIB, .owner = C10);
	CALL(w, .class = TARE_CLASS_POOL, .effect = TARE_EFFECT_CHANGE, .begin = 120 * MS, .end = 130 * MS,
	     .context = 0xc0);
	l = world_ledger(w, "end");
	check_only(&l, TARE_TRAINING_OPTIMIZER, 5);
	CHECK_INT(l.trainings[0].pid, 431);
	CHECK_INT(l.trainings[0].device, 0);
	CHECK_INT(first_of(&l, TARE_TRAINING_NS), 49 * MS); /* from its forward */
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 20 * MS);
	CHECK_INT(first_of(&l, TARE_TRAINING_DRIVER), 4 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_DRIVER), 0);
	CHECK_INT(first_of(&l, TARE_TRAINING_ASKED), 2);
	CHECK_INT(first_of(&l, TARE_TRAINING_ASKED_BYTES), 32 * MIB);
	CHECK_INT(first_of(&l, TARE_TRAINING_REFUSED), 1);
	CHECK_INT(first_of(&l, TARE_TRAINING_TRIED), 30 * MIB);
	CHECK_INT(first_of(&l, TARE_TRAINING_GIVEN_BACK), 30 * MIB);
	CHECK_INT(first_of(&l, TARE_TRAINING_USED), 670 * MIB);
	CHECK_INT(steady_of(&l, TARE_TRAINING_USED), 642 * MIB);
	CHECK_INT(first_of(&l, TARE_TRAINING_LIVE), 8 * MIB);
	CHECK_INT(steady_of(&l, TARE_TRAINING_LIVE), 10 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* At the most there are a parameter, the state, x, y and a gradient. */
TEST(training_says_what_its_peak_grows_with)
{
	static const struct how how = { .is_host = true, .has_optimizer = true, .backwards = 1 };
	struct world *w = world_new();
	struct tare_ledger l;
	const struct tare_training *t;

	train(w, &how, 4, 20, 20);
	l = world_ledger(w, "end");
	CHECK_INT(l.training_nr, 1);
	t = &l.trainings[0];
	CHECK_INT(t->device, -1);
	CHECK_STR(t->most_at, "peak:host");
	CHECK_INT(t->most[TARE_CATEGORY_PARAMETER].bytes, 1 * MIB);
	CHECK_INT(t->most[TARE_CATEGORY_GRADIENT].bytes, 1 * MIB);
	CHECK_INT(t->most[TARE_CATEGORY_OPTIMIZER].bytes, 2 * MIB);
	CHECK_INT(t->most[TARE_CATEGORY_INPUT].bytes, 2 * MIB);
	CHECK_INT(t->most[TARE_CATEGORY_ACTIVATION].bytes, 4 * MIB);
	CHECK_INT(steady_of(&l, TARE_TRAINING_LIVE), 10 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(training_without_an_optimizer_that_makes_anything)
{
	static const struct how how = { .is_host = true, .backwards = 1 };
	struct world *w = world_new();
	struct tare_ledger l;

	train(w, &how, 4, 30, 10);
	l = world_ledger(w, "end");
	check_only(&l, TARE_TRAINING_BACKWARDS, 4);
	CHECK_INT(first_of(&l, TARE_TRAINING_NS), 29 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 10 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(training_that_accumulates_gradients)
{
	static const struct how how = { .is_host = true, .has_optimizer = true, .backwards = 4 };
	struct world *w = world_new();
	struct tare_ledger l;

	train(w, &how, 3, 40, 40);
	l = world_ledger(w, "end");
	check_only(&l, TARE_TRAINING_OPTIMIZER, 3);
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 40 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

/* The norm of gradients is a block that the program makes between the backward pass and the optimizer. */
TEST(training_that_clips_gradients)
{
	static const struct how how = { .is_host = true, .has_optimizer = true, .clips = true, .backwards = 2 };
	struct world *w = world_new();
	struct tare_ledger l;

	train(w, &how, 5, 50, 40);
	world_end(w, 0, 400 * MS);
	l = world_ledger(w, "end");
	check_only(&l, TARE_TRAINING_OPTIMIZER, 5);
	CHECK_INT(first_of(&l, TARE_TRAINING_NS), 49 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 40 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

#define ADAM "/x/site-packages/torch/optim/adam.py"
static const struct tare_line adam_at_14[] = { { ADAM, "step", 141 }, { "train.py", "main", 14 }, { 0 } };
static const struct tare_line adam_at_24[] = { { ADAM, "step", 141 }, { "train.py", "main", 24 }, { 0 } };

/* In each round the discriminator is trained in 20 ms, and the generator in 30, but for the last of `rounds`. */
static struct tare_ledger two_in_turn(struct world *w, int rounds, bool is_last_whole)
{
	static const struct how discriminator = {
		.is_host = true, .has_optimizer = true, .backwards = 1, .optimizer = adam_at_14
	};
	static const struct how generator = {
		.is_host = true, .has_optimizer = true, .backwards = 1, .optimizer = adam_at_24
	};

	for (int i = 0; i < rounds; i++) {
		int64_t t = (100 + 50 * i) * MS;

		step(w, &discriminator, t, i == 0);
		if (i < rounds - 1 || is_last_whole)
			step(w, &generator, t + 20 * MS, false);
	}
	world_end(w, 0, 1000 * MS);
	return world_ledger(w, "end");
}

TEST(training_with_two_optimizers_in_turn)
{
	struct world *w = world_new();
	struct tare_ledger l = two_in_turn(w, 6, true);

	check_only(&l, TARE_TRAINING_ROUNDS, 6);
	CHECK_INT(first_of(&l, TARE_TRAINING_NS), 49 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 50 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_LIVE), 9 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(training_that_ends_between_two_optimizers)
{
	struct world *w = world_new();
	struct tare_ledger l = two_in_turn(w, 6, false);

	CHECK_INT(l.trainings[0].by, TARE_TRAINING_ROUNDS);
	CHECK_INT(l.trainings[0].count, 5);
	tare_ledger_free(&l);
	world_free(w);
}

/* One optimizer, called at another line after 3 of 8 steps: no two in turn. */
TEST(training_that_calls_its_optimizer_at_two_lines)
{
	struct how how = { .is_host = true, .has_optimizer = true, .backwards = 1 };
	struct world *w = world_new();
	struct tare_ledger l;

	for (int i = 0; i < 8; i++) {
		how.optimizer = i < 3 ? adam_at_14 : adam_at_24;
		step(w, &how, (100 + 20 * i) * MS, i == 0);
	}
	world_end(w, 0, 400 * MS);
	l = world_ledger(w, "end");
	CHECK_INT(l.trainings[0].by, TARE_TRAINING_OPTIMIZER);
	CHECK_INT(l.trainings[0].count, 8);
	tare_ledger_free(&l);
	world_free(w);
}

/* A program without modules makes data, and then what autograd notes. */
TEST(training_without_modules)
{
	static const struct how how = { .is_host = true };
	struct world *w = world_new();
	struct tare_ledger l;

	block(w, &how, 10 * MS, 30, 8, TARE_TENSOR_GRAD, program);
	for (int i = 0; i < 4; i++) {
		int64_t t = (100 + 20 * i) * MS;

		block(w, &how, t, 3, 4, TARE_TENSOR_GRAD | TARE_TENSOR_IN_GRAPH, program);
		block(w, &how, t + 2 * MS, 7, 1, TARE_TENSOR_BACKWARD, backward);
		block(w, &how, t + 3 * MS, 3, 0, TARE_TENSOR_BACKWARD, backward);
		block(w, &how, t + 4 * MS, 8, 1, TARE_TENSOR_GRAD, program);
		block(w, &how, t + 5 * MS, 8, 0, 0, NULL);
		block(w, &how, t + 5 * MS, 7, 0, 0, NULL);
	}
	l = world_ledger(w, "end");
	check_only(&l, TARE_TRAINING_BACKWARDS, 4);
	CHECK_INT(first_of(&l, TARE_TRAINING_NS), 4 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 20 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

/* Momentum makes its state in the first step and nothing later: that is no step of an optimizer yet. */
TEST(training_whose_optimizer_is_seen_once)
{
	static const struct how with = { .is_host = true, .has_optimizer = true, .backwards = 1 };
	static const struct how without = { .is_host = true, .backwards = 1 };
	struct world *w = world_new();
	struct tare_ledger l;

	step(w, &with, 10 * MS, true);
	for (int i = 1; i < 5; i++)
		step(w, &without, 10 * MS + i * 20 * MS, false);
	l = world_ledger(w, "end");
	check_only(&l, TARE_TRAINING_BACKWARDS, 5);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(training_is_not_known_by_one_step)
{
	static const struct how how = { .is_host = true, .has_optimizer = true, .backwards = 1 };
	struct world *w = world_new();
	struct tare_ledger l;

	train(w, &how, 1, 20, 20);
	l = world_ledger(w, "end");
	CHECK_INT(l.training_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* Behind the last step the program makes nothing, and ends. */
TEST(training_of_two_steps)
{
	static const struct how how = { .is_host = true, .has_optimizer = true, .backwards = 1 };
	struct world *w = world_new();
	struct tare_ledger l;

	step(w, &how, 100 * MS, true);
	step(w, &how, 120 * MS, false);
	world_end(w, 0, 200 * MS);
	l = world_ledger(w, "end");
	check_only(&l, TARE_TRAINING_OPTIMIZER, 2);
	CHECK_INT(first_of(&l, TARE_TRAINING_NS), 19 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 7 * MS); /* to the optimizer's last block */
	CHECK_INT(first_of(&l, TARE_TRAINING_LIVE), 7 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* Steps of a program that does not end in order, or runs still, and whose last piece of work made so much. */
static void check_cut(bool has_optimizer, int64_t mib, bool is_in_order, uint64_t count)
{
	const struct how how = { .is_host = true, .has_optimizer = has_optimizer, .backwards = 1 };
	struct world *w = world_new();
	struct tare_ledger l;

	for (int i = 0; i < 3; i++)
		step(w, &how, (100 + 20 * i) * MS, i == 0);
	block(w, &how, 160 * MS, 1, 2, 0, program);
	block(w, &how, 161 * MS, 3, 4, TARE_TENSOR_GRAD, linear);
	block(w, &how, 162 * MS, 7, has_optimizer ? 1 : mib, TARE_TENSOR_BACKWARD, backward);
	if (has_optimizer)
		block(w, &how, 163 * MS, 12, mib, 0, adam);
	if (is_in_order)
		world_end(w, 0, 200 * MS);
	l = world_ledger(w, "end");
	CHECK_INT(l.training_nr, 1);
	CHECK_INT(l.trainings[0].by, has_optimizer ? TARE_TRAINING_OPTIMIZER : TARE_TRAINING_BACKWARDS);
	CHECK_INT(l.trainings[0].count, count);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(training_that_is_killed_has_the_steps_that_came_to_their_end)
{
	check_cut(true, 3, false, 4);
	check_cut(true, 2, false, 3); /* in the middle of the optimizer */
	check_cut(true, 2, true, 4);
	check_cut(false, 1, false, 4);
	check_cut(false, 2, false, 3); /* … of the backward pass */
	check_cut(false, 2, true, 4);
}

/* Each thread is at another piece of work. */
TEST(training_of_threads)
{
	static const struct how one = { .is_host = true, .has_optimizer = true, .backwards = 1, .tid = 1 };
	static const struct how two = { .is_host = true, .has_optimizer = true, .backwards = 1, .tid = 2 };
	struct world *w = world_new();
	struct tare_ledger l;

	for (int i = 0; i < 5; i++)
		step(w, &one, (100 + 20 * i) * MS, i == 0);
	for (int i = 0; i < 3; i++)
		step(w, &two, (103 + 30 * i) * MS, i == 0);
	world_end(w, 0, 300 * MS);
	l = world_ledger(w, "end");
	check_only(&l, TARE_TRAINING_OPTIMIZER, 8);
	CHECK_INT(l.trainings[0].thread_nr, 2);
	CHECK_INT(l.trainings[0].counts[0], 5);
	CHECK_INT(l.trainings[0].counts[1], 3);
	CHECK_INT(first_of(&l, TARE_TRAINING_NS), 19 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 20 * MS); /* of 20, 20, 20, 7, 30, 7 */
	CHECK_INT(l.trainings[0].most[TARE_CATEGORY_OPTIMIZER].bytes, 4 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* A pool of threads does each step on another one. */
TEST(training_of_threads_that_make_a_step_each)
{
	struct world *w = world_new();
	struct tare_ledger l;

	for (uint32_t i = 0; i < 4; i++) {
		struct how how = { .is_host = true, .has_optimizer = true, .backwards = 1, .tid = i + 1 };

		step(w, &how, (100 + 20 * (int64_t)i) * MS, i == 0);
	}
	world_end(w, 0, 300 * MS);
	l = world_ledger(w, "end");
	CHECK_INT(l.training_nr, 1);
	CHECK_INT(l.trainings[0].count, 4);
	CHECK_INT(l.trainings[0].thread_nr, 4);
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 6 * MS); /* from its forward to its optimizer's last block */
	tare_ledger_free(&l);
	world_free(w);
}

/* The first step stands alone, and the one that had most is there, whatever went. */
static void check_marks(const struct tare_training *t, uint64_t most)
{
	size_t highest = 0;

	CHECK(t->mark_nr > 256 && t->mark_nr <= 512);
	CHECK_INT(t->marks[0].number, 1);
	CHECK_INT(t->marks[0].ns, 29 * MS);
	for (size_t i = 1; i < t->mark_nr; i++) {
		CHECK(t->marks[i].number > t->marks[i - 1].number);
		highest = t->marks[i].live > t->marks[highest].live ? i : highest;
	}
	CHECK_INT(t->marks[highest].number, most);
}

/* Of very many steps only some are kept; the median of them is that of all. */
TEST(training_of_many_steps)
{
	static const struct how how = { .is_host = true, .backwards = 1, .large = 3334 };
	struct world *w = world_new();
	const char *at = "end";
	struct tare_ledger l;

	train(w, &how, 5000, 30, 10);
	world_build(w, NULL, &at, 1, &l);
	CHECK_INT(l.training_nr, 1);
	CHECK_INT(l.trainings[0].count, 5000);
	CHECK_INT(first_of(&l, TARE_TRAINING_NS), 29 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 10 * MS);
	check_marks(&l.trainings[0], 3335); /* behind a backward pass the next one begins */
	tare_ledger_free(&l);
	world_free(w);
}

static void phase(struct world *w, int64_t t, const char *name)
{
	PHASE(w, .what = name ? TARE_PHASE_PUSH : TARE_PHASE_POP, .t = t, .name = name);
}

/* The program's own word counts most. The first step makes the context, in a phase around its allocation. */
TEST(training_by_phases_that_are_called_steps)
{
	static const char *const names[] = { "step 0", "step 1", "step 2", "step 3" };
	struct world *w = world_new();
	const char *at = "end";
	struct tare_ledger l;

	phase(w, 1 * MS, "epoch 1");
	for (int i = 0; i < 4; i++) {
		int64_t t = 10 * MS + 100 * i * MS, size = (13 - i) * MIB;

		phase(w, t, names[i]);
		if (!i)
			CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = t + 1 * MS, .end = t + 6 * MS,
			     .handle = 0xc0, .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 100 * MIB,
			     .after = 600 * MIB);
		CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = t + 10 * MS, .end = t + 11 * MS,
		     .handle = BASE, .context = 0xc0, .asked = (uint64_t)size, .granted = (uint64_t)size, .weigh = true,
		     .before = 600 * MIB, .after = 600 * MIB + size, .owner = C10);
		phase(w, t + 12 * MS, "Optimizer.step#SGD.step");
		phase(w, t + 13 * MS, NULL);
		CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = t + 14 * MS, .end = t + 15 * MS,
		     .handle = BASE, .context = 0xc0, .weigh = true, .before = 600 * MIB + size, .after = 600 * MIB);
		phase(w, t + (i ? 20 : 50) * MS, NULL);
	}
	phase(w, 500 * MS, NULL);
	world_build(w, NULL, &at, 1, &l);
	check_only(&l, TARE_TRAINING_PHASES, 4);
	CHECK_INT(first_of(&l, TARE_TRAINING_NS), 50 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_NS), 20 * MS);
	CHECK_INT(first_of(&l, TARE_TRAINING_DRIVER), 7 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_DRIVER), 2 * MS);
	CHECK_INT(steady_of(&l, TARE_TRAINING_ASKED_BYTES), 11 * MIB);
	CHECK_INT(first_of(&l, TARE_TRAINING_USED), 613 * MIB);
	CHECK_INT(steady_of(&l, TARE_TRAINING_USED), 611 * MIB);
	CHECK_INT(l.trainings[0].most[TARE_CATEGORY_PARAMETER].bytes, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* The first step may be called otherwise; and what a GPU is trained with on the CPU is no training there. */
TEST(training_by_the_optimizer_rather_than_by_phases)
{
	static const struct how gpu = { .has_optimizer = true, .backwards = 1 };
	static const struct how cpu = { .is_host = true, .has_optimizer = true, .backwards = 1 };
	struct world *w = world_new();
	const char *at = "end";
	struct tare_ledger l;

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 40 * MIB, 600 * MIB);
	train(w, &gpu, 5, 20, 20);
	train(w, &cpu, 5, 20, 20);
	for (int i = 0; i < 5; i++) {
		phase(w, 100 * MS + i * 20 * MS, i ? "step" : "first pass");
		phase(w, 119 * MS + i * 20 * MS, NULL);
	}
	world_build(w, NULL, &at, 1, &l);
	CHECK_INT(l.training_nr, 1);
	CHECK_INT(l.trainings[0].device, 0);
	CHECK_INT(l.trainings[0].by, TARE_TRAINING_OPTIMIZER);
	CHECK_INT(l.trainings[0].count, 5);
	CHECK_INT(first_of(&l, TARE_TRAINING_NS), 19 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

bool tare_training_is_step(const char *name);

TEST(training_knows_phases_by_their_names)
{
	CHECK(tare_training_is_step("step"));
	CHECK(tare_training_is_step("step 12"));
	CHECK(tare_training_is_step("ProfilerStep#3"));
	CHECK(tare_training_is_step("train_step batch=4"));
	CHECK(tare_training_is_step("Iteration 7"));
	CHECK(!tare_training_is_step("Optimizer.step#SGD.step"));
	CHECK(!tare_training_is_step("optimizer_step"));
	CHECK(!tare_training_is_step("stepper"));
	CHECK(!tare_training_is_step("a step"));
	CHECK(!tare_training_is_step("steps.py:12"));
	CHECK(!tare_training_is_step(""));
}
