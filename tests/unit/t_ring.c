/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's ring, with the code that runs, interrupted at every step that it names: a signal handler records,
 * leaves by siglongjmp, forks; `tare` settles the log. tests/model/signal.pml is the same in Spin. After it the log of each process has
 * what that process wrote, each record once and whole, and nothing of another process.
 */
#include "make_log.h"
#include "recorder/base/parts.h"
#include "recorder/base/fork.h"
#include "recorder/recorder.h"
#include "recorder/ring/file.h"
#include "recorder/ring/ring.h"
#include "ring_records.h"
#include "ring_step.h"
#include "session/lanes.h"
#include "test.h"
#include "record/chunk.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

enum {
	ROUNDS = 6000,
	AFTER = 20,
	JUMPS = 40,
	LANES_REUSED = 40, /* small ones begin at 16, in eights; with none used again: 56 */
	STACK = 256 << 10,
	LIMIT_S = 120
};
/* ---- interruptions ---- */
/* They come one after the other, each at its step. */
struct stop {
	const char *at;
	void (*act)(void);
};
static const struct stop *stops;
static int stops_left;
static int mapped; /* blocks, because all were in use */

void ring_step(const char *name)
{
	mapped += !strcmp(name, "mapped");
	if (!stops_left || strcmp(name, stops->at) != 0)
		return;
	CHECK(raise(SIGUSR1) == 0); /* where signals are blocked it comes as soon as they are not */
}

static void on_signal(int signal)
{
	void (*act)(void) = stops->act;

	(void)signal;
	stops++;
	stops_left--;
	act();
}

static void check_blocks(void)
{
	CHECK_INT(mapped, 0);
}

static sigjmp_buf before;
static int children; /* that this process has made */
static bool is_quiet, is_late, is_busy;
static int after = AFTER; /* records of a process behind all interruptions */
static int gate[2];
static pid_t late_child;

static void record(void)
{
	put();
	put();
}

static void jump(void)
{
	siglongjmp(before, 1);
}

/* Another process: what it has begun so far is its parent's. */
static void become_child(void)
{
	char go;

	alarm(LIMIT_S);
	memset(book.fate, 0, sizeof(book.fate));
	book.process++;
	book.next = 0;
	children = 0;
	if (is_late)
		CHECK(read(gate[0], &go, 1) == 1);
	is_late = false;
	for (int i = 0; is_busy && i < 5 * AFTER; i++)
		put();
	if (!is_quiet)
		record();
}

