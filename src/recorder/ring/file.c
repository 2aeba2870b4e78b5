/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and maps the files of a log. */
#include "recorder/ring/file.h"

#include <errno.h>
#include <string.h>

#include "recorder/base/addresses.h"
#include "recorder/base/plib.h"
#include "recorder/base/proc.h"
#include "recorder/recorder.h"
#include "recorder/ring/control.h"
#include "recorder/ring/write.h"
#include "recorder/base/sys.h"
#include "record/allowance.h"
#include "record/chunk.h"
#include "record/clock.h"
#include "record/encode.h"

#define LANE_BYTES_DEFAULT (1u << 20)
#define NAMES_MAX          1000 /* exec generations of one pid */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

struct tare_ring tare_ring;

/* "431-0" of this process, and the ending. */
static void make_name(char name[TARE_RING_NAME_MAX], const char *ending)
{
	tare_plib_format(name, TARE_RING_NAME_MAX, "%u-%u%s", tare_ring.pid, tare_ring.generation, ending);
}

static int open_file(const char *ending, int flags)
{
	char name[TARE_RING_NAME_MAX];

	make_name(name, ending);
	return tare_ring_open_file(name, flags);
}

/* The header last: where there is one, the schema is there. */
static int write_header(const struct tare_file_header *header)
{
	int fd = open_file(".events", O_WRONLY), rc;

	if (fd < 0)
		return fd;
	rc = tare_ring_write_all(fd, (const uint8_t *)tare_schema_text, sizeof(tare_schema_text), TARE_HEADER_BYTES);
	if (rc == 0)
		rc = tare_ring_write_all(fd, (const uint8_t *)header, sizeof(*header), 0);
	tare_allowance_add(tare_control_page(), TARE_LOG_BEGIN);
	tare_sys_close(fd);
	return rc;
}

static void fill_header(struct tare_file_header *header)
{
	char text[64], state;

	tare_encode_header(header, TARE_ROLE_PROGRAM, TARE_CLOCK_HERE);
	header->has_lanes = 1;
	header->chunk_bytes = tare_ring.chunk_bytes;
	header->pid = tare_ring.pid;
	header->ppid = tare_sys_getppid();
	header->generation = tare_ring.generation;
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
	tare_proc_script(header->program, header->script, sizeof(header->script));
}

/* Makes P-G.events for the first G that is free, which is how exec generations get their number. */
static bool create_events(void)
{
	for (tare_ring.generation = 0; tare_ring.generation < NAMES_MAX; tare_ring.generation++) {
		int fd = open_file(".events", O_RDWR | O_CREAT | O_EXCL);

		if (fd >= 0)
			tare_sys_close(fd);
		if (fd != -EEXIST)
			return fd >= 0;
	}
	return false;
}

/*
 * A ring's pages must exist before they are written: a store into a page that the file system cannot back is
 * a SIGBUS in the user's program. So they are allocated on disk first, with smaller lanes if there is little room.
 */
static int create_ring_file(uint32_t *lane_bytes)
{
	int fd = open_file(".ring.new", O_RDWR | O_CREAT | O_EXCL);
	uint32_t bytes;

	if (fd < 0)
		return fd;
	for (bytes = *lane_bytes; bytes >= TARE_LANE_BYTES_MIN; bytes /= 2)
		if (tare_sys_fallocate(fd, 0, tare_lane_offset(bytes, 1)) == 0) {
			tare_allowance_add(tare_control_page(), tare_lane_offset(bytes, 1));
			*lane_bytes = bytes;
			return fd;
		}
	tare_sys_close(fd);
	return -ENOSPC;
}

/* The linker's: where our variables without initial values are. */
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));

/* A core file of the program is as big as without us: our tables are 7 MiB. For what we map, see tare_sys_mmap(). */
static void leave_out_of_cores(void)
{
	const uintptr_t page = 64 << 10; /* the largest that kernels have */
	uintptr_t begin = ((uintptr_t)__bss_start + page - 1) & ~(page - 1), end = (uintptr_t)_end & ~(page - 1);

	if (begin < end)
		tare_sys6(SYS_madvise, (long)begin, (long)(end - begin), MADV_DONTDUMP, 0, 0, 0);
}

