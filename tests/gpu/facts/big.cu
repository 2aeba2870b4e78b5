/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with much code: some hundred KiB each. */
#define A asm volatile("mov.u32 %0, %%clock;" : "=r"(x)); sum += x;
#define B A A A A A A A A
#define C B B B B B B B B
#define D C C C C C C C C
#define E D D D D D D D D
#define KERNEL(name)                                                                               \
	extern "C" __global__ void name(unsigned *out)                                             \
	{                                                                                          \
		unsigned x, sum = 0;                                                               \
		E E if (out) *out = sum;                                                             \
	}
KERNEL(big0)
KERNEL(big1)
KERNEL(big2)
KERNEL(big3)
