/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory takes memory of the host only where something other than zeros was written. Zeros are
 * not written but made a hole; a copy of a hole is a hole. Where the host runs short, what would be
 * written is dropped and said once: better than a program that the kernel kills.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"
#include "sim_answer.h"

#define HOST_PAGE  4096
#define WORTH_IT   (64u << 10)  /* below, writing is cheaper than making holes */
#define ASK_AFTER  (16u << 20)  /* bytes written between two looks at the host's memory */
#define HOST_SPARE (256u << 20) /* left to everybody else */

/* ---- what the host has ---- */
static uint64_t number_in(const char *path, const char *key)
{
	char line[256];
	FILE *from = fopen(path, "re");
	uint64_t found = UINT64_MAX;

	while (from && found == UINT64_MAX && fgets(line, sizeof(line), from))
		if (strncmp(line, key, strlen(key)) == 0 && strspn(line + strlen(key), " 0123456789"))
			found = strtoull(line + strlen(key), NULL, 10);
	if (from)
		fclose(from);
	return found;
}

/* Of the machine, and of the container that the program is in. */
static uint64_t host_left(void)
{
	uint64_t left = number_in("/proc/meminfo", "MemAvailable:");
	uint64_t limit = number_in("/sys/fs/cgroup/memory.max", "");
	uint64_t used = number_in("/sys/fs/cgroup/memory.current", "");

	if (sim.script.host_left)
		return sim.script.host_left;
	left = left < UINT64_MAX / 1024 ? left * 1024 : UINT64_MAX;
	if (limit != UINT64_MAX && used != UINT64_MAX && limit - used < left)
		left = limit > used ? limit - used : 0;
	return left;
}

static bool has_room(uint64_t bytes)
{
	static uint64_t written = ASK_AFTER;
	static bool has_said;
	uint64_t left;

	written += bytes;
	if (written < ASK_AFTER)
		return true;
	left = host_left();
	if (left >= bytes && left - bytes >= HOST_SPARE) {
		written = 0;
		return true;
	}
	if (!has_said)
		fprintf(stderr,
		        "simulated GPU: this host has %llu MiB of memory left, too little to keep what is written to the "
		        "device; from now on it reads as zeros there\n",
		        (unsigned long long)(left >> 20));
	has_said = true;
	return false;
}

/* ---- holes ---- */
/* The file behind an address, and where in it. -1: none that can have holes. */
static int file_of(const struct sim_range *range, uint64_t address, uint64_t *offset)
{
	switch (range->kind) {
	case SIM_RANGE_HEAP:
	case SIM_RANGE_POOL:
	case SIM_RANGE_GRAPH:
	case SIM_RANGE_MANAGED:
		if (!sim_backing_is_shareable(range->offset))
			return -1;
		*offset = range->offset + (address - range->start);
		return sim_backing_fd();
	case SIM_RANGE_MAPPED:
		*offset = address - range->start;
		return sim_physical_file(range->owner, offset);
	default:
		return -1;
	}
}

/* By the file and not by madvise: an emulator says that it did what it did not. */
static bool make_hole(uint64_t first, uint64_t end)
{
	const struct sim_range *range = sim_range_at(first);
	uint64_t offset;
	int fd = range ? file_of(range, first, &offset) : -1;

	return fd >= 0 && end <= range->start + range->size &&
	       fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)(end - first)) == 0;
}

static void memory_zero(uint64_t to, uint64_t size)
{
	uint64_t first = sim_round_up(to, HOST_PAGE), end = (to + size) & ~(uint64_t)(HOST_PAGE - 1);

	if (size < WORTH_IT || !make_hole(first, end)) {
		memset((void *)(uintptr_t)to, 0, size);
		return;
	}
	memset((void *)(uintptr_t)to, 0, first - to);
	memset((void *)(uintptr_t)end, 0, to + size - end);
}

static void write_piece(uint64_t to, uint64_t from, uint64_t size)
{
	if (!sim_range_at(to) || size < HOST_PAGE || has_room(size))
		memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
}

/* Within one range: data as it is, holes as zeros. */
static void move_piece(uint64_t to, uint64_t from, uint64_t size)
{
	const struct sim_range *range = sim_range_at(from);
	uint64_t offset, done = 0;
	int fd = range && size >= WORTH_IT ? file_of(range, from, &offset) : -1;

	while (fd >= 0 && done < size) {
		off_t data = lseek(fd, (off_t)(offset + done), SEEK_DATA), hole;
		uint64_t next = data < 0 ? size : (uint64_t)data - offset, last;

		next = next < size ? next : size;
		if (next > done)
			memory_zero(to + done, next - done);
		if (next == size)
			return;
		hole = lseek(fd, data, SEEK_HOLE);
		last = hole < 0 || (uint64_t)hole - offset > size ? size : (uint64_t)hole - offset;
		write_piece(to + next, from + next, last - next);
		done = last;
	}
	if (done < size)
		write_piece(to + done, from + done, size - done);
}

static void move(uint64_t to, uint64_t from, uint64_t size)
{
	if (to < from + size && from < to + size) {
		memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
		return;
	}
	while (size) {
		const struct sim_range *range = sim_range_at(from);
		uint64_t piece = range ? range->start + range->size - from : size;

		piece = piece < size ? piece : size;
		move_piece(to, from, piece);
		to += piece;
		from += piece;
		size -= piece;
	}
}

void sim_memory_move(uint64_t to, uint64_t from, uint64_t size)
{
	sim_managed_touch(to, size);
	sim_managed_touch(from, size);
	if (sim_answer_is_read(to, from, size)) {
		sim_answer_read(to, from, size, true, move);
		return;
	}
	move(to, from, size);
	sim_answer_moved(to, from, size);
}

static void fill_line(uint64_t to, uint32_t value, unsigned width, size_t count)
{
	size_t i;

	if (width == 1)
		memset((void *)(uintptr_t)to, (int)value, count);
	for (i = 0; width > 1 && i < count; i++)
		memcpy((char *)(uintptr_t)to + i * width, &value, width);
}

void sim_memory_fill(CUdeviceptr to, size_t pitch, uint32_t value, unsigned width, size_t count, size_t rows)
{
	uint32_t bits = width == 1 ? value & 0xff : width == 2 ? value & 0xffff : value;
	size_t row;

	for (row = 0; row < (rows ? rows : 1); row++) {
		CUdeviceptr line = to + row * pitch;

		if (!sim_memory_is_on_device(line, count * width))
			return;
		sim_managed_touch(line, count * width);
		if (!bits)
			memory_zero(line, count * width);
		else if (count * width < HOST_PAGE || has_room(count * width))
			fill_line(line, value, width, count);
		sim_answer_wrote(line, count * width);
	}
}
