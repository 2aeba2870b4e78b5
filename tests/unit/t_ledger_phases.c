/* SPDX-License-Identifier: Apache-2.0 */
/* Phases: what a device changed while they were open. */
#include "ledger_world.h"
#include "test.h"

#define PUSH(W, T, NAME, ...) PHASE(W, .what = TARE_PHASE_PUSH, .t = T, .name = NAME, ##__VA_ARGS__)
#define POP(W, T, ...)        PHASE(W, .what = TARE_PHASE_POP, .t = T, ##__VA_ARGS__)

/* A weighed call that changes the device from `before` MiB to `after`. */
static void change(struct world *w, int64_t begin, int64_t end, int64_t before, int64_t after)
{
	CALL(w, .class = TARE_CLASS_MODULE, .effect = TARE_EFFECT_CHANGE, .begin = begin, .end = end, .handle = 0x30,
	     .context = 0xc0, .weigh = true, .before = before * MIB, .after = after * MIB);
}

#define SEGMENT UINT64_C(0x7f0000000000)

static void check_device(const struct tare_ledger *l, const char *path, int64_t after, int64_t change, int64_t own,
                         int64_t peak)
{
	const struct tare_phase_row *row = world_phase_row(l, path);

	CHECK_INT(row->device_nr, 1);
	CHECK_INT(row->devices[0].used_after, after * MIB);
	CHECK_INT(row->devices[0].change, change * MIB);
	CHECK_INT(row->devices[0].own, own * MIB);
	CHECK_INT(row->devices[0].peak, peak * MIB);
}

