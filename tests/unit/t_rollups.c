/* SPDX-License-Identifier: Apache-2.0 */
/* When rollups are due, and how much may be written into logs under a cap. */
#include "session/rollups.h"

#include "test.h"
#include "record/format.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB UINT64_C(1048576)

static char folder[] = "/tmp/tare-rollups-XXXXXX";

static void make_folder(void)
{
	CHECK(mkdtemp(strcpy(folder, "/tmp/tare-rollups-XXXXXX")) != NULL);
}

static int make(const char *path, const struct tare_rollup_wish *wish)
{
	(void)path;
	(void)wish;
	return 0;
}

/* Takes room and writes nothing. */
static void has_file(const char *name, uint64_t bytes)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	if (bytes && fallocate(fd, 0, 0, (off_t)bytes) != 0)
		SKIP("the file system cannot reserve so much");
	close(fd);
}

static uint64_t allowed(uint64_t cap, uint64_t written)
{
	struct tare_control control = { .log_written = written };

	tare_rollups_free(tare_rollups_new(folder, cap, &control, make));
	return control.log_limit - written;
}

static void remove_all(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	CHECK_INT(system(command), 0);
}

TEST(logs_leave_room_for_what_is_written_before_anything_goes)
{
	make_folder();
	CHECK_INT(allowed(8 * MIB, 5000), 7 * MIB + 1);
	has_file("000001.segment", MIB / 2);
	has_file("000002.segment", MIB / 2);
	CHECK_INT(allowed(8 * MIB, 5000), 6 * MIB + 1);
	has_file("000001.segment", 2 * MIB); /* that is written once more before it goes, with something in it */
	CHECK(allowed(8 * MIB, 5000) <= 8 * MIB - 2 * MIB - MIB / 2 - 2 * MIB * 5 / 4 + 1);
	has_file("1-0.events", 5 * MIB);
	CHECK_INT(allowed(8 * MIB, 0), 1); /* 0 would be: any number */
	has_file("2-0.events", 5 * MIB);
	CHECK_INT(allowed(8 * MIB, 0), 1);
	remove_all();
}

TEST(logs_that_nobody_could_read_have_the_rest_of_the_cap_before_anything_is_lost)
{
	struct tare_control control = { .log_written = 5000 };

	make_folder();
	has_file("1-0.events", 160 * MIB);
	tare_rollups_free(tare_rollups_new(folder, 1024 * MIB, &control, make));
	CHECK_INT(control.log_limit, 5000 + 1);
	CHECK_INT(control.log_most, 5000 + (1024 - 128 - 160) * MIB + 1);
	remove_all();
}

/* 0: a rollup began. */
static uint64_t room_without_rollup(uint64_t cap)
{
	struct tare_control control = { 0 };
	struct tare_rollups *r = tare_rollups_new(folder, cap, &control, make);
	uint64_t room = tare_rollups_turn(r) ? 0 : control.log_limit - 1;

	tare_rollups_finish(r, false);
	tare_rollups_free(r);
	return room;
}

/* Whatever has the rest of the cap: who records what is usual between two looks must not wait for a rollup that is not due. */
TEST(logs_have_room_where_no_rollup_is_due)
{
	static const uint64_t caps[] = { MIB, 2 * MIB, 16 * MIB };

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		for (uint64_t first = 0; first <= caps[i] / 4; first += caps[i] / 8)
			for (uint64_t ring = 0, room; ring <= caps[i]; ring += caps[i] / 16) {
				make_folder();
				has_file("000001.segment", first);
				has_file("1-0.ring", ring);
				room = room_without_rollup(caps[i]);
				CHECK(!room || room >= 256 << 10);
				CHECK(ring || first || room);
				remove_all();
			}
}

static int told; /* by the rollup, in a process of its own */

static int tell(const char *path, const struct tare_rollup_wish *wish)
{
	(void)path;
	return write(told, wish->is_final ? "f" : "-", 1) == 1 ? 0 : 1;
}

static int tell_later(const char *path, const struct tare_rollup_wish *wish)
{
	usleep(200000);
	return tell(path, wish);
}

static int never_ends(const char *path, const struct tare_rollup_wish *wish)
{
	tell(path, wish);
	pause();
	return 0;
}

static uint64_t grown; /* so much is written into logs before there is a rollup */

