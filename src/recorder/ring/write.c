/* SPDX-License-Identifier: Apache-2.0 */
/* Writes blocks into the files of a log, and tells where the disk is full. */
#include "recorder/ring/write.h"

#include <errno.h>
#include <sys/file.h>

#include "recorder/base/plib.h"
#include "recorder/base/sys.h"
#include "recorder/recorder.h"
#include "recorder/ring/control.h"
#include "recorder/ring/file.h"
#include "recorder/ring/ring.h"
#include "recorder/ring/wait.h"
#include "record/allowance.h"
#include "record/chunk.h"
#include "record/clock.h"
#include "record/schema_text.h"

#define RETRY_NS 100000000u /* a full disk is no reason to slow the program down */

int tare_ring_open_file(const char *name, int flags)
{
	int fd = tare_control_open(name, flags, 0600);

	if (fd >= 0 && (flags & O_CREAT)) /* a umask of 0777 would leave nothing of that */
		tare_sys6(SYS_fchmod, fd, 0600, 0, 0, 0, 0);
	return fd;
}

int tare_ring_write_all(int fd, const uint8_t *bytes, uint64_t size, uint64_t offset)
{
	while (size > 0) {
		long n = tare_sys_pwrite(fd, bytes, size, offset);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		bytes += n;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

/*
 * A child that a signal handler forked in the middle of this has another epoch, and may have a log of its own by now: then
 * the name is of that. If it is forked later it writes the same bytes to the same place as its parent.
 */
static int open_chunk(uint32_t block_epoch, uint64_t chunk)
{
	char name[TARE_RING_NAME_MAX];
	int fd;

	tare_plib_format(name, sizeof(name), chunk ? "%u-%u.events.%U" : "%u-%u.events", tare_ring.pid,
	                 tare_ring.generation, chunk);
	TARE_STEP("named");
	if (block_epoch != tare_ring_epoch())
		return -ECANCELED;
	fd = tare_ring_open_file(name, chunk ? O_WRONLY | O_CREAT : O_WRONLY);
	TARE_STEP("opened");
	return fd;
}

/* In place of a chunk that cannot be opened. The lock: log_trim.c cuts nothing that only this file has. */
static int write_in_first(uint32_t block_epoch, const struct tare_chunk_part *part, const uint8_t *bytes)
{
	int fd = open_chunk(block_epoch, 0), rc;

	if (fd < 0)
		return fd;
	rc = (int)tare_sys6(SYS_flock, fd, LOCK_SH | LOCK_NB, 0, 0, 0, 0);
	if (rc != -EWOULDBLOCK)
		rc = tare_ring_write_all(fd, bytes, part->size, part->offset);
	tare_sys_close(fd);
	return rc;
}

static int write_block(uint32_t block_epoch, const uint8_t *bytes, uint64_t size, uint64_t position)
{
	/* Loaded once: in a child as above it is 0 from some moment on. */
	struct tare_chunks chunks = { TARE_LOG_BEGIN, __atomic_load_n(&tare_ring.chunk_bytes, __ATOMIC_RELAXED) };
	struct tare_chunk_part part;
	int fd, rc = 0;

	for (; rc == 0 && size > 0; bytes += part.size, position += part.size, size -= part.size) {
		part = tare_chunk_part(&chunks, position, size);
		fd = open_chunk(block_epoch, part.chunk);
		if (fd == -ECANCELED || (fd < 0 && part.chunk == 0))
			return fd;
		if (fd >= 0) {
			rc = tare_ring_write_all(fd, bytes, part.size, part.offset);
			tare_sys_close(fd);
			continue;
		}
		part = tare_chunk_part_in_first(&chunks, position, part.size);
		rc = write_in_first(block_epoch, &part, bytes);
	}
	return rc;
}

/* Another thread may have written since. */
static int error_of_last_write(void)
{
	int error = __atomic_load_n(&tare_ring.last_error, __ATOMIC_RELAXED);

	return error ? error : -EAGAIN;
}

/* Asked for every record that is given up: the clock is read now and then only. */
int tare_ring_file_is_failing(void)
{
	uint64_t retry_ns = __atomic_load_n(&tare_ring.retry_ns, __ATOMIC_RELAXED), now;

	if (likely(!retry_ns))
		return 0;
	now = tare_clock_ticks();
	if (now - __atomic_load_n(&tare_ring.asked_ticks, __ATOMIC_RELAXED) >= TARE_SOME_TICKS) {
		__atomic_store_n(&tare_ring.asked_ticks, now, __ATOMIC_RELAXED);
		if (tare_sys_now_ns(CLOCK_MONOTONIC) >= retry_ns)
			return 0;
	}
	return error_of_last_write();
}

void tare_ring_file_try_again(void)
{
	__atomic_store_n(&tare_ring.retry_ns, 0, __ATOMIC_RELAXED);
}

int tare_ring_file_write(void *arg, const void *bytes, uint64_t size, uint64_t position)
{
	uint64_t retry_ns = __atomic_load_n(&tare_ring.retry_ns, __ATOMIC_RELAXED);
	int rc;

	if (retry_ns && tare_sys_now_ns(CLOCK_MONOTONIC) < retry_ns)
		return error_of_last_write();
	if (!tare_control_take(size, !tare_wait_is_possible()))
		return TARE_ALLOWANCE_IS_USED_UP;
	rc = write_block(*(const uint32_t *)arg, bytes, size, position);
	if (rc == -ECANCELED)
		return rc;
	retry_ns = rc < 0 ? tare_sys_now_ns(CLOCK_MONOTONIC) + RETRY_NS : 0;
	__atomic_store_n(&tare_ring.last_error, rc, __ATOMIC_RELAXED);
	__atomic_store_n(&tare_ring.retry_ns, retry_ns, __ATOMIC_RELAXED);
	return rc;
}
