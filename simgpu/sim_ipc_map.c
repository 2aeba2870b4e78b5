/* SPDX-License-Identifier: Apache-2.0 */
/* Maps memory of another process. */
#include <sys/mman.h>

#include "sim.h"

/* Maps whole pages around [offset, offset + size) of a file. 0: not possible. */
static uint64_t map_part(int fd, uint64_t offset, uint64_t size, uint64_t *span)
{
	uint64_t begin = offset & ~(sim.profile.page - 1);
	void *at;

	*span = sim_round_up(offset + size - begin, sim.profile.page);
	at = mmap(NULL, *span, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)begin);
	return at == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)at + (offset - begin);
}

CUresult sim_ipc_open(enum sim_range_kind kind, int fd, uint64_t offset, uint64_t size, CUdeviceptr *dptr)
{
	uint64_t span, start = map_part(fd, offset, size, &span);
	struct sim_range *range = start ? sim_range_add(kind, start, size) : NULL;
	struct sim_context *context;

	if (!range)
		return CUDA_ERROR_INVALID_VALUE;
	range->span = span;
	range->device = sim_current(&context) == CUDA_SUCCESS ? context->device : 0;
	*dptr = start;
	return CUDA_SUCCESS;
}

void sim_ipc_close(struct sim_range *range)
{
	munmap((void *)(uintptr_t)(range->start & ~(uint64_t)4095), range->span);
	sim_range_remove(range);
}
