/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "heap blocks": what programs asked of malloc and mapped, under --host. */
#include "ledger_world.h"
#include "test.h"

#include <string.h>
#include <time.h>

#define AT(n) (UINT64_C(0x7f0000000000) + (n)*UINT64_C(0x100000000))

static int heap; /* the device that stands for it */

static struct world *new_world(void)
{
	struct world *w = world_new();

	heap = world_device(w);
	world_device_at(w, heap)->flags = TARE_DEVICE_HEAP;
	world_device_at(w, heap)->nvml_index = -1;
	return w;
}

static void malloced(struct world *w, int process, int64_t t, uint64_t at, uint64_t bytes, unsigned int sampling,
                     uint32_t line)
{
	world_heap_block(w, process, heap, t,
	                 &(struct tare_rec_heap_block){ .block = at, .bytes = bytes, .sampling = (uint8_t)sampling },
	                 "train.py", line);
}

static void mapped(struct world *w, int64_t t, uint64_t at, uint64_t bytes)
{
	world_heap_block(w, 0, heap, t,
	                 &(struct tare_rec_heap_block){ .block = at, .bytes = bytes, .source = TARE_HEAP_OF_MMAP },
	                 "train.py", 9);
}

static void freed(struct world *w, int process, int64_t t, uint64_t at, unsigned int flags)
{
	world_heap_freed(w, process, heap, t, at, flags);
}

static const struct tare_device_ledger *heap_in(const struct tare_ledger *l)
{
	for (int i = 0; i < l->device_nr; i++)
		if (l->devices[i].is_heap)
			return &l->devices[i];
	test_fail(__FILE__, __LINE__, "there is no heap");
	return NULL;
}

/* Bytes and blocks of a line of train.py. */
static int64_t of_line(const struct tare_ledger *l, uint32_t line, uint64_t *count)
{
	const struct tare_device_ledger *d = heap_in(l);
	int64_t bytes = 0;

	*count = 0;
	for (int i = 0; i < d->line_nr; i++) {
		if (d->lines[i].line != line)
			continue;
		bytes += d->lines[i].bytes;
		*count += d->lines[i].count;
	}
	return bytes;
}

static void check(struct world *w, const char *at, int64_t used, uint32_t line, int64_t bytes, uint64_t blocks)
{
	struct tare_ledger l = world_ledger(w, at);
	uint64_t count;

	CHECK_INT(heap_in(&l)->used, used);
	CHECK_INT(heap_in(&l)->unexplained, 0);
	CHECK_INT(of_line(&l, line, &count), bytes);
	CHECK_INT(count, blocks);
	tare_ledger_free(&l);
}

TEST(a_heap_has_a_peak_an_end_and_instants)
{
	struct world *w = new_world();

	malloced(w, 0, 1 * MS, AT(1), 10 * MIB, 0, 5);
	malloced(w, 0, 2 * MS, AT(2), 20 * MIB, 0, 6);
	malloced(w, 0, 3 * MS, AT(3), 1 * MIB, 0, 5);
	freed(w, 0, 4 * MS, AT(2), 0);
	freed(w, 0, 5 * MS, AT(77), 0); /* nobody saw it come */
	malloced(w, 0, 6 * MS, AT(4), 2 * MIB, 0, 6);
	world_end(w, 0, 8 * MS);
	check(w, "peak", 31 * MIB, 5, 11 * MIB, 2);
	check(w, "end", 13 * MIB, 6, 2 * MIB, 1);
	check(w, "4.5ms", 11 * MIB, 6, 0, 0);
	world_free(w);
}

TEST(an_address_that_comes_again_replaces_the_block)
{
	struct world *w = new_world();

	malloced(w, 0, 1 * MS, AT(1), 10 * MIB, 0, 5);
	malloced(w, 0, 2 * MS, AT(1), 3 * MIB, 0, 6);
	malloced(w, 0, 3 * MS, AT(2), (uint64_t)1 << 60, 0, 6); /* damage, all of these */
	malloced(w, 0, 3 * MS, AT(3), 0, 16, 6);
	malloced(w, 0, 3 * MS, AT(4), 1 << 17, 16, 6);
	malloced(w, 0, 3 * MS, AT(5), 1000, 255, 6);
	check(w, "end", 3 * MIB, 6, 3 * MIB, 1);
	world_free(w);
}

