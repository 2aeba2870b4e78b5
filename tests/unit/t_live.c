/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log is read while threads write it and several drainers empty its lanes, one of which settles what the log has now
 * and then, and at last all of them are killed. Each
 * record has a number of its lane's own, so a torn, a lost and a doubled one are noticed.
 */
#include "make_log.h"
#include "test.h"
#include "trace/chunk_files.h"
#include "record/lane.h"
#include "trace/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* AHEAD: how much is drained while one reading goes on. However slow the reader is, it comes to an end. */
enum { THREADS = 3, DRAINERS = 2, ROUNDS = 12, AHEAD = 1 << 20, SETTLE_EVERY = 50 };

static struct make_log m; /* for its header */
static struct tare_ring_header *ring;
static struct tare_lane *lanes;
static uint8_t *base;
static const char *events_path;
static int events_fd;
static uint64_t settled;  /* of the log: nothing new is written below */
static uint64_t *allowed; /* the position up to which the log may grow, shared by reader and drainers */

static void make_ring(const char *path)
{
	uint64_t size = tare_lane_offset(MAKE_LANE_BYTES, THREADS);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(base != MAP_FAILED);
	close(fd);
	ring = (struct tare_ring_header *)(void *)base;
	lanes = (struct tare_lane *)(void *)(base + TARE_RING_HEADER_BYTES);
	ring->lane_bytes = MAKE_LANE_BYTES;
	ring->lane_nr = THREADS;
	ring->file = m.header;
	memcpy(ring->magic, TARE_RING_MAGIC, sizeof(ring->magic));
}

static struct tare_lane_view view_of(uint32_t i)
{
	return (struct tare_lane_view){ &lanes[i], base + tare_lane_offset(MAKE_LANE_BYTES, i), MAKE_LANE_BYTES, i };
}

/* What is settled may be written again, as it was. */
static int write_part(const struct tare_chunk_part *part, const uint8_t *from, bool is_settled)
{
	char *path = tare_chunk_path(events_path, part->chunk), there[TARE_BLOCK_MAX];
	int fd = part->chunk ? open(path, O_RDWR | O_CREAT, 0600) : events_fd;
	bool is_written;

	if (is_settled && (pread(fd, there, part->size, (off_t)part->offset) != (ssize_t)part->size ||
	                   memcmp(there, from, part->size) != 0))
		abort();
	is_written = pwrite(fd, from, part->size, (off_t)part->offset) == (ssize_t)part->size;

	if (part->chunk)
		close(fd);
	free(path);
	return is_written ? 0 : -5;
}

static int write_events(void *arg, const void *from, uint64_t size, uint64_t position)
{
	const struct tare_chunks chunks = { TARE_HEADER_BYTES, m.header.chunk_bytes };
	struct tare_chunk_part part;
	const uint8_t *at = from;
	int rc = 0;
	uint64_t below = __atomic_load_n(&settled, __ATOMIC_ACQUIRE);

	(void)arg;
	for (; size > 0 && !rc; at += part.size, position += part.size, size -= part.size) {
		part = tare_chunk_part(&chunks, position, size);
		rc = write_part(&part, at, position < below);
	}
	return rc;
}

static void settle(const struct tare_lane_drain *drain)
{
	uint64_t below = __atomic_fetch_add(&ring->log_end, TARE_CELL, __ATOMIC_ACQ_REL);

	for (uint32_t i = 0; i < THREADS; i++) {
		struct tare_lane_view view = view_of(i);

		below = tare_lane_settle(&view, drain, below);
	}
	if (below < settled)
		abort();
	__atomic_store_n(&settled, below, __ATOMIC_RELEASE);
}

static void *drain_all(void *arg)
{
	struct tare_lane_drain drain = { &ring->log_end, write_events, NULL, malloc(TARE_BLOCK_MAX) };

	for (unsigned turn = 1;; turn++) {
		if (arg && turn % SETTLE_EVERY == 0)
			settle(&drain);
		for (uint32_t i = 0; i < THREADS; i++) {
			struct tare_lane_view view = view_of(i);

			while (__atomic_load_n(&ring->log_end, __ATOMIC_RELAXED) > __atomic_load_n(allowed, __ATOMIC_RELAXED))
				usleep(20);
			if (tare_lane_drain(&view, &drain) < 0)
				abort();
		}
		usleep(arg ? 50 : 0);
	}
	return NULL;
}

/* Text of a length that follows from the number, so that records end everywhere in a lane. */
static uint32_t text_of(uint64_t number, char *text)
{
	uint32_t len = (uint32_t)(number * 7 % 300);

	memset(text, 'a' + (int)(number % 26), len);
	return len;
}

static void publish(const struct tare_lane_view *view, struct tare_record *head, uint64_t size)
{
	__atomic_store_n(&head->cells, (uint16_t)(size / TARE_CELL), __ATOMIC_RELAXED);
	head->seal = tare_seal(view->lane->head);
	__atomic_store_n(&view->lane->head, view->lane->head + size, __ATOMIC_RELEASE);
}

