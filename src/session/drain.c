/* SPDX-License-Identifier: Apache-2.0 */
/* Takes records out of the rings of recorded processes while they run. */
#include "session/drain.h"

#include "base/now.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "session/lanes.h"
#include "record/allowance.h"
#include "witness/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOK_NS          1000000000u
#define DESCRIPTORS_LEFT 16

struct ring {
	char *name; /* "431-0" */
	pid_t pid;
	pid_t pid_here; /* in our pid namespace; 0: not found */
	uint32_t generation;
	/* NULL: drained to the end and removed, or not ours to understand */
	struct tare_lanes *lanes;
	int pidfd;    /* -1: none, or its process has ended */
	bool is_cut;  /* the program, or somebody, cut the ring short */
	bool has_end; /* its end was seen and nobody asked for it yet */
	int status;
};

struct tare_drain {
	char *folder;
	struct tare_control *control;
	struct ring **rings;
	size_t count, room;
	int error;
	bool is_damaged;      /* a ring was cut short, or its counts contradict each other */
	uint64_t lost;        /* in rings that are gone */
	uint32_t lost_reason; /* of them */
	uint64_t looked_ns;   /* when all rings were asked whether their processes live */
	uint64_t pid_namespace;
	int epoll; /* of the pidfds; -1: not possible here */
};

static void unwatch(struct tare_drain *drain, struct ring *ring)
{
	if (ring->pidfd < 0)
		return;
	epoll_ctl(drain->epoll, EPOLL_CTL_DEL, ring->pidfd, NULL);
	close(ring->pidfd);
	ring->pidfd = -1;
}

/* Logs are opened while they are written: some descriptors must be left for that. */
static bool leaves_descriptors(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) != 0 || (rlim_t)fd + DESCRIPTORS_LEFT < limit.rlim_cur;
}

/* The kernel says when it ends. An older generation of the pid has no end but its exec. */
static void watch(struct tare_drain *drain, struct ring *ring)
{
	struct epoll_event event = { .events = EPOLLIN };
	size_t i;

	for (i = 0; i < drain->count; i++)
		if (drain->rings[i]->pid == ring->pid)
			unwatch(drain, drain->rings[i]);
	if (drain->epoll < 0 || !ring->lanes || !ring->pid_here)
		return;
	ring->pidfd = (int)syscall(SYS_pidfd_open, ring->pid_here, 0);
	if (ring->pidfd >= 0 &&
	    (!leaves_descriptors(ring->pidfd) || epoll_ctl(drain->epoll, EPOLL_CTL_ADD, ring->pidfd, &event) != 0))
		unwatch(drain, ring);
}

static uint64_t namespace_of(const struct ring *ring)
{
	return tare_lanes_header(ring->lanes)->pid_namespace;
}

/* Its innermost pid in its own namespace. */
static bool is_process(pid_t pid, const struct ring *ring)
{
	struct tare_procfs_pids pids;
	uint64_t inode;

	return tare_procfs_pid_namespace(pid, &inode) == 0 && inode == namespace_of(ring) &&
	       tare_procfs_pids(pid, &pids) == 0 && pids.count > 0 && pids.pids[pids.count - 1] == ring->pid;
}

/* A process of a pid namespace below ours has another pid here. */
static pid_t find_here(const struct tare_drain *drain, const struct ring *ring)
{
	struct dirent *entry;
	pid_t found = 0;
	DIR *dir;

	if (!namespace_of(ring) || !drain->pid_namespace || namespace_of(ring) == drain->pid_namespace)
		return ring->pid;
	dir = opendir("/proc");
	while (dir && !found && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && is_process(pid, ring))
			found = pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

static void add_ring(struct tare_drain *drain, const char *name)
{
	struct ring *ring = tare_xcalloc(1, sizeof(*ring));
	char *stem = tare_str_format("%s/%s", drain->folder, name);

	ring->pidfd = -1;
	ring->name = tare_xstrdup(name);
	ring->pid = (pid_t)strtol(name, NULL, 10);
	ring->generation = (uint32_t)strtoul(strchr(name, '-') + 1, NULL, 10);
	ring->lanes = tare_lanes_open(stem, drain->control);
	if (ring->lanes)
		ring->pid_here = find_here(drain, ring);
	free(stem);
	watch(drain, ring);
	if (drain->count == drain->room) {
		drain->room = drain->room ? 2 * drain->room : 16;
		drain->rings = tare_xrealloc(drain->rings, drain->room, sizeof(*drain->rings));
	}
	drain->rings[drain->count++] = ring;
}

static bool is_known(const struct tare_drain *drain, const char *name)
{
	size_t i;

	for (i = 0; i < drain->count; i++)
		if (strcmp(drain->rings[i]->name, name) == 0)
			return true;
	return false;
}

static void look_for_rings(struct tare_drain *drain)
{
	DIR *dir = opendir(drain->folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);
		char *name;

		if (n < 6 || strcmp(entry->d_name + n - 5, ".ring") != 0 || !strchr(entry->d_name, '-'))
			continue;
		name = tare_xstrndup(entry->d_name, n - 5);
		if (!is_known(drain, name))
			add_ring(drain, name);
		free(name);
	}
	if (dir)
		closedir(dir);
}