TEST(mappings_go_in_pieces)
{
	struct world *w = new_world();

	mapped(w, 1 * MS, AT(1), 10 * MIB);
	mapped(w, 1 * MS, AT(2), 100);                   /* a page */
	malloced(w, 0, 1 * MS, AT(1) + MIB, 1000, 0, 5); /* of another allocator, in it */
	world_heap_unmapped(w, 0, heap, 2 * MS, AT(1) + 2 * MIB, 3 * MIB, TARE_HEAP_GOES_UNMAPPED);
	world_heap_unmapped(w, 0, heap, 3 * MS, AT(1) - MIB, 2 * MIB, TARE_HEAP_GOES_UNMAPPED);
	world_heap_unmapped(w, 0, heap, 4 * MS, AT(1) + 9 * MIB, 5 * MIB, TARE_HEAP_GOES_UNMAPPED);
	world_heap_unmapped(w, 0, heap, 5 * MS, AT(9), 5 * MIB, TARE_HEAP_GOES_UNMAPPED);
	check(w, "1.5ms", 10 * MIB + 4096 + 1000, 9, 10 * MIB + 4096, 2);
	check(w, "2.5ms", 7 * MIB + 4096 + 1000, 9, 7 * MIB + 4096, 3);
	check(w, "3.5ms", 6 * MIB + 4096 + 1000, 9, 6 * MIB + 4096, 3);
	check(w, "end", 5 * MIB + 4096 + 1000, 5, 1000, 1);
	world_heap_unmapped(w, 0, heap, 6 * MS, AT(1), 10 * MIB, TARE_HEAP_GOES_UNMAPPED);
	check(w, "end", 4096 + 1000, 9, 4096, 1);
	world_free(w);
}

/* ---- beside a model that has a byte for each page ---- */

enum { PAGE = 4096, PAGES = 600, STEPS = 3000, EVENTS = 800 };

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return *seed >> 33;
}

enum page { NOTHING, RESERVED, USABLE };

static int64_t count_pages(const uint8_t *pages)
{
	int64_t count = 0;

	for (int i = 0; i < PAGES; i++)
		count += pages[i] == USABLE;
	return count;
}

/* One call on some pages, in the world and in the model. */
static void call(struct world *w, int64_t t, uint8_t *pages, uint64_t from, uint64_t nr, int how)
{
	static const enum tare_heap_source sources[] = { TARE_HEAP_OF_MMAP, TARE_HEAP_OF_RESERVE, TARE_HEAP_OF_MPROTECT };
	struct tare_rec_heap_block rec = { .block = AT(1) + from * PAGE, .bytes = nr * PAGE };

	if (how < 3) {
		rec.source = (uint8_t)sources[how];
		world_heap_block(w, 0, heap, t, &rec, "train.py", 9 + (uint32_t)how);
	} else {
		world_heap_unmapped(w, 0, heap, t, rec.block, rec.bytes,
		                    how == 3 ? TARE_HEAP_GOES_UNMAPPED : TARE_HEAP_GOES_CLOSED);
	}
	for (uint64_t i = from; i < from + nr; i++) {
		bool is_mapped = pages[i] != NOTHING;

		pages[i] = how == 0   ? USABLE
		           : how == 1 ? RESERVED
		           : how == 2 ? (is_mapped ? USABLE : NOTHING)
		           : how == 3 ? NOTHING
		                      : (is_mapped ? RESERVED : NOTHING);
	}
}