static void wait_for_room(const struct tare_lane_view *view, uint64_t size)
{
	while (view->lane->head + size - __atomic_load_n(&view->lane->tail, __ATOMIC_ACQUIRE) > view->size)
		usleep(20);
}

static void *write_records(void *arg)
{
	struct tare_lane_view view = view_of((uint32_t)(uintptr_t)arg);
	uint64_t number, size, left;

	for (number = 0;; number++) {
		struct tare_rec_peer *rec;
		struct tare_record *pad;
		char text[300];
		uint32_t len = text_of(number, text);

		size = tare_encode_size(sizeof(*rec), len);
		left = view.size - (view.lane->head & (view.size - 1));
		pad = (struct tare_record *)(uintptr_t)tare_lane_record(&view, view.lane->head);
		if (left < size) {
			wait_for_room(&view, left);
			pad->kind = TARE_KIND_PAD;
			publish(&view, pad, left);
		}
		wait_for_room(&view, size);
		rec = (struct tare_rec_peer *)(uintptr_t)tare_lane_record(&view, view.lane->head);
		memset(rec, 0, size);
		rec->head.kind = TARE_KIND_PEER;
		rec->head.stamp = 1;
		rec->pid = (uint32_t)(uintptr_t)arg;
		rec->used = number;
		rec->bytes = len;
		memcpy(rec + 1, text, len);
		publish(&view, &rec->head, size);
	}
	return NULL;
}

static void run_writers(const char *events)
{
	pthread_t thread;

	events_fd = open(events, O_RDWR);
	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, write_records, (void *)i);
	for (uintptr_t i = 0; i < DRAINERS; i++)
		pthread_create(&thread, NULL, drain_all, (void *)i);
	write_records(NULL);
}

/* Every lane from its first record on, without a gap. Returns how many records there are. */
static uint64_t read_all(const char *events)
{
	uint64_t next[THREADS] = { 0 }, n = 0;
	struct tare_log_record rec;
	enum tare_log_step step;
	struct tare_log *log;
	char text[300];

	CHECK_INT(tare_log_open(&log, events, NULL), 0);
	CHECK(!tare_log_info(log)->is_ring_damaged);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END) {
		if (step == TARE_LOG_GAP)
			test_fail(__FILE__, __LINE__, "%s: %llu bytes at %llu of %llu in files", tare_log_gap_name(rec.gap),
			          (unsigned long long)rec.bytes, (unsigned long long)rec.position,
			          (unsigned long long)tare_log_info(log)->file_end);
		CHECK_INT(step, TARE_LOG_RECORD);
		if (rec.info->kind == TARE_KIND_LANE)
			continue;
		CHECK_INT(rec.info->kind, TARE_KIND_PEER);
		CHECK(rec.rec.peer->pid < THREADS);
		CHECK_INT(rec.rec.peer->used, next[rec.rec.peer->pid]);
		next[rec.rec.peer->pid]++;
		CHECK_INT(rec.text_len, text_of(rec.rec.peer->used, text));
		CHECK(!memcmp(rec.text, text, rec.text_len));
		n++;
	}
	CHECK_INT(tare_log_counts(log)->gaps, 0);
	CHECK_INT(tare_log_counts(log)->repaired, 0);
	tare_log_close(log);
	return n;
}

static void remove_chunks(const char *events)
{
	struct tare_chunk_list list = { 0 };

	tare_chunk_list_read(&list, events);
	for (size_t i = 0; i < list.nr; i++) {
		char *path = tare_chunk_path(events, list.items[i].number);

		CHECK(unlink(path) == 0);
		free(path);
	}
	tare_chunk_list_free(&list);
}

static void run(uint32_t chunk_bytes)
{
	char *events = strdup(make_path(make_dir(), "1-0.events"));
	char *ring_path = strdup(make_path(make_dir(), "1-0.ring"));
	uint64_t total = 0;

	events_path = events;
	allowed = mmap(NULL, sizeof(*allowed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(allowed != MAP_FAILED);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t n, last = 0;
		pid_t pid;

		make_log_init(&m, 1, 0);
		m.header.has_lanes = 1;
		m.header.chunk_bytes = chunk_bytes;
		make_log_write(&m, events, SIZE_MAX);
		make_ring(ring_path);
		*allowed = AHEAD;
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			run_writers(events);
			_exit(1);
		}
		for (int i = 0; i < 10; i++) {
			usleep(1000u * (unsigned)(round % 4));
			*allowed = __atomic_load_n(&ring->log_end, __ATOMIC_RELAXED) + AHEAD;
			n = read_all(events);
			CHECK(n >= last);
			last = n;
		}
		CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
		n = read_all(events);
		CHECK(n >= last);
		total += n;
		munmap(base, tare_lane_offset(MAKE_LANE_BYTES, THREADS));
		unlink(ring_path);
		remove_chunks(events);
	}
	printf("# %llu records\n", (unsigned long long)total);
	CHECK(total > 100); /* under an emulator, beside others: 507 */
	free(events);
	free(ring_path);
}

TEST(read_while_it_is_written_and_after_a_kill)
{
	run(0);
}

TEST(the_same_in_several_files)
{
	run(TARE_CHUNK_BYTES_MIN);
}
