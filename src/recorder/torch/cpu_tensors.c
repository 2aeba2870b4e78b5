/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of tensors on the CPU. PyTorch's allocator there calls two functions of libc10 through the
 * PLT, for every block that it hands out and for every one that it takes back, whether its profiler
 * runs or not: members of one class without a virtual function, so they are functions of pointers and
 * integers. The size is told when a block is handed out only.
 *
 * Tensors in shared memory and in mapped files come from no allocator: at::MapAllocator reports those
 * to the function that blocks of GPUs are reported to (tensors.c), as memory of the CPU.
 */
#include "recorder/torch/tensors.h"

#include <stddef.h>
#include <stdint.h>

#include "recorder/recorder.h"
#include "recorder/torch/real.h"

/* Mangled: c10::ProfiledCPUMemoryReporter::New(void *, size_t) and ::Delete(void *). */
#define NEW    _ZN3c1025ProfiledCPUMemoryReporter3NewEPvm
#define DELETE _ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv

typedef void new_fn(void *reporter, void *block, size_t bytes);
typedef void delete_fn(void *reporter, void *block);

new_fn NEW;
delete_fn DELETE;

/* What the reporter is told of: with torch's profiler on it passes that on to tensors.c. */
static TARE_TLS const void *told;

TARE_HOT bool tare_cpu_tensor_is_known(const void *block)
{
	return block == told;
}

TARE_HOT TARE_EXPORT void NEW(void *reporter, void *block, size_t bytes)
{
	static struct tare_torch_real torch TARE_HOT_DATA = TARE_TORCH_ANYWHERE(NEW);
	new_fn *real = (new_fn *)tare_torch_real(&torch);

	if (block && bytes && bytes <= INT64_MAX)
		tare_tensor_record(block, (int64_t)bytes, TARE_TENSOR_ON_CPU, TARE_TENSOR_HOST);
	if (unlikely(!real)) /* but whoever called it was linked with it */
		return;
	told = block;
	real(reporter, block, bytes);
	told = NULL;
}

/* Before the memory is freed: nobody can have been given it again yet. */
TARE_HOT TARE_EXPORT void DELETE(void *reporter, void *block)
{
	static struct tare_torch_real torch TARE_HOT_DATA = TARE_TORCH_ANYWHERE(DELETE);
	delete_fn *real = (delete_fn *)tare_torch_real(&torch);

	if (block)
		tare_tensor_record(block, 0, TARE_TENSOR_ON_CPU, TARE_TENSOR_HOST);
	if (unlikely(!real))
		return;
	told = block;
	real(reporter, block);
	told = NULL;
}