TEST(random_mappings_match_a_model)
{
	for (uint64_t round = 1; round <= 8; round++) {
		uint8_t pages[PAGES] = { NOTHING };
		struct world *w = new_world();
		int64_t half = 0, all;
		uint64_t seed = round;
		struct tare_ledger l;

		for (int i = 0; i < STEPS; i++) {
			uint64_t from = next_random(&seed) % PAGES;
			uint64_t nr = 1 + next_random(&seed) % (round < 5 ? 12 : 60);

			nr = nr < PAGES - from ? nr : PAGES - from;
			call(w, (i + 1) * MS, pages, from, nr, (int)(next_random(&seed) % (round % 2 ? 5 : 4)));
			if (i == STEPS / 2 - 1)
				half = count_pages(pages);
		}
		all = count_pages(pages);
		world_end(w, 0, (STEPS + 2) * MS);
		l = world_ledger(w, "end");
		CHECK_INT(heap_in(&l)->used, all * PAGE);
		tare_ledger_free(&l);
		l = world_ledger(w, "1500.5ms");
		CHECK_INT(heap_in(&l)->used, half * PAGE);
		tare_ledger_free(&l);
		world_free(w);
	}
}

/* What is reserved counts where mprotect makes it usable, and from then on. */
TEST(reservations_count_as_they_become_usable)
{
	struct world *w = new_world();
	uint8_t pages[PAGES] = { NOTHING };

	call(w, 1 * MS, pages, 0, 100, 1);
	call(w, 2 * MS, pages, 10, 20, 2);
	call(w, 3 * MS, pages, 0, 20, 2); /* of them 10 count already */
	call(w, 4 * MS, pages, 5, 10, 4);
	check(w, "1.5ms", 0, 11, 0, 0);
	check(w, "2.5ms", 20 * PAGE, 11, 20 * PAGE, 1);
	check(w, "3.5ms", 30 * PAGE, 11, 30 * PAGE, 2);
	check(w, "end", 20 * PAGE, 11, 20 * PAGE, 2);
	world_heap_unmapped(w, 0, heap, 5 * MS, AT(1) + 50 * PAGE, 50 * PAGE, TARE_HEAP_GOES_MOVED);
	world_heap_block(w, 0, heap, 6 * MS,
	                 &(struct tare_rec_heap_block){ .block = AT(2), .bytes = 80 * PAGE, .source = TARE_HEAP_OF_MREMAP },
	                 "train.py", 12);
	check(w, "end", 20 * PAGE, 12, 0, 0); /* moved, and still nobody may touch it */
	world_free(w);
}

