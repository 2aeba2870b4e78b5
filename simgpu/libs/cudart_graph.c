/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated CUDA runtime: streams, capture and graphs, where its functions differ from those of the driver. */
#include <string.h>

#include "simgpu/libs/cudart.h"

/* The driver's answer about a capture, by whichever version of its call there is. */
static int capture_info(long stream, int *status, uint64_t *id, void **graph, const void ***nodes, const void **edges,
                        size_t *nodes_nr)
{
	int failed = cudart_context();

	if (failed)
		return failed;
	if (sim_lib_driver("cuStreamGetCaptureInfo_v3"))
		return SIM_DRIVER("cuStreamGetCaptureInfo_v3", stream, status, id, graph, nodes, edges, nodes_nr);
	return SIM_DRIVER("cuStreamGetCaptureInfo_v2", stream, status, id, graph, nodes, nodes_nr);
}

#if SIM_VERSION >= 13
CUDART(cudaStreamGetCaptureInfo, long stream, int *status, uint64_t *id, void **graph, const void ***nodes,
       const void **edges, size_t *nodes_nr)
{
	return cudart_result(capture_info(stream, status, id, graph, nodes, edges, nodes_nr));
}

CUDART(cudaGraphInstantiate, void **executable, void *graph, unsigned long long flags)
{
	CUDART_RUN("cuGraphInstantiateWithFlags", executable, graph, flags);
}

CUDART(cudaStreamUpdateCaptureDependencies, long stream, void **nodes, const void *edges, size_t nodes_nr,
       unsigned int flags)
{
	CUDART_RUN("cuStreamUpdateCaptureDependencies_v2", stream, nodes, edges, nodes_nr, flags);
}
#else
CUDART(cudaStreamGetCaptureInfo, long stream, int *status, uint64_t *id)
{
	return cudart_result(capture_info(stream, status, id, NULL, NULL, NULL, NULL));
}

CUDART(cudaStreamGetCaptureInfo_v2, long stream, int *status, uint64_t *id, void **graph, const void ***nodes,
       size_t *nodes_nr)
{
	return cudart_result(capture_info(stream, status, id, graph, nodes, NULL, nodes_nr));
}

CUDART(cudaStreamGetCaptureInfo_v3, long stream, int *status, uint64_t *id, void **graph, const void ***nodes,
       const void **edges, size_t *nodes_nr)
{
	return cudart_result(capture_info(stream, status, id, graph, nodes, edges, nodes_nr));
}

CUDART(cudaStreamUpdateCaptureDependencies, long stream, void **nodes, size_t nodes_nr, unsigned int flags)
{
	CUDART_RUN("cuStreamUpdateCaptureDependencies", stream, nodes, nodes_nr, flags);
}

CUDART(cudaStreamUpdateCaptureDependencies_v2, long stream, void **nodes, const void *edges, size_t nodes_nr,
       unsigned int flags)
{
	CUDART_RUN("cuStreamUpdateCaptureDependencies_v2", stream, nodes, edges, nodes_nr, flags);
}

/* CUDA 11 has the node of an error and a text, 12 flags: the third argument is an address only in 11. */
CUDART(cudaGraphInstantiate, void **executable, void *graph, unsigned long long flags_or_node, char *text,
       size_t text_bytes)
{
	(void)text, (void)text_bytes;
	CUDART_RUN("cuGraphInstantiateWithFlags", executable, graph, SIM_VERSION == 11 ? 0 : flags_or_node);
}
#endif

/* A kernel in a graph: the runtime names the program's function, the driver its own. */
struct kernel_node {
	void *function;
	unsigned int grid[3], block[3], shared;
	void **parameters, **extra;
};

CUDART(cudaGraphAddKernelNode, void **node, void *graph, const void *const *after, size_t after_nr,
       const struct kernel_node *wanted)
{
	struct {
		void *function;
		unsigned int grid[3], block[3], shared;
		void **parameters, **extra;
		void *kernel, *context;
	} said = { 0 };
	int failed = cudart_context();
	bool is_new;

	if (failed)
		return failed;
	if (!wanted)
		return cudart_result(CUDART_INVALID_VALUE);
	memcpy(said.grid, wanted->grid, sizeof(said.grid));
	memcpy(said.block, wanted->block, sizeof(said.block));
	said.shared = wanted->shared;
	said.function = cudart_function(wanted->function, &is_new);
	if (!said.function)
		return cudart_result(CUDART_INVALID_FUNCTION);
	return cudart_result(SIM_DRIVER("cuGraphAddKernelNode_v2", node, graph, after, after_nr, &said));
}

CUDART(cudaStreamCreate, void **stream)
{
	CUDART_RUN("cuStreamCreate", stream, 0);
}

CUDART(cudaEventCreate, void **event)
{
	CUDART_RUN("cuEventCreate", event, 0);
}
