/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is made small while it is written: a report that goes on from a state says what one from the begin says. */
#include "rollup/rollup.h"

#include "ledger/build.h"
#include "make_log.h"
#include "store/manifest.h"
#include "test.h"
#include "trace/recording.h"

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

	m.stamp = m.header.first_stamp + at;
	MAKE(&m, event, EVENT, .tid = 10, .effect = is_end ? TARE_EFFECT_DEL : TARE_EFFECT_NEW,
	     .class = TARE_CLASS_DEVICE, .device = 0, .api = is_end ? 3 : 2, .handle = handle,
	     .asked = 2 << 20, .granted = 2 << 20, .ticks = ns, .before = TARE_NOT_KNOWN,
	     .after = TARE_NOT_KNOWN);
}

/* 30 s, 100 calls in each; one that gave back was begun seconds before its record was written. */
static void make_program(bool has_late)
{
	make_log_init(&m, 431, 0);
	MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 2);
	MAKE_TEXT(&m, string, STRING, "cuMemFree_v2", .id = 3);
	MAKE_TEXT(&m, device, DEVICE, "NVIDIA H200", .ordinal = 0, .total = 150754820096,
		  .uuid_high = 1, .uuid_low = 2);
	for (uint64_t i = 0; i < CALLS; i++) {
		uint64_t at = S / 100 * (i + 1);
		bool is_late = has_late && i == LATE;

		call(is_late ? at - 6 * S : at, i / 2, is_late ? 6 * S : 1000, i % 2);
		if (i % 400 == 1) /* some stay */
			call(at + 10, 50 + i / 400, 1000, false);
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

static void roll_up(size_t bytes)
{
	struct tare_rollup_options o = { .state_share = 1 };
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

	for (int i = 0; i < MOMENT_NR; i++) {
		struct tare_recording *r;
		struct tare_instant at;
		struct tare_ledger l;

		CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
		CHECK_INT(tare_instant_parse(moments[i], &at, NULL), 0);
		tare_ledger_of_recording(r, NULL, &at, 1, &l);
		tare_str_addf(&out, "%s: %lld\n", moments[i], (long long)l.t_ns);
		for (int d = 0; d < l.device_nr; d++)
			for (int k = 0; k < l.devices[d].row_nr; k++) {
				const struct tare_row *row = &l.devices[d].rows[k];

				tare_str_addf(&out, " %s %lld %llu %d %lld\n", row->path,
					      (long long)row->bytes, (unsigned long long)row->count,
					      row->evidence, (long long)row->driver_ns);
			}
		for (int k = 0; k < l.degraded_nr; k++)
			tare_str_addf(&out, " %s\n", l.degraded[k]);
		tare_ledger_free(&l);
		tare_recording_close(r);
	}
	return tare_str_steal(&out);
}

static void check_states(bool has_late)
{
	char *with, *without;

	make_program(has_late);
	for (size_t i = 1; i <= 30; i++)
		roll_up(m.size * i / 30);
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	CHECK(state_nr() >= 3);
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
	check_states(false);
}

TEST(a_call_that_lasted_longer_than_a_state_waited_is_where_it_belongs)
{
	check_states(true);
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
			for (off_t at = 0; at < st.st_size; at += 1 + st.st_size / 40) {
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