struct tare_drain *tare_drain_new(const char *folder, struct tare_control *control)
{
	struct tare_drain *drain = tare_xcalloc(1, sizeof(*drain));

	drain->folder = tare_xstrdup(folder);
	drain->control = control;
	drain->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (tare_procfs_pid_namespace(0, &drain->pid_namespace) != 0)
		drain->pid_namespace = 0;
	return drain;
}

static uint64_t drain_ring(struct tare_drain *drain, struct ring *ring)
{
	uint64_t bytes = 0;
	int rc = ring->is_cut ? -EFAULT : tare_lanes_drain(ring->lanes, &bytes);

	ring->is_cut = rc == -EFAULT;
	if (rc == -EFAULT || rc == -EBADMSG)
		drain->is_damaged = true;
	else if (rc && rc != TARE_ALLOWANCE_IS_USED_UP)
		drain->error = -rc;
	return bytes;
}

/* A zombie whose other threads go on is a program whose main thread ended (pthread_exit). */
static bool is_dead(const struct tare_procfs_stat *stat)
{
	return stat->state == 'X' || (stat->state == 'Z' && stat->threads <= 1);
}

/* Emulators make these ticks up, now and then one too many. */
static bool is_another(uint64_t start_ticks, uint64_t other)
{
	return (start_ticks > other ? start_ticks - other : other - start_ticks) > 100;
}

/*
 * Only the end of the process ends its log: threads write on when it has said that it is finished. What cannot be seen
 * from here, in a pid namespace that is not below ours, is believed to have ended when it says so.
 */
static bool has_ended(const struct tare_drain *drain, const struct ring *ring)
{
	struct tare_procfs_stat stat;
	size_t i;

	for (i = 0; i < drain->count; i++) {
		const struct ring *other = drain->rings[i];

		if (other->pid == ring->pid && other->generation > ring->generation &&
		    (!other->lanes || namespace_of(other) == namespace_of(ring)))
			return true;
	}
	if (!ring->pid_here)
		return tare_lanes_are_finished(ring->lanes);
	return tare_procfs_stat(ring->pid_here, &stat) != 0 || is_dead(&stat) ||
	       is_another(stat.start_ticks, tare_lanes_header(ring->lanes)->start_ticks);
}

/*
 * The status of a process that its parent has taken off the list, -1: not told. Linux 6.15 and later keep it for who has had
 * a descriptor of the process: PIDFD_GET_INFO, for which the headers of most systems are too old.
 */
static int status_by_pidfd(int fd)
{
	struct info {
		uint64_t mask, cgroup;
		uint32_t ids[11];
		int32_t status;
	} info = { .mask = 1u << 3 /* PIDFD_INFO_EXIT */ };
	const uint64_t asked = info.mask;

	_Static_assert(sizeof(info) == 64, "the first version of struct pidfd_info has 64 bytes");
	if (ioctl(fd, _IOWR(0xFF, 11, struct info), &info) != 0 || !(info.mask & asked))
		return -1;
	return info.status;
}

static int status_of(const struct ring *ring)
{
	struct tare_procfs_stat stat;

	if (tare_procfs_stat(ring->pid_here, &stat) == 0 && stat.state == 'Z' && stat.status != -1)
		return stat.status;
	return status_by_pidfd(ring->pidfd);
}

/*
 * Which processes have ended since the last look, and how: until its parent takes a process off the
 * list, the list has its status. We are often quicker, for launchers look around only now and then.
 */
static void see_ends(struct tare_drain *drain)
{
	size_t i;

	for (i = 0; i < drain->count; i++) {
		struct ring *ring = drain->rings[i];
		struct pollfd poll_fd = { .fd = ring->pidfd, .events = POLLIN };

		if (ring->pidfd < 0 || poll(&poll_fd, 1, 0) <= 0)
			continue;
		ring->has_end = true;
		ring->status = status_of(ring);
		unwatch(drain, ring);
	}
}

