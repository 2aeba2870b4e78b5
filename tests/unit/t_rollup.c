/* SPDX-License-Identifier: Apache-2.0 */
/* Rollups of a recording while it is written: a report that goes on from a state says what a report from the begin says. */
#include "rollup/rollup.h"

#include "base/extent.h"
#include "ledger/build.h"
#include "make_log.h"
#include "moment_text.h"
#include "store/manifest.h"
#include "store/state_file.h"
#include "test.h"
#include "trace/recording.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define S UINT64_C(1000000000)

enum { CALLS = 3000, LATE = 1777 };

static struct make_log m;

/* At `at` ns after the begin; a call that takes or gives back a block of 2 MiB, and lasted `ns`. */
static void call(uint64_t at, uint64_t i, uint64_t ns, bool is_end)
{
	uint64_t handle = UINT64_C(0x7f0000000000) + (i % 100 << 24);

	make_log_call(&m, at, ns, handle, 2 << 20, is_end);
}

static void lose(uint64_t from, uint64_t at, uint32_t tid)
{
	m.stamp = m.header.first_stamp + at;
	MAKE(&m, lost, LOST, .records = 5, .first = m.header.first_stamp + from, .last = m.stamp, .tid = tid,
	     .reason = TARE_LOST_CAP);
}

static bool has_losses;

/* 30 s, 100 calls in each; one that gave back was begun seconds before its record was written. */
static void make_program(bool has_late)
{
	make_log_init(&m, 431, 0);
	MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 2);
	MAKE_TEXT(&m, string, STRING, "cuMemFree_v2", .id = 3);
	make_log_gpu(&m);
	for (uint64_t i = 0; i < CALLS; i++) {
		uint64_t at = S / 100 * (i + 1);
		bool is_late = has_late && i == LATE;

		call(is_late ? at - 6 * S : at, i / 2, is_late ? 6 * S : 1000, i % 2);
		if (i % 400 == 1) /* some stay */
			call(at + 10, 50 + i / 400, 1000, false);
		if (has_losses && i % 500 == 499)
			lose(at - 4 * S, at + 20, 10 + (uint32_t)(i / 500 % 3));
	}
}

static uint64_t state_nr(void)
{
	struct tare_manifest manifest;
	uint64_t states = 0;

	if (!tare_manifest_read(&manifest, make_dir(), NULL))
		states = manifest.state_nr;
	tare_manifest_free(&manifest);
	return states;
}

static uint64_t segment_records; /* 0: as many as is usual */

