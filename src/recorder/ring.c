/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/ring.h"

#include <errno.h>
#include <string.h>

#include "recorder/plib.h"
#include "recorder/proc.h"
#include "recorder/recorder.h"
#include "recorder/sys.h"
#include "trace/clock.h"
#include "trace/encode.h"
#include "trace/ringlog.h"

#define RING_BYTES_DEFAULT (4u << 20)
#define HEARTBEAT_LIMIT_NS 1000000000u /* `tare` drains every few milliseconds; then it is gone */
#define RETRY_NS 100000000u /* a full disk is no reason to slow the program down */
#define LOCK_LIMIT_NS 1000000000u
#define CHECK_BYTES (64u << 10) /* how often a thread looks whether anybody drains */
#define NAMES_MAX 1000 /* exec generations of one pid */

enum { CLOSED, OPENING, OPEN, FAILED };

static struct {
	uint32_t state;
	uint32_t epoch;
	struct tare_ringlog log;
	uint8_t *bytes; /* the ring, mapped twice in a row */
	struct tare_control *control; /* NULL: not looked for yet */
	char events[4200]; /* path: no descriptor is kept, for programs close what they do not know */
	uint32_t pid;
	uint64_t retry_ns; /* not to be drained before: the disk was full */
	bool is_private; /* without a file: nobody but us can drain it */
} ring;

bool tare_ring_is_open(void)
{
	return __atomic_load_n(&ring.state, __ATOMIC_ACQUIRE) == OPEN;
}

bool tare_ring_is_own(void)
{
	return tare_ring_is_open() && ring.pid == tare_sys_getpid();
}

uint32_t tare_ring_epoch(void)
{
	return __atomic_load_n(&ring.epoch, __ATOMIC_ACQUIRE);
}

