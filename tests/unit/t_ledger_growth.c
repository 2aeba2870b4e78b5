/* SPDX-License-Identifier: Apache-2.0 */
/* What grows, and what only looks as if it did: worlds of blocks, each folded in one go and from states. */
#include "host_training.h"
#include "test.h"

#include "ledger/growth/growth.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 100 };

static struct tare_growth_answer judge(int64_t (*bytes)(int column))
{
	int64_t course[COLUMNS], turns[COLUMNS];
	struct tare_growth_question q = { .bytes = course,
		                              .turns = turns,
		                              .end = COLUMNS,
		                              .least = 1000,
		                              .least_part = 0.1,
		                              .least_part_of_turns = 0.25,
		                              .tidied = 0.12,
		                              .least_turns = 8 };

	for (int i = 0; i < COLUMNS; i++) {
		course[i] = bytes(i);
		turns[i] = 3 * i;
	}
	return tare_growth_judge(&q);
}

static int64_t leak(int i)
{
	return 100000 + 300 * i;
}

TEST(growth_a_leak_is_as_steep_as_it_is)
{
	struct tare_growth_answer a = judge(leak);

	CHECK(a.confidence > 0.95);
	CHECK(fabs(a.per_turn - 100) < 1);
	CHECK(a.first <= 1);
	CHECK(a.bytes >= 98 * 300);
}

static int64_t late(int i)
{
	return i < 50 ? 20000 : leak(i) - leak(50) + 20000;
}

TEST(growth_a_leak_that_begins_late)
{
	struct tare_growth_answer a = judge(late);

	CHECK(a.confidence > 0.9);
	CHECK(a.first >= 49 && a.first <= 51);
}

static int64_t tidied(int i)
{
	return i < 95 ? leak(i) : 0;
}

TEST(growth_that_is_tidied_up_at_the_end_is_one)
{
	CHECK(judge(tidied).confidence > 0.9);
}

/* The room of a list that is twice as large each time it is full, when it has 10,000 more in each column up to that one. */
static int64_t room(int i, int until)
{
	int64_t bytes = 10000;

	while (bytes < 10000 * (i < until ? i : until))
		bytes *= 2;
	return bytes;
}
static int64_t list_that_doubles(int i)
{
	return room(i, COLUMNS);
}
static int64_t large_now_and_then(int i)
{
	return 1000000 * (i / 13);
}

TEST(growth_by_stairs_is_one_by_where_they_end)
{
	struct tare_growth_answer a = judge(list_that_doubles);

	CHECK(a.confidence > 0.8);
	CHECK(fabs(a.per_turn - 10000 / 3.0) < 100);
	CHECK(judge(large_now_and_then).confidence > 0.8);
}

static int64_t list_of_an_epoch(int i)
{
	return room(i, 30);
}
/* It has room for 80 from 40 on, and 55 come. */
static int64_t list_of_more_than_half(int i)
{
	return i < 40 ? room(i * 4 / 5, 40) * 5 / 4 : 800000;
}
static int64_t loaded_one_by_one(int i)
{
	return 1000000 * (i < 60 ? i / 8 : 7);
}

TEST(growth_is_none_of_stairs_that_end)
{
	CHECK(judge(list_of_an_epoch).confidence == 0);
	CHECK(judge(list_of_more_than_half).confidence == 0);
	CHECK(judge(loaded_one_by_one).confidence == 0);
}

static int64_t warm_up(int i)
{
	return i < 30 ? 10000 * i : 300000;
}
static int64_t cache(int i)
{
	return (int64_t)(1e6 * (1 - exp(-i / 30.0)));
}
static int64_t saw(int i)
{
	return 10000 * (i % 30);
}
static int64_t flat(int i)
{
	return 100000 + (i % 7) * 30;
}
static int64_t freed(int i)
{
	return i < 70 ? leak(i) : 100000;
}
static int64_t one_step_up(int i)
{
	return i < 60 ? 0 : 1000000;
}

TEST(growth_is_none_of_what_ends)
{
	CHECK(judge(warm_up).confidence == 0);
	CHECK(judge(cache).confidence < 0.5);
	CHECK(judge(saw).confidence == 0);
	CHECK(judge(flat).confidence == 0);
	CHECK(judge(freed).confidence == 0);
	CHECK(judge(one_step_up).confidence == 0);
}

/* ---- in the books ---- */

enum { STEPS = 40, LEAK = 64 << 10, KEPT = 0x100000 };

static const struct tare_line log_line[] = { { "train.py", "main", 15 }, { 0 } };

/* A training that keeps something of each step, or of none, and begins after a while in which the program loads. */
static struct world *training_that_keeps(int64_t bytes, int64_t load_ms)
{
	struct world *w = world_new();