/* Which rollups there were of so many bytes of logs: "-" while the program ran, "f" the final one. */
static const char *finish(uint64_t logs, bool has_turn, tare_rollup_maker *roll_up)
{
	static char said[8];
	struct tare_control control = { 0 };
	struct tare_rollups *r;
	int ends[2];

	make_folder();
	CHECK_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	told = ends[1];
	has_file("1-0.events", logs);
	r = tare_rollups_new(folder, 4096 * MIB, &control, roll_up);
	control.log_written += grown;
	CHECK(!has_turn || tare_rollups_turn(r));
	tare_rollups_finish(r, true);
	tare_rollups_free(r);
	close(ends[1]);
	memset(said, 0, sizeof(said));
	CHECK(read(ends[0], said, sizeof(said) - 1) >= 0);
	/* Nobody has the other end any more: no child is left. */
	CHECK(poll(&(struct pollfd){ .fd = ends[0] }, 1, 5000) == 1);
	close(ends[0]);
	remove_all();
	return said;
}

TEST(what_is_left_in_logs_at_the_end_is_compacted)
{
	CHECK_STR(finish(MIB, false, tell), "");
	CHECK_STR(finish(20 * MIB, false, tell), "f");
	/* The first piece made nothing smaller here: the last one is tried all the same. */
	CHECK_STR(finish(200 * MIB, false, tell), "-f");
}

static int tell_urgency(const char *path, const struct tare_rollup_wish *wish)
{
	(void)path;
	return write(told, wish->is_urgent ? "u" : "n", 1) == 1 ? 0 : 1;
}

/* Far from the cap; at the end nobody is waited for. */
TEST(who_is_left_behind_no_longer_waits_for_others)
{
	CHECK_STR(finish(20 * MIB, true, tell_urgency), "nu");
	CHECK_STR(finish(60 * MIB, true, tell_urgency), "uuu");
}

TEST(who_lagged_behind_the_program_is_done_once_more)
{
	CHECK_STR(finish(20 * MIB, true, tell_later), "-f");
}

static int ends_if_urgent(const char *path, const struct tare_rollup_wish *wish)
{
	int rc = tell_urgency(path, wish);

	if (!wish->is_urgent)
		pause();
	return rc;
}

/* A program that was slow, and then is not: who may write no more waits for what makes room, and not for a state. */
TEST(a_rollup_that_took_its_time_gives_way)
{
	struct tare_control control = { 0 };
	struct tare_rollups *r;
	char said[2] = { 0 };
	int ends[2];

	make_folder();
	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	told = ends[1];
	has_file("1-0.events", 20 * MIB);
	r = tare_rollups_new(folder, 4096 * MIB, &control, ends_if_urgent);
	CHECK(tare_rollups_turn(r));
	CHECK_INT(read(ends[0], &said[0], 1), 1);
	has_file("1-0.events.1", 40 * MIB);
	for (int i = 0; !tare_rollups_turn(r); i++) {
		CHECK(i < 5000);
		CHECK_INT(control.makes_room, 1);
		usleep(1000);
	}
	CHECK_INT(read(ends[0], &said[1], 1), 1);
	CHECK(said[0] == 'n' && said[1] == 'u');
	tare_rollups_finish(r, true);
	tare_rollups_free(r);
	close(ends[0]);
	close(ends[1]);
	remove_all();
}

static int tell_lateness(const char *path, const struct tare_rollup_wish *wish)
{
	(void)path;
	usleep(50000);
	return write(told, wish->is_late ? "l" : "-", 1) == 1 ? 0 : 1;
}

static int tell_process(const char *path, const struct tare_rollup_wish *wish)
{
	pid_t pid = getpid();

	(void)path;
	(void)wish;
	return write(told, &pid, sizeof(pid)) == (ssize_t)sizeof(pid) ? 0 : 1;
}

/* Who makes the next rollup, when `written` more bytes are in logs. */
static pid_t next_maker(struct tare_rollups *r, struct tare_control *control, int from, uint64_t written)
{
	pid_t pid = 0;

	control->log_written += written;
	for (int i = 0; !tare_rollups_turn(r); i++) {
		CHECK(i < 5000);
		usleep(1000);
	}
	CHECK_INT(read(from, &pid, sizeof(pid)), sizeof(pid));
	return pid;
}