static int write_events(void *arg, const void *bytes, uint64_t size, uint64_t offset)
{
	const uint8_t *at = bytes;
	int fd = tare_sys_open(ring.events, O_WRONLY, 0);
	long n = 0;

	(void)arg;
	if (fd < 0)
		return fd;
	while (size > 0) {
		n = tare_sys_pwrite(fd, at, size, offset);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		at += n;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	tare_sys_close(fd);
	return size == 0 ? 0 : n < 0 ? (int)n : -EIO;
}

/* Recorded without a `tare` beside us: nobody drains, nobody commands, nobody counts. */
static struct tare_control nobody;

/* Maps `control`, which exists when a `tare` started this recording. */
static struct tare_control *map_control(void)
{
	char path[4200];
	struct tare_control *control;
	int fd;

	tare_plib_format(path, sizeof(path), "%s/control", tare_config.folder);
	fd = tare_sys_open(path, O_RDWR, 0);
	if (fd < 0)
		return &nobody;
	control = tare_sys_mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	tare_sys_close(fd);
	if (!control)
		return &nobody;
	if (memcmp(control->magic, TARE_CONTROL_MAGIC, sizeof(control->magic)) == 0)
		return control;
	tare_sys_munmap(control, 4096);
	return &nobody;
}

/* Its first caller maps it; a forked child has the parent's mapping, which is as good. */
static struct tare_control *control_page(void)
{
	struct tare_control *control = __atomic_load_n(&ring.control, __ATOMIC_ACQUIRE), *none = NULL;

	if (likely(control))
		return control;
	control = map_control();
	if (__atomic_compare_exchange_n(&ring.control, &none, control, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return control;
	if (control != &nobody)
		tare_sys_munmap(control, 4096);
	return none;
}

static void fill_header(struct tare_file_header *header, uint32_t generation)
{
	char text[64], state;

	tare_encode_header(header, TARE_ROLE_PROGRAM, TARE_CLOCK_HERE);
	header->pid = tare_sys_getpid();
	header->ppid = tare_sys_getppid();
	header->generation = generation;
	header->pid_namespace = tare_proc_pid_namespace();
	header->start_ticks = tare_proc_start_ticks("/proc/self/stat", &state);
	header->ticks_per_s = tare_clock_ticks_per_s();
	header->first_stamp = tare_clock_ticks();
	header->first_monotonic_ns = tare_sys_now_ns(CLOCK_MONOTONIC);
	header->first_realtime_ns = tare_sys_now_ns(CLOCK_REALTIME);
	if (tare_plib_read_file("/proc/sys/kernel/random/boot_id", text, sizeof(text)))
		tare_plib_parse_uuid(text, header->boot_id);
	if (tare_plib_read_file("/proc/sys/kernel/hostname", header->host, sizeof(header->host)))
		tare_plib_chomp(header->host);
	tare_plib_program_name(header->program, sizeof(header->program));
}

/* Makes P-G.events for the first G that is free, which is how exec generations get their number. */
static bool create_events(uint32_t pid, uint32_t *generation)
{
	uint32_t g;

	for (g = 0; g < NAMES_MAX; g++) {
		int fd;

		tare_plib_format(ring.events, sizeof(ring.events), "%s/%u-%u.events", tare_config.folder, pid,
				 g);
		fd = tare_sys_open(ring.events, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd >= 0) {
			tare_sys_close(fd);
			*generation = g;
			return true;
		}
		if (fd != -EEXIST)
			return false;
	}
	return false;
}

/*
 * The ring's pages must exist before they are written: a store into a page that the file system
 * cannot back is a SIGBUS in the user's program. So they are allocated on disk here, and where that
 * cannot be done, they are anonymous memory (then a kill loses what was not drained yet).
 */
static int create_ring_file(const char *path, uint64_t size)
{
	int fd = tare_sys_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		return fd;
	if (tare_sys_fallocate(fd, size) == 0)
		return fd;
	tare_sys_close(fd);
	tare_sys_unlink(path);
	return -ENOSPC;
}

static uint8_t *map_twice(int fd, uint32_t size)
{
	int share = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
	uint64_t span = TARE_RING_HEADER_BYTES + 2ull * size;
	uint8_t *base = tare_sys_mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t first = TARE_RING_HEADER_BYTES + (uint64_t)size;

	if (!base)
		return NULL;
	if (!tare_sys_mmap(base, first, PROT_READ | PROT_WRITE, share | MAP_FIXED | MAP_POPULATE, fd, 0))
		goto fail;
	if (fd >= 0) {
		if (!tare_sys_mmap(base + first, size, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, TARE_RING_HEADER_BYTES))
			goto fail;
	} else if (tare_sys6(SYS_mremap, (long)(base + TARE_RING_HEADER_BYTES), 0, size,
			     MREMAP_MAYMOVE | MREMAP_FIXED, (long)(base + first), 0) < 0) {
		goto fail; /* size 0 duplicates a shared mapping */
	}
	return base;
fail:
	tare_sys_munmap(base, span);
	return NULL;
}

static bool open_log(void)
{
	uint32_t generation, size = RING_BYTES_DEFAULT;
	struct tare_control *control;
	struct tare_ring_header *header;
	char path[4200];
	uint8_t *base;
	int fd;

	ring.pid = tare_sys_getpid();
	control = control_page();
	if (control->ring_bytes >= 65536 && (control->ring_bytes & (control->ring_bytes - 1)) == 0)
		size = control->ring_bytes;
	if (!create_events(ring.pid, &generation))
		goto fail;
	tare_plib_format(path, sizeof(path), "%s/%u-%u.ring.new", tare_config.folder, ring.pid, generation);
	fd = create_ring_file(path, TARE_RING_HEADER_BYTES + (uint64_t)size);
	ring.is_private = fd < 0;
	base = map_twice(fd, size);
	if (!base) {
		if (fd >= 0)
			tare_sys_close(fd);
		goto fail;
	}
	header = (struct tare_ring_header *)base;
	memcpy(header->magic, TARE_RING_MAGIC, sizeof(header->magic));
	header->version = TARE_FORMAT_VERSION;
	header->ring_bytes = size;
	fill_header(&header->file, generation);
	ring.bytes = base + TARE_RING_HEADER_BYTES;
	ring.log = (struct tare_ringlog){.ring = header, .bytes = ring.bytes, .write = write_events};
	write_events(NULL, &header->file, sizeof(header->file), 0); /* the ring has it too */
	if (fd >= 0) {
		char name[4200];

		/* Only a whole ring gets the name under which `tare` looks for it. */
		tare_plib_format(name, sizeof(name), "%s/%u-%u.ring", tare_config.folder, ring.pid, generation);
		tare_sys6(SYS_renameat2, AT_FDCWD, (long)path, AT_FDCWD, (long)name, 0, 0);
		tare_sys_close(fd);
	}
	__atomic_fetch_add(&control->processes, 1, __ATOMIC_RELAXED);
	return true;
fail:
	__atomic_fetch_add(&control->degraded, 1, __ATOMIC_RELAXED);
	return false;
}

static bool ensure_open(void)
{
	uint32_t state = __atomic_load_n(&ring.state, __ATOMIC_ACQUIRE);

	if (likely(state == OPEN))
		return true;
	if (state != CLOSED || !tare_config.enabled || tare_is_vfork_child())
		return false;
	if (!__atomic_compare_exchange_n(&ring.state, &state, OPENING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		/* Another thread opens it right now, which takes a millisecond. */
		while (__atomic_load_n(&ring.state, __ATOMIC_ACQUIRE) == OPENING)
			tare_sys6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		return tare_ring_is_open();
	}
	state = open_log() ? OPEN : FAILED;
	__atomic_fetch_add(&ring.epoch, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&ring.state, state, __ATOMIC_RELEASE);
	if (state == OPEN)
		tare_launch_emit();
	return state == OPEN;
}

static bool drainer_is_there(uint64_t now_ns)
{
	return ring.control != &nobody && !ring.is_private &&
	       now_ns - __atomic_load_n(&ring.control->heartbeat_ns, __ATOMIC_RELAXED) < HEARTBEAT_LIMIT_NS;
}

/* At most a ring full, through memory of this call's own: threads drain at the same time. */
static int64_t drain_all(uint64_t now_ns, bool last)
{
	struct tare_ringlog log = ring.log;
	uint64_t most = log.ring->ring_bytes;
	int64_t n, sum = 0;

	log.copy = tare_sys_mmap(NULL, TARE_RINGLOG_COPY, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (!log.copy)
		return -ENOMEM;
	do {
		n = tare_ringlog_drain(&log, now_ns, last);
		sum += n > 0 ? n : 0;
	} while (n > 0 && (uint64_t)sum < most);
	tare_sys_munmap(log.copy, TARE_RINGLOG_COPY);
	ring.log.stuck_at = log.stuck_at;
	ring.log.stuck_ns = log.stuck_ns;
	return n < 0 ? n : sum;
}

/* Writes out what it can. The lock only saves work, so a stale one is simply taken over. */
static bool drain(bool last)
{
	struct tare_ring_header *header = ring.log.ring;
	uint64_t now_ns = tare_sys_now_ns(CLOCK_MONOTONIC);
	uint32_t stamp = (uint32_t)(now_ns >> 20) | 1, held = 0;
	int64_t n;

	if (!last && now_ns < __atomic_load_n(&ring.retry_ns, __ATOMIC_RELAXED))
		return false;
	if (!__atomic_compare_exchange_n(&header->drain_lock, &held, stamp, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		if (stamp - held < (uint32_t)(LOCK_LIMIT_NS >> 20))
			return false;
		__atomic_store_n(&header->drain_lock, stamp, __ATOMIC_RELEASE);
	}
	n = drain_all(now_ns, last);
	__atomic_store_n(&header->full_disk, n == -ENOSPC || n == -EDQUOT || n == -EFBIG, __ATOMIC_RELAXED);
	if (n < 0)
		__atomic_store_n(&ring.retry_ns, now_ns + RETRY_NS, __ATOMIC_RELAXED);
	__atomic_store_n(&header->drain_lock, 0, __ATOMIC_RELEASE);
	return n > 0;
}

/* Another drainer is at work on a full ring: give it a moment, far less than a disk write. */
static bool wait_for_room(uint64_t head, uint32_t size)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (head + size - __atomic_load_n(&ring.log.ring->tail, __ATOMIC_ACQUIRE) <=
		    ring.log.ring->ring_bytes)
			return true;
		if ((i & 15) == 15)
			tare_sys6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	}
	return false;
}

static void report_lost(void);

struct tare_record *tare_ring_claim(enum tare_kind kind, uint32_t size, uint64_t *position)
{
	struct tare_ring_header *header;
	struct tare_record *rec;
	uint64_t head;

	if (unlikely(size > TARE_MAX_CELLS * TARE_CELL || !ensure_open()))
		return NULL;
	header = ring.log.ring;
	head = __atomic_load_n(&header->head, __ATOMIC_RELAXED);
	for (;;) {
		uint64_t tail = __atomic_load_n(&header->tail, __ATOMIC_ACQUIRE);

		if (unlikely(head + size - tail > header->ring_bytes)) {
			if (!drain(false) && (header->full_disk || !wait_for_room(head, size))) {
				__atomic_fetch_add(&header->lost_records, 1, __ATOMIC_RELAXED);
				return NULL;
			}
			head = __atomic_load_n(&header->head, __ATOMIC_RELAXED);
			continue;
		}
		if (__atomic_compare_exchange_n(&header->head, &head, head + size, true, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			break;
	}
	rec = (struct tare_record *)(ring.bytes + (head & (header->ring_bytes - 1)));
	rec->kind = (uint16_t)kind;
	rec->cells = (uint16_t)(size / TARE_CELL);
	*position = head;
	return rec;
}

struct tare_record *tare_ring_reserve(enum tare_kind kind, uint32_t size, uint64_t *position)
{
	struct tare_record *rec;

	size = (size + TARE_CELL - 1) & ~(TARE_CELL - 1);
	rec = tare_ring_claim(kind, size, position);
	if (rec)
		memset(rec + 1, 0, size - sizeof(*rec));
	return rec;
}

void tare_ring_commit(struct tare_record *rec, uint64_t position)
{
	struct tare_ring_header *header = ring.log.ring;
	uint16_t cells = rec->cells; /* a drainer may let others write there at once */

	__atomic_store_n(&rec->seal, tare_seal(position), __ATOMIC_RELEASE);
	if (unlikely(header->lost_records != header->lost_reported))
		report_lost();
	/* With nobody draining, half a ring at a time keeps the writes large. Asking takes a system call. */
	if (unlikely(position - header->tail > header->ring_bytes / 2) &&
	    ((position ^ (position + (uint64_t)cells * TARE_CELL)) & ~(uint64_t)(CHECK_BYTES - 1)) &&
	    !drainer_is_there(tare_sys_now_ns(CLOCK_MONOTONIC)))
		drain(false);
}

/* The first record that finds room after a loss says how many found none. */
static void report_lost(void)
{
	struct tare_ring_header *header = ring.log.ring;
	uint64_t reported = __atomic_load_n(&header->lost_reported, __ATOMIC_RELAXED);
	uint64_t lost = __atomic_load_n(&header->lost_records, __ATOMIC_RELAXED);
	struct tare_rec_lost *rec;
	uint64_t position;

	if (lost == reported || !__atomic_compare_exchange_n(&header->lost_reported, &reported, lost, false,
							     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	rec = (struct tare_rec_lost *)tare_ring_reserve(TARE_KIND_LOST, sizeof(*rec), &position);
	if (!rec)
		return; /* the header's counts still tell */
	rec->head.stamp = tare_clock_ticks();
	rec->records = lost - reported;
	tare_ring_commit(&rec->head, position);
}

enum tare_control_command tare_ring_command(void)
{
	return (enum tare_control_command)TARE_COMMAND_OF(
		__atomic_load_n(&control_page()->command, __ATOMIC_RELAXED));
}

/* What a ring that nobody else can see takes with it. */
static void count_private_loss(void)
{
	const struct tare_ring_header *header = ring.log.ring;
	uint64_t lost = header->lost_records - header->lost_reported, at = header->tail;

	while (at < header->head) {
		const struct tare_record *rec =
			(const struct tare_record *)(ring.bytes + (at & (header->ring_bytes - 1)));

		if (!rec->cells)
			break;
		at += (uint64_t)rec->cells * TARE_CELL;
		lost += rec->kind == TARE_KIND_LOST ? ((const struct tare_rec_lost *)rec)->records : 1;
	}
	if (lost)
		__atomic_fetch_add(&ring.control->lost_records, lost, __ATOMIC_RELAXED);
}

void tare_ring_finish(void)
{
	if (!tare_ring_is_open() || tare_sys_getpid() != ring.pid)
		return;
	if (!drainer_is_there(tare_sys_now_ns(CLOCK_MONOTONIC)))
		while (drain(true))
			continue;
	if (ring.is_private)
		count_private_loss();
	__atomic_store_n(&ring.log.ring->finished, 1, __ATOMIC_RELEASE);
}

void tare_ring_forget(void)
{
	uint32_t state = __atomic_load_n(&ring.state, __ATOMIC_ACQUIRE);

	if (state == OPEN)
		/* Unmapped, the parent's ring can no longer be written from here by mistake. */
		tare_sys_munmap(ring.log.ring, TARE_RING_HEADER_BYTES + 2ull * ring.log.ring->ring_bytes);
	if (state != FAILED || tare_sys_getpid() != ring.pid)
		__atomic_store_n(&ring.state, CLOSED, __ATOMIC_RELEASE);
	/* What the parent's log explains, this one's does not, also before it is open. */
	__atomic_fetch_add(&ring.epoch, 1, __ATOMIC_RELEASE);
}