	for (now = 0; now < load_ms; now += 1000)
		world_host(w, 0, now * MS, 100 * MIB);
	for (int i = 0; i < STEPS; i++) {
		forward(w);
		step(w, i == 0);
		end_step(w);
		if (bytes)
			put(w, KEPT + (uint64_t)i * LEAK, bytes, 0, log_line);
		now += 20;
	}
	return w;
}

TEST(growth_of_a_training_is_by_the_step)
{
	struct world *w = training_that_keeps(LEAK, 0);
	struct tare_ledger l = world_ledger(w, "end");

	CHECK_INT(l.growth_nr, 1);
	CHECK_STR(l.growths[0].line, "train.py:15 in main");
	CHECK_STR(l.growths[0].what, "tensors");
	CHECK_INT(l.growths[0].device, -1);
	CHECK(l.growths[0].has_steps);
	CHECK(llabs(l.growths[0].per_step - LEAK) < LEAK / 50);
	CHECK(l.growths[0].since_ns < 200 * MS);
	CHECK(l.growths[0].confidence > 0.9);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(growth_is_told_however_long_a_program_loads)
{
	struct world *w = training_that_keeps(LEAK, 100000);
	struct tare_ledger l = world_ledger(w, "end");

	CHECK_INT(l.growth_nr, 1);
	CHECK(l.growths[0].has_steps);
	CHECK(llabs(l.growths[0].per_step - LEAK) < LEAK / 50);
	CHECK(l.growths[0].since_ns > 100000 * MS && l.growths[0].since_ns < 100200 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(growth_is_not_shown_of_a_training_that_keeps_nothing)
{
	struct world *w = training_that_keeps(0, 0);
	struct tare_ledger l = world_ledger(w, "end");

	CHECK_INT(l.growth_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* More lines than courses are kept of, each with something that stays as it is: those make room for what grows later. */
TEST(growth_is_told_behind_many_lines_that_do_not_grow)
{
	enum { MANY = TARE_GROWTH_COURSES + 500, SIZE = 8 << 10 };
	static struct tare_line lines[MANY][2];
	struct world *w = world_new();
	struct tare_ledger l;

	now = 1;
	for (int i = 0; i < MANY; i++) {
		lines[i][0] = (struct tare_line){ "model.py", "build", (uint32_t)i + 1 };
		put(w, KEPT + (uint64_t)i * SIZE, SIZE, 0, lines[i]);
		now += i % 8 == 0;
	}
	for (int i = 0; i < 100; i++) {
		now += 50;
		put(w, KEPT + (uint64_t)(MANY + i) * SIZE, SIZE, 0, log_line);
	}
	l = world_ledger(w, "end");
	CHECK_INT(l.growth_nr, 1);
	CHECK_STR(l.growths[0].line, "train.py:15 in main");
	CHECK_STR(l.growths[0].stack, "train.py:15 in main");
	tare_ledger_free(&l);
	world_free(w);
}

/* A program without steps: what it allocates on a device, and its resident memory. */
TEST(growth_without_steps_is_by_the_second)
{
	struct world *w = world_new();
	struct tare_ledger l;

	for (int i = 0; i < 60; i++) {
		int64_t t = (100 + 100 * i) * MS;

		CALL(w, .begin = t, .end = t + MS, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW,
		     .handle = 0x7f0000000000 + (uint64_t)i * 4 * MIB, .asked = 2 * MIB, .granted = 2 * MIB, .file = "leak.py",
		     .line = 7);
		world_host(w, 0, t + 2 * MS, 100 * MIB + i * 3 * MIB);
	}
	l = world_ledger(w, "end");
	CHECK_INT(l.growth_nr, 2);
	CHECK_STR(l.growths[0].what, "resident memory");
	CHECK(!l.growths[0].line);
	CHECK(llabs(l.growths[0].per_second - 30 * MIB) < MIB);
	CHECK_STR(l.growths[1].line, "leak.py:7 in step");
	CHECK(!l.growths[1].has_steps);
	CHECK(llabs(l.growths[1].per_second - 20 * MIB) < MIB);
	tare_ledger_free(&l);
	world_free(w);
}

/* Resident memory that rises every 100 ms, of a process of which nothing else is known. */
static int rows_of_resident(int64_t seconds)
{
	struct world *w = world_new();
	struct tare_ledger l;
	int rows;

	for (int i = 0; i < 10 * seconds; i++)
		world_host(w, 0, (100 + 100 * i) * MS, 100 * MIB + i * MIB);
	l = world_ledger(w, "end");
	rows = l.growth_nr;
	tare_ledger_free(&l);
	world_free(w);
	return rows;
}

TEST(growth_of_resident_memory_alone_is_none_in_half_a_minute)
{
	CHECK_INT(rows_of_resident(20), 0);
	CHECK_INT(rows_of_resident(60), 1);
}

/* … and while a process loads code it is its start: all the time, or once. */
static int rows_of_loading(bool always)
{
	struct world *w = world_new();
	struct tare_ledger l;
	int rows;

	CALL(w, .begin = 50 * MS, .end = 51 * MS, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW,
	     .handle = 0x7f0000000000, .asked = 2 * MIB, .granted = 2 * MIB);
	for (int i = 0; i < 60; i++) {
		int64_t t = (100 + 100 * i) * MS;

		if (!i || always)
			CALL(w, .begin = t, .end = t + MS, .class = TARE_CLASS_MODULE, .effect = TARE_EFFECT_NEW,
			     .handle = 0x100 + (uint64_t)i);
		world_host(w, 0, t + 2 * MS, 100 * MIB + i * 3 * MIB);
	}
	l = world_ledger(w, "end");
	rows = l.growth_nr;
	tare_ledger_free(&l);
	world_free(w);
	return rows;
}

TEST(growth_of_resident_memory_begins_when_code_is_loaded)
{
	CHECK_INT(rows_of_loading(false), 1);
	CHECK_INT(rows_of_loading(true), 0);
}

/* A line that asks for more and more: itself, or a compiler for it. */
static int rows_of(const struct tare_line *frames)
{
	struct world *w = world_new();
	struct tare_ledger l;
	int rows;

	for (int i = 0; i < 60; i++) {
		now = 100 * i + 1;
		put(w, KEPT + (uint64_t)i * LEAK, LEAK, 0, frames);
	}
	l = world_ledger(w, "end");
	rows = l.growth_nr;
	tare_ledger_free(&l);
	world_free(w);
	return rows;
}

TEST(growth_is_not_what_a_compiler_keeps)
{
	static const struct tare_line compiler[] = { { "/x/jax/_src/compiler.py", "backend_compile_and_load", 350 },
		                                         { "train.py", "main", 15 },
		                                         { 0 } };

	CHECK_INT(rows_of(log_line), 1);
	CHECK_INT(rows_of(compiler), 0);
}

/* ---- of the heap ---- */

static void heap_block(struct world *w, int device, int64_t t, uint64_t at, uint64_t bytes)
{
	world_heap_block(w, 0, device, t, &(struct tare_rec_heap_block){ .block = at, .bytes = bytes }, "serve.py", 7);
}

static struct world *world_of_a_heap(int *device)
{
	struct world *w = world_new();

	*device = world_device(w);
	world_device_at(w, *device)->flags = TARE_DEVICE_HEAP;
	world_device_at(w, *device)->nvml_index = -1;
	return w;
}

static int rows_of_world(struct world *w)
{
	struct tare_ledger l = world_ledger(w, "end");
	int rows = l.growth_nr;

	tare_ledger_free(&l);
	world_free(w);
	return rows;
}

/* One buffer, made larger in every column, by realloc or by malloc and free with a while without any between. */
static int rows_of_a_buffer(bool is_realloc)
{
	int heap;
	struct world *w = world_of_a_heap(&heap);

	for (int i = 0; i < 100; i++) {
		uint64_t at = KEPT + (uint64_t)(i % 3) * MIB, before = KEPT + (uint64_t)((i + 2) % 3) * MIB;
		int64_t t = 50 * i * MS + 1;

		if (i)
			world_heap_freed(w, 0, heap, t, before, is_realloc ? TARE_HEAP_MOVING : 0);
		heap_block(w, heap, t + MS / 10, at, LEAK + (uint64_t)i * 4096);
	}
	return rows_of_world(w);
}

TEST(growth_of_a_buffer_that_realloc_makes_larger)
{
	CHECK_INT(rows_of_a_buffer(true), 1);
	CHECK_INT(rows_of_a_buffer(false), 0);
}

/* What is asked for and then, with nothing new, given back piece by piece. */
TEST(growth_is_none_of_what_is_worked_off)
{
	int heap;
	struct world *w = world_of_a_heap(&heap);

	for (int i = 0; i < 50; i++)
		heap_block(w, heap, 50 * i * MS + 1, KEPT + (uint64_t)i * MIB, LEAK);
	for (int i = 0; i < 50; i++)
		world_heap_freed(w, 0, heap, (2500 + 50 * i) * MS, KEPT + (uint64_t)i * MIB, 0);
	CHECK_INT(rows_of_world(w), 0);
}

/* Asked for in the first `part` of eight of a program's time, which then goes on and makes nothing. */
static int rows_of_a_start(int part)
{
	int heap;
	struct world *w = world_of_a_heap(&heap);

	for (int i = 0; i < 10 * part; i++)
		heap_block(w, heap, 50 * i * MS + 1, KEPT + (uint64_t)i * MIB, LEAK);
	world_end(w, 0, 4000 * MS);
	return rows_of_world(w);
}

TEST(growth_is_none_of_a_start_behind_which_nothing_is_made)
{
	CHECK_INT(rows_of_a_start(4), 0);
	CHECK_INT(rows_of_a_start(7), 1);
}

/* Arenas that Python maps, 200 ms apart: one for each letter, which is the line that came to need it. */
static int rows_of_arenas(const char *lines)
{
	int heap;
	struct world *w = world_of_a_heap(&heap);

	for (int i = 0; lines[i]; i++)
		world_heap_block(w, 0, heap, (200 * i + 1) * MS,
		                 &(struct tare_rec_heap_block){
							 .block = KEPT + (uint64_t)i * MIB, .bytes = MIB, .source = TARE_HEAP_OF_MMAP },
		                 "serve.py", (uint32_t)lines[i]);
	return rows_of_world(w);
}

/* None of these lines is steady, and what they have in common is. A start has one line after the other. */
TEST(growth_of_arenas_is_that_of_the_lines_together)
{
	CHECK_INT(rows_of_arenas("bacaaaabdccbacccbddddacd"), 1);
	CHECK_INT(rows_of_arenas("aaaabbbbccccddddeeeeffff"), 0);
}

static const struct tare_line other_line[] = { { "train.py", "main", 20 }, { 0 } };
static const struct tare_line third_line[] = { { "train.py", "main", 25 }, { 0 } };

/* Three lines keep tensors: of one module, of another, and of none. */
TEST(growth_of_each_line_has_its_own_module)
{
	enum { THREAD = 1, FIRST = 0xa100, SECOND = 0xa200 };
	struct world *w = world_new();
	struct tare_ledger l;

	for (int i = 0; i < STEPS; i++) {
		uint64_t at = KEPT + (uint64_t)i * 8 * LEAK;

		now = 100 * i + 1;
		world_module(w, now * MS, THREAD, FIRST, "Linear");
		put(w, at, 3 * LEAK, TARE_TENSOR_IN_MODULE, log_line);
		now = 100 * i + 2;
		world_module(w, now * MS, THREAD, SECOND, "Conv2d");
		put(w, at + 3 * LEAK, 2 * LEAK, TARE_TENSOR_IN_MODULE, other_line);
		put(w, at + 5 * LEAK, LEAK, 0, third_line);
		world_host(w, 0, (100 * i + 50) * MS, 100 * MIB);
	}
	l = world_ledger(w, "end");
	CHECK_INT(l.growth_nr, 3);
	CHECK_STR(l.growths[0].line, "train.py:15 in main");
	CHECK_STR(l.growths[0].module, "Linear");
	CHECK_STR(l.growths[1].line, "train.py:20 in main");
	CHECK_STR(l.growths[1].module, "Conv2d");
	CHECK_STR(l.growths[2].line, "train.py:25 in main");
	CHECK(!l.growths[2].module);
	tare_ledger_free(&l);
	world_free(w);
}

/* It keeps a block each 100 ms for 6 s; then Python takes it down, and the process ends 4 s later. */
static int rows_of_a_slow_end(bool is_torn_down)
{
	int heap;
	struct world *w = world_of_a_heap(&heap);

	for (int i = 0; i < 60; i++)
		world_heap_block(w, 0, heap, (100 * i + 1) * MS,
		                 &(struct tare_rec_heap_block){ .block = KEPT + (uint64_t)i * LEAK, .bytes = LEAK }, "serve.py",
		                 7);
	for (int i = 0; i < 60; i++)
		world_heap_freed(w, 0, heap, 6001 * MS + i, KEPT + (uint64_t)i * LEAK, is_torn_down ? TARE_HEAP_FINALIZING : 0);
	world_host(w, 0, 10000 * MS, 100 * MIB);
	world_end(w, 0, 10001 * MS);
	return rows_of_world(w);
}

TEST(growth_is_told_of_what_python_takes_down_slowly)
{
	CHECK_INT(rows_of_a_slow_end(true), 1);
	CHECK_INT(rows_of_a_slow_end(false), 0);
}

/* The same of tensors on a GPU, which are given back without a call of the driver. */
TEST(growth_is_told_of_tensors_of_a_gpu_that_python_takes_down_slowly)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .begin = 1 * MS, .end = 2 * MS, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .handle = KEPT,
	     .asked = 64 * MIB, .context = 0xc0, .owner = WORLD_C10_CUDA);
	for (int i = 0; i < 60; i++)
		world_tensor(w, (100 * i + 3) * MS, KEPT + (uint64_t)i * LEAK, LEAK);
	for (int i = 0; i < 60; i++)
		world_tensor_of_teardown(w, 6001 * MS + i, KEPT + (uint64_t)i * LEAK);
	world_end(w, 0, 10001 * MS);
	l = world_ledger(w, "end");
	CHECK_INT(l.growth_nr, 1);
	tare_ledger_free(&l);
	world_free(w);
}
