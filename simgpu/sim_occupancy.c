/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a kernel runs at once. Its registers are not known, so threads and shared memory alone
 * decide.
 */
#include "sim_image.h"

#define SHARED_SYSTEM 1024 /* of each block, the driver's */
#define CLUSTER_PLAIN 8    /* blocks of a cluster that every device of compute capability 9 runs */

CUresult sim_body_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize)
{
	struct sim_function *function;
	CUresult result;

	(void)dynamicSMemSize;
	if (!numBlocks || blockSize <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_function_of(func, &function);
	if (result == CUDA_SUCCESS)
		*numBlocks = (int)sim.profile.threads_per_sm / blockSize;
	return result;
}

CUresult sim_body_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                                       size_t dynamicSMemSize, unsigned int flags)
{
	(void)flags;
	return sim_body_cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize, dynamicSMemSize);
}

CUresult sim_body_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit)
{
	struct sim_function *function;

	(void)blockSizeToDynamicSMemSize;
	(void)dynamicSMemSize;
	if (!minGridSize || !blockSize)
		return CUDA_ERROR_INVALID_VALUE;
	*blockSize = blockSizeLimit > 0 && blockSizeLimit < 1024 ? blockSizeLimit : 1024;
	*minGridSize = (int)(sim.profile.sm_count * sim.profile.threads_per_sm) / *blockSize;
	return sim_function_of(func, &function);
}

CUresult sim_body_cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                            CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                            size_t dynamicSMemSize, int blockSizeLimit,
                                                            unsigned int flags)
{
	return flags > 1
	           ? CUDA_ERROR_INVALID_VALUE
	           : sim_body_cuOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
	                                                       dynamicSMemSize, blockSizeLimit);
}

CUresult sim_body_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks,
                                                          int blockSize)
{
	const struct sim_generation *has = sim_generation();
	struct sim_function *function;
	size_t share;
	CUresult result;

	if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0 || blockSize > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_function_of(func, &function);
	if (result != CUDA_SUCCESS)
		return result;
	if ((unsigned)numBlocks > has->blocks_of_sm ||
	    (uint64_t)numBlocks * (unsigned)blockSize > sim.profile.threads_per_sm)
		return CUDA_ERROR_INVALID_VALUE;
	share = has->shared_of_sm / (unsigned)numBlocks - SHARED_SYSTEM;
	share -= share % 128;
	*dynamicSmemSize = share < has->shared_of_block ? share : has->shared_of_block;
	return CUDA_SUCCESS;
}

static CUresult check_config(const CUlaunchConfig *config)
{
	uint64_t threads;

	if (!config || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
	if (!threads || threads > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	return sim.profile.compute_major < 9 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult sim_body_cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config)
{
	struct sim_function *function;
	CUresult result = check_config(config);

	if (!clusterSize)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = sim_function_of(func, &function);
	if (result == CUDA_SUCCESS)
		*clusterSize = CLUSTER_PLAIN;
	return result;
}

CUresult sim_body_cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config)
{
	const struct sim_generation *has = sim_generation();
	struct sim_function *function;
	unsigned i, size = 1, per_sm;
	CUresult result = check_config(config);

	if (!numClusters)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = sim_function_of(func, &function);
	if (result != CUDA_SUCCESS)
		return result;
	for (i = 0; i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			size = config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
			       config->attrs[i].value.clusterDim.z;
	if (!size || size > 16)
		return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	per_sm = (unsigned)sim.profile.threads_per_sm / (config->blockDimX * config->blockDimY * config->blockDimZ);
	per_sm = per_sm < has->blocks_of_sm ? per_sm : has->blocks_of_sm;
	if (config->sharedMemBytes > has->shared_of_block)
		per_sm = 0;
	else if (per_sm > has->shared_of_sm / (config->sharedMemBytes + SHARED_SYSTEM))
		per_sm = has->shared_of_sm / (config->sharedMemBytes + SHARED_SYSTEM);
	*numClusters = (int)(per_sm * sim.profile.sm_count / size);
	return CUDA_SUCCESS;
}