bool tare_drain_next_end(struct tare_drain *drain, struct tare_drain_end *out)
{
	size_t i;

	for (i = 0; i < drain->count; i++) {
		struct ring *ring = drain->rings[i];

		if (!ring->has_end)
			continue;
		ring->has_end = false;
		*out = (struct tare_drain_end){ ring->pid, ring->generation, ring->status };
		return true;
	}
	return false;
}

int tare_drain_fd(const struct tare_drain *drain)
{
	return drain->epoll;
}

void tare_drain_wake_by(const struct tare_drain *drain, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (drain->epoll >= 0)
		epoll_ctl(drain->epoll, EPOLL_CTL_ADD, fd, &event);
}

/* Its process has ended: what is left goes into the log, and the ring can go. */
static void retire(struct tare_drain *drain, struct ring *ring)
{
	char *path;

	tare_lanes_allow_all(ring->lanes);
	while (drain_ring(drain, ring) > 0)
		continue;
	if (!tare_lanes_are_empty(ring->lanes) || tare_lanes_tell_lost(ring->lanes) != 0)
		return; /* could not be written: the ring keeps it */
	path = tare_str_format("%s/%s.ring", drain->folder, ring->name);
	unlink(path);
	free(path);
	drain->lost += tare_lanes_lost(ring->lanes, &drain->lost_reason);
	tare_lanes_close(ring->lanes);
	ring->lanes = NULL;
}

/* A job may start thousands of processes, and each has a ring, a mapping and a descriptor here. */
static void retire_ended(struct tare_drain *drain)
{
	uint64_t now = (uint64_t)tare_now_ns(CLOCK_MONOTONIC);
	bool is_time = now - drain->looked_ns > LOOK_NS;
	size_t i;

	for (i = 0; i < drain->count; i++) {
		struct ring *ring = drain->rings[i];

		if (ring->lanes && !ring->is_cut && (is_time || tare_lanes_are_finished(ring->lanes)) && has_ended(drain, ring))
			retire(drain, ring);
	}
	if (is_time)
		drain->looked_ns = now;
}

uint64_t tare_drain_turn(struct tare_drain *drain)
{
	uint64_t sum = 0;
	size_t i;

	look_for_rings(drain);
	see_ends(drain);
	for (i = 0; i < drain->count; i++)
		if (drain->rings[i]->lanes)
			sum += drain_ring(drain, drain->rings[i]);
	retire_ended(drain);
	return sum;
}

int tare_drain_finish(struct tare_drain *drain)
{
	int alive = 0;
	size_t i;

	tare_drain_turn(drain);
	for (i = 0; i < drain->count; i++) {
		struct ring *ring = drain->rings[i];

		if (!ring->lanes)
			continue;
		if (has_ended(drain, ring))
			retire(drain, ring);
		else
			alive++;
	}
	return alive;
}

void tare_drain_free(struct tare_drain *drain)
{
	size_t i;

	if (!drain)
		return;
	for (i = 0; i < drain->count; i++) {
		unwatch(drain, drain->rings[i]);
		tare_lanes_close(drain->rings[i]->lanes);
		free(drain->rings[i]->name);
		free(drain->rings[i]);
	}
	if (drain->epoll >= 0)
		close(drain->epoll);
	free(drain->rings);
	free(drain->folder);
	free(drain);
}

bool tare_drain_is_damaged(const struct tare_drain *drain)
{
	return drain->is_damaged;
}

int tare_drain_error(const struct tare_drain *drain)
{
	return drain->error;
}

uint64_t tare_drain_lost(const struct tare_drain *drain, uint32_t *reason)
{
	uint64_t sum = drain->lost;
	size_t i;

	if (sum)
		*reason = drain->lost_reason;
	for (i = 0; i < drain->count; i++)
		if (drain->rings[i]->lanes)
			sum += tare_lanes_lost(drain->rings[i]->lanes, reason);
	return sum;
}

size_t tare_drain_processes(const struct tare_drain *drain, struct tare_drain_process *out, size_t max)
{
	size_t i, n = 0;

	for (i = 0; i < drain->count && n < max; i++) {
		const struct ring *ring = drain->rings[i];

		out[n++] = (struct tare_drain_process){ ring->pid, ring->generation,
			                                    !ring->lanes || tare_lanes_are_finished(ring->lanes) };
	}
	return n;
}