TEST(nested_phases_have_an_own_part)
{
	struct world *w = world_new();
	struct tare_ledger l;

	change(w, 1 * MS, 2 * MS, 100, 110);
	PUSH(w, 3 * MS, "outer");
	change(w, 4 * MS, 5 * MS, 110, 117);
	PUSH(w, 6 * MS, "inner n=3");
	change(w, 7 * MS, 8 * MS, 117, 157);
	change(w, 9 * MS, 10 * MS, 157, 137);
	POP(w, 11 * MS);
	change(w, 12 * MS, 13 * MS, 137, 134);
	POP(w, 14 * MS);
	change(w, 15 * MS, 16 * MS, 134, 200);
	l = world_ledger(w, "end");
	CHECK_INT(l.phase_nr, 2);
	check_device(&l, "outer", 134, 24, 4, 157);
	check_device(&l, "outer/inner n=3", 137, 20, 20, 157);
	CHECK_INT(world_phase_row(&l, "outer/inner n=3")->depth, 1);
	CHECK_INT(world_phase_row(&l, "outer")->devices[0].used_before, 110 * MIB);
	CHECK_INT(world_phase_row(&l, "outer")->devices[0].peak_t_ns, 8 * MS);
	CHECK_INT(world_phase_row(&l, "outer")->ns, 11 * MS);
	CHECK_INT(world_phase_row(&l, "outer")->devices[0].part_nr, 1);
	CHECK_INT(world_phase_row(&l, "outer")->devices[0].parts[0].account, TARE_ACCOUNT_CODE);
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* NCCL opens a phase and tells its end in a way that is not seen; what the program marks stands by itself. */
TEST(what_a_library_leaves_open_holds_none_of_the_program)
{
	struct world *w = world_new();
	struct tare_ledger l;

	change(w, 1 * MS, 2 * MS, 0, 50);
	PUSH(w, 3 * MS, "init", .domain = "NCCL");
	PUSH(w, 4 * MS, "step");
	PUSH(w, 5 * MS, "reduce", .domain = "NCCL");
	change(w, 6 * MS, 7 * MS, 50, 80);
	POP(w, 8 * MS, .domain = "NCCL");
	POP(w, 9 * MS);
	l = world_ledger(w, "end");
	check_device(&l, "step", 80, 30, 0, 80);
	CHECK_INT(world_phase_row(&l, "step")->depth, 0);
	check_device(&l, "step/reduce", 80, 30, 30, 80);
	CHECK_INT(world_phase_row(&l, "init")->depth, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* The allocator asks for a segment and then hands out a block of it: the phase's peak is with the block. */
TEST(the_peak_is_where_most_of_it_is_in_use)
{
	struct world *w = world_new();
	struct tare_ledger l;

	CALL(w, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW, .begin = 0, .end = 1 * MS, .handle = 0xc0,
	     .context = 0xc0, .flags = TARE_EVENT_PRIMARY, .weigh = true, .before = 30 * MIB, .after = 100 * MIB);
	PUSH(w, 2 * MS, "outer");
	PUSH(w, 2 * MS + 1, "fill");
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_NEW, .begin = 3 * MS, .end = 4 * MS, .handle = SEGMENT,
	     .context = 0xc0, .asked = 20 * MIB, .granted = 20 * MIB, .weigh = true, .before = 100 * MIB,
	     .after = 120 * MIB, .owner = "/lib/libc10_cuda.so");
	world_tensor(w, 5 * MS, SEGMENT, 12 * MIB);
	world_tensor(w, 6 * MS, SEGMENT, 0);
	POP(w, 7 * MS);
	PUSH(w, 8 * MS, "again"); /* as much in use as before, and more of it in blocks a little later */
	world_tensor(w, 9 * MS, SEGMENT, 16 * MIB);
	world_tensor(w, 10 * MS, SEGMENT, 0);
	POP(w, 11 * MS);
	POP(w, 12 * MS);
	l = world_ledger(w, "end");
	CHECK_INT(world_phase_row(&l, "outer/fill")->devices[0].peak_t_ns, 5 * MS);
	CHECK_INT(world_phase_row(&l, "outer/again")->devices[0].peak_t_ns, 9 * MS);
	CHECK_INT(world_phase_row(&l, "outer")->devices[0].peak_t_ns, 9 * MS);
	CHECK_INT(l.devices[0].own_peak, 90 * MIB);
	CHECK_INT(l.devices[0].own_peak_t_ns, 9 * MS);
	tare_ledger_free(&l);
	world_reading(w, 0, 13 * MS, 120 * MIB + (64 << 10)); /* the counter wavers */
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].t_ns, 9 * MS);
	tare_ledger_free(&l);
	world_reading(w, 0, 14 * MS, 121 * MIB);
	l = world_ledger(w, "peak");
	CHECK_INT(l.devices[0].t_ns, 14 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(an_own_part_can_be_negative)
{
	struct world *w = world_new();
	struct tare_ledger l;

	change(w, 1 * MS, 2 * MS, 0, 50);
	PUSH(w, 3 * MS, "outer");
	PUSH(w, 4 * MS, "inner");
	change(w, 5 * MS, 6 * MS, 50, 80);
	POP(w, 7 * MS);
	change(w, 8 * MS, 9 * MS, 80, 60);
	POP(w, 10 * MS);
	l = world_ledger(w, "end");
	check_device(&l, "outer", 60, 10, -20, 80);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(repeats_are_one_row_with_least_and_most)
{
	static const int64_t gains[] = { 4, -2, 9 };
	struct world *w = world_new();
	const struct tare_phase_row *row;
	struct tare_ledger l;
	int64_t used = 100;

	for (int i = 0; i < 3; i++) {
		PUSH(w, (10 * i + 1) * MS, "step");
		change(w, (10 * i + 2) * MS, (10 * i + 3) * MS, used, used + gains[i]);
		used += gains[i];
		POP(w, (10 * i + 4) * MS);
	}
	l = world_ledger(w, "end");
	CHECK_INT(l.phase_nr, 1);
	check_device(&l, "step", 111, 11, 11, 111);
	row = world_phase_row(&l, "step");
	CHECK_INT(row->repeats, 3);
	CHECK_INT(row->devices[0].change_min, -2 * MIB);
	CHECK_INT(row->devices[0].change_max, 9 * MIB);
	CHECK_INT(row->first_t_ns, 1 * MS);
	CHECK_INT(row->last_t_ns, 24 * MS);
	tare_ledger_free(&l);
	world_free(w);
}

/* A call counts where it ends; both threads' phases have what the device did meanwhile. */
TEST(phases_of_two_threads_both_have_what_changed)
{
	struct world *w = world_new();
	struct tare_ledger l;

	change(w, 1 * MS, 2 * MS, 0, 10);
	PUSH(w, 3 * MS, "a", .tid = 1);
	PUSH(w, 4 * MS, "b", .tid = 2);
	CALL(w, .tid = 2, .class = TARE_CLASS_MODULE, .effect = TARE_EFFECT_CHANGE, .begin = 5 * MS, .end = 9 * MS,
	     .handle = 0x31, .context = 0xc0, .weigh = true, .before = 10 * MIB, .after = 30 * MIB);
	POP(w, 7 * MS, .tid = 1);
	POP(w, 11 * MS, .tid = 2);
	l = world_ledger(w, "end");
	check_device(&l, "a", 10, 0, 0, 10);
	check_device(&l, "b", 30, 20, 20, 30);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_range_may_end_on_another_thread_and_need_not_nest)
{
	struct world *w = world_new();
	struct tare_ledger l;

	change(w, 1 * MS, 2 * MS, 0, 10);
	PHASE(w, .what = TARE_PHASE_BEGIN, .t = 3 * MS, .name = "x", .id = 7, .tid = 1);
	PUSH(w, 4 * MS, "p", .tid = 1);
	PHASE(w, .what = TARE_PHASE_BEGIN, .t = 5 * MS, .name = "y", .id = 8, .tid = 1);
	change(w, 6 * MS, 7 * MS, 10, 16);
	PHASE(w, .what = TARE_PHASE_END, .t = 8 * MS, .id = 7, .tid = 2);
	change(w, 9 * MS, 10 * MS, 16, 17);
	POP(w, 11 * MS, .tid = 1);
	PHASE(w, .what = TARE_PHASE_END, .t = 12 * MS, .id = 8, .tid = 3);
	l = world_ledger(w, "end");
	check_device(&l, "x", 16, 6, 6, 16);
	check_device(&l, "p", 17, 7, 7, 17);
	check_device(&l, "y", 17, 7, 7, 17);
	CHECK_INT(world_phase_row(&l, "y")->kind, TARE_PHASE_RANGE);
	tare_ledger_free(&l);
	world_free(w);
}

/* NVTX keeps a stack per domain, and nothing makes two of them nest. */
TEST(a_pop_ends_the_innermost_of_its_own_domain)
{
	struct world *w = world_new();
	struct tare_ledger l;

	change(w, 1 * MS, 2 * MS, 0, 10);
	PUSH(w, 3 * MS, "mine");
	PUSH(w, 4 * MS, "theirs", .domain = "NCCL");
	change(w, 5 * MS, 6 * MS, 10, 12);
	POP(w, 7 * MS);
	change(w, 8 * MS, 9 * MS, 12, 15);
	POP(w, 10 * MS, .domain = "NCCL");
	PUSH(w, 11 * MS, "next");
	POP(w, 12 * MS);
	l = world_ledger(w, "end");
	check_device(&l, "mine", 12, 2, 2, 12);
	check_device(&l, "mine/theirs", 15, 5, 5, 15);
	CHECK_INT(world_phase_row(&l, "next")->depth, 0);
	CHECK_STR(world_phase_row(&l, "mine/theirs")->domain, "NCCL");
	CHECK_INT(l.degraded_nr, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(marks_look_back_to_the_one_before)
{
	struct world *w = world_new();
	struct tare_ledger l;

	change(w, 1 * MS, 2 * MS, 100, 130);
	PHASE(w, .what = TARE_PHASE_MARK, .t = 3 * MS, .name = "after setting precon");
	change(w, 4 * MS, 5 * MS, 130, 150);
	change(w, 6 * MS, 7 * MS, 150, 140);
	PHASE(w, .what = TARE_PHASE_MARK, .t = 8 * MS, .name = "after capture");
	l = world_ledger(w, "end");
	check_device(&l, "after setting precon", 130, 30, 30, 130);
	check_device(&l, "after capture", 140, 10, 10, 150);
	CHECK_INT(world_phase_row(&l, "after capture")->kind, TARE_PHASE_MOMENT);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(what_does_not_end_ends_with_its_process)
{
	struct world *w = world_new();
	struct tare_ledger l;

	change(w, 1 * MS, 2 * MS, 0, 10);
	POP(w, 3 * MS);
	PUSH(w, 3 * MS + 1, "outer");
	PUSH(w, 4 * MS, "inner");
	change(w, 5 * MS, 6 * MS, 10, 12);
	world_end(w, 0, 7 * MS);
	world_reading(w, 0, 9 * MS, 0);
	l = world_ledger(w, "end");
	check_device(&l, "outer", 12, 2, 0, 12);
	check_device(&l, "outer/inner", 12, 2, 2, 12);
	CHECK_INT(world_phase_row(&l, "outer")->unclosed, 1);
	CHECK(world_has_note(&l, "2 phases did not end"));
	CHECK(world_has_note(&l, "1 phase ended that had not begun"));
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_recording_that_goes_on_shows_open_phases_as_they_are_now)
{
	struct world *w = world_new();
	struct tare_ledger l;

	PUSH(w, 1 * MS, "all");
	change(w, 2 * MS, 3 * MS, 5, 10);
	l = world_ledger(w, "end");
	check_device(&l, "all", 10, 5, 5, 10);
	CHECK_INT(world_phase_row(&l, "all")->unclosed, 1);
	tare_ledger_free(&l);
	world_free(w);
}

/* Two processes, ranges and repeats, and a state in every gap. */
TEST(a_state_anywhere_changes_nothing)
{
	struct world *w = world_new();
	int second = world_process(w, 77, 0, "other");
	int64_t used = 100, t = 1;

	PHASE(w, .what = TARE_PHASE_BEGIN, .t = t * MS, .name = "whole", .id = 1);
	for (int i = 0; i < 6; i++) {
		PUSH(w, (t += 1) * MS, i % 2 ? "odd" : "even");
		change(w, (t + 1) * MS, (t + 2) * MS, used, used + i);
		used += i;
		t += 2;
		PUSH(w, (t += 1) * MS, "inside", .process = i % 3 ? 0 : second);
		PHASE(w, .what = TARE_PHASE_MARK, .t = (t += 1) * MS, .name = "mark");
		change(w, (t + 1) * MS, (t + 2) * MS, used, used + 3);
		used += 3;
		t += 2;
		if (i != 3)
			POP(w, (t += 1) * MS, .process = i % 3 ? 0 : second);
		POP(w, (t += 1) * MS);
	}
	PHASE(w, .what = TARE_PHASE_END, .t = (t += 1) * MS, .id = 1, .tid = 9);
	world_check_states(w, test_rounds(60));
	world_free(w);
}

/* Two ranks, a GPU each: the phases of one say nothing of the other's GPU, and stand together. */
TEST(phases_are_shown_on_the_gpus_of_their_process)
{
	struct world *w = world_new();
	int rank = world_process(w, 77, 0, "train"), gpu = world_device(w);
	struct tare_ledger l;

	for (int i = 0; i < 2; i++)
		CALL(w, .process = i ? rank : 0, .device = i ? gpu : 0, .class = TARE_CLASS_CONTEXT, .effect = TARE_EFFECT_NEW,
		     .begin = 1 * MS, .end = 2 * MS, .handle = 0xc0, .context = 0xc0, .weigh = true, .before = 0,
		     .after = 500 * MIB);
	PUSH(w, 3 * MS, "a");
	PUSH(w, 4 * MS, "b", .process = rank);
	POP(w, 5 * MS);
	POP(w, 6 * MS, .process = rank);
	PUSH(w, 7 * MS, "c");
	POP(w, 8 * MS);
	l = world_ledger(w, "end");
	CHECK_INT(l.phase_nr, 3);
	CHECK_STR(l.phases[0].name, "a");
	CHECK_STR(l.phases[1].name, "c");
	CHECK_STR(l.phases[2].name, "b");
	CHECK_INT(l.phases[0].device_nr, 1);
	CHECK_INT(l.phases[0].devices[0].index, 0);
	CHECK_INT(l.phases[2].device_nr, 1);
	CHECK_INT(l.phases[2].devices[0].index, 1);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(a_program_that_never_ends_what_it_begins_is_cut_off)
{
	struct world *w = world_new();
	struct tare_ledger l;
	const char *at = "end";
	int depth = 0;

	change(w, 1 * MS, 2 * MS, 0, 10);
	for (int i = 0; i < 66000; i++)
		PUSH(w, 3 * MS + i, "deeper");
	world_build(w, NULL, &at, 1, &l);
	for (int i = 0; i < l.phase_nr; i++)
		depth = l.phases[i].depth > depth ? l.phases[i].depth : depth;
	CHECK_INT(depth, 63);
	CHECK_INT(l.phase_nr, 64);
	CHECK(world_has_note(&l, "464 phases began while 65536 were open"));
	tare_ledger_free(&l);
	world_free(w);
}

static struct tare_instant instant(const char *text)
{
	struct tare_instant at;

	CHECK_INT(tare_instant_parse(text, &at, NULL), 0);
	CHECK_INT(at.kind, TARE_INSTANT_PHASE);
	return at;
}

TEST(names_of_instants_are_taken_apart_from_their_end)
{
	static const struct {
		const char *text, *name;
		uint64_t nth;
		enum tare_phase_point point;
	} cases[] = {
		{ "phase:a", "a", 1, TARE_PHASE_AT_END },         { "phase:a b=1#12:peak", "a b=1", 12, TARE_PHASE_AT_PEAK },
		{ "phase:a:begin", "a", 1, TARE_PHASE_AT_BEGIN }, { "phase:x#y", "x#y", 1, TARE_PHASE_AT_END },
		{ "phase:x#", "x#", 1, TARE_PHASE_AT_END },       { "phase:#3", "#3", 1, TARE_PHASE_AT_END },
		{ "phase::peak", ":peak", 1, TARE_PHASE_AT_END }, { "phase:a:b:end", "a:b", 1, TARE_PHASE_AT_END },
	};
	struct tare_instant at;
	struct tare_err err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		at = instant(cases[i].text);
		CHECK_INT(at.phase_len, strlen(cases[i].name));
		CHECK(!strncmp(at.phase, cases[i].name, at.phase_len));
		CHECK_INT(at.nth, cases[i].nth);
		CHECK_INT(at.point, cases[i].point);
	}
	CHECK_INT(tare_instant_parse("phase:", &at, &err), TARE_E_USAGE);
}

/* Tensors on the CPU, with no device in the program; a block at the moment of a boundary is on the side it came on. */
TEST(phases_have_sizes_on_the_cpu)
{
	struct world *w = world_new();
	const struct tare_phase_on_device *outer, *inner;
	struct tare_ledger l;

	world_host_tensor(w, 0, 1 * MS, 0x1000, 10 * MIB, 0);
	PUSH(w, 2 * MS, "outer");
	world_host_tensor(w, 0, 3 * MS, 0x2000, 5 * MIB, 0);
	PUSH(w, 4 * MS, "inner");
	world_host_tensor(w, 0, 5 * MS, 0x3000, 40 * MIB, 0);
	world_host_tensor(w, 0, 6 * MS, 0x3000, 0, 0);
	world_host_tensor(w, 0, 7 * MS, 0x4000, 2 * MIB, 0);
	POP(w, 8 * MS);
	world_host_tensor(w, 0, 9 * MS, 0x2000, 0, 0);
	POP(w, 10 * MS);
	world_host_tensor(w, 0, 11 * MS, 0x5000, 90 * MIB, 0);
	PUSH(w, 12 * MS, "inner");
	l = world_ledger(w, "end");
	CHECK_INT(world_phase_row(&l, "outer")->device_nr, 1);
	outer = &world_phase_row(&l, "outer")->devices[0];
	inner = &world_phase_row(&l, "outer/inner")->devices[0];
	CHECK_INT(outer->index, -1);
	CHECK_INT(outer->used_before, 10 * MIB);
	CHECK_INT(outer->used_after, 12 * MIB);
	CHECK_INT(outer->change, 2 * MIB);
	CHECK_INT(outer->own, 0);
	CHECK_INT(outer->peak, 55 * MIB);
	CHECK_INT(outer->peak_t_ns, 5 * MS);
	CHECK_INT(inner->used_before, 15 * MIB);
	CHECK_INT(inner->change, 2 * MIB);
	CHECK_INT(inner->peak, 55 * MIB);
	inner = &world_phase_row(&l, "inner")->devices[0];
	CHECK_INT(inner->change, 0); /* it did not end */
	CHECK_INT(inner->peak, 102 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

static void check_resident(const struct tare_ledger *l, const char *path, int64_t after, int64_t most,
                           uint64_t readings)
{
	const struct tare_phase_row *row = world_phase_row(l, path);

	CHECK(row->resident_is_known);
	CHECK_INT(row->resident_after, after < 0 ? -1 : after * MIB);
	CHECK_INT(row->resident_most, most * MIB);
	CHECK_INT(row->resident_readings, readings);
}

/* What is resident is known where it was read; a reading has a MiB of files. */
TEST(phases_have_what_was_read_in_them)
{
	struct world *w = world_new();
	struct tare_ledger l;

	PUSH(w, 1 * MS, "first"); /* nothing was read before it */
	world_host(w, 0, 2 * MS, 9 * MIB);
	POP(w, 3 * MS);
	PUSH(w, 4 * MS, "outer");
	world_host(w, 0, 5 * MS, 39 * MIB);
	PUSH(w, 6 * MS, "inner");
	world_host(w, 0, 7 * MS, 29 * MIB);
	POP(w, 8 * MS);
	PUSH(w, 9 * MS, "short");
	POP(w, 10 * MS);
	POP(w, 11 * MS);
	PUSH(w, 12 * MS, "step");
	world_host(w, 0, 13 * MS, 49 * MIB);
	POP(w, 14 * MS);
	PUSH(w, 15 * MS, "step"); /* none this time */
	POP(w, 16 * MS);
	l = world_ledger(w, "end");
	check_resident(&l, "first", 10, 10, 1);
	CHECK(!world_phase_row(&l, "first")->resident_change_is_known);
	check_resident(&l, "outer", 30, 40, 2);
	CHECK(world_phase_row(&l, "outer")->resident_change_is_known);
	CHECK_INT(world_phase_row(&l, "outer")->resident_change, 20 * MIB);
	CHECK_INT(world_phase_row(&l, "outer")->resident_most_t_ns, 5 * MS);
	check_resident(&l, "outer/inner", 30, 30, 1);
	CHECK_INT(world_phase_row(&l, "outer/inner")->resident_change, -10 * MIB);
	CHECK(!world_phase_row(&l, "outer/short")->resident_is_known);
	CHECK_INT(world_phase_row(&l, "outer/short")->resident_after, -1);
	check_resident(&l, "step", -1, 50, 1);
	CHECK(!world_phase_row(&l, "step")->resident_change_is_known);
	tare_ledger_free(&l);
	world_free(w);
}

/* A mark has what was read since the one before it; the first, since its process began. */
TEST(marks_have_what_was_read_since_the_one_before)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_host(w, 0, 1 * MS, 19 * MIB);
	world_host(w, 0, 2 * MS, 9 * MIB);
	PHASE(w, .what = TARE_PHASE_MARK, .t = 3 * MS, .name = "loaded");
	world_host(w, 0, 4 * MS, 14 * MIB);
	PHASE(w, .what = TARE_PHASE_MARK, .t = 5 * MS, .name = "built");
	l = world_ledger(w, "end");
	check_resident(&l, "loaded", 10, 20, 2);
	CHECK(!world_phase_row(&l, "loaded")->resident_change_is_known);
	check_resident(&l, "built", 15, 15, 1);
	CHECK_INT(world_phase_row(&l, "built")->resident_change, 5 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}
