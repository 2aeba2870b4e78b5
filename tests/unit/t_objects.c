/* SPDX-License-Identifier: Apache-2.0 */
/* Which object holds an address when: addresses are used again after dlclose. */
#include "two_logs.h"

#include <stdlib.h>

static void add_stack(uint32_t id, uint64_t pc)
{
	const uint64_t pcs[] = { pc, 0x9100 };
	struct tare_rec_stack stack = { .head = { .kind = TARE_KIND_STACK }, .id = id, .depth = 2 };

	make_log_add(&m, &stack, sizeof(stack), pcs, sizeof(pcs));
	MAKE(&m, event, EVENT, .tid = 10, .effect = TARE_EFFECT_NEW, .class = TARE_CLASS_DEVICE, .api = 1, .stack = id,
	     .handle = 0x7f0000000000 + id, .asked = 1 << 20, .ticks = 2);
}

static void add_object(const char *path, uint64_t begin, uint64_t end)
{
	MAKE_TEXT(&m, object, OBJECT, path, .base = begin, .begin = begin, .end = end);
}

/* The next event's stack, of which the first frame lies in `path`. */
static const struct tare_stack *next_in(struct tare_recording *r, const struct tare_process *p, const char *path)
{
	struct tare_event e;
	const struct tare_object *o;

	do
		CHECK(tare_recording_next(r, &e));
	while (!e.stack);
	o = tare_process_object(p, e.stack, e.stack->pcs[0]);
	CHECK_STR(o ? o->path : "none", path);
	o = tare_process_object(p, e.stack, e.stack->pcs[1]);
	CHECK_STR(o->path, "program");
	return e.stack;
}

static void make_reloads(void)
{
	init_both();
	MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 1);
	add_object("program", 0x9000, 0xa000);
	add_stack(1, 0x2100); /* before its object was written */
	add_object("first", 0x2000, 0x3000);
	add_stack(2, 0x2100);
	add_object("second", 0x2000, 0x3000);
	add_stack(3, 0x2100);
	add_object("program", 0x9000, 0xa000); /* said again */
	add_object("first", 0x2000, 0x3000);
	add_stack(4, 0x2100);
	add_object("wide", 0x1000, 0x2050); /* it ends before the address */
	add_stack(5, 0x2100);
}

TEST(an_address_is_of_the_object_that_was_there)
{
	struct tare_recording *r;
	const struct tare_process *p;

	make_reloads();
	write_both();
	r = open_ok(make_dir());
	p = process_of(r, 431);
	CHECK_INT(p->object_nr, 5);
	next_in(r, p, "first");
	next_in(r, p, "first");
	next_in(r, p, "second");
	next_in(r, p, "first");
	next_in(r, p, "none");
	CHECK(!tare_process_object(p, NULL, 0x2100));
	CHECK_STR(tare_process_object(p, NULL, 0x1100)->path, "wide");
	tare_recording_close(r);
	free_both();
}

/* What tare writes when the program has ended: it has read the objects. */
static void name_both(const struct tare_process *p)
{
	for (int i = 0; i < p->object_nr; i++)
		if (strcmp(p->objects[i].path, "program") != 0)
			MAKE_TEXT(&t, symbol, SYMBOL, p->objects[i].path, .pid = 431, .address = 0x2100,
			          .object = p->objects[i].identity);
	MAKE_TEXT(&t, symbol, SYMBOL, "main", .pid = 431, .address = 0x9100);
}

TEST(a_name_is_of_the_object_that_was_there)
{
	struct tare_recording *r;
	const struct tare_process *p;
	const struct tare_stack *stack;

	make_reloads();
	write_both();
	r = open_ok(make_dir());
	name_both(process_of(r, 431));
	tare_recording_close(r);
	write_both();
	r = open_ok(make_dir());
	p = process_of(r, 431);
	for (int i = 0; i < 4; i++) {
		const char *name = i == 2 ? "second" : "first";

		stack = next_in(r, p, name);
		CHECK_STR(tare_process_symbol(p, stack, stack->pcs[0])->name, name);
		CHECK_STR(tare_process_symbol(p, stack, stack->pcs[1])->name, "main");
	}
	tare_recording_close(r);
	free_both();
}

/* ---- beside a model that has a row of pages for each time ---- */

enum { PAGES = 48, OBJECTS = 120 };
static int model[OBJECTS][PAGES]; /* after each object: which one is there, 0: none */

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return *seed >> 33;
}

static void load(int number, int from, int until)
{
	int *now = model[number];

	if (number)
		memcpy(now, model[number - 1], sizeof(model[0]));
	for (int page = from; page < until; page++)
		for (int i = 0, gone = now[page]; gone && i < PAGES; i++)
			now[i] = now[i] == gone ? 0 : now[i];
	for (int page = from; page < until; page++)
		now[page] = number + 1;
}

/* Where nothing is there the next one that will be: it may have been written late. */
static int expected(int number, int page)
{
	while (number < OBJECTS && !model[number][page])
		number++;
	return number < OBJECTS ? model[number][page] : 0;
}

TEST(random_loads_match_a_model)
{
	for (uint64_t round = 1; round <= 20; round++) {
		struct tare_recording *r;
		const struct tare_process *p;
		uint64_t seed = round;

		init_both();
		memset(model, 0, sizeof(model));
		m.stamp = 1000;
		for (int i = 0; i < OBJECTS; i++) {
			int from = (int)(next_random(&seed) % PAGES);
			int until = from + 1 + (int)(next_random(&seed) % (round < 10 ? 4 : 20));
			char path[16];

			until = until < PAGES ? until : PAGES;
			snprintf(path, sizeof(path), "%d", i + 1);
			load(i, from, until);
			add_object(path, (uint64_t)from << 12, (uint64_t)until << 12);
		}
		write_both();
		r = open_ok(make_dir());
		p = process_of(r, 431);
		for (int i = 0; i < OBJECTS; i++)
			for (int page = 0; page < PAGES; page++) {
				struct tare_stack at = { .stamp = 1000 + (uint64_t)i };
				const struct tare_object *o = tare_process_object(p, &at, ((uint64_t)page << 12) + 1);

				CHECK_INT(o ? atoi(o->path) : 0, expected(i, page));
			}
		tare_recording_close(r);
		free_both();
	}
}

/* A library that comes and goes again and again, and objects of a damaged log that reach over all others. */
TEST(a_look_is_short_however_many_there_were)
{
	enum { MANY = 200000, LOOKS = 200000 };
	struct tare_object *objects = calloc(MANY, sizeof(*objects));
	struct tare_process p = { .objects = objects, .object_nr = MANY };
	uint64_t seed = 1;

	for (int i = 0; i < MANY; i++)
		objects[i] = (struct tare_object){ .begin = i < MANY / 2 ? (uint64_t)i : MANY,
			                               .end = 1 << 20,
			                               .reach = 1 << 20,
			                               .stamp = (uint64_t)i,
			                               .until = (uint64_t)i + 1,
			                               .path = "" };
	for (int i = 0; i < LOOKS; i++) {
		struct tare_stack at = { .stamp = MANY / 2 + next_random(&seed) % (MANY / 2) };
		const struct tare_object *o = tare_process_object(&p, &at, MANY + 5);

		CHECK(o == &objects[at.stamp]);
	}
	free(objects);
}