static void roll_up(size_t bytes)
{
	struct tare_rollup_options o = { .state_share = 1, .segment_records = segment_records };
	struct tare_rolled_up done;
	struct tare_err err = { 0 };

	make_log_write(&m, make_path(make_dir(), "431-0.events"), sizeof(m.header) + bytes);
	if (tare_rollup(make_dir(), &o, &done, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
}

static void forget_states(void)
{
	struct tare_manifest manifest;

	CHECK_INT(tare_manifest_read(&manifest, make_dir(), NULL), 0);
	manifest.state_nr = 0;
	CHECK_INT(tare_manifest_write(&manifest, make_dir(), NULL), 0);
	tare_manifest_free(&manifest);
}

static const char *const moments[] = { "peak", "end", "21.5s", "12.3s", "1s" };
enum { MOMENT_NR = sizeof(moments) / sizeof(moments[0]) };

/* What a report has, in a text. */
static char *ledgers(void)
{
	struct tare_str out = { 0 };

	for (int i = 0; i < MOMENT_NR; i++)
		moment_text_add(&out, moments[i]);
	return tare_str_steal(&out);
}

/* Rolled up so many times; there are that many states at least. */
static void check_states(bool has_late, size_t times, uint64_t least)
{
	char *with, *without;

	make_program(has_late);
	for (size_t i = 1; i <= times; i++)
		roll_up(m.size * i / times);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	CHECK(state_nr() >= least);
	with = ledgers();
	forget_states();
	without = ledgers();
	CHECK_STR(with, without);
	free(with);
	free(without);
	make_log_free(&m);
}

TEST(a_report_from_a_state_says_what_one_from_the_begin_says)
{
	check_states(false, 30, 3);
}

TEST(a_state_is_made_also_where_several_segments_come_at_once)
{
	segment_records = CALLS / 30 / 2 - 5; /* three at once: of these no number is a power of two */
	check_states(false, 30, 3);
}

TEST(a_call_that_lasted_longer_than_a_state_waited_is_where_it_belongs)
{
	check_states(true, 30, 3);
}

TEST(of_segments_that_came_at_once_there_are_as_many_states_as_if_each_had_come_alone)
{
	segment_records = CALLS / 30 / 2 - 5;
	check_states(false, 1, 15);
}

/* They lasted longer than a state waits; what is missing contradicts nothing. */
TEST(where_records_were_lost_all_states_hold)
{
	segment_records = CALLS / 30 / 2 - 5;
	has_losses = true;
	check_states(false, 1, 15);
}

/* Byte for byte: whatever is damaged costs the time that the state would have saved. */
TEST(a_damaged_state_is_not_believed)
{
	char *whole, *path;
	struct stat st;

	make_program(false);
	for (size_t i = 1; i <= 30; i++)
		roll_up(m.size * i / 30);
	whole = ledgers();
	for (uint32_t number = 1; number <= 30; number++) {
		path = tare_manifest_state_path(make_dir(), number);
		if (stat(path, &st) == 0)
			for (off_t at = 0; at < st.st_size; at += 1 + st.st_size / test_rounds(40)) {
				FILE *f = fopen(path, "r+b");
				int c;
				char *now;

				CHECK(f != NULL);
				fseeko(f, at, SEEK_SET);
				c = fgetc(f);
				fseeko(f, at, SEEK_SET);
				fputc(c ^ 0x40, f);
				fclose(f);
				now = ledgers();
				CHECK_STR(now, whole);
				free(now);
			}
		free(path);
	}
	free(whole);
	make_log_free(&m);
}

TEST(states_of_a_recording_that_got_another_process_first_are_not_used)
{
	struct make_log other;
	char *with, *without;

	make_program(false);
	for (size_t i = 1; i <= 30; i++)
		roll_up(m.size * i / 30);
	make_log_init(&other, 77, 0);
	other.header.first_stamp -= 5;
	MAKE(&other, end, END, .tid = 10, .how = TARE_HOW_EXIT);
	make_log_write(&other, make_path(make_dir(), "77-0.events"), SIZE_MAX);
	with = ledgers();
	forget_states();
	without = ledgers();
	CHECK_STR(with, without);
	free(with);
	free(without);
	make_log_free(&other);
	make_log_free(&m);
}

/* ---- phases of a span whose events went ---- */

enum { EPOCHS = 9, POINTS = 3, EPOCH_CALLS = 300 };

static void mark(enum tare_phase_what what)
{
	MAKE(&m, phase, PHASE, .tid = 10, .what = what, .name = what == TARE_PHASE_PUSH ? 4 : 0);
}

/* Three seconds of calls each, of which two and a half are in a phase; what is in use goes up and down. */
static void make_epochs(void)
{
	make_log_init(&m, 431, 0);
	MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 2);
	MAKE_TEXT(&m, string, STRING, "cuMemFree_v2", .id = 3);
	MAKE_TEXT(&m, string, STRING, "epoch", .id = 4);
	make_log_gpu(&m);
	for (uint64_t i = 0; i < EPOCHS * EPOCH_CALLS; i++) {
		uint64_t at = i % EPOCH_CALLS, block = at < 60 ? at : at < 120 ? 119 - at : at / 2 % 50;

		call(S / 100 * (i + 1), block, 1000, at < 120 ? at >= 60 : at % 2);
		if (at == 20)
			mark(TARE_PHASE_PUSH);
		if (at == 270)
			mark(TARE_PHASE_POP);
	}
}

struct seen {
	int64_t t, used;
};

static struct tare_recording *open_folder(void)
{
	struct tare_recording *r;

	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	return r;
}

static int64_t settle(struct tare_recording *r, int epoch, int point, struct tare_instant *at, char text[40])
{
	static const char *const points[POINTS] = { "begin", "peak", "end" };
	struct tare_err err = { 0 };

	snprintf(text, 40, "phase:epoch#%d:%s", epoch, points[point]);
	CHECK_INT(tare_instant_parse(text, at, NULL), 0);
	if (tare_phase_instants_settle(r, at, 1, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	return at->is_per_device ? at->device_t_ns[0] : at->t_ns;
}

static struct seen look_at(int epoch, int point)
{
	struct tare_recording *r = open_folder();
	struct tare_instant at;
	struct tare_ledger l;
	char text[40];
	struct seen seen = { .t = settle(r, epoch, point, &at, text) };

	tare_ledger_of_recording(r, NULL, &at, 1, &l);
	seen.used = l.devices[0].used;
	tare_ledger_free(&l);
	tare_recording_close(r);
	return seen;
}

static const struct tare_extent *kept(const struct tare_recording *r, const char *what)
{
	const struct tare_extent_list *list = tare_recording_extents(r);
	const struct tare_extent *found = NULL;

	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].what && !strcmp(list->items[i].what, what)) {
			CHECK(!found); /* once */
			found = &list->items[i];
		}
	return found;
}

/* `is_final`: of all there are, else but for those of the last second. */
static void drop_events(bool is_final)
{
	struct tare_rollup_options o = { .state_share = 1, .cap = 1, .is_final = is_final };
	struct tare_rolled_up done;

	CHECK_INT(tare_rollup(make_dir(), &o, &done, NULL), 0);
	CHECK(done.dropped > 0);
}

TEST(of_long_phases_whose_events_went_begin_peak_and_end_are_known)
{
	struct seen seen[EPOCHS][POINTS];
	struct tare_recording *r;
	int gone = 0;

	make_epochs();
	for (size_t i = 1; i <= 30; i++)
		roll_up(m.size * i / 30);
	for (int i = 0; i < EPOCHS * POINTS; i++)
		seen[i / POINTS][i % POINTS] = look_at(i / POINTS + 1, i % POINTS);
	CHECK(seen[0][0].used < seen[0][1].used && seen[0][2].used < seen[0][1].used);
	drop_events(false);
	r = open_folder();
	for (int i = 0; i < EPOCHS * POINTS; i++) {
		const struct seen *was = &seen[i / POINTS][i % POINTS];
		const struct tare_extent *now;
		struct tare_instant at;
		char text[40];

		CHECK_INT(settle(r, i / POINTS + 1, i % POINTS, &at, text), was->t);
		if (was->t >= tare_recording_dropped_ns(r))
			continue;
		now = kept(r, text);
		CHECK(now && now->from_ns == was->t && now->until_ns == was->t);
		CHECK_INT(now->low.used, was->used);
		gone++;
	}
	CHECK(gone > 2 * POINTS);
	tare_recording_close(r);
	make_log_free(&m);
}

static void damage_states(void)
{
	for (uint32_t number = 1; number <= 40; number++) {
		char *path = tare_manifest_state_path(make_dir(), number);
		struct stat st;

		if (stat(path, &st) == 0)
			CHECK_INT(truncate(path, st.st_size / 2), 0);
		free(path);
	}
}

/* Nothing but segments.json is left of the time before: it has bounds for all of it, and they hold what was. */
static void check_bounds(bool is_final)
{
	struct tare_memory_history history;
	struct tare_ledger_opts opts = { .history = &history };
	const struct tare_memory_history_panel *p;
	struct tare_instant at;
	struct seen seen[EPOCHS];
	struct tare_recording *r;
	struct tare_ledger l;

	make_epochs();
	for (size_t i = 1; i <= 30; i++)
		roll_up(m.size * i / 30);
	for (int i = 0; i < EPOCHS; i++)
		seen[i] = look_at(i + 1, 1);
	drop_events(is_final);
	damage_states();
	r = open_folder();
	CHECK_INT(tare_instant_parse("peak", &at, NULL), 0);
	tare_ledger_of_recording(r, &opts, &at, 1, &l);
	p = &history.panels[0];
	CHECK_INT(history.known_ns, tare_recording_dropped_ns(r));
	CHECK(p->bound_nr > 2);
	CHECK(p->bounds[p->bound_nr - 1].until_ns >= history.known_ns);
	for (size_t i = 0; i + 1 < p->bound_nr; i++)
		CHECK(p->bounds[i + 1].from_ns <= p->bounds[i].until_ns);
	for (int i = 0; i < EPOCHS; i++) {
		int64_t low = INT64_MAX, high = 0;

		for (size_t k = 0; k < p->bound_nr; k++)
			if (p->bounds[k].from_ns <= seen[i].t && seen[i].t <= p->bounds[k].until_ns) {
				low = p->bounds[k].low < low ? p->bounds[k].low : low;
				high = p->bounds[k].high > high ? p->bounds[k].high : high;
			}
		if (seen[i].t < history.known_ns)
			CHECK(low <= seen[i].used && seen[i].used <= high);
	}
	tare_memory_history_free(&history);
	tare_ledger_free(&l);
	tare_recording_close(r);
	make_log_free(&m);
}

TEST(without_any_state_a_picture_has_bounds_of_the_time_whose_events_went)
{
	check_bounds(false);
}

TEST(so_it_has_where_no_event_is_left)
{
	check_bounds(true);
}

/* ---- segments.json out of the other files ---- */

static char *said(void)
{
	struct tare_manifest manifest;
	struct tare_str text = { 0 };

	CHECK_INT(tare_manifest_read(&manifest, make_dir(), NULL), 0);
	CHECK(!manifest.fault);
	tare_manifest_describe(&text, &manifest);
	tare_manifest_free(&manifest);
	return tare_str_steal(&text);
}

/* With segments.json gone, and with it damaged. */
static void check_rebuilt(void)
{
	const char *path = make_path(make_dir(), "segments.json");
	char *before = said(), *after;
	struct tare_manifest manifest;

	CHECK_INT(tare_manifest_read(&manifest, make_dir(), NULL), 0);
	CHECK_INT(unlink(path), 0);
	after = said();
	CHECK_STR(after, before);
	free(after);
	CHECK_INT(tare_manifest_write(&manifest, make_dir(), NULL), 0);
	CHECK_INT(truncate(path, 20), 0);
	after = said();
	CHECK_STR(after, before);
	free(after);
	CHECK_INT(tare_manifest_write(&manifest, make_dir(), NULL), 0);
	tare_manifest_free(&manifest);
	free(before);
}

TEST(what_segments_json_says_stands_in_other_files_too)
{
	struct tare_manifest manifest;

	make_epochs();
	for (size_t i = 1; i <= 30; i++) {
		roll_up(m.size * i / 30);
		if (i == 10 || i == 20)
			drop_events(false);
		if (i % 5 == 0)
			check_rebuilt();
	}
	CHECK_INT(tare_manifest_read(&manifest, make_dir(), NULL), 0);
	CHECK(manifest.dropped.rest && manifest.state_nr);
	CHECK(manifest.extents.nr > 20);
	tare_manifest_free(&manifest);
	drop_events(true);
	check_rebuilt();
	make_log_free(&m);
}

/* A state that contradicts calls of a later segment: the next one goes on from an older. */
TEST(so_does_which_states_no_longer_hold)
{
	make_program(true);
	for (size_t i = 1; i <= 30; i++) {
		roll_up(m.size * i / 30);
		if (state_nr())
			check_rebuilt();
	}
	make_log_free(&m);
}

/* As states of earlier versions do not tell what was in use: then it is said that segments.json is damaged. */
TEST(states_that_do_not_tell_are_not_gone_by)
{
	struct tare_manifest manifest;
	struct tare_pack bytes = { 0 };
	char *path;

	make_epochs();
	for (size_t i = 1; state_nr() == 0; i++)
		roll_up(m.size * i / 30);
	CHECK_INT(tare_manifest_read(&manifest, make_dir(), NULL), 0);
	path = tare_manifest_state_path(make_dir(), manifest.states[0].number);
	CHECK_INT(tare_state_read(path, manifest.states[0].number, manifest.states[0].until_ns, &bytes, NULL, NULL), 0);
	CHECK_INT(tare_state_write(path, manifest.states[0].number, manifest.states[0].until_ns,
	                           &(struct tare_state_bytes){ bytes.data, bytes.len, "", 0, "", 0 }, NULL, NULL),
	          0);
	tare_manifest_free(&manifest);
	CHECK_INT(truncate(make_path(make_dir(), "segments.json"), 20), 0);
	CHECK_INT(tare_manifest_read(&manifest, make_dir(), NULL), 0);
	CHECK_HAS(manifest.fault, "segments.json is damaged");
	CHECK_INT(manifest.state_nr, 0);
	CHECK(manifest.nr > 0);
	tare_manifest_free(&manifest);
	tare_pack_free(&bytes);
	free(path);
	make_log_free(&m);
}

/* Without it nobody would know that events went, and a moment before would be shown without them. */
TEST(a_segment_that_stands_for_others_and_cannot_say_so_is_noticed)
{
	struct tare_manifest manifest;
	char *path;

	make_epochs();
	for (size_t i = 1; i <= 30; i++)
		roll_up(m.size * i / 30);
	drop_events(false);
	CHECK_INT(tare_manifest_read(&manifest, make_dir(), NULL), 0);
	path = tare_manifest_path(make_dir(), manifest.dropped.rest);
	tare_manifest_free(&manifest);
	CHECK_INT(truncate(path, 100), 0);
	CHECK_INT(truncate(make_path(make_dir(), "segments.json"), 20), 0);
	CHECK_INT(tare_manifest_read(&manifest, make_dir(), NULL), 0);
	CHECK_HAS(manifest.fault, "segments.json is damaged");
	tare_manifest_free(&manifest);
	free(path);
	make_log_free(&m);
}

/* All states as another version of Tare would have written them. */
static void name_another_version(void)
{
	for (uint32_t number = 1; number <= 40; number++) {
		char *path = tare_manifest_state_path(make_dir(), number);
		struct tare_state_header head;
		FILE *file = fopen(path, "r+");

		free(path);
		if (!file)
			continue;
		CHECK_INT(fread(&head, sizeof(head), 1, file), 1);
		snprintf(head.tool, sizeof(head.tool), "0.0.9");
		head.head_sum = tare_checksum(&head, offsetof(struct tare_state_header, head_sum));
		rewind(file);
		CHECK_INT(fwrite(&head, sizeof(head), 1, file), 1);
		fclose(file);
	}
}

static bool is_first_state_taken(void)
{
	struct tare_recording *r = open_folder();
	struct tare_str bytes = { 0 };
	bool is_taken;

	CHECK(tare_recording_state_nr(r) > 0);
	is_taken = tare_recording_read_state(r, 0, &bytes);
	CHECK(is_taken == (bytes.len > 0));
	tare_str_free(&bytes);
	tare_recording_close(r);
	return is_taken;
}

/* Its sums are those of other rules: where the events are there, they are what counts. */
TEST(a_state_of_another_version_is_taken_where_events_are_gone_alone)
{
	make_epochs();
	for (size_t i = 1; i <= 30; i++)
		roll_up(m.size * i / 30);
	CHECK(is_first_state_taken());
	name_another_version();
	CHECK(!is_first_state_taken());
	drop_events(false);
	name_another_version();
	CHECK(is_first_state_taken());
	make_log_free(&m);
}
