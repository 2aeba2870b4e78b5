// SPDX-License-Identifier: Apache-2.0
// The two designs of graph_switch.c that need code of the device's own runtime (nvcc -rdc=true, libcudadevrt):
// kernel nodes that a kernel updates (cudaGraphKernelNodeUpdatesApply), and a conditional node that has every template as a
// body (SWITCH). Rows as those of graph_switch.c, and what each takes of the card.
#include "graph_switch_device.cuh"

__global__ void apply(const change *changes, int count, unsigned *failed)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i >= count)
		return;
	cudaGraphKernelNodeUpdate grid = { changes[i].node,
					   cudaGraphKernelNodeFieldGridDim,
					   { dim3(changes[i].grid) } };
	cudaGraphKernelNodeUpdate updates[2] = { grid, grid };

	updates[1].field = cudaGraphKernelNodeFieldParam;
	updates[1].updateData.param = { &changes[i].p, 0, sizeof(parameters) };
	if (cudaGraphKernelNodeUpdatesApply(updates, 2) != cudaSuccess)
		atomicAdd(failed, 1u);
}

__global__ void choose(cudaGraphConditionalHandle handle, const volatile unsigned *which)
{
	cudaGraphSetConditional(handle, *which);
}

// COPIES: how many such graphs stand beside each other, for their bytes.
static void by_device(int nodes, int copies)
{
	change *changes;
	unsigned *failed;
	cudaGraphExec_t exec = nullptr;

	OK(cudaHostAlloc((void **)&changes, sizeof(change) * TEMPLATES * (size_t)nodes,
			 cudaHostAllocDefault));
	OK(cudaMalloc((void **)&failed, 4));
	OK(cudaMemset(failed, 0, 4));
	size_t before = available();
	for (int c = 0; c < copies; c++) {
		cudaGraph_t graph;

		OK(cudaGraphCreate(&graph, 0));
		std::vector<cudaGraphNode_t> made = chain(graph, 0, nodes, nullptr);
		for (int i = 0; i < nodes; i++) {
			cudaLaunchAttributeValue value = {};

			value.deviceUpdatableKernelNode.deviceUpdatable = 1;
			OK(cudaGraphKernelNodeSetAttribute(
				made[(size_t)i], cudaLaunchAttributeDeviceUpdatableKernelNode,
				&value));
			if (!value.deviceUpdatableKernelNode.devNode)
				OK(cudaGraphKernelNodeGetAttribute(
					made[(size_t)i],
					cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
			for (int t = 0; t < TEMPLATES; t++)
				changes[t * nodes + i] = { value.deviceUpdatableKernelNode.devNode,
							   (unsigned)t + 1, what(t, i) };
		}
		OK(cudaGraphInstantiate(&exec, graph, 0));
		OK(cudaGraphUpload(exec, stream));
		OK(cudaGraphLaunch(exec, stream));
	}
	OK(cudaStreamSynchronize(stream));
	if (copies > 1) {
		printf("bytes of an executable graph of nodes that a kernel updates: %d nodes: %.2f KiB a node\n",
		       nodes, (double)(before - available()) / 1024 / copies / nodes);
		return;
	}
	measure("a kernel updates all nodes", nodes, exec, [=](int t) {
		apply<<<(nodes + 63) / 64, 64, 0, stream>>>(changes + t * nodes, nodes, failed);
		OK(cudaGetLastError());
	});
	unsigned count = 0;
	OK(cudaMemcpy(&count, failed, 4, cudaMemcpyDeviceToHost));
	if (count)
		printf("%u updates were refused\n", count);
}

static void by_condition(int nodes, int copies)
{
	static unsigned *which;
	cudaGraphExec_t exec = nullptr;

	if (!which)
		OK(cudaHostAlloc((void **)&which, 4, cudaHostAllocDefault));
	*which = 0;
	size_t before = available();
	for (int c = 0; c < copies; c++) {
		cudaGraph_t graph;
		cudaGraphNode_t first, node;
		cudaGraphConditionalHandle handle;
		cudaGraphNodeParams condition = {};

		OK(cudaGraphCreate(&graph, 0));
		OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
		void *pointers[] = { &handle, &which };
		cudaKernelNodeParams params = {};
		params.func = (void *)choose;
		params.gridDim = params.blockDim = dim3(1);
		params.kernelParams = pointers;
		OK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &params));
		condition.type = cudaGraphNodeTypeConditional;
		condition.conditional.handle = handle;
		condition.conditional.type = cudaGraphCondTypeSwitch;
		condition.conditional.size = TEMPLATES;
		OK(cudaGraphAddNode(&node, graph, &first, nullptr, 1, &condition));
		for (int t = 0; t < TEMPLATES; t++)
			chain(condition.conditional.phGraph_out[t], t, nodes, nullptr);
		OK(cudaGraphInstantiate(&exec, graph, 0));
		OK(cudaGraphLaunch(exec, stream));
	}
	OK(cudaStreamSynchronize(stream));
	if (copies > 1)
		printf("bytes of a conditional node with %d bodies: %d nodes each: %.2f KiB a node of a body\n",
		       TEMPLATES, nodes,
		       (double)(before - available()) / 1024 / copies / TEMPLATES / nodes);
	else
		measure("a conditional node, a body each", nodes, exec,
			[](int t) { *which = (unsigned)t; });
}

int main(int argc, char **argv)
{
	bool is_condition = argc > 1 && !strcmp(argv[1], "condition");
	int counts[] = { 10, 100, 280, 500 };

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&words, 4 * 512));
	work<<<1, 1, 0, stream>>>(what(0, 0));
	OK(cudaStreamSynchronize(stream));
	for (int nodes : counts)
		is_condition ? by_condition(nodes, 1) : by_device(nodes, 1);
	is_condition ? by_condition(280, 16) : by_device(280, 16);
	return 0;
}
