/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes of a graph do when it is launched: copies, fills, writes of values, events and functions
 * of the program. The memory may be gone since the graph was made: then nothing is done, where a
 * real device would fail later.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim_answer.h"
#include "sim_graph.h"

#define HOST_PAGE 4096

bool sim_work_is_any(CUgraphNodeType type)
{
	switch (type) {
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_MEMSET:
	case CU_GRAPH_NODE_TYPE_HOST:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return true;
	default:
		return false;
	}
}

/* Where the kernel does not copy for us (a sandbox, an emulator) it still says what is mapped. */
static bool is_mapped(uint64_t address, size_t size)
{
	uint64_t first = address & ~(uint64_t)(HOST_PAGE - 1);

	return msync((void *)(uintptr_t)first, address + size - first, MS_ASYNC) == 0;
}

void sim_work_copy_guarded(uint64_t to, uint64_t from, uint64_t size, bool is_to_program)
{
	struct iovec target = { (void *)(uintptr_t)to, size }, source = { (void *)(uintptr_t)from, size };

	ssize_t done = is_to_program ? process_vm_writev(getpid(), &source, 1, &target, 1, 0)
	                             : process_vm_readv(getpid(), &target, 1, &source, 1, 0);

	if (done < 0 && errno != EFAULT && is_mapped(to, size) && is_mapped(from, size))
		memmove(target.iov_base, source.iov_base, size);
}

/* If the source is the device's, the target is the program's. */
static void copy_plainly(uint64_t to, uint64_t from, uint64_t size)
{
	sim_work_copy_guarded(to, from, size, sim_range_at(from) != NULL);
}

static void copy_over(uint64_t to, uint64_t from, uint64_t size)
{
	if (sim_answer_is_read(to, from, size)) {
		sim_answer_read(to, from, size, false, copy_plainly);
		return;
	}
	copy_plainly(to, from, size);
	sim_answer_moved(to, from, size);
}

/* The first byte of one side; 0: in an array, whose contents nobody sees. */
static uint64_t side(int type, const void *host, CUdeviceptr device, size_t x, size_t y, size_t z, size_t pitch,
                     size_t height)
{
	if (type == CU_MEMORYTYPE_ARRAY)
		return 0;
	return (type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)host : device) + (z * height + y) * pitch + x;
}

CUresult sim_work_copy(const CUDA_MEMCPY3D *about, bool is_checked)
{
	size_t rows = about->Height, row;
	size_t layers = about->Depth, layer;
	uint64_t to = side(about->dstMemoryType, about->dstHost, about->dstDevice, about->dstXInBytes, about->dstY,
	                   about->dstZ, about->dstPitch, about->dstHeight);
	uint64_t from = side(about->srcMemoryType, about->srcHost, about->srcDevice, about->srcXInBytes, about->srcY,
	                     about->srcZ, about->srcPitch, about->srcHeight);

	for (layer = 0; to && from && layer < layers; layer++)
		for (row = 0; row < rows; row++) {
			uint64_t a = to + (layer * about->dstHeight + row) * about->dstPitch;
			uint64_t b = from + (layer * about->srcHeight + row) * about->srcPitch;
			bool has_a = sim_memory_is_on_device(a, about->WidthInBytes);
			bool has_b = sim_memory_is_on_device(b, about->WidthInBytes);

			if ((about->dstMemoryType == CU_MEMORYTYPE_DEVICE && !has_a) ||
			    (about->srcMemoryType == CU_MEMORYTYPE_DEVICE && !has_b))
				return CUDA_ERROR_INVALID_VALUE;
			if (is_checked || (has_a && has_b))
				sim_memory_move(a, b, about->WidthInBytes);
			else
				copy_over(a, b, about->WidthInBytes);
		}
	return CUDA_SUCCESS;
}

void sim_work_run(const struct sim_node *node)
{
	const CUgraphNodeParams *params = &node->params;

	switch (node->type) {
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		sim_work_copy(&params->memcpy.copyParams, false);
		break;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		sim_memory_fill(params->memset.of.dst, params->memset.of.pitch, params->memset.of.value,
		                params->memset.of.elementSize, params->memset.of.width, params->memset.of.height);
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		sim_unlock();
		params->host.fn(params->host.userData);
		sim_relock();
		break;
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		sim_event_record(params->eventRecord.event, sim_pending_last());
		break;
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		sim_batch_run(params->memOp.paramArray, params->memOp.count);
		break;
	default:
		break;
	}
}
