/* SPDX-License-Identifier: Apache-2.0 */
#include "session/drain.h"

#include "base/str.h"
#include "base/xalloc.h"
#include "trace/ringlog.h"
#include "witness/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 1000000000u

struct ring {
	char *name; /* "431-0" */
	pid_t pid;
	uint32_t generation;
	uint64_t pid_namespace; /* 0: not known */
	int events_fd;
	size_t mapped;
	uint8_t *base;
	struct tare_ringlog log;
	bool is_done; /* drained to the end and removed */
	int pidfd; /* -1: none, or its process has ended */
	bool has_end; /* its end was seen and nobody asked for it yet */
	int status;
};

struct tare_drain {
	char *folder;
	struct ring **rings;
	size_t count, room;
	int error;
	uint64_t lost; /* in rings that are gone */
	uint64_t looked_ns; /* when all rings were asked whether their processes live */
	uint64_t pid_namespace;
	int epoll; /* of the pidfds; -1: not possible here */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static char *file_of(const struct tare_drain *drain, const char *name, const char *end)
{
	struct tare_str path = { 0 };

	tare_str_addf(&path, "%s/%s%s", drain->folder, name, end);
	return tare_str_steal(&path);
}

static int write_log(void *arg, const void *bytes, uint64_t size, uint64_t offset)
{
	const struct ring *ring = arg;
	const uint8_t *at = bytes;

	while (size > 0) {
		ssize_t n = pwrite(ring->events_fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

/* The ring twice in a row, as the recorder maps it. */
static bool map_ring(struct ring *ring, int fd)
{
	struct tare_ring_header head;
	uint64_t size;
	struct stat st;

	if (fstat(fd, &st) != 0 || pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head.magic, TARE_RING_MAGIC, sizeof(head.magic)) != 0)
		return false;
	size = head.ring_bytes;
	if (size < 65536 || (size & (size - 1)) || size > 1u << 30 ||
	    (uint64_t)st.st_size < TARE_RING_HEADER_BYTES + size)
		return false;
	ring->mapped = TARE_RING_HEADER_BYTES + 2 * size;
	ring->base = mmap(NULL, ring->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring->base == MAP_FAILED)
		return false;
	if (mmap(ring->base, TARE_RING_HEADER_BYTES + size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED ||
	    mmap(ring->base + TARE_RING_HEADER_BYTES + size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 fd, TARE_RING_HEADER_BYTES) == MAP_FAILED) {
		munmap(ring->base, ring->mapped);
		return false;
	}
	ring->pid_namespace = head.file.pid_namespace;
	ring->log = (struct tare_ringlog){ .ring = (struct tare_ring_header *)ring->base,
					   .bytes = ring->base + TARE_RING_HEADER_BYTES,
					   .write = write_log,
					   .copy = tare_xmalloc(TARE_RINGLOG_COPY),
					   .arg = ring };
	return true;
}

static void free_ring(struct ring *ring)
{
	if (ring->base)
		munmap(ring->base, ring->mapped);
	if (ring->events_fd >= 0)
		close(ring->events_fd);
	free(ring->log.copy);
	ring->log.copy = NULL;
	ring->base = NULL;
	ring->events_fd = -1;
}

static void unwatch(struct tare_drain *drain, struct ring *ring)
{
	if (ring->pidfd < 0)
		return;
	epoll_ctl(drain->epoll, EPOLL_CTL_DEL, ring->pidfd, NULL);
	close(ring->pidfd);
	ring->pidfd = -1;
}

/* The kernel says when it ends. An older generation of the pid has no end but its exec. */
static void watch(struct tare_drain *drain, struct ring *ring)
{
	struct epoll_event event = { .events = EPOLLIN };
	size_t i;

	for (i = 0; i < drain->count; i++)
		if (drain->rings[i]->pid == ring->pid)
			unwatch(drain, drain->rings[i]);
	if (drain->epoll < 0 || !ring->base || ring->pid_namespace != drain->pid_namespace)
		return;
	ring->pidfd = (int)syscall(SYS_pidfd_open, ring->pid, 0);
	if (ring->pidfd >= 0 && epoll_ctl(drain->epoll, EPOLL_CTL_ADD, ring->pidfd, &event) != 0)
		unwatch(drain, ring);
}

static void add_ring(struct tare_drain *drain, const char *name)
{
	struct ring *ring = tare_xcalloc(1, sizeof(*ring));
	char *path = file_of(drain, name, ".ring"), *events = file_of(drain, name, ".events");
	int fd = open(path, O_RDWR | O_CLOEXEC);

	ring->pidfd = -1;
	ring->name = tare_xstrdup(name);
	ring->pid = (pid_t)strtol(name, NULL, 10);
	ring->generation = (uint32_t)strtoul(strchr(name, '-') + 1, NULL, 10);
	ring->events_fd = open(events, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || ring->events_fd < 0 || !map_ring(ring, fd)) {
		free_ring(ring);
		ring->is_done = true; /* not ours to understand; it stays as it is */
	}
	if (fd >= 0)
		close(fd);
	free(path);
	free(events);
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

struct tare_drain *tare_drain_new(const char *folder)
{
	struct tare_drain *drain = tare_xcalloc(1, sizeof(*drain));

	drain->folder = tare_xstrdup(folder);
	drain->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (tare_procfs_pid_namespace(0, &drain->pid_namespace) != 0)
		drain->pid_namespace = 0;
	return drain;
}

static uint64_t drain_ring(struct tare_drain *drain, struct ring *ring, bool last)
{
	struct tare_ring_header *head = ring->log.ring;
	uint64_t sum = 0;
	int64_t n;

	do {
		n = tare_ringlog_drain(&ring->log, now_ns(), last);
		sum += n > 0 ? (uint64_t)n : 0;
	} while (n > 0 && (last || n > TARE_RINGLOG_COPY / 2));
	if (n < 0) {
		drain->error = (int)-n;
		__atomic_store_n(&head->full_disk, n == -ENOSPC || n == -EDQUOT || n == -EFBIG, __ATOMIC_RELAXED);
	}
	return sum;
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

/* In another pid namespace a pid of ours is somebody else: only what the ring says counts there. */
static bool has_ended(const struct tare_drain *drain, const struct ring *ring)
{
	const struct tare_ring_header *head = ring->log.ring;
	struct tare_procfs_stat stat;
	size_t i;

	for (i = 0; i < drain->count; i++)
		if (drain->rings[i]->pid == ring->pid && drain->rings[i]->pid_namespace == ring->pid_namespace &&
		    drain->rings[i]->generation > ring->generation)
			return true;
	if (ring->pid_namespace && drain->pid_namespace && ring->pid_namespace != drain->pid_namespace)
		return head->finished;
	return tare_procfs_stat(ring->pid, &stat) != 0 || is_dead(&stat) ||
	       is_another(stat.start_ticks, head->file.start_ticks);
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
		struct tare_procfs_stat stat;

		if (ring->pidfd < 0 || poll(&poll_fd, 1, 0) <= 0)
			continue;
		ring->has_end = true;
		ring->status = tare_procfs_stat(ring->pid, &stat) == 0 && stat.state == 'Z' ? stat.status : -1;
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

/* Its process has ended: what is left goes into the log, and the ring can go. */
static void retire(struct tare_drain *drain, struct ring *ring)
{
	char *path;

	drain_ring(drain, ring, true);
	if (ring->log.ring->tail != ring->log.ring->head)
		return; /* could not be written: the ring keeps it */
	path = file_of(drain, ring->name, ".ring");
	unlink(path);
	free(path);
	drain->lost += ring->log.ring->lost_records;
	ring->is_done = true;
	free_ring(ring);
}

/* A job may start thousands of processes, and each has a ring, a mapping and a descriptor here. */
static void retire_ended(struct tare_drain *drain)
{
	uint64_t now = now_ns();
	bool is_time = now - drain->looked_ns > LOOK_NS;
	size_t i;

	for (i = 0; i < drain->count; i++) {
		struct ring *ring = drain->rings[i];

		if (!ring->is_done && (is_time || ring->log.ring->finished) && has_ended(drain, ring))
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
		if (!drain->rings[i]->is_done)
			sum += drain_ring(drain, drain->rings[i], false);
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

		if (ring->is_done)
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
		free_ring(drain->rings[i]);
		free(drain->rings[i]->name);
		free(drain->rings[i]);
	}
	if (drain->epoll >= 0)
		close(drain->epoll);
	free(drain->rings);
	free(drain->folder);
	free(drain);
}

int tare_drain_error(const struct tare_drain *drain)
{
	return drain->error;
}

uint64_t tare_drain_lost(const struct tare_drain *drain)
{
	uint64_t sum = drain->lost;
	size_t i;

	for (i = 0; i < drain->count; i++)
		if (drain->rings[i]->base)
			sum += drain->rings[i]->log.ring->lost_records;
	return sum;
}

size_t tare_drain_processes(const struct tare_drain *drain, struct tare_drain_process *out, size_t max)
{
	size_t i, n = 0;

	for (i = 0; i < drain->count && n < max; i++) {
		const struct ring *ring = drain->rings[i];

		out[n++] = (struct tare_drain_process){ ring->pid, ring->generation,
							ring->is_done || !ring->base || ring->log.ring->finished };
	}
	return n;
}
