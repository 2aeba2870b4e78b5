/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated CUDA runtime: launches of kernels that were registered, and what is asked of such kernels. */
#include <string.h>

#include "simgpu/libs/cudart.h"

struct dim3 {
	unsigned int x, y, z;
};

static bool fits(struct dim3 grid, struct dim3 block)
{
	return grid.x && grid.y && grid.z && block.x && block.y && block.z && (uint64_t)block.x * block.y * block.z <= 1024;
}

static int launch(const void *host, struct dim3 grid, struct dim3 block, void **parameters, size_t shared, long stream)
{
	int failed = cudart_context();
	void *function;
	bool is_new;

	if (failed)
		return failed;
	if (!fits(grid, block))
		return cudart_result(CUDART_INVALID_CONFIGURATION);
	function = cudart_function(host, &is_new);
	if (!function)
		return cudart_result(CUDART_INVALID_FUNCTION);
	return cudart_result(SIM_DRIVER("cuLaunchKernel", function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
	                                shared > 232448 ? 232448 : shared, stream, parameters, NULL));
}

CUDART(cudaLaunchKernel, const void *function, struct dim3 grid, struct dim3 block, void **parameters, size_t shared,
       long stream)
{
	SIM_CALLED("");
	return launch(function, grid, block, parameters, shared, stream);
}

CUDART(cudaLaunchKernel_ptsz, const void *function, struct dim3 grid, struct dim3 block, void **parameters,
       size_t shared, long stream)
{
	return launch(function, grid, block, parameters, shared, stream ? stream : 2);
}

CUDART(cudaLaunchCooperativeKernel, const void *function, struct dim3 grid, struct dim3 block, void **parameters,
       size_t shared, long stream)
{
	return launch(function, grid, block, parameters, shared, stream);
}

CUDART(cudaLaunchCooperativeKernel_ptsz, const void *function, struct dim3 grid, struct dim3 block, void **parameters,
       size_t shared, long stream)
{
	return launch(function, grid, block, parameters, shared, stream ? stream : 2);
}

struct config {
	struct dim3 grid, block;
	size_t shared;
	long stream;
	void *attributes;
	unsigned int attributes_nr;
};

CUDART(cudaLaunchKernelExC, const struct config *config, const void *function, void **parameters)
{
	if (!config)
		return cudart_result(CUDART_INVALID_VALUE);
	return launch(function, config->grid, config->block, parameters, config->shared, config->stream);
}

CUDART(cudaLaunchKernelExC_ptsz, const struct config *config, const void *function, void **parameters)
{
	return cudaLaunchKernelExC(config, function, parameters);
}

CUDART(__cudaLaunchKernel, const void *function, struct dim3 grid, struct dim3 block, void **parameters, size_t shared,
       long stream)
{
	return launch(function, grid, block, parameters, shared, stream);
}

CUDART(__cudaLaunchKernel_ptsz, const void *function, struct dim3 grid, struct dim3 block, void **parameters,
       size_t shared, long stream)
{
	return launch(function, grid, block, parameters, shared, stream ? stream : 2);
}

/* Between <<<…>>> and the launch that it becomes. */
enum { NESTED = 16 };
static __thread struct config pushed[NESTED];
static __thread int pushed_nr;

SIM_EXPORT unsigned int __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, long stream);
unsigned int __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, long stream)
{
	if (pushed_nr == NESTED)
		return 1;
	pushed[pushed_nr++] = (struct config){ grid, block, shared, stream, NULL, 0 };
	return 0;
}

CUDART(__cudaPopCallConfiguration, struct dim3 *grid, struct dim3 *block, size_t *shared, long *stream)
{
	if (!pushed_nr)
		return cudart_result(CUDART_MISSING_CONFIGURATION);
	pushed_nr--;
	*grid = pushed[pushed_nr].grid;
	*block = pushed[pushed_nr].block;
	*shared = pushed[pushed_nr].shared;
	*stream = pushed[pushed_nr].stream;
	return 0;
}

struct function_attributes {
	size_t shared, constants, local;
	int threads, registers, ptx_version, binary_version, caches, dynamic_shared, carveout, cluster_must, cluster_width,
		cluster_height, cluster_depth, cluster_policy, non_portable_cluster;
	int reserved[16];
};

CUDART(cudaFuncGetAttributes, struct function_attributes *out, const void *function)
{
	int failed = cudart_context(), device, version;
	bool is_new;

	if (failed)
		return failed;
	if (!out)
		return cudart_result(CUDART_INVALID_VALUE);
	if (!cudart_function(function, &is_new))
		return cudart_result(CUDART_INVALID_FUNCTION);
	device = cudart_device();
	version = cudart_attribute(device, 75) * 10 + cudart_attribute(device, 76); /* compute capability */
	memset(out, 0, offsetof(struct function_attributes, cluster_must));
	out->threads = 1024;
	out->registers = 32;
	out->ptx_version = out->binary_version = version;
	out->dynamic_shared = 48 << 10;
	out->carveout = -1;
	return 0;
}

/* Blocks that fit beside one another, of a kernel with 32 registers: threads decide. */
static int blocks(int *out, int threads)
{
	int failed = cudart_context(), most;

	if (failed)
		return failed;
	if (!out || threads <= 0)
		return cudart_result(CUDART_INVALID_VALUE);
	most = cudart_attribute(cudart_device(), 39); /* threads of a multiprocessor */
	*out = threads > 1024 ? 0 : most / ((threads + 31) / 32 * 32);
	return 0;
}

CUDART(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int *out, const void *function, int threads, size_t shared)
{
	(void)function, (void)shared;
	return blocks(out, threads);
}

CUDART(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *out, const void *function, int threads,
       size_t shared, unsigned int flags)
{
	(void)function, (void)shared, (void)flags;
	return blocks(out, threads);
}
