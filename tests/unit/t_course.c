/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of memory over time. That it is what the ledger says, ledger_world_memory_history.c checks everywhere. */
#include "ledger_world.h"
#include "test.h"

#include <stdlib.h>

#define BASE UINT64_C(0x7f0000000000)

static void build(struct world *w, struct tare_memory_history *s, struct tare_ledger *l)
{
	struct tare_ledger_opts opts = { .history = s };
	const char *at = "peak";

	world_build(w, &opts, &at, 1, l);
}

static void take(struct world *w, int64_t t, uint64_t at, int64_t size, int64_t before)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = t, .end = t + 10, .handle = at,
	     .context = 0xc0, .asked = (uint64_t)size, .granted = (uint64_t)size, .weigh = true, .before = before,
	     .after = before + size);
}

static void give(struct world *w, int64_t t, uint64_t at, int64_t size, int64_t before)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = t, .end = t + 10, .handle = at,
	     .context = 0xc0, .weigh = true, .before = before, .after = before - size);
}

TEST(history_of_nothing_has_no_points)
{
	struct world *w = world_new();
	struct tare_memory_history s;
	struct tare_ledger l;

	build(w, &s, &l);
	CHECK_INT(s.end_ns, 0);
	for (int i = 0; i < s.panel_nr; i++)
		CHECK_INT(s.panels[i].band_nr, 0);
	CHECK_INT(s.span_nr, 0);
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(history_of_one_event_has_what_was_before_and_after)
{
	struct world *w = world_new();
	struct tare_memory_history s;
	struct tare_ledger l;
	const struct tare_memory_history_panel *p;

	take(w, 5 * MS, BASE, 8 * MIB, 100 * MIB);
	build(w, &s, &l);
	CHECK_INT(s.panel_nr, 1);
	p = &s.panels[0];
	CHECK(p->point_nr >= 2);
	CHECK_INT(p->points[0].used, 100 * MIB);
	CHECK_INT(p->points[p->point_nr - 1].used, 108 * MIB);
	CHECK_INT(p->peak.used, 108 * MIB);
	CHECK_INT(p->peak.t_ns, 5 * MS + 10);
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
	world_free(w);
}

/* One moment of 10 ns among a hundred thousand calls that are all alike. */
TEST(history_keeps_the_peak_of_a_hundred_thousand_events_and_no_more_points_than_it_may)
{
	enum { CALLS = 100000, ODD = 77777 };
	struct world *w = world_new();
	struct tare_memory_history s;
	struct tare_ledger l;
	int64_t most = 0, least = INT64_MAX;

	for (int i = 0; i < CALLS; i++) {
		int64_t size = i == ODD ? 64 * MIB : 2 * MIB;

		take(w, i * 1000, BASE, size, 100 * MIB);
		give(w, i * 1000 + 20, BASE, size, 100 * MIB + size);
	}
	build(w, &s, &l);
	CHECK(s.panels[0].point_nr <= 2 * TARE_HISTORY_COLUMNS);
	CHECK(s.panels[0].point_nr >= TARE_HISTORY_COLUMNS);
	for (size_t i = 0; i < s.panels[0].point_nr; i++) {
		most = s.panels[0].points[i].used > most ? s.panels[0].points[i].used : most;
		least = s.panels[0].points[i].used < least ? s.panels[0].points[i].used : least;
	}
	CHECK_INT(most, 164 * MIB);
	CHECK_INT(least, 100 * MIB);
	CHECK_INT(s.panels[0].peak.t_ns, ODD * 1000 + 10);
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
	world_free(w);
}

static int64_t band(const struct tare_memory_history_panel *p, const struct tare_memory_history_point *at,
                    const char *key)
{
	for (int i = 0; i < p->band_nr; i++)
		if (!strcmp(p->bands[i].key, key))
			return at->bytes[i];
	return -1;
}

TEST(history_takes_pytorchs_segments_apart_and_puts_what_is_elastic_on_top)
{
	struct world *w = world_new();
	struct tare_memory_history s;
	struct tare_ledger l;
	const struct tare_memory_history_panel *p;
	const struct tare_memory_history_point *last;

	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 1 * MS, .end = 2 * MS, .handle = BASE,
	     .context = 0xc0, .asked = 20 * MIB, .granted = 20 * MIB, .weigh = true, .before = 100 * MIB,
	     .after = 120 * MIB, .owner = "/torch/lib/libc10_cuda.so");
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 3 * MS, .end = 4 * MS,
	     .handle = BASE + 100 * MIB, .context = 0xc0, .asked = 30 * MIB, .granted = 30 * MIB, .weigh = true,
	     .before = 120 * MIB, .after = 150 * MIB, .owner = "/torch/lib/libc10_cuda.so");
	world_tensor(w, 5 * MS, BASE, 12 * MIB);
	world_tensor(w, 6 * MS, BASE + 100 * MIB, 30 * MIB);
	world_tensor(w, 7 * MS, BASE + 100 * MIB, 0);
	world_reading(w, 0, 9 * MS, 150 * MIB);
	build(w, &s, &l);
	p = &s.panels[0];
	last = &p->points[p->point_nr - 1];
	CHECK_INT(band(p, last, "tensors"), 12 * MIB);
	CHECK_INT(band(p, last, "partly"), 8 * MIB);
	CHECK_INT(band(p, last, "cached"), 30 * MIB);
	CHECK_INT(band(p, last, "other"), 100 * MIB);
	CHECK_STR(p->bands[p->band_nr - 1].key, "cached");
	CHECK(p->bands[p->band_nr - 1].elastic);
	/* The peak is the moment with most in blocks among those with as much in use. */
	CHECK_INT(p->peak.t_ns, 6 * MS);
	CHECK_INT(band(p, &p->peak, "tensors"), 42 * MIB);
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
	world_free(w);
}

