/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of facts.c. The simulated driver reads kernels.sim instead, which says the same of them. */
#include <stdio.h>

struct large {
	char bytes[4000];
};
struct middle {
	char bytes[1000];
};

#ifndef WITHOUT_TABLE
__device__ char table[16 << 20];
#endif

extern "C" __global__ void k0(void)
{
}

extern "C" __global__ void kptr(char *p)
{
	p[0] = 1;
}

extern "C" __global__ void kmiddle(struct middle parameter, int *out)
{
	if (out)
		*out = parameter.bytes[7];
}

extern "C" __global__ void kparam(struct large parameter, int *out)
{
	if (out)
		*out = parameter.bytes[7];
}

template <int BYTES> __device__ void use_stack(int *out, int n)
{
	volatile char local[BYTES];

	for (int i = 0; i < n; i++)
		local[(i * 97) % BYTES] = (char)i;
	if (out)
		*out = local[n % BYTES];
}

extern "C" __global__ void kstack2(int *out, int n)
{
	use_stack<2048>(out, n);
}

extern "C" __global__ void kstack3(int *out, int n)
{
	use_stack<3000>(out, n);
}

extern "C" __global__ void kstack32(int *out, int n)
{
	use_stack<32768>(out, n);
}

extern "C" __global__ void kprintf(int n)
{
	if (n < 0)
		printf("%d\n", n);
}

extern "C" __global__ void kmalloc(void **out, int n)
{
	if (n < 0)
		*out = malloc((size_t)-n);
}

extern "C" __global__ void ktable(int n)
{
	table[n] = 1;
}