/* It need not be started for each; one that is killed is replaced. */
TEST(what_a_program_waits_for_is_made_by_one_process)
{
	struct tare_control control = { 0 };
	struct tare_rollups *r;
	pid_t first, last;
	int ends[2];

	make_folder();
	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	told = ends[1];
	has_file("1-0.events", 60 * MIB);
	r = tare_rollups_new(folder, 4096 * MIB, &control, tell_process);
	first = next_maker(r, &control, ends[0], 20 * MIB);
	CHECK(first != getpid());
	for (int i = 0; i < 3; i++)
		CHECK_INT(next_maker(r, &control, ends[0], 20 * MIB), first);
	CHECK_INT(kill(first, SIGKILL), 0);
	CHECK_INT(waitpid(first, NULL, 0), first); /* who is asked while it dies does not answer */
	last = next_maker(r, &control, ends[0], 20 * MIB);
	CHECK(last != first);
	CHECK_INT(next_maker(r, &control, ends[0], 20 * MIB), last);
	tare_rollups_finish(r, true);
	tare_rollups_free(r);
	close(ends[1]);
	/* Nobody has the other end any more: no child is left. */
	while (read(ends[0], &last, sizeof(last)) > 0)
		continue;
	close(ends[0]);
	remove_all();
}

/* It would be a fold of everything, while somebody waits for the prompt. */
TEST(no_state_is_made_at_the_end_where_none_was_made_before)
{
	CHECK_STR(finish(20 * MIB, true, tell_lateness), "--");
	grown = 20 * MIB;
	CHECK_STR(finish(20 * MIB, true, tell_lateness), "ll");
	grown = 0;
}

TEST(nobody_waits_at_the_end_for_longer_than_some_seconds)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	CHECK_STR(finish(200 * MIB, false, never_ends), "-");
	clock_gettime(CLOCK_MONOTONIC, &now);
	CHECK(now.tv_sec - begun.tv_sec < 10);
}

TEST(logs_never_have_more_than_is_read_in_seconds)
{
	make_folder();
	has_file("000001.segment", 100 * MIB);
	CHECK_INT(allowed(4096 * MIB, 0), 160 * MIB + 1);
	has_file("1-0.events.7", 148 * MIB);
	/* Blocks that say where its blocks are count, too. */
	CHECK(allowed(4096 * MIB, 0) <= 12 * MIB + 1 && allowed(4096 * MIB, 0) > 11 * MIB);
	has_file("1-0.events.8", 16 * MIB);
	CHECK_INT(allowed(4096 * MIB, 0), 1);
	remove_all();
}

static int fails(const char *path, const struct tare_rollup_wish *wish)
{
	tell(path, wish);
	return 1;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* On a full disk, above all. */
TEST(who_failed_is_not_tried_again_at_once_and_nobody_waits_for_it)
{
	struct tare_control control = { 0 };
	struct tare_rollups *r;
	double begun;

	make_folder();
	told = open("/dev/null", O_WRONLY | O_CLOEXEC);
	has_file("1-0.events", 60 * MIB);
	r = tare_rollups_new(folder, 4096 * MIB, &control, fails);
	CHECK_INT(control.makes_room, 1);
	begun = now_s();
	CHECK(tare_rollups_turn(r));
	while (control.makes_room) {
		CHECK(!tare_rollups_turn(r));
		usleep(1000);
	}
	while (!tare_rollups_turn(r))
		usleep(1000);
	CHECK(now_s() - begun >= 0.2);
	tare_rollups_finish(r, true);
	tare_rollups_free(r);
	remove_all();
}

/* A ring has most of the cap: no rollup makes that smaller, and another segment for every few records is of no use. */
TEST(a_rollup_that_gains_nothing_is_not_made_again_at_once)
{
	struct tare_control control = { 0 };
	struct tare_rollups *r;
	double begun = now_s();
	int nr = 0;

	make_folder();
	has_file("1-0.ring", 900 << 10);
	r = tare_rollups_new(folder, MIB, &control, make);
	while (now_s() < begun + 1) {
		nr += tare_rollups_turn(r);
		usleep(1000);
	}
	CHECK_INT(nr, 1);
	control.log_written += 100 << 10;
	for (begun = now_s(); !tare_rollups_turn(r) && now_s() < begun + 1;)
		usleep(1000);
	CHECK(now_s() < begun + 1);
	tare_rollups_finish(r, true);
	tare_rollups_free(r);
	remove_all();
}

TEST(who_may_write_no_more_waits_under_any_cap)
{
	struct tare_control control = { 0 };

	make_folder();
	tare_rollups_free(tare_rollups_new(folder, MIB, &control, make));
	CHECK_INT(control.makes_room, 1);
	control.makes_room = 0;
	tare_rollups_free(tare_rollups_new(folder, 2048 * MIB, &control, NULL));
	CHECK_INT(control.makes_room, 0);
	remove_all();
}