/* Blocks are in the points of the time that they were there, and in no other. */
TEST(history_has_tensors_by_category)
{
	struct world *w = world_new();
	struct tare_memory_history first, s;
	struct tare_ledger_opts opts = { .history = &s, .history_by_category = &first };
	const char *at = "peak";
	struct tare_ledger l;
	const struct tare_memory_history_panel *p;
	int64_t sums[2] = { 0 };

	world_host_tensor(w, 0, 100 * MS, 0x1000, 3 * MIB, 0);
	world_host_tensor(w, 0, 200 * MS, 0x9000, 5 * MIB, TARE_TENSOR_BACKWARD);
	world_host_tensor(w, 0, 300 * MS, 0x9000, 0, TARE_TENSOR_BACKWARD);
	world_host_tensor(w, 0, 400 * MS, 0x20000, 1 * MIB, 0);
	build(w, &first, &l);
	tare_ledger_free(&l);
	world_build(w, &opts, &at, 1, &l);
	p = &s.panels[s.panel_nr - 1];
	for (size_t i = 0; i < p->point_nr; i++) {
		int64_t t = p->points[i].t_ns, temporary = band(p, &p->points[i], "temporary");
		bool is_there = t >= 200 * MS && t < 300 * MS;

		CHECK_INT(temporary < 0 ? 0 : temporary, is_there ? 5 * MIB : 0);
		sums[is_there]++;
	}
	CHECK(sums[0] > 100 && sums[1] > 100);
	CHECK_INT(band(p, &p->peak, "temporary"), 5 * MIB);
	tare_memory_history_free(&first);
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(history_of_the_cpu_tells_processes_apart)
{
	struct world *w = world_new();
	int other = world_process(w, 500, 0, "worker");
	struct tare_memory_history s;
	struct tare_ledger l;
	const struct tare_memory_history_panel *p;

	world_host_tensor(w, 0, 1 * MS, 0x1000, 3 * MIB, 0);
	world_host_tensor(w, other, 2 * MS, 0x1000, 5 * MIB, 0);
	world_host_tensor(w, 0, 3 * MS, 0x1000, 0, 0);
	world_host_tensor(w, other, 9 * MS, 0x9000, 1 * MIB, 0);
	build(w, &s, &l);
	p = &s.panels[s.panel_nr - 1];
	CHECK_INT(p->device, -1);
	CHECK_INT(p->band_nr, 2);
	CHECK_INT(p->peak.used, 8 * MIB);
	CHECK_INT(p->peak.t_ns, 2 * MS);
	CHECK_INT(p->points[p->point_nr - 1].used, 6 * MIB);
	CHECK_INT(p->points[p->point_nr - 1].bytes[0], 0);
	CHECK_INT(p->points[p->point_nr - 1].bytes[1], 6 * MIB);
	CHECK_STR(p->bands[1].label, "worker (pid 500)");
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(history_tells_processes_apart_up_to_a_number)
{
	struct world *w = world_new();
	struct tare_memory_history s;
	struct tare_ledger l;
	const struct tare_memory_history_panel *p;

	for (int i = 0; i < 40; i++)
		world_host_tensor(w, world_process(w, 1000 + (uint32_t)i, 0, "worker"), (1 + i) * MS, 0x1000, MIB, 0);
	build(w, &s, &l);
	p = &s.panels[s.panel_nr - 1];
	CHECK_INT(p->band_nr, 12);
	CHECK_INT(p->peak.bytes[11], 29 * MIB);
	CHECK_STR(p->bands[11].label, "further processes");
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(history_has_phases_and_marks_by_time)
{
	struct world *w = world_new();
	struct tare_memory_history s;
	struct tare_ledger l;

	take(w, 0, BASE, 2 * MIB, 100 * MIB);
	PHASE(w, .tid = 1, .what = TARE_PHASE_PUSH, .t = 100 * MS, .name = "outer");
	PHASE(w, .tid = 1, .what = TARE_PHASE_PUSH, .t = 100 * MS, .name = "inner");
	PHASE(w, .tid = 1, .what = TARE_PHASE_POP, .t = 400 * MS);
	PHASE(w, .tid = 1, .what = TARE_PHASE_MARK, .t = 500 * MS, .name = "here");
	PHASE(w, .tid = 1, .what = TARE_PHASE_POP, .t = 800 * MS);
	PHASE(w, .tid = 1, .what = TARE_PHASE_PUSH, .t = 900 * MS, .name = "open");
	give(w, 1000 * MS, BASE, 2 * MIB, 102 * MIB);
	build(w, &s, &l);
	CHECK_INT(s.span_nr, 4);
	CHECK_STR(s.spans[0].name, "outer");
	CHECK_INT(s.spans[0].end_ns, 800 * MS);
	CHECK_STR(s.spans[1].name, "inner");
	CHECK_STR(s.spans[2].name, "here");
	CHECK(s.spans[2].is_mark);
	CHECK_INT(s.spans[2].begin_ns, 500 * MS);
	CHECK_STR(s.spans[3].name, "open");
	CHECK(s.spans[3].end_ns >= 1000 * MS);
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
	world_free(w);
}

/* Repeats that a picture shows as one are one; all are counted. */
TEST(history_joins_repeats_too_short_to_be_seen)
{
	enum { STEPS = 50000, NAMES = 6000 };
	static char names[NAMES][32]; /* the world keeps their addresses */
	struct world *w = world_new();
	struct tare_memory_history s;
	struct tare_ledger l;
	uint64_t steps = 0, all = 0;

	take(w, 0, BASE, 2 * MIB, 100 * MIB);
	for (int i = 0; i < STEPS; i++) {
		PHASE(w, .tid = 1, .what = TARE_PHASE_PUSH, .t = 1000 + i * 1000, .name = "step");
		PHASE(w, .tid = 1, .what = TARE_PHASE_POP, .t = 1000 + i * 1000 + 900);
	}
	for (int i = 0; i < NAMES; i++) { /* each with a name of its own */
		snprintf(names[i], sizeof(names[i]), "part %d", i);
		PHASE(w, .tid = 2, .what = TARE_PHASE_PUSH, .t = 2000 + i * 2000, .name = names[i]);
		PHASE(w, .tid = 2, .what = TARE_PHASE_POP, .t = 2000 + i * 2000 + 500);
	}
	give(w, (STEPS + 10) * 1000, BASE, 2 * MIB, 102 * MIB);
	build(w, &s, &l);
	CHECK(s.span_nr <= 4096);
	for (size_t i = 0; i < s.span_nr; i++) {
		all += s.spans[i].count;
		steps += strcmp(s.spans[i].name, "step") ? 0 : s.spans[i].count;
	}
	CHECK_INT(all + s.dropped, STEPS + NAMES);
	CHECK(steps > STEPS / 2);
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(history_begins_where_something_happens_if_that_is_late)
{
	struct world *w = world_new();
	struct tare_memory_history s;
	struct tare_ledger l;

	world_reading(w, 0, 0, 100 * MIB);
	take(w, 900 * MS, BASE, 2 * MIB, 100 * MIB);
	give(w, 1000 * MS, BASE, 2 * MIB, 102 * MIB);
	build(w, &s, &l);
	CHECK_INT(s.end_ns, 1000 * MS + 10);
	CHECK(s.from_ns > 800 * MS && s.from_ns < 900 * MS);
	CHECK_INT(l.devices[0].timeline.from_ns, s.from_ns);
	tare_memory_history_free(&s);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(timeline_has_the_most_of_every_column)
{
	struct world *w = world_new();
	struct tare_ledger l;
	int64_t most = 0;

	take(w, 0, BASE, 2 * MIB, 100 * MIB);
	take(w, 500 * MS, BASE + 4 * MIB, 8 * MIB, 102 * MIB);
	give(w, 500 * MS + 100, BASE + 4 * MIB, 8 * MIB, 110 * MIB);
	give(w, 1000 * MS, BASE, 2 * MIB, 102 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(l.devices[0].timeline.from_ns, 0);
	CHECK_INT(l.devices[0].timeline.to_ns, 1000 * MS + 10);
	CHECK(l.devices[0].timeline.nr <= TARE_HISTORY_COLUMNS);
	for (int i = 0; i < l.devices[0].timeline.nr; i++)
		most = l.devices[0].timeline.used[i] > most ? l.devices[0].timeline.used[i] : most;
	CHECK_INT(most, 110 * MIB);
	CHECK_INT(l.devices[0].timeline.used[l.devices[0].timeline.nr / 4], 102 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}
