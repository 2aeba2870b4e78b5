// SPDX-License-Identifier: Apache-2.0
// Designs of graph_switch.sh for templates whose functions differ, or whose layers repeat (nvcc -rdc=true, libcudadevrt):
//   union   each place of a graph has a node for every function that any template has there; a kernel enables one of them and sets its
//           grid and parameters (cudaGraphKernelNodeUpdatesApply)
//   loop    a conditional while-node: the body is one layer, whose nodes a kernel in front of them updates for each layer
//   bytes   what 1, 2, 4 … executable graphs take of the card, beside each other
#include "graph_switch_device.cuh"

enum { MOST_FUNCTIONS = 4, LAYER = 8 };

template <int function> __global__ void one_of(parameters p)
{
	*p.to = p.value + function - function;
}

static void *function_of(int i)
{
	static void *const functions[MOST_FUNCTIONS] = { (void *)one_of<0>, (void *)one_of<1>, (void *)one_of<2>,
							 (void *)one_of<3> };

	return functions[i];
}

struct place {
	cudaGraphDeviceNode_t nodes[MOST_FUNCTIONS];
	int functions;
};

struct wanted {
	int function;
	unsigned grid;
	parameters p;
};

__device__ static cudaGraphKernelNodeUpdate to_grid(cudaGraphDeviceNode_t node, unsigned grid)
{
	return { node, cudaGraphKernelNodeFieldGridDim, { dim3(grid) } };
}

__device__ static cudaGraphKernelNodeUpdate to_parameters(cudaGraphDeviceNode_t node, const parameters *p)
{
	cudaGraphKernelNodeUpdate update = to_grid(node, 1);

	update.field = cudaGraphKernelNodeFieldParam;
	update.updateData.param = { p, 0, sizeof(*p) };
	return update;
}

__device__ static cudaGraphKernelNodeUpdate to_enabled(cudaGraphDeviceNode_t node, bool is_on)
{
	cudaGraphKernelNodeUpdate update = to_grid(node, 1);

	update.field = cudaGraphKernelNodeFieldEnabled;
	update.updateData.isEnabled = is_on;
	return update;
}

__global__ void enable(const place *places, const wanted *wanted_of, int count, unsigned *failed)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i >= count)
		return;
	for (int k = 0; k < places[i].functions; k++) {
		bool is_on = k == wanted_of[i].function;
		cudaGraphDeviceNode_t node = places[i].nodes[k];
		cudaGraphKernelNodeUpdate updates[3] = { to_enabled(node, is_on), to_grid(node, wanted_of[i].grid),
							 to_parameters(node, &wanted_of[i].p) };

		if (cudaGraphKernelNodeUpdatesApply(updates, is_on ? 3 : 1) != cudaSuccess)
			atomicAdd(failed, 1u);
	}
}

// A node that a kernel can update; its handle there.
static cudaGraphNode_t add_updatable(cudaGraph_t graph, cudaGraphNode_t after, void *function, parameters p, unsigned grid,
				     cudaGraphDeviceNode_t *handle)
{
	void *pointers[] = { &p };
	cudaKernelNodeParams params = {};
	cudaLaunchAttributeValue value = {};
	cudaGraphNode_t node;

	params.func = function;
	params.gridDim = dim3(grid);
	params.blockDim = dim3(32);
	params.kernelParams = pointers;
	OK(cudaGraphAddKernelNode(&node, graph, after ? &after : nullptr, after != nullptr, &params));
	value.deviceUpdatableKernelNode.deviceUpdatable = 1;
	OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
	if (!value.deviceUpdatableKernelNode.devNode)
		OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
	*handle = value.deviceUpdatableKernelNode.devNode;
	return node;
}

template <class T> static T *pinned(size_t count)
{
	T *made;

	OK(cudaHostAlloc((void **)&made, sizeof(T) * count, cudaHostAllocDefault));
	memset((void *)made, 0, sizeof(T) * count);
	return made;
}

static unsigned *failures()
{
	unsigned *failed;

	OK(cudaMalloc((void **)&failed, 4));
	OK(cudaMemset(failed, 0, 4));
	return failed;
}

static void say_refused(const unsigned *failed)
{
	unsigned count = 0;

	OK(cudaMemcpy(&count, failed, 4, cudaMemcpyDeviceToHost));
	if (count)
		printf("%u updates were refused\n", count);
}

// `functions` at every `each`th place, one at the others.
static void by_union(int nodes, int functions, int each)
{
	place *places = pinned<place>((size_t)nodes);
	wanted *all = pinned<wanted>((size_t)nodes * TEMPLATES);
	unsigned *failed = failures();
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t last = nullptr;
	int made = 0;
	char name[96];

	OK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < nodes; i++) {
		places[i].functions = i % each ? 1 : functions;
		for (int k = 0; k < places[i].functions; k++, made++)
			last = add_updatable(graph, last, function_of(k), what(0, i), 1, &places[i].nodes[k]);
		for (int t = 0; t < TEMPLATES; t++)
			all[t * nodes + i] = { (t + i) % places[i].functions, (unsigned)t + 1, what(t, i) };
	}
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphUpload(exec, stream));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	snprintf(name, sizeof(name), "a union: %d nodes, %d functions at every %d. place", made, functions, each);
	measure(name, nodes, exec, [=](int t) {
		enable<<<(nodes + 63) / 64, 64, 0, stream>>>(places, all + t * nodes, nodes, failed);
		OK(cudaGetLastError());
	});
	say_refused(failed);
	OK(cudaGraphExecDestroy(exec));
}