/* Seconds of the processor for a fold of so many mappings, each of which is then cut into two. */
static double fold_of(int64_t mappings)
{
	struct world *w = new_world();
	struct tare_instant end;
	struct tare_ledger l;
	clock_t begin;

	for (int64_t i = 0; i < mappings; i++)
		mapped(w, i, AT(1) + (uint64_t)i * 8 * PAGE, 3 * PAGE);
	for (int64_t i = 0; i < mappings; i++)
		world_heap_unmapped(w, 0, heap, mappings + i, AT(1) + (uint64_t)(i * 7919 % mappings) * 8 * PAGE + PAGE, PAGE,
		                    TARE_HEAP_GOES_UNMAPPED);
	CHECK_INT(tare_instant_parse("end", &end, NULL), 0);
	begin = clock();
	world_build_at(w, &end, &l);
	CHECK_INT(heap_in(&l)->used, mappings * 2 * PAGE);
	tare_ledger_free(&l);
	world_free(w);
	return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* It is 16 times as many: a fold that looks at all of them for each would take 256 times as long. */
TEST(a_fold_of_many_mappings_is_about_linear)
{
	double few = fold_of(5000), many;

	for (int i = 0; i < 4; i++) {
		double again = fold_of(5000);

		few = again < few ? again : few;
	}
	many = fold_of(80000);
	if (many > 80 * few)
		test_fail(__FILE__, __LINE__, "%.3f s, and %.3f s of 16 times as many", few, many);
}

static void moved(struct world *w, int64_t t, uint64_t from, uint64_t old, uint64_t to, uint64_t bytes)
{
	world_heap_unmapped(w, 0, heap, t, from, old, TARE_HEAP_GOES_MOVED);
	world_heap_block(w, 0, heap, t + 1,
	                 &(struct tare_rec_heap_block){ .block = to, .bytes = bytes, .source = TARE_HEAP_OF_MREMAP },
	                 "train.py", 10);
}

TEST(mappings_move)
{
	struct world *w = new_world();

	mapped(w, 1 * MS, AT(1), 10 * MIB);
	moved(w, 2 * MS, AT(1), 10 * MIB, AT(2), 30 * MIB);
	moved(w, 3 * MS, AT(5), 10 * MIB, AT(6), 30 * MIB); /* of a file */
	moved(w, 4 * MS, AT(2), 30 * MIB, AT(2), 5 * MIB);
	check(w, "2.5ms", 30 * MIB, 10, 30 * MIB, 1);
	check(w, "end", 5 * MIB, 10, 5 * MIB, 1);
	world_free(w);
}

/* 1000 bytes drawn by a mean of 2^16: a chance of 0.015143, so they stand for 66 KB with an error of nearly as much. */
TEST(blocks_that_were_drawn_stand_for_others)
{
	struct world *w = new_world();
	struct tare_ledger l;
	uint64_t count;

	for (int i = 0; i < 4; i++)
		malloced(w, 0, 1 * MS, AT(i), 1000, 16, 5);
	malloced(w, 0, 2 * MS, AT(5), 70000, 0, 6);
	l = world_ledger(w, "end");
	CHECK_INT(of_line(&l, 5, &count), 4 * 66037);
	CHECK_INT(count, 4 * 66);
	CHECK_INT(heap_in(&l)->used, 4 * 66037 + 70000);
	CHECK(heap_in(&l)->heap_error > 2 * 65000 && heap_in(&l)->heap_error < 2 * 66037);
	tare_ledger_free(&l);
	for (int i = 0; i < 4; i++)
		freed(w, 0, 3 * MS, AT(i), 0);
	l = world_ledger(w, "end");
	CHECK_INT(heap_in(&l)->used, 70000);
	CHECK_INT(heap_in(&l)->heap_error, 0);
	tare_ledger_free(&l);
	l = world_ledger(w, "peak");
	CHECK(heap_in(&l)->heap_error > 2 * 65000);
	tare_ledger_free(&l);
	world_free(w);
}

/* Of two programs: small and large blocks, some drawn, some at an address that is taken, and mappings between them. */
static struct world *new_random(uint64_t seed)
{
	struct world *w = new_world();
	int child = world_process(w, 500, 0, "child");

	for (int i = 0; i < EVENTS; i++) {
		bool is_over = i >= EVENTS * 3 / 4; /* of the first program, and the other goes on */
		int process = next_random(&seed) % 100 && !is_over ? 0 : child;
		uint64_t at = AT(next_random(&seed) % 40), what = next_random(&seed) % 200;
		uint64_t bytes = next_random(&seed) % 50 ? 1 + next_random(&seed) % 500 : 0;
		int64_t t = (i + 1 - (int)(next_random(&seed) % 5 == 0)) * MS / 8;

		if (what == 0)
			mapped(w, t, at, 10 * PAGE);
		else if (what == 1)
			malloced(w, process, t, at, UINT64_C(1) << 60, 0, 5);
		else if (what < 110)
			malloced(w, process, t, at, bytes + 1, what % 20 ? 0 : 16, 5 + (uint32_t)(next_random(&seed) % 30));
		else
			freed(w, process, t, at, i > EVENTS - 50 ? TARE_HEAP_FINALIZING : what % 7 ? 0 : TARE_HEAP_MOVING);
	}
	world_end(w, 0, EVENTS * MS / 8 * 3 / 4);
	world_end(w, child, (EVENTS + 2) * MS / 8);
	return w;
}

/* What realloc has is there until what it made of it is, and does not take the place of what another thread got there. */
TEST(what_realloc_moves_is_there_all_the_time)
{
	struct world *w = new_world();

	malloced(w, 0, 1 * MS, AT(1), 10 * MIB, 0, 5);
	freed(w, 0, 2 * MS, AT(1), TARE_HEAP_MOVING);
	world_heap_block(w, 0, heap, 4 * MS, &(struct tare_rec_heap_block){ .block = AT(1), .bytes = 1 * MIB, .tid = 7 },
	                 "train.py", 6);
	malloced(w, 0, 6 * MS, AT(2), 12 * MIB, 0, 5);
	freed(w, 0, 8 * MS, AT(2), TARE_HEAP_MOVING);
	malloced(w, 0, 10 * MS, AT(2), 15 * MIB, 0, 5);
	freed(w, 0, 12 * MS, AT(2), 0);
	world_end(w, 0, 14 * MS);
	check(w, "3ms", 10 * MIB, 5, 10 * MIB, 1);
	check(w, "5ms", 1 * MIB, 6, 1 * MIB, 1);
	check(w, "7ms", 13 * MIB, 5, 12 * MIB, 1);
	check(w, "9ms", 13 * MIB, 5, 12 * MIB, 1);
	check(w, "11ms", 16 * MIB, 5, 15 * MIB, 1);
	check(w, "13ms", 1 * MIB, 5, 0, 0);
	world_free(w);
}

/* A recording in segments gives them many at once, a log one by one. */
TEST(many_at_once_are_what_they_are_one_by_one)
{
	static const char *const instants[] = { "peak", "end", "20.05ms", "70ms" };

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct world *w = new_random(seed);

		for (size_t i = 0; i < sizeof(instants) / sizeof(*instants); i++) {
			struct tare_ledger many = world_ledger(w, instants[i]), one;
			struct tare_instant at;

			CHECK_INT(tare_instant_parse(instants[i], &at, NULL), 0);
			world_build_at(w, &at, &one);
			world_check_same(&one, &many);
			CHECK_INT(heap_in(&many)->peak_t_ns, heap_in(&one)->peak_t_ns);
			tare_ledger_free(&many);
			tare_ledger_free(&one);
		}
		world_free(w);
	}
}

