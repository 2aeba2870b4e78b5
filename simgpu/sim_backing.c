/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory is host memory, so that copies and fills work. It is one memfd per process: a page
 * costs nothing before it is written, a child of fork shares it as it would the device's, and
 * another process can map a part of it, which is all that IPC needs.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim.h"
#include "sim_process.h"

static int fd = -1;
static uint64_t end; /* of the memfd; offsets are not used twice */

int sim_backing_fd(void)
{
	if (fd < 0)
		fd = sim_process_high_fd(sim_process_memfd("memory"));
	return fd;
}

uint64_t sim_backing_reserve(uint64_t size)
{
	uint64_t page = sim.profile.page, wanted = size + page, at, aligned;
	void *found;

	found = wanted < size ? MAP_FAILED
			      : mmap(NULL, wanted, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (found == MAP_FAILED)
		return 0;
	at = (uint64_t)(uintptr_t)found;
	aligned = sim_round_up(at, page);
	if (aligned > at)
		munmap(found, aligned - at);
	if (at + wanted > aligned + size)
		munmap((void *)(uintptr_t)(aligned + size), at + wanted - aligned - size);
	return aligned;
}

bool sim_backing_extend(uint64_t size, uint64_t *offset)
{
	if (sim_backing_fd() < 0 || ftruncate(fd, (off_t)(end + size)) < 0)
		return false;
	*offset = end;
	end += size;
	return true;
}

void sim_backing_punch(uint64_t offset, uint64_t size)
{
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
}

uint64_t sim_backing_map(uint64_t size, uint64_t *offset)
{
	uint64_t at = sim_backing_reserve(size);

	if (!at)
		return 0;
	if (!sim_backing_extend(size, offset) ||
	    mmap((void *)(uintptr_t)at, size, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, (off_t)*offset) == MAP_FAILED) {
		munmap((void *)(uintptr_t)at, size);
		return 0;
	}
	return at;
}

void sim_backing_unmap(uint64_t address, uint64_t size, uint64_t offset)
{
	munmap((void *)(uintptr_t)address, size);
	sim_backing_punch(offset, size);
}
