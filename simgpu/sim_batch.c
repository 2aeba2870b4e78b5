/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that a stream writes to memory and waits for. What is written is there at once. A wait
 * does not wait: whoever would write the value later may be the caller itself, in another stream.
 */
#include <string.h>

#include "sim.h"
#include "sim_answer.h"

/* The device's own memory, or the host's where the device sees it. */
static bool is_good(const CUstreamBatchMemOpParams *op)
{
	bool is_wide = false;
	unsigned flags = op->value.flags;

	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		is_wide = true;
		/* fallthrough */
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
		if ((flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH) > CU_STREAM_WAIT_VALUE_NOR)
			return false;
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		is_wide = true;
		/* fallthrough */
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		if (flags > 1)
			return false;
		break;
	case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
	case CU_STREAM_MEM_OP_BARRIER:
		return true;
	default:
		return false;
	}
	return op->value.address && op->value.address % (is_wide ? 8 : 4) == 0 &&
	       sim_memory_is_on_device(op->value.address, is_wide ? 8 : 4);
}

void sim_batch_run(const CUstreamBatchMemOpParams *ops, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		const CUstreamBatchMemOpParams *op = &ops[i];
		size_t bytes = op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64   ? 8
		               : op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ? 4
		                                                                  : 0;

		if (!bytes || !is_good(op))
			continue;
		sim_managed_touch(op->value.address, bytes);
		memcpy((void *)(uintptr_t)op->value.address, &op->value.value, bytes);
		sim_answer_wrote(op->value.address, bytes);
	}
}

CUresult sim_body_cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                        unsigned int flags)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP };
	struct sim_context *context;
	CUresult result = sim_current(&context);
	unsigned i;

	if (result == CUDA_SUCCESS)
		result = sim_stream_use(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!count || count > 256 || !paramArray || flags)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++)
		if (!is_good(&paramArray[i]))
			return CUDA_ERROR_INVALID_VALUE;
	if (!sim_stream_graph(stream)) {
		sim_batch_run(paramArray, count);
		sim_pending_give(stream);
		return CUDA_SUCCESS;
	}
	params.memOp.ctx = (CUcontext)context;
	params.memOp.count = count;
	params.memOp.paramArray = paramArray;
	return sim_capture_add(stream, &params);
}

CUresult sim_body_cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                     unsigned int flags)
{
	return sim_body_cuStreamBatchMemOp_v2(stream, count, paramArray, flags);
}

static CUresult one(CUstream stream, int operation, CUdeviceptr address, uint64_t value, unsigned flags)
{
	CUstreamBatchMemOpParams op = { .value = {
										.operation = operation, .address = address, .value = value, .flags = flags } };

	return sim_body_cuStreamBatchMemOp_v2(stream, 1, &op, 0);
}

CUresult sim_body_cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
	return one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags);
}

CUresult sim_body_cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
	return one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags);
}

CUresult sim_body_cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
	return one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags);
}

CUresult sim_body_cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
	return one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags);
}

CUresult sim_body_cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
	return sim_body_cuStreamWriteValue32_v2(stream, addr, value, flags);
}

CUresult sim_body_cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
	return sim_body_cuStreamWriteValue64_v2(stream, addr, value, flags);
}

CUresult sim_body_cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
	return sim_body_cuStreamWaitValue32_v2(stream, addr, value, flags);
}

CUresult sim_body_cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
	return sim_body_cuStreamWaitValue64_v2(stream, addr, value, flags);
}