TEST(each_process_takes_its_own_along)
{
	struct world *w = new_world();
	int child = world_process(w, 500, 0, "child");

	malloced(w, 0, 1 * MS, AT(1), 10 * MIB, 0, 5);
	malloced(w, child, 2 * MS, AT(1), 4 * MIB, 0, 6);
	freed(w, child, 3 * MS, AT(1), 0);
	malloced(w, child, 3 * MS, AT(2), 5 * MIB, 0, 6);
	world_end(w, child, 4 * MS);
	malloced(w, child, 5 * MS, AT(3), 7 * MIB, 0, 6); /* destructors, behind its end */
	malloced(w, 0, 6 * MS, AT(2), 1 * MIB, 0, 5);
	world_end(w, 0, 8 * MS);
	check(w, "peak", 15 * MIB, 6, 5 * MIB, 1);
	check(w, "5.5ms", 10 * MIB, 5, 10 * MIB, 1);
	check(w, "end", 11 * MIB, 5, 11 * MIB, 2);
	world_free(w);
}

/* What Python frees as it takes the program down was there at the end. */
TEST(python_takes_the_program_down)
{
	struct world *w = new_world();

	malloced(w, 0, 1 * MS, AT(1), 10 * MIB, 0, 5);
	malloced(w, 0, 2 * MS, AT(2), 1 * MIB, 0, 6);
	freed(w, 0, 3 * MS, AT(1), TARE_HEAP_FINALIZING);
	malloced(w, 0, 4 * MS, AT(3), 2 * MIB, 0, 6);
	freed(w, 0, 5 * MS, AT(2), TARE_HEAP_FINALIZING);
	world_end(w, 0, 8 * MS);
	check(w, "end", 11 * MIB, 5, 10 * MIB, 1);
	world_free(w);
}

/* A GPU beside it keeps its own peak and end. */
TEST(a_heap_stands_beside_a_gpu)
{
	struct world *w = new_world();
	struct tare_ledger l;

	world_reading(w, 0, 0, 100 * MIB);
	malloced(w, 0, 1 * MS, AT(1), 10 * MIB, 0, 5);
	world_reading(w, 0, 2 * MS, 130 * MIB);
	freed(w, 0, 3 * MS, AT(1), 0);
	world_reading(w, 0, 4 * MS, 110 * MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(l.device_nr, 2);
	CHECK_INT(l.devices[0].used, 130 * MIB);
	CHECK(!l.devices[0].is_heap && l.devices[1].is_heap);
	CHECK_INT(l.devices[1].index, TARE_HEAP_ORDINAL);
	CHECK_INT(l.devices[1].used, 10 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}
