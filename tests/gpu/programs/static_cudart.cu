// SPDX-License-Identifier: Apache-2.0
// A CUDA C++ program with cudart linked statically (nvcc's default): small and large allocations,
// pitch, an array, streams, events, pinned and managed memory, kernels with and without a stack.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t e_ = (call);                                                           \
		if (e_ != cudaSuccess) {                                                           \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

__global__ void plain(float *p) { p[threadIdx.x] += 1; }

__global__ void deep(float *p, int n)
{
	float stack[8192]; // 32 KiB a thread
	for (int i = 0; i < 8192; i++)
		stack[i] = p[(i * n) & 255];
	p[threadIdx.x] = stack[(n * 77) & 8191];
}

int main()
{
	const size_t MiB = 1 << 20;
	float *p[64], *big, *pitched, *managed, *pinned;
	cudaStream_t streams[8];
	cudaEvent_t event;
	size_t pitch;

	CHECK(cudaFree(0));
	for (int i = 0; i < 64; i++)
		CHECK(cudaMalloc(&p[i], 512 << 10));
	CHECK(cudaMalloc(&big, 100 * MiB));
	CHECK(cudaMallocPitch(&pitched, &pitch, 1000, 3000));
	for (int i = 0; i < 8; i++)
		CHECK(cudaStreamCreate(&streams[i]));
	CHECK(cudaEventCreate(&event));
	plain<<<1, 32>>>(big);
	CHECK(cudaDeviceSynchronize());
	cudaArray_t array;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
	CHECK(cudaMallocArray(&array, &desc, 1024, 1024));
	CHECK(cudaMallocHost(&pinned, 16 * MiB));
	CHECK(cudaMallocManaged(&managed, 32 * MiB));
	plain<<<1, 32>>>(managed);
	CHECK(cudaDeviceSynchronize());
	deep<<<1, 32>>>(big, 3);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 63; i++)
		CHECK(cudaFree(p[i]));
	CHECK(cudaFree(big));
	CHECK(cudaFreeArray(array));
	puts("done");
	return 0;
}
