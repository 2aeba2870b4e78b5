/* SPDX-License-Identifier: Apache-2.0 */
/* When a rollup of the recording is due while the program runs, the child that makes it, and how much logs may have until then. */
#include "session/rollups.h"

#include "base/disk.h"
#include "base/now.h"
#include "base/xalloc.h"
#include "record/format.h"
#include "session/worker.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	FINISH_MS = 4000, /* of a child that is still at work when the command has ended */
	LAGS_MS = 1500,   /* since then, for all rollups of what is left in logs */
	SHARE = 16,       /* logs are compacted when they have that part of the cap, */
	KEPT_FREE = 8,    /* that part is kept free of logs */
	KEPT_BATCH = 4,
	LITTLE = 4, /* a rollup that makes less room than that part of the logs of which one is due is none to repeat */
};
#define LOGS_MOST (UINT64_C(16) << 20) /* or so many bytes */
/* A program that records faster than logs are compacted waits where logs have so many: these take a second after its end. */
#define LOGS_READABLE (UINT64_C(160) << 20)
#define LOGS_LEAST    (UINT64_C(128) << 10)
/* Where logs have so many, rollups are too slow for the program: they no longer wait for other programs. */
#define LOGS_BEHIND (LOGS_READABLE / 3)
/* … nor where logs grow by so many bytes a second: rollups would soon be too slow. */
#define GROWS_FAST (UINT64_C(2) << 20)
/* What a rollup compacts at once: no more is lost with its child, and there is room as soon as so many are compacted. */
#define BATCH (UINT64_C(16) << 20)
/* More than that is compacted when the program has ended, if there is time: a twentieth of it is left. */
#define LOGS_LEFT (UINT64_C(2) << 20)
/* A child that failed, on a full disk above all, is followed by another after so long, twice as long each time. */
#define BACKOFF_NS      UINT64_C(200000000)
#define BACKOFF_MOST_NS UINT64_C(20000000000)
#define LOOK_NS         UINT64_C(100000000)
/* Who had to wait for room a moment ago soon has to again. */
#define LATE_NS  UINT64_C(1000000000)
#define AGAIN_NS UINT64_C(2000000000)

struct tare_rollups {
	char *folder;
	uint64_t cap;
	struct tare_control *control;
	tare_rollup_maker *make;
	/* What the program waits for is made by a process that lasts; the others sync, may have a low priority, and make one. */
	struct tare_rollup_worker lasting, once, *at_work;
	bool has_failed;
	bool is_patient;        /* the last child has a low priority, and may make a state: it began when there was time */
	bool is_given_up;       /* it was killed, for there is no time any more */
	bool was_late;          /* it saved no state: the next state takes folding what it compacted, too */
	uint64_t late_until_ns; /* the program waits for rollups, or soon will: so long at least */
	bool is_behind;         /* rollups were too slow for the program at some time */
	bool is_tried;          /* nothing was dropped for it, and the folder was still over its cap */
	uint64_t look_ns;       /* when to look again … */
	uint64_t written;       /* … and what was written into logs when it looked last */
	uint64_t begun_ns, begun_written; /* of the last child … */
	uint64_t begun_use;               /* … what the folder had then … */
	bool is_fruitless;                /* … and whether it made too little room to be followed by another at once */
	uint64_t backoff_ns, again_ns;    /* after one that failed */
};

static uint64_t written_of(const struct tare_rollups *r)
{
	return __atomic_load_n(&r->control->log_written, __ATOMIC_RELAXED);
}

