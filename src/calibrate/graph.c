/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a graph of kernels, and runs it. */
#include "calibrate/kernel.h"

bool tare_graph_add_kernels(struct tare_bench *bench, CUgraph graph, CUfunction function, int count)
{
	CUDA_KERNEL_NODE_PARAMS_v2 params = { .func = function,
		                                  .gridDimX = 1,
		                                  .gridDimY = 1,
		                                  .gridDimZ = 1,
		                                  .blockDimX = 1,
		                                  .blockDimY = 1,
		                                  .blockDimZ = 1,
		                                  .kernelParams = (void **)tare_kernel_zeros };
	CUgraphNode node, last = NULL;

	for (int i = 0; i < count; i++, last = node)
		if (!(tare_cu.cuGraphAddKernelNode_v2
		          ? TARE_DO(bench, cuGraphAddKernelNode_v2, &node, graph, &last, i > 0, &params)
		          : TARE_DO(bench, cuGraphAddKernelNode, &node, graph, &last, i > 0,
		                    (CUDA_KERNEL_NODE_PARAMS_v1 *)&params)))
			return false;
	return true;
}

bool tare_graph_run(struct tare_bench *bench, CUgraph graph, CUgraphExec *exec)
{
	bool is_made = tare_cu.cuGraphInstantiateWithFlags
	                   ? TARE_DO(bench, cuGraphInstantiateWithFlags, exec, graph, 0)
	                   : TARE_DO(bench, cuGraphInstantiate_v2, exec, graph, NULL, NULL, 0);

	return is_made && TARE_DO(bench, cuGraphLaunch, *exec, NULL) && TARE_DO(bench, cuCtxSynchronize);
}
