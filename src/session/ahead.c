/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a child fold a recording while the program runs. */
#include "session/ahead.h"

#include "base/now.h"
#include "base/xalloc.h"
#include "session/idle.h"
#include "record/format.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* What is less than that in logs is folded in half a second when the program has ended. */
#define WORTH (UINT64_C(96) << 20)
/* A state is read and written again for every step: it is worth so many times its bytes of logs. */
enum { WORTH_OF_STATE = 4, WAIT_MS = 400, TEST_WAIT_MS = 20000, NICE = 19 };
#define LOOK_NS UINT64_C(200000000)

struct tare_ahead {
	char *folder;
	const struct tare_control *control;
	tare_ahead_maker *make;
	struct tare_idle idle;
	uint64_t worth, look_ns;
	uint64_t begun_written; /* into logs, when the last child began */
	int report;             /* of the child that is at work; -1: none is */
	pid_t child;
	int file, next; /* with the newest state, and that of the child; -1: there is none */
	struct tare_ahead_state state;
};

static uint64_t written_of(const struct tare_ahead *a)
{
	return __atomic_load_n(&a->control->log_written, __ATOMIC_RELAXED);
}

/* Of tests: so many bytes of logs are worth a fold, which waits for no idle processor, and is waited for. */
static const char *test_worth(void)
{
	return getenv("TARE_TEST_AHEAD_BYTES");
}

struct tare_ahead *tare_ahead_new(const char *folder, const struct tare_control *control, tare_ahead_maker *make)
{
	struct tare_ahead *a = tare_xcalloc(1, sizeof(*a));

	a->folder = tare_xstrdup(folder);
	a->control = control;
	a->make = make;
	a->report = a->file = a->next = -1;
	a->worth = test_worth() ? strtoull(test_worth(), NULL, 10) : WORTH;
	return a;
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void tare_ahead_free(struct tare_ahead *a)
{
	if (!a)
		return;
	close_file(&a->report);
	close_file(&a->file);
	close_file(&a->next);
	free(a->folder);
	free(a);
}

/* Where memory runs out, this is what may go first. */
static void offer_to_oom_killer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) != 4)
		fd = (close(fd), -1);
	if (fd >= 0)
		close(fd);
}

/* What a pipe of `tare` tells is seen to be over when nobody has it open any more. */
static void close_all_but(const int *kept, size_t nr)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);
		bool is_kept = fd <= 2 || fd == dirfd(dir);

		for (size_t i = 0; i < nr; i++)
			is_kept |= fd == kept[i];
		if (!is_kept)
			close(fd);
	}
	if (dir)
		closedir(dir);
}

/* The child: it runs on idle processors only, prints nothing, and ignores a Ctrl-C. */
static void work(const struct tare_ahead *a, int report)
{
	const int kept[] = { report, a->file, a->next };
	const struct sched_param none = { 0 };
	struct tare_ahead_state out = { 0 };
	int null;

	close_all_but(kept, sizeof(kept) / sizeof(kept[0]));
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	if (!test_worth() && sched_setscheduler(0, SCHED_IDLE, &none) != 0)
		setpriority(PRIO_PROCESS, 0, NICE);
	offer_to_oom_killer();
	if (a->make(a->folder, &a->state, a->file, &out, a->next) != 0)
		out = (struct tare_ahead_state){ 0 };
	_exit(write(report, &out, sizeof(out)) != (ssize_t)sizeof(out));
}

static void begin(struct tare_ahead *a)
{
	int report[2];

	a->begun_written = written_of(a);
	a->next = memfd_create("tare-state", MFD_CLOEXEC);
	if (a->next < 0 || pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0) {
		close_file(&a->next);
		return;
	}
	a->child = fork();
	if (a->child == 0) {
		close(report[0]);
		work(a, report[1]);
	}
	close(report[1]);
	a->report = report[0];
	if (a->child < 0) {
		close_file(&a->report);
		close_file(&a->next);
	}
}

/* Whether no child is at work any more; waits for that as long. */
static bool is_done(struct tare_ahead *a, int wait_ms)
{
	struct pollfd fd = { .fd = a->report, .events = POLLIN };
	struct tare_ahead_state said;

	if (a->report < 0)
		return true;
	if (poll(&fd, 1, wait_ms) <= 0)
		return false;
	a->state.has_more = false;
	if (read(a->report, &said, sizeof(said)) == (ssize_t)sizeof(said) && said.number) {
		close_file(&a->file);
		a->file = a->next;
		a->next = -1;
		a->state = said;
	}
	close_file(&a->next);
	close_file(&a->report);
	return true;
}

static bool is_enough(const struct tare_ahead *a)
{
	uint64_t needed = test_worth() ? a->worth : a->worth + WORTH_OF_STATE * a->state.size;

	return a->state.has_more || written_of(a) - a->begun_written >= needed;
}

void tare_ahead_turn(struct tare_ahead *a)
{
	uint64_t now = (uint64_t)tare_now_ns(CLOCK_MONOTONIC);
	bool is_idle;

	if (!a->make || now < a->look_ns)
		return;
	a->look_ns = now + LOOK_NS;
	is_idle = tare_idle_is(&a->idle, now) || test_worth();
	if (is_done(a, 0) && is_idle && is_enough(a))
		begin(a);
}

int tare_ahead_finish(struct tare_ahead *a, struct tare_ahead_state *out)
{
	int file;

	if (!is_done(a, test_worth() ? TEST_WAIT_MS : WAIT_MS))
		kill(a->child, SIGKILL);
	*out = a->state;
	file = a->file;
	a->file = -1;
	return file;
}