/* What logs take that is in no segment. */
static uint64_t bytes_of_logs(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (strstr(entry->d_name, ".events") && fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			bytes += (uint64_t)st.st_blocks * 512;
	if (dir)
		closedir(dir);
	return bytes;
}

static uint64_t rest_of(uint64_t most, uint64_t use)
{
	return use < most ? most - use : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greatest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What a child writes before it removes anything: the largest segment with more in it, a state, and the list of them all. */
static uint64_t written_first(const char *folder)
{
	static const char *const kinds[] = { ".segment", ".state", ".json" };
	enum { KINDS = sizeof(kinds) / sizeof(*kinds) };
	uint64_t largest[KINDS] = { 0 }, sum = 0;
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		for (int k = 0; k < KINDS; k++)
			if (strstr(entry->d_name, kinds[k]) && fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			    (uint64_t)st.st_blocks * 512 > largest[k])
				largest[k] = (uint64_t)st.st_blocks * 512;
	if (dir)
		closedir(dir);
	for (int k = 0; k < KINDS; k++)
		sum += largest[k];
	return sum / 4 * 5;
}

/*
 * What the folder may have with logs: they leave room for what the child writes before it removes anything. An eighth of the
 * cap is kept for that, or more where its files are larger, so what it has written so far takes nothing away.
 */
static uint64_t most_with_logs(const struct tare_rollups *r)
{
	return rest_of(r->cap, greatest(r->cap / KEPT_FREE, written_first(r->folder)));
}

/* Of so many bytes of logs a rollup is due. */
static uint64_t enough(const struct tare_rollups *r)
{
	return greatest(least(r->cap / SHARE, LOGS_MOST), LOGS_LEAST);
}

/*
 * To what a rollup makes the folder small, and where the folder has more, one is due. What is left is for what programs record until
 * the next time: the logs of which a rollup is due have room in it, and as much again while it is made.
 */
static uint64_t goal(const struct tare_rollups *r)
{
	return greatest(r->cap / 4, least(r->cap - r->cap / 4, rest_of(most_with_logs(r), 2 * enough(r))));
}

static void set_limit(const struct tare_rollups *r, uint64_t *limit, uint64_t to)
{
	if (!r->at_work || to > __atomic_load_n(limit, __ATOMIC_RELAXED))
		__atomic_store_n(limit, to, __ATOMIC_RELAXED);
}

/*
 * Unless records would be lost, logs have no more than can be read in a few seconds. `written`: before the folder had `use` bytes.
 */
static void allow(const struct tare_rollups *r, uint64_t written, uint64_t use)
{
	uint64_t most = most_with_logs(r), room = rest_of(most, use),
			 logs = most > LOGS_READABLE ? bytes_of_logs(r->folder) : 0;

	set_limit(r, &r->control->log_most, written + room + 1);
	set_limit(r, &r->control->log_limit, written + least(room, rest_of(LOGS_READABLE, logs)) + 1);
}

/* What the folder has, by which more is allowed. */
static uint64_t look(struct tare_rollups *r)
{
	uint64_t written = written_of(r), use = tare_disk_most(r->folder);

	allow(r, written, use);
	r->written = written;
	return use;
}

/* Who may write no more waits where room is being made, and only there. */
static void tell_room(const struct tare_rollups *r, bool is_made)
{
	__atomic_store_n(&r->control->makes_room, is_made, __ATOMIC_RELAXED);
}

/* What a rollup compacts at once: of a small cap a part, so that what it writes before it removes anything stays below the cap. */
static uint64_t batch(const struct tare_rollups *r)
{
	return least(BATCH, r->cap / KEPT_BATCH);
}

struct tare_rollups *tare_rollups_new(const char *folder, uint64_t cap, struct tare_control *control,
                                      tare_rollup_maker *make)
{
	struct tare_rollups *r = tare_xcalloc(1, sizeof(*r));

	r->folder = tare_xstrdup(folder);
	r->cap = cap;
	r->control = control;
	r->make = make;
	r->lasting = r->once = TARE_WORKER_NONE;
	r->begun_ns = (uint64_t)tare_now_ns(CLOCK_MONOTONIC);
	if (make)
		look(r);
	tell_room(r, make != NULL);
	return r;
}

void tare_rollups_free(struct tare_rollups *r)
{
	if (!r)
		return;
	tare_worker_end(&r->lasting);
	tare_worker_end(&r->once);
	free(r->folder);
	free(r);
}

/* Nobody waits for it meanwhile. */
static void back_off(struct tare_rollups *r)
{
	r->backoff_ns = r->backoff_ns ? least(2 * r->backoff_ns, BACKOFF_MOST_NS) : BACKOFF_NS;
	r->again_ns = (uint64_t)tare_now_ns(CLOCK_MONOTONIC) + r->backoff_ns;
	tell_room(r, false);
}

static void begin(struct tare_rollups *r, const struct tare_rollup_wish *wish)
{
	struct tare_rollup_worker *worker = wish->is_late ? &r->lasting : &r->once;

	r->begun_ns = (uint64_t)tare_now_ns(CLOCK_MONOTONIC);
	r->begun_written = written_of(r);
	r->is_patient = !wish->is_urgent;
	r->was_late = wish->is_late;
	r->is_given_up = false;
	if (worker == &r->once)
		tare_worker_end(&r->lasting); /* so that no other process has its socket */
	if (tare_worker_ask(worker, r->make, r->folder, wish)) {
		r->at_work = worker;
		return;
	}
	r->has_failed = tare_disk_most(r->folder) > r->cap;
	back_off(r);
}

/* Whether the child is gone, however it went; waits for that as long. */
static bool is_done(struct tare_rollups *r, int wait_ms)
{
	struct pollfd fd = { .fd = tare_rollups_fd(r), .events = POLLIN };

	if (!r->at_work)
		return true;
	if (poll(&fd, 1, wait_ms) <= 0)
		return false;
	if (tare_worker_answer(r->at_work)) {
		r->backoff_ns = 0;
		tell_room(r, true);
	} else if (!r->is_given_up) {
		r->has_failed = tare_disk_most(r->folder) > r->cap;
		back_off(r);
	}
	tare_worker_end(&r->once);
	r->at_work = NULL;
	return true;
}

/*
 * After a child that made too little room another is worth its time where more came, where events may be dropped for it, and where
 * time went on, so that a state may speak for more of what is there.
 */
static bool is_worth_another(const struct tare_rollups *r, uint64_t use, uint64_t now)
{
	return !r->is_fruitless || written_of(r) - r->begun_written > enough(r) / LITTLE || (use > r->cap && r->is_tried) ||
	       (use > goal(r) && now - r->begun_ns > AGAIN_NS);
}

/* The folder has more than it had when the child began, by what was written meanwhile, and less by what the child gained. */
static void see_gain(struct tare_rollups *r, uint64_t use)
{
	uint64_t without = r->begun_use + (written_of(r) - r->begun_written);

	r->is_fruitless = !r->backoff_ns && !r->is_given_up && without < use + enough(r) / LITTLE;
}

/* Ten times a second, and sooner where much was written. */
static bool is_time(const struct tare_rollups *r, uint64_t now)
{
	return now >= r->look_ns || written_of(r) - r->written > enough(r);
}

static bool grows_fast(const struct tare_rollups *r, uint64_t now)
{
	return written_of(r) - r->begun_written > GROWS_FAST * ((now - r->begun_ns) / 1000000) / 1000 + LOGS_LEAST;
}

/*
 * Whoever may write no more waits for this child, which took its time: a state, of all that there was so far, may take it longer than
 * anybody waits. What it compacted counts, and what it is at is begun again by a child that makes room first.
 */
static void give_up(struct tare_rollups *r)
{
	if (r->at_work && r->is_patient && !r->is_given_up)
		r->is_given_up = kill(r->at_work->pid, SIGKILL) == 0;
}

/* Is there so little room that a thread may be waiting for more? */
static bool is_waited_for(const struct tare_rollups *r)
{
	uint64_t limit = __atomic_load_n(&r->control->log_limit, __ATOMIC_RELAXED);

	return limit && written_of(r) + TARE_BLOCK_MAX > limit;
}

/* One that is gone, though it was asked for nothing, would keep waking who waits for it. */
static void see_worker(struct tare_rollups *r)
{
	struct pollfd fd = { .fd = r->lasting.socket, .events = POLLIN };

	if (!r->at_work && fd.fd >= 0 && poll(&fd, 1, 0) > 0)
		tare_worker_end(&r->lasting);
}

/* Dropping is the last resort: only where the folder is over its cap though all was tried. */
bool tare_rollups_turn(struct tare_rollups *r)
{
	struct tare_rollup_wish wish = { .cap = goal(r), .most = batch(r) };
	uint64_t now = (uint64_t)tare_now_ns(CLOCK_MONOTONIC), use;
	bool has_room; /* the child is done, and made some */
	bool is_behind;

	if (!r->make)
		return false;
	see_worker(r);
	has_room = r->at_work && is_done(r, 0);
	if (!has_room && !is_time(r, now))
		return false;
	use = look(r);
	if (has_room)
		see_gain(r, use);
	is_behind = bytes_of_logs(r->folder) > LOGS_BEHIND;
	r->is_behind |= is_behind;
	if (is_behind)
		give_up(r);
	if (is_behind || grows_fast(r, now) || is_waited_for(r))
		r->late_until_ns = now + LATE_NS;
	wish.is_late = now < r->late_until_ns;
	wish.is_urgent = use > r->cap / 2 || wish.is_late;
	r->look_ns = wish.is_urgent ? now : now + LOOK_NS;
	if (r->at_work || (r->backoff_ns && now < r->again_ns))
		return false;
	if ((use <= wish.cap && bytes_of_logs(r->folder) <= enough(r)) || !is_worth_another(r, use, now))
		return false;
	wish.is_hurried = use > r->cap && r->is_tried;
	r->is_tried = use > r->cap && !wish.is_hurried;
	r->begun_use = use;
	begin(r, &wish);
	return true;
}

/* False: there was no time for it, or it failed, and what is left stays as it was. */
static bool make_by(struct tare_rollups *r, const struct tare_rollup_wish *wish, uint64_t until)
{
	uint64_t now = (uint64_t)tare_now_ns(CLOCK_MONOTONIC);

	if (now >= until)
		return false;
	begin(r, wish);
	if (is_done(r, (int)((until - now) / 1000000)))
		return !r->backoff_ns;
	kill(r->at_work->pid, SIGKILL);
	return false;
}

/* Piece by piece, so that what was done in time counts; the last piece is for good. */
static void finish_logs(struct tare_rollups *r, const struct tare_rollup_wish *last)
{
	struct tare_rollup_wish piece = { .cap = last->cap, .is_urgent = true, .is_late = true, .most = batch(r) };
	uint64_t until = (uint64_t)tare_now_ns(CLOCK_MONOTONIC) + LAGS_MS * UINT64_C(1000000), before = UINT64_MAX, logs;

	while ((logs = bytes_of_logs(r->folder)) > batch(r) + batch(r) / 2 && logs < before) {
		before = logs;
		if (!make_by(r, &piece, until))
			return;
	}
	make_by(r, last, until);
}

void tare_rollups_finish(struct tare_rollups *r, bool is_final)
{
	struct tare_rollup_wish wish = {
		.cap = r->cap, .is_final = is_final, .is_urgent = true, .is_late = r->is_behind || r->was_late
	};
	bool lags = r->at_work; /* so the clocks of what the child compacts are not settled yet */

	/* Nobody makes room any more for what goes on. */
	__atomic_store_n(&r->control->log_limit, 0, __ATOMIC_RELAXED);
	tell_room(r, false);
	if (!r->make || !is_done(r, FINISH_MS))
		return;
	tell_room(r, false);
	if (tare_disk_most(r->folder) <= r->cap) {
		if (lags || r->is_behind || bytes_of_logs(r->folder) > LOGS_LEFT)
			finish_logs(r, &wish);
		return;
	}
	begin(r, &wish);
	is_done(r, FINISH_MS);
}

int tare_rollups_fd(const struct tare_rollups *r)
{
	return r->at_work ? r->at_work->socket : -1;
}

bool tare_rollups_has_failed(struct tare_rollups *r)
{
	bool has = r->has_failed;

	r->has_failed = false;
	return has;
}
