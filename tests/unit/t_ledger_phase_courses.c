/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random courses of phases on two devices and the CPU: what the fold says of each is what is found by looking at every open phase
 * whenever anything changes. Records of phases come in runs and one by one (world_ledger(), world_build_at()).
 */
#include "ledger_world.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { STEPS = 400, COURSES = 25, DEVICES = 2, CPU = DEVICES, PLACES, OPEN_MAX = 200, PATHS = 400 };
enum { PATH_MAX_BYTES = 400 };

/* One that is open. */
struct open {
	int path, parent; /* parent: the serial of the one around it, 0: none */
	int serial;
	uint32_t tid;
	bool is_range, is_library;
	uint64_t id;
	int64_t before[PLACES], most[PLACES], most_ns[PLACES], nested[PLACES];
};

/* All repeats of one. */
struct sum {
	char path[PATH_MAX_BYTES];
	int repeats, unclosed, ended;
	int64_t before[PLACES], after[PLACES], change[PLACES], least[PLACES], most[PLACES], own[PLACES], own_least[PLACES],
		own_most[PLACES], peak[PLACES], peak_ns[PLACES];
};

static struct {
	struct world *w;
	uint64_t random;
	int64_t t, now[PLACES];
	struct open open[OPEN_MAX];
	int open_nr, serial, blocks;
	uint64_t id;
	struct sum sums[PATHS];
	int sum_nr, strays;
	bool is_leaky; /* most ranges never end */
} c;

static int below(int n)
{
	c.random = c.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)((c.random >> 33) % (uint64_t)n);
}

static int sum_of(const char *parent, const char *name)
{
	char path[PATH_MAX_BYTES];

	snprintf(path, sizeof(path), "%s%s%s", parent, *parent ? "/" : "", name);
	for (int i = 0; i < c.sum_nr; i++)
		if (!strcmp(c.sums[i].path, path))
			return i;
	CHECK(c.sum_nr < PATHS);
	memset(&c.sums[c.sum_nr], 0, sizeof(c.sums[0]));
	memcpy(c.sums[c.sum_nr].path, path, sizeof(path));
	return c.sum_nr++;
}

/* The innermost of a thread that a phase can stand in; -1: none. */
static int around(uint32_t tid, bool is_library)
{
	for (int i = c.open_nr; i-- > 0;)
		if (c.open[i].tid == tid && !c.open[i].is_range && (is_library || !c.open[i].is_library))
			return i;
	return -1;
}

static void begin(uint32_t tid, const char *name, bool is_library, bool is_range)
{
	int outer = is_range ? -1 : around(tid, is_library);
	struct open *o = &c.open[c.open_nr];

	if (c.open_nr == OPEN_MAX)
		return;
	*o = (struct open){ .path = sum_of(outer < 0 ? "" : c.sums[c.open[outer].path].path, name),
		                .parent = outer < 0 ? 0 : c.open[outer].serial,
		                .serial = ++c.serial,
		                .tid = tid,
		                .is_range = is_range,
		                .is_library = is_library,
		                .id = is_range ? ++c.id : 0 };
	memcpy(o->before, c.now, sizeof(o->before));
	memcpy(o->most, c.now, sizeof(o->most));
	for (int p = 0; p < PLACES; p++)
		o->most_ns[p] = c.t;
	c.open_nr++;
	c.sums[o->path].repeats++;
	PHASE(c.w, .tid = tid, .what = is_range ? TARE_PHASE_BEGIN : TARE_PHASE_PUSH, .t = c.t, .name = name,
	      .domain = is_library ? "NCCL" : NULL, .id = o->id);
}

static void add(struct sum *s, int place, int64_t change, int64_t own)
{
	bool is_first = !s->ended;

	s->change[place] += change;
	s->own[place] += own;
	if (is_first || s->least[place] > change)
		s->least[place] = change;
	if (is_first || s->most[place] < change)
		s->most[place] = change;
	if (is_first || s->own_least[place] > own)
		s->own_least[place] = own;
	if (is_first || s->own_most[place] < own)
		s->own_most[place] = own;
}

/* What it has seen is booked. */
static void book(int at)
{
	const struct open *o = &c.open[at];
	struct sum *s = &c.sums[o->path];

	for (int p = 0; p < PLACES; p++) {
		int64_t change = c.now[p] - o->before[p];

		add(s, p, change, change - o->nested[p]);
		if (!s->ended)
			s->before[p] = o->before[p];
		if (!s->ended || s->peak[p] < o->most[p]) {
			s->peak[p] = o->most[p];
			s->peak_ns[p] = o->most_ns[p];
		}
		s->after[p] = c.now[p];
		for (int i = 0; i < c.open_nr; i++)
			if (o->parent && c.open[i].serial == o->parent)
				c.open[i].nested[p] += change;
	}
	s->ended++;
	memmove(&c.open[at], &c.open[at + 1], (size_t)(c.open_nr - at - 1) * sizeof(c.open[0]));
	c.open_nr--;
}

/* The innermost of its thread, of its domain. */
static void pop(uint32_t tid, bool is_library)
{
	int at = c.open_nr - 1;

	while (at >= 0 && (c.open[at].tid != tid || c.open[at].is_range || c.open[at].is_library != is_library))
		at--;
	PHASE(c.w, .tid = tid, .what = TARE_PHASE_POP, .t = c.t, .domain = is_library ? "NCCL" : NULL);
	if (at >= 0)
		book(at);
	else
		c.strays++;
}