static bool map_ring(int fd)
{
	int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;

	tare_ring.span = tare_lane_offset(tare_ring.lane_bytes, TARE_LANES_MAX);
	tare_ring.base = tare_sys_mmap(NULL, tare_ring.span, PROT_READ | PROT_WRITE, flags, fd, 0);
	tare_ring.has_no_file = fd < 0;
	if (!tare_ring.base)
		return false;
	/* Else a fault at a lane's first page brings in all that the file has around it: 0.1 to 0.4 ms on ext4. */
	tare_sys6(SYS_madvise, (long)tare_ring.base, (long)tare_ring.span, MADV_RANDOM, 0, 0, 0);
	leave_out_of_cores();
	/* The first lane at once, rather than page by page while the program works. */
	tare_sys6(SYS_madvise, (long)tare_ring.base, (long)tare_lane_offset(tare_ring.lane_bytes, 1), MADV_POPULATE_WRITE,
	          0, 0, 0);
	return true;
}

/* Only a whole ring gets the name under which `tare` looks for it. false: it goes. */
static void name_ring(bool is_whole)
{
	int folder = tare_sys_open(tare_config.folder, O_PATH | O_DIRECTORY, 0);
	char fresh[TARE_RING_NAME_MAX], name[TARE_RING_NAME_MAX];

	make_name(fresh, ".ring.new");
	make_name(name, ".ring");
	if (is_whole)
		tare_sys6(SYS_renameat2, folder, (long)fresh, folder, (long)name, 0, 0);
	else
		tare_sys6(SYS_unlinkat, folder, (long)fresh, 0, 0, 0, 0);
	tare_sys_close(folder);
}

static bool make_ring(void)
{
	int fd = create_ring_file(&tare_ring.lane_bytes);

	if (fd == -ENOSPC)
		name_ring(false);
	if (!map_ring(fd)) {
		if (fd >= 0) {
			tare_sys_close(fd);
			name_ring(false);
		}
		return false;
	}
	if (fd >= 0)
		tare_sys_close(fd);
	return true;
}

bool tare_ring_file_open(void)
{
	struct tare_control *control = tare_control_page();
	struct tare_ring_header *header;

	memset(&tare_ring, 0, sizeof(tare_ring));
	tare_ring.pid = tare_sys_getpid();
	tare_ring.lane_bytes = tare_lane_bytes_are_sane(control->lane_bytes) ? control->lane_bytes : LANE_BYTES_DEFAULT;
	tare_ring.chunk_bytes = tare_chunk_bytes_are_sane(control->chunk_bytes) ? control->chunk_bytes : TARE_CHUNK_BYTES;
	if (!tare_addresses_suffice() || !create_events() || !make_ring()) {
		__atomic_fetch_add(&control->degraded, 1, __ATOMIC_RELAXED);
		return false;
	}
	header = tare_ring.header = (struct tare_ring_header *)(void *)tare_ring.base;
	tare_ring.lanes = (struct tare_lane *)(void *)(tare_ring.base + TARE_RING_HEADER_BYTES);
	memcpy(header->magic, TARE_RING_MAGIC, sizeof(header->magic));
	header->version = TARE_FORMAT_VERSION;
	header->lane_bytes = tare_ring.lane_bytes;
	fill_header(&header->file);
	tare_ring.opened_ns = header->file.first_monotonic_ns;
	write_header(&header->file); /* the ring has it too */
	if (!tare_ring.has_no_file)
		name_ring(true);
	__atomic_fetch_add(&control->processes, 1, __ATOMIC_RELAXED);
	return true;
}

uint8_t *tare_ring_file_lane(uint32_t index)
{
	return tare_ring.base + tare_lane_offset(tare_ring.lane_bytes, index);
}

static bool extend_file(uint64_t offset, uint64_t size)
{
	int fd = open_file(".ring", O_RDWR), rc;

	if (fd < 0)
		return false;
	rc = tare_sys_fallocate(fd, offset, size);
	tare_sys_close(fd);
	if (rc == 0)
		tare_allowance_add(tare_control_page(), size);
	return rc == 0;
}

bool tare_ring_file_add_lanes(uint32_t first, uint32_t nr, bool in_file)
{
	uint64_t begin = tare_lane_offset(tare_ring.lane_bytes, first),
			 size = tare_lane_offset(tare_ring.lane_bytes, first + nr) - begin;
	bool has_file = !tare_ring.has_no_file && (first == 0 || extend_file(begin, size));
	uint32_t i;

	if (in_file && !has_file)
		return false;
	for (i = first; i < first + nr; i++)
		tare_ring.lanes[i].has_no_file = !has_file;
	return has_file || tare_ring.has_no_file ||
	       tare_sys_mmap(tare_ring.base + begin, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED,
	                     -1, 0) != NULL;
}

void tare_ring_file_leave(bool is_in_use)
{
	if (!is_in_use || !tare_sys_mmap(tare_ring.base, tare_ring.span, PROT_READ | PROT_WRITE,
	                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0))
		tare_sys_munmap(tare_ring.base, tare_ring.span);
	memset(&tare_ring, 0, sizeof(tare_ring));
}
