/* SPDX-License-Identifier: Apache-2.0 */
/* Logs that are still written go into segments piece by piece. */
#include "compact_logs.h"
#include "segments.h"
#include "test.h"
#include "trace/recording.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of each log so many bytes; 0: all. False: there was nothing to do. */
static bool compact_piece(uint64_t most, bool *is_cut_short)
{
	struct tare_compact_options o = { .below = segments_everything, .most = most, .segment_records = 1000 };
	struct tare_compacted done;
	struct tare_err err = { 0 };

	if (tare_compact(make_dir(), &o, &done, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	CHECK(compact_is_there("431-0.events"));
	*is_cut_short = done.is_cut_short;
	return !done.was_done;
}

static bool compact_begin(void)
{
	bool is_cut_short;

	return compact_piece(0, &is_cut_short) && !is_cut_short;
}

/*
 * The logs grow, and now and then what there is of them goes into segments: the reader says what it says of the logs
 * alone. Cut anywhere, also in the middle of a record.
 */
static void check_grows(int steps)
{
	int sealed = 0;

	for (int i = 1; i <= steps; i++) {
		size_t own = sizeof(compact_program.header) + compact_program.size * (size_t)i / (size_t)steps;
		size_t tares = sizeof(compact_tare.header) + compact_tare.size * (size_t)i / (size_t)steps;
		char *before, *after;

		make_log_write(&compact_program, make_path(make_dir(), "431-0.events"), own);
		make_log_write(&compact_tare, make_path(make_dir(), "tare.events"), tares);
		before = compact_all_of(make_dir());
		sealed += compact_begin();
		after = compact_all_of(make_dir());
		CHECK_STR(after, before);
		CHECK(!compact_begin());
	}
	CHECK(sealed > steps / 2);
	compact_check(false);
}

TEST(logs_that_grow_read_the_same)
{
	compact_init();
	make_log_program(&compact_program);
	make_log_every_kind(&compact_program);
	make_log_every_kind(&compact_tare);
	check_grows(7);
}

/* What is left of the logs for the next piece is read from them. */
TEST(a_log_that_is_made_small_in_pieces_reads_the_same)
{
	bool is_cut_short = true;
	char *before;
	int nr = 0;

	compact_init();
	compact_program.header.has_lanes = 1;
	compact_make_threads();
	make_log_write(&compact_program, make_path(make_dir(), "431-0.events"),
	               sizeof(compact_program.header) + compact_program.size);
	before = compact_all_of(make_dir());
	while (compact_piece(compact_program.size / 5, &is_cut_short)) {
		CHECK(++nr < 10);
		CHECK_STR(compact_all_of(make_dir()), before);
	}
	CHECK_INT(nr, 4); /* each ends where a block begins */
}

TEST(threads_that_go_on_are_not_taken_for_lost)
{
	compact_init();
	compact_program.header.has_lanes = 1;
	compact_make_threads();
	check_grows(23);
}

TEST(stamps_that_run_backwards_across_segments_come_in_the_same_order)
{
	compact_init();
	compact_make_backwards(false);
	check_grows(5);
}

static blkcnt_t blocks_of_log(void)
{
	struct stat st;

	CHECK_INT(stat(make_path(make_dir(), "431-0.events"), &st), 0);
	return st.st_blocks;
}

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(make_path(make_dir(), name), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void check_is_held(const char *description)
{
	struct tare_recording *reader;
	blkcnt_t whole;

	compact_init();
	compact_make_backwards(false);
	compact_write();
	write_text("control", "a page");
	write_text("recording.json", description);
	whole = blocks_of_log();
	CHECK_INT(tare_recording_open(&reader, make_dir(), NULL), 0);
	CHECK(compact_begin());
	CHECK_INT(blocks_of_log(), whole);
	tare_recording_close(reader);
	CHECK(!compact_begin());
	CHECK(blocks_of_log() < whole);
	make_log_free(&compact_program);
	make_log_free(&compact_tare);
}

TEST(what_somebody_reads_is_not_given_back_until_they_are_done)
{
	check_is_held("{\"tare\": 1, \"state\": \"recording\"}");
}

/* `tare run` is back while the last piece is still being made. */
TEST(nor_is_what_they_read_of_a_program_that_has_ended)
{
	check_is_held("{\"tare\": 1, \"state\": \"complete\"}");
}

/* Who trims has no processor for some time. */
static pid_t trim_for(useconds_t us)
{
	int fd = open(make_path(make_dir(), "control"), O_RDONLY | O_CLOEXEC);
	pid_t child;

	CHECK_INT(flock(fd, LOCK_EX | LOCK_NB), 0);
	child = fork();
	if (child == 0) {
		usleep(us);
		_exit(0);
	}
	close(fd);
	return child;
}

TEST(a_reader_waits_for_who_trims)
{
	struct tare_recording *reader;
	blkcnt_t whole;
	pid_t child;

	compact_init();
	compact_make_backwards(false);
	compact_write();
	write_text("control", "a page");
	whole = blocks_of_log();
	child = trim_for(300000);
	CHECK_INT(tare_recording_open(&reader, make_dir(), NULL), 0);
	CHECK_INT(waitpid(child, NULL, 0), child);
	CHECK(compact_begin());
	CHECK_INT(blocks_of_log(), whole);
	tare_recording_close(reader);
	make_log_free(&compact_program);
	make_log_free(&compact_tare);
}