static void end_range(void)
{
	int at = below(OPEN_MAX);

	if (at >= c.open_nr || !c.open[at].is_range)
		return;
	PHASE(c.w, .tid = 9, .what = TARE_PHASE_END, .t = c.t, .id = c.open[at].id);
	book(at);
}

static void see(int place, int64_t t)
{
	for (int i = 0; i < c.open_nr; i++)
		if (c.open[i].most[place] < c.now[place]) {
			c.open[i].most[place] = c.now[place];
			c.open[i].most_ns[place] = t;
		}
}

/* A weighed call. */
static void change(int device)
{
	int64_t before = c.now[device], after = before + (below(80) - 36) * MIB;

	if (after < MIB)
		after = MIB;
	c.t += 1000;
	CALL(c.w, .device = device, .tid = 5, .class = TARE_CLASS_MODULE, .effect = TARE_EFFECT_CHANGE, .begin = c.t,
	     .end = c.t + 100, .handle = 0x30, .context = 0xc0, .weigh = true, .before = before, .after = after);
	c.now[device] = after;
	see(device, c.t + 100);
	c.t += 1000;
}

static void change_on_cpu(void)
{
	int64_t bytes = (1 + below(9)) * MIB;

	c.t += 10;
	world_host_tensor(c.w, 0, c.t, 0x1000u + (uint64_t)c.blocks++, bytes, 0);
	c.now[CPU] += bytes;
	see(CPU, c.t);
	c.t += 10;
}

static void step(void)
{
	static const char *const names[] = { "load", "step 1", "forward", "backward", "save" };
	const char *name = names[below(5)];
	uint32_t tid = 1 + (uint32_t)below(3);
	int what = below(100);

	c.t += below(4) ? 0 : 1 + below(200);
	if (c.is_leaky && below(4) == 0)
		begin(tid, "request", false, true);
	else if (what < 38)
		begin(tid, name, false, false);
	else if (what < 78)
		pop(tid, false);
	else if (what < 81)
		begin(tid, "reduce", true, false);
	else if (what < 84)
		pop(tid, true);
	else if (what < 87)
		begin(tid, "request", false, true);
	else if (what < 92)
		end_range();
	else if (what < 94)
		change_on_cpu();
	else
		change(below(DEVICES));
}

static const struct tare_phase_on_device *on_device(const struct tare_phase_row *row, int place)
{
	for (int i = 0; i < row->device_nr; i++)
		if (row->devices[i].index == (place == CPU ? -1 : place))
			return &row->devices[i];
	return NULL;
}

static void check_place(const struct sum *s, const struct tare_phase_row *row, int p)
{
	const struct tare_phase_on_device *d = on_device(row, p);

	CHECK(d || (p == CPU && !c.now[CPU]));
	if (!d)
		return;
	CHECK_INT(d->repeats, s->ended);
	CHECK_INT(d->used_before, s->before[p]);
	CHECK_INT(d->used_after, s->after[p]);
	CHECK_INT(d->change, s->change[p]);
	CHECK_INT(d->change_min, s->least[p]);
	CHECK_INT(d->change_max, s->most[p]);
	CHECK_INT(d->own, s->own[p]);
	CHECK_INT(d->own_min, s->own_least[p]);
	CHECK_INT(d->own_max, s->own_most[p]);
	CHECK_INT(d->peak, s->peak[p]);
	CHECK_INT(d->peak_t_ns, s->peak_ns[p]);
}

static void check(const struct tare_ledger *l)
{
	CHECK_INT(l->phase_nr, c.sum_nr);
	for (int i = 0; i < c.sum_nr; i++) {
		const struct sum *s = &c.sums[i];
		const struct tare_phase_row *row = world_phase_row(l, s->path);

		CHECK_INT(row->repeats, s->repeats);
		CHECK_INT(row->unclosed, s->unclosed);
		for (int p = 0; p < PLACES; p++)
			check_place(s, row, p);
	}
}

static void make(int seed)
{
	memset(&c, 0, sizeof(c));
	c.random = (uint64_t)seed * 77 + 1;
	c.is_leaky = seed % 2;
	c.w = world_new();
	world_device(c.w);
	c.t = 1 * MS;
	c.now[0] = 100 * MIB;
	c.now[1] = 200 * MIB;
	change(0);
	change(1);
	for (int i = 0; i < STEPS; i++)
		step();
	/* What is open when the program ends, ends inner first. */
	for (int i = 0; i < c.open_nr; i++)
		c.sums[c.open[i].path].unclosed++;
	while (c.open_nr)
		book(c.open_nr - 1);
}

TEST(phases_of_random_courses_have_seen_what_changed)
{
	static const struct tare_instant end = { .kind = TARE_INSTANT_MOMENT, .moment = TARE_MOMENT_END, .text = "end" };

	for (int seed = 0; seed < COURSES; seed++) {
		struct tare_ledger l;

		make(seed);
		l = world_ledger(c.w, "end");
		check(&l);
		CHECK(!c.strays || world_has_note(&l, "ended that had not begun"));
		tare_ledger_free(&l);
		world_build_at(c.w, &end, &l);
		check(&l);
		tare_ledger_free(&l);
		world_free(c.w);
	}
}
