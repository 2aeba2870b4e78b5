/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log is read while threads write it, a drainer empties the ring, and at last the writer is
 * killed. Every record carries values that follow from its position, so a torn one is noticed.
 */
#include "make_log.h"
#include "test.h"
#include "trace/log.h"
#include "trace/ringlog.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RING = 65536, THREADS = 3, ROUNDS = 12 };

static struct make_log m; /* for its header */
static struct tare_ring_header *ring;
static uint8_t *bytes; /* of the ring, mapped twice in a row */
static int events_fd;

static void map_ring(const char *path)
{
	size_t span = TARE_RING_HEADER_BYTES + 2 * RING;
	int fd = open(path, O_RDWR);
	uint8_t *base = mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(fd >= 0 && base != MAP_FAILED);
	CHECK(mmap(base, TARE_RING_HEADER_BYTES + RING, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	CHECK(mmap(base + TARE_RING_HEADER_BYTES + RING, RING, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED, fd, TARE_RING_HEADER_BYTES) != MAP_FAILED);
	close(fd);
	ring = (struct tare_ring_header *)(void *)base;
	bytes = base + TARE_RING_HEADER_BYTES;
}

static int write_events(void *arg, const void *from, uint64_t size, uint64_t offset)
{
	(void)arg;
	return pwrite(events_fd, from, size, (off_t)offset) == (ssize_t)size ? 0 : -5;
}

static void *drain(void *arg)
{
	static uint8_t copy[TARE_RINGLOG_COPY];
	struct tare_ringlog log = { .ring = ring, .bytes = bytes, .write = write_events, .copy = copy };

	(void)arg;
	for (uint64_t now = 0;; now++)
		if (tare_ringlog_drain(&log, now, false) == 0)
			usleep(50);
	return NULL;
}

/* Text of a length that follows from the position, so that records wrap in every way. */
static size_t text_at(uint64_t position, char *text)
{
	size_t len = position / TARE_CELL * 7 % 300;

	memset(text, 'a' + (int)(position / TARE_CELL % 26), len);
	return len;
}

static void *write_records(void *arg)
{
	uint64_t head = 0;

	for (;;) {
		struct tare_rec_peer rec = { .head = { .kind = TARE_KIND_PEER, .stamp = 1 } };
		uint64_t size;
		char text[300];

		head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
		rec.bytes = (uint32_t)text_at(head, text);
		rec.used = head * 3;
		rec.pid = (uint32_t)(uintptr_t)arg;
		size = tare_encode_size(sizeof(rec), rec.bytes);
		if (head + size - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) > RING) {
			usleep(20);
			continue;
		}
		if (!__atomic_compare_exchange_n(&ring->head, &head, head + size, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		tare_encode(bytes, RING, head, size, &rec, sizeof(rec), text, rec.bytes);
	}
	return NULL;
}

static void run_writer(const char *ring_path, const char *events)
{
	pthread_t thread;

	map_ring(ring_path);
	events_fd = open(events, O_WRONLY);
	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, write_records, (void *)i);
	pthread_create(&thread, NULL, drain, NULL);
	write_records(NULL);
}

/* Returns how many records there are; `gaps` how many places without one. */
static uint64_t read_all(const char *events, uint64_t *gaps, uint64_t *end)
{
	struct tare_log_record rec;
	enum tare_log_step step;
	struct tare_log *log;
	uint64_t n = 0;
	char text[300];

	CHECK_INT(tare_log_open(&log, events, NULL), 0);
	CHECK(!tare_log_info(log)->is_ring_damaged);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END) {
		/* Only what was just being written, and that is in the ring, may be missing. */
		if (step == TARE_LOG_GAP)
			continue;
		n++;
		CHECK_INT(rec.info->kind, TARE_KIND_PEER);
		CHECK_INT(rec.rec.peer->used, rec.position * 3);
		CHECK_INT(rec.text_len, text_at(rec.position, text));
		CHECK(!memcmp(rec.text, text, rec.text_len));
	}
	*gaps = tare_log_counts(log)->gaps;
	*end = tare_log_info(log)->end;
	CHECK_INT(tare_log_counts(log)->repaired, 0);
	tare_log_close(log);
	return n;
}

TEST(read_while_it_is_written_and_after_a_kill)
{
	const char *events = make_path(make_dir(), "1-0.events");
	const char *ring_path = make_path(make_dir(), "1-0.ring");
	uint64_t total = 0;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t n, gaps, end, last = 0;
		pid_t pid;

		make_log_init(&m, 1, 0);
		make_log_write(&m, events, SIZE_MAX);
		make_log_write_ring(&m, ring_path, RING, 0, false);
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			run_writer(ring_path, events);
			_exit(1);
		}
		for (int i = 0; i < 10; i++) {
			usleep(1000u * (unsigned)(round % 4));
			n = read_all(events, &gaps, &end);
			CHECK(end >= last);
			last = end;
			/* Each thread has at most one record in the making. */
			CHECK(gaps <= THREADS);
		}
		CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
		n = read_all(events, &gaps, &end);
		CHECK(gaps <= THREADS);
		CHECK(end >= last);
		total += n;
		unlink(ring_path);
	}
	printf("# %llu records\n", (unsigned long long)total);
	CHECK(total > 1000);
}