static void wait_for(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

static void after_fork(pid_t pid)
{
	CHECK(pid >= 0);
	if (pid == 0) {
		become_child();
		return;
	}
	children++;
	late_child = pid;
	if (!is_late)
		wait_for(pid);
}

static void fork_here(void)
{
	after_fork(fork());
}

static void fork_and_jump(void)
{
	fork_here();
	jump();
}

/* What the log of this process has below its first positions: they were settled. */
static uint8_t *settled;
static uint64_t settled_bytes;

static uint8_t *read_settled(void)
{
	uint8_t *bytes = calloc(1, settled_bytes + 1);
	char name[40];
	int fd;

	snprintf(name, sizeof(name), "%d-0.events", getpid());
	fd = open(make_path(tare_config.folder, name), O_RDONLY);
	CHECK(fd >= 0 && pread(fd, bytes, settled_bytes, (off_t)tare_ring.header->file.header_bytes) >= 0);
	close(fd);
	return bytes;
}

/* Only of records that are in no log yet there is an oldest one. */
static void check_oldest(struct tare_lanes *lanes)
{
	uint64_t oldest = tare_lanes_oldest(lanes);

	CHECK_INT(oldest == UINT64_MAX, tare_lanes_are_empty(lanes));
	CHECK(oldest >= tare_ring.header->file.first_stamp);
}

/* As `tare` does it, in another process. */
static void settle(void)
{
	struct tare_lanes *lanes;
	char name[40];

	if (!tare_ring.header)
		return; /* the first record makes it */
	snprintf(name, sizeof(name), "%d-0", getpid());
	lanes = tare_lanes_open(make_path(tare_config.folder, name), NULL);
	CHECK(lanes != NULL);
	check_oldest(lanes);
	CHECK_INT(tare_lanes_settle(lanes, &settled_bytes), 0);
	CHECK_INT(tare_ring.header->log_end, settled_bytes + TARE_CELL);
	tare_lanes_close(lanes);
	settled = read_settled();
}

static void check_settled(void)
{
	uint8_t *now = settled ? read_settled() : NULL;

	CHECK(!settled || memcmp(now, settled, settled_bytes) == 0);
	free(now);
}

/* Past libc, so that nobody is told. */
static void clone_here(void)
{
	after_fork((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

#if __GLIBC_PREREQ(2, 34)
static void fork_silently(void)
{
	after_fork(_Fork());
}
#endif

/* ---- a run ---- */
static void write_control(void)
{
	struct tare_control control = { .magic = TARE_CONTROL_MAGIC,
		                            .lane_bytes = TARE_LANE_BYTES_MIN,
		                            .chunk_bytes = TARE_CHUNK_BYTES_MIN };
	char page[4096] = { 0 };
	int fd = open(make_path(tare_config.folder, "control"), O_RDWR | O_CREAT, 0600);

	memcpy(page, &control, sizeof(control));
	CHECK(fd >= 0 && write(fd, page, sizeof(page)) == sizeof(page));
	close(fd);
}

static void start(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER };

	alarm(LIMIT_S); /* of what hangs in the recorder, nobody else would know */
	tare_config.enabled = true;
	snprintf(tare_config.folder, sizeof(tare_config.folder), "%s", make_dir());
	write_control();
	tare_fork_start();
	tare_ring_start();
	sigaction(SIGUSR1, &action, NULL);
	CHECK(pipe(gate) == 0);
}

static stack_t alternate;

/* Records until all interruptions have come, and some more. A child goes on here, too, and ends here. */
static void run(const struct stop *list, int n)
{
	volatile int round = 0;

	stops = list;
	stops_left = n;
	sigsetjmp(before, 1);
	if (alternate.ss_sp) /* who leaves a handler by siglongjmp arms a stack again that was disarmed */
		CHECK(sigaltstack(&alternate, NULL) == 0);
	while (stops_left > 0 && round++ < ROUNDS)
		put();
	CHECK_INT(stops_left, 0);
	for (int i = 0; i < after; i++)
		put();
	if (is_late) {
		CHECK(write(gate[1], "", 1) == 1);
		wait_for(late_child);
	}
	check_log();
	check_settled();
	if (book.process > 0)
		_exit(0);
}

/* An emulator says that it wipes memory in children, and does not; nor does it know SS_AUTODISARM. */
static void needs_wiping(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t pid;

	CHECK(page != MAP_FAILED);
	*page = 1;
	if (madvise(page, 4096, MADV_WIPEONFORK) != 0)
		return;
	pid = fork();
	if (pid == 0)
		_exit(*page);
	CHECK(waitpid(pid, &status, 0) == pid);
	munmap(page, 4096);
	if (status)
		SKIP("memory that should be wiped in children is not: an emulator");
}

static void in_process_of_its_own(const struct stop *list, int n, uint32_t lanes_max)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		start();
		run(list, n);
		CHECK(list[n - 1].act == record || list[n - 1].act == jump || list[n - 1].act == settle ||
		      list[n - 1].act == check_blocks || children > 0);
		if (lanes_max)
			CHECK(tare_ring.header->lane_nr <= lanes_max);
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	if (status != 0)
		test_fail(__FILE__, __LINE__, "interrupted at %s: status %d", list[n - 1].at, status);
}

static const char *const steps[] = { "seen",          "looking", "counted",   "taken",     "begun",      "whole",
	                                 "returning",     "padded",  "head read", "plan read", "room taken", "copied",
	                                 "to be written", "named",   "opened",    "written" };
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

/* Every step, each for the first time; a lane is given back only after a handler left one. */
static void at_every_step(void (*act)(void))
{
	for (int i = 0; i < STEPS; i++)
		in_process_of_its_own(&(struct stop){ steps[i], act }, 1, 0);
	in_process_of_its_own((struct stop[]){ { "begun", record }, { "claiming", act } }, 2, 0);
	in_process_of_its_own((struct stop[]){ { "begun", record }, { "looking", act } }, 2, 0);
}

TEST(ring_a_handler_records)
{
	at_every_step(record);
}

TEST(ring_a_handler_leaves)
{
	at_every_step(jump);
}

/* Nothing new goes where the log is settled, and nothing is lost, at whichever step a drainer was stopped. */
TEST(ring_is_settled)
{
	at_every_step(settle);
}

TEST(ring_a_handler_forks)
{
	needs_wiping();
	at_every_step(fork_here);
	is_quiet = true;
	at_every_step(fork_here);
}

/* The child writes its own log before it returns to the write that it came from: that is still the parent's. */
TEST(ring_a_child_writes_before_it_goes_on)
{
	needs_wiping();
	is_late = is_busy = true;
	at_every_step(fork_here);
	at_every_step(clone_here);
}

TEST(ring_a_handler_forks_and_leaves)
{
	needs_wiping();
	at_every_step(fork_and_jump);
}

/* Forks that nobody is told of are noticed at the child's next record. */
TEST(ring_a_handler_forks_past_libc)
{
	needs_wiping();
	at_every_step(clone_here);
	is_quiet = true;
	at_every_step(clone_here);
}

TEST(ring_a_handler_forks_silently)
{
	needs_wiping();
#if __GLIBC_PREREQ(2, 34)
	at_every_step(fork_silently);
#else
	SKIP("this C library has no _Fork()");
#endif
}

/* The parent is further by then: what the child still does to the record that it came from takes nothing back. */
TEST(ring_a_child_goes_on_late)
{
	needs_wiping();
	is_late = true;
	at_every_step(fork_here);
	at_every_step(clone_here);
	is_quiet = true;
	at_every_step(fork_here);
	at_every_step(clone_here);
}

/* … and where libc was asked for the child, nothing of it gets into what the parent has there by then. */
TEST(ring_a_child_goes_on_much_later)
{
	needs_wiping();
	is_late = is_quiet = true;
	after = 300; /* three times around in the lane */
	at_every_step(fork_here);
}

/* The lane that was seen is another's by then: the handler's handler left one, so the handler gave it back. */
TEST(ring_a_lane_that_was_seen_is_given_back)
{
	const struct stop list[] = { { "seen", record }, { "begun", record }, { "begun", record } };

	in_process_of_its_own(list, 3, 0);
}

/* A child that was forked in the middle of a record forks in the middle of one of its own. */
TEST(ring_a_child_of_a_handler_forks_in_one)
{
	static const char *const again[] = {
		"seen", "taken", "begun", "whole", "padded", "head read", "copied", "written"
	};

	needs_wiping();
	for (int i = 0; i < STEPS; i++)
		for (size_t j = 0; j < sizeof(again) / sizeof(again[0]); j++)
			in_process_of_its_own((struct stop[]){ { steps[i], fork_here }, { again[j], fork_here } }, 2, 0);
}

static const char *chunk(int number)
{
	char name[60];

	snprintf(name, sizeof(name), "%d-0.events.%d", getpid(), number);
	return make_path(tare_config.folder, name);
}

/* Chunk 2 cannot be opened: what belongs there is written to the first file, and read from there. */
TEST(ring_goes_on_in_several_files)
{
	start();
	umask(0777);
	CHECK(mkdir(chunk(2), 0700) == 0);
	for (int i = 0; i < 1000; i++)
		put();
	check_log();
	CHECK(access(chunk(1), F_OK) == 0 && access(chunk(3), F_OK) == 0);
}

static void jump_many_times(const char *at, void (*act)(void), uint32_t lanes_max)
{
	struct stop list[JUMPS + 1];

	for (int i = 0; i < JUMPS; i++)
		list[i] = (struct stop){ at, jump };
	list[JUMPS] = (struct stop){ "begun", act };
	in_process_of_its_own(list, JUMPS + 1, lanes_max);
}

/* Lanes that nobody comes back to are used again. */
TEST(ring_left_lanes_are_used_again)
{
	static const char *const inside[] = { "taken",  "begun",     "whole",  "returning",
		                                  "padded", "head read", "copied", "written" };

	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
		jump_many_times(inside[i], record, LANES_REUSED);
}

/* So are the blocks of writes that nobody comes back to. */
TEST(ring_left_blocks_are_used_again)
{
	static const char *const inside[] = { "head read", "copied", "named", "opened", "written" };

	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
		struct stop list[JUMPS + 1];

		for (int j = 0; j < JUMPS; j++)
			list[j] = (struct stop){ inside[i], jump };
		list[JUMPS] = (struct stop){ "begun", check_blocks };
		in_process_of_its_own(list, JUMPS + 1, 0);
	}
}

/* On one that lies above it: what is deeper there can go on all the same. */
static void *thread(void *flags)
{
	int alternate_flags = *(int *)flags;

	alternate = (stack_t){ .ss_sp = (char *)flags + 4096, .ss_size = STACK - 4096, .ss_flags = alternate_flags };
	jump_many_times("begun", record, 0);
	return NULL;
}

/* Those of handlers, too, on a stack of their own. */
TEST(ring_left_lanes_of_a_signal_stack_are_used_again)
{
	struct stop list[2 * JUMPS];
	static char room[STACK];

	alternate = (stack_t){ .ss_sp = room, .ss_size = sizeof(room) };
	for (int i = 0; i < 2 * JUMPS; i++)
		list[i] = (struct stop){ "begun", i % 2 ? jump : record };
	in_process_of_its_own(list, 2 * JUMPS, LANES_REUSED);
}

/* On a signal stack that lies in the thread's own. */
TEST(ring_a_signal_stack_in_the_stack_is_no_depth)
{
	char room[STACK];

	alternate = (stack_t){ .ss_sp = room, .ss_size = sizeof(room) };
	jump_many_times("begun", record, 0);
}

static void above_the_stack(int flags)
{
	char *low = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t id;

	CHECK(low != MAP_FAILED);
	*(int *)(void *)(low + STACK) = flags;
	pthread_attr_init(&attributes);
	CHECK(pthread_attr_setstack(&attributes, low, STACK) == 0);
	CHECK(pthread_create(&id, &attributes, thread, low + STACK) == 0 && pthread_join(id, NULL) == 0);
}

TEST(ring_a_signal_stack_is_no_depth)
{
	above_the_stack(0);
}

/* The kernel does not tell of one that it has disarmed. */
TEST(ring_a_disarmed_signal_stack_is_none_either)
{
	needs_wiping();
	above_the_stack((int)SS_AUTODISARM);
}
