// SPDX-License-Identifier: Apache-2.0
// What the programs of graph_switch.sh that need code of the device's own runtime have in common: kernels that write what their
// template says, and how a way to switch is measured. Only their .cu files include it.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda_runtime.h>
#include <vector>

enum { TEMPLATES = 4, ROUNDS = 200 };

#define OK(call)                                                                                   \
	do {                                                                                       \
		cudaError_t ok_result = (call);                                                    \
		if (ok_result != cudaSuccess) {                                                    \
			printf("not possible: %s: %s\n", #call, cudaGetErrorString(ok_result));    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct parameters {
	unsigned *to;
	unsigned value;
	char rest[52];
};

__global__ void work(parameters p)
{
	*p.to = p.value;
}

struct change {
	cudaGraphDeviceNode_t node;
	unsigned grid;
	parameters p;
};

static cudaStream_t stream;
static unsigned *words;

static double now_us()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double share(std::vector<double> &values, double of)
{
	std::sort(values.begin(), values.end());
	return values[(size_t)(of * (double)(values.size() - 1))];
}

static parameters what(int t, int i)
{
	parameters p = {};

	p.to = words + i;
	p.value = 1000u * ((unsigned)t + 1) + (unsigned)i;
	return p;
}

static std::vector<cudaGraphNode_t> chain(cudaGraph_t graph, int t, int nodes,
					  cudaGraphNode_t after)
{
	std::vector<cudaGraphNode_t> made;

	for (int i = 0; i < nodes; i++) {
		parameters p = what(t, i);
		void *pointers[] = { &p };
		cudaKernelNodeParams params = {};
		cudaGraphNode_t node, before = i ? made.back() : after;

		params.func = (void *)work;
		params.gridDim = dim3((unsigned)t + 1);
		params.blockDim = dim3(32);
		params.kernelParams = pointers;
		OK(cudaGraphAddKernelNode(&node, graph, before ? &before : nullptr,
					  before != nullptr, &params));
		made.push_back(node);
	}
	return made;
}

static int wrong(int t, int nodes)
{
	std::vector<unsigned> found((size_t)nodes);
	int count = 0;

	OK(cudaMemcpy(found.data(), words, 4 * (size_t)nodes, cudaMemcpyDeviceToHost));
	for (int i = 0; i < nodes; i++)
		count += found[(size_t)i] != what(t, i).value;
	return count;
}

template <class To> static void measure(const char *name, int nodes, cudaGraphExec_t exec, To to)
{
	std::vector<double> switched, launched, whole;
	int bad = 0;

	for (int i = -8; i < ROUNDS; i++) {
		int t = (i + 9) % TEMPLATES;

		OK(cudaStreamSynchronize(stream));
		double begin = now_us();
		to(t);
		double ready = now_us();
		OK(cudaGraphLaunch(exec, stream));
		double queued = now_us();
		OK(cudaStreamSynchronize(stream));
		double done = now_us();
		if (i < 8)
			bad += wrong(t, nodes);
		if (i < 0)
			continue;
		switched.push_back(ready - begin);
		launched.push_back(queued - ready);
		whole.push_back(done - begin);
	}
	double p50 = share(switched, 0.5);
	printf("| %s | %d | 64 | + grid | %.1f | %.1f | %.1f | %.1f | %.1f | %d |\n", name, nodes,
	       p50, share(switched, 0.99), p50 * 100 / nodes, share(launched, 0.5),
	       share(whole, 0.5), bad);
	fflush(stdout);
}

static size_t available()
{
	size_t bytes, total;

	OK(cudaMemGetInfo(&bytes, &total));
	return bytes;
}
