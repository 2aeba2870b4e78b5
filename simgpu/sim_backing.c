/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory is host memory, so that copies and fills work. It is one memfd per process: a page
 * costs nothing before it is written, a child of fork shares it as it would the device's, and
 * another process can map a part of it, which is all that IPC needs.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim.h"
#include "sim_process.h"

#define NO_FILE UINT64_MAX /* as an offset: anonymous memory */

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

	found =
		wanted < size ? MAP_FAILED : mmap(NULL, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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

/* A file beyond the process's limit would kill it. */
static bool may_have(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

bool sim_backing_extend(uint64_t size, uint64_t *offset)
{
	if (sim_backing_fd() < 0 || !may_have(end + size) || ftruncate(fd, (off_t)(end + size)) < 0)
		return false;
	*offset = end;
	end += size;
	return true;
}

void sim_backing_punch(uint64_t offset, uint64_t size)
{
	if (offset == NO_FILE)
		return;
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
}

uint64_t sim_backing_map_at(uint64_t at, uint64_t size, uint64_t *offset)
{
	int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
	void *mapped;

	/* Without the file everything works but to share with another process. */
	if (!sim_backing_extend(size, offset))
		*offset = NO_FILE;
	mapped = *offset == NO_FILE
	             ? mmap((void *)(uintptr_t)at, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0)
	             : mmap((void *)(uintptr_t)at, size, PROT_READ | PROT_WRITE, flags, fd, (off_t)*offset);
	return mapped != MAP_FAILED ? at : 0;
}

uint64_t sim_backing_map(uint64_t size, uint64_t *offset)
{
	uint64_t at = sim_backing_reserve(size);

	if (!at || sim_backing_map_at(at, size, offset))
		return at;
	munmap((void *)(uintptr_t)at, size);
	return 0;
}

void sim_backing_unmap(uint64_t address, uint64_t size, uint64_t offset)
{
	munmap((void *)(uintptr_t)address, size);
	sim_backing_punch(offset, size);
}

uint64_t sim_backing_part(uint64_t offset, uint64_t distance)
{
	return offset == NO_FILE ? NO_FILE : offset + distance;
}

bool sim_backing_is_shareable(uint64_t offset)
{
	return offset != NO_FILE;
}