struct layer_of {
	cudaGraphDeviceNode_t nodes[LAYER];
};

// In front of each layer: its parameters, and whether there is one more.
__global__ void next_layer(cudaGraphConditionalHandle handle, const layer_of *layer, const change *const volatile *chosen, int *at,
			   int layers, unsigned *failed)
{
	int i = (int)threadIdx.x, now = *at;

	if (i < LAYER) {
		const change *c = *chosen + now * LAYER + i;
		cudaGraphKernelNodeUpdate updates[2] = { to_grid(layer->nodes[i], c->grid),
							 to_parameters(layer->nodes[i], &c->p) };

		if (cudaGraphKernelNodeUpdatesApply(updates, 2) != cudaSuccess)
			atomicAdd(failed, 1u);
	}
	__syncthreads();
	if (i)
		return;
	*at = now + 1 < layers ? now + 1 : 0;
	cudaGraphSetConditional(handle, now + 1 < layers);
}

static void by_loop(int nodes)
{
	int layers = nodes / LAYER, *at;
	layer_of *layer = pinned<layer_of>(1);
	change *all = pinned<change>((size_t)nodes * TEMPLATES);
	change **chosen = pinned<change *>(1);
	unsigned *failed = failures();
	cudaGraph_t graph, body;
	cudaGraphExec_t exec;
	cudaGraphNode_t node, last = nullptr;
	cudaGraphConditionalHandle handle;
	cudaGraphNodeParams condition = {};
	cudaKernelNodeParams params = {};

	nodes = layers * LAYER;
	OK(cudaMalloc((void **)&at, sizeof(*at)));
	OK(cudaMemset(at, 0, sizeof(*at)));
	for (int t = 0; t < TEMPLATES; t++)
		for (int i = 0; i < nodes; i++)
			all[t * nodes + i] = { {}, (unsigned)t + 1, what(t, i) };
	*chosen = all;
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
	condition.type = cudaGraphNodeTypeConditional;
	condition.conditional.handle = handle;
	condition.conditional.type = cudaGraphCondTypeWhile;
	condition.conditional.size = 1;
	OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &condition));
	body = condition.conditional.phGraph_out[0];
	const change *const volatile *seen = chosen;
	void *pointers[] = { &handle, &layer, &seen, &at, &layers, &failed };
	params.func = (void *)next_layer;
	params.gridDim = dim3(1);
	params.blockDim = dim3(32);
	params.kernelParams = pointers;
	OK(cudaGraphAddKernelNode(&last, body, nullptr, 0, &params));
	for (int i = 0; i < LAYER; i++)
		last = add_updatable(body, last, function_of(0), what(0, i), 1, &layer->nodes[i]);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphUpload(exec, stream));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	measure("a while-node, a layer each", nodes, exec, [=](int t) { *chosen = all + t * nodes; });
	say_refused(failed);
}

// Executable graphs of `nodes` nodes beside each other, all launched.
static void bytes(int nodes)
{
	size_t before = available();
	int made = 0;

	printf("executable graphs of %d nodes beside each other, MiB:", nodes);
	for (int count = 1; count <= 32; count *= 2) {
		for (; made < count; made++) {
			cudaGraph_t graph;
			cudaGraphExec_t exec;

			OK(cudaGraphCreate(&graph, 0));
			chain(graph, made % TEMPLATES, nodes, nullptr);
			OK(cudaGraphInstantiate(&exec, graph, 0));
			OK(cudaGraphLaunch(exec, stream));
		}
		OK(cudaStreamSynchronize(stream));
		printf(" %d: %.1f", count, (double)(before - available()) / (1 << 20));
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&words, 4 * 1024));
	work<<<1, 1, 0, stream>>>(what(0, 0));
	for (int i = 0; i < MOST_FUNCTIONS; i++) {
		parameters p = what(0, 0);
		void *pointers[] = { &p };

		OK(cudaLaunchKernel(function_of(i), dim3(1), dim3(1), pointers, 0, stream));
	}
	OK(cudaStreamSynchronize(stream));
	if (!strcmp(mode, "bytes")) {
		bytes(321);
		bytes(805);
	} else if (!strcmp(mode, "loop")) {
		by_loop(96);
		by_loop(280);
		by_loop(800);
	} else {
		for (int nodes : { 100, 280, 800 }) {
			by_union(nodes, 1, 1);
			by_union(nodes, 3, 4);
			by_union(nodes, 2, 1);
			by_union(nodes, 3, 1);
		}
	}
	return 0;
}
