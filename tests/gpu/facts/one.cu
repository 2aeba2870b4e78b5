/* SPDX-License-Identifier: Apache-2.0 */
/* One need at a time, chosen by a macro. */
#include <stdio.h>

#ifdef TABLE
__device__ char table[16 << 20];
#endif

extern "C" __global__ void k0(int *out)
{
#ifdef TABLE
	if (out)
		table[*out] = 1;
#endif
#ifdef PRINTF
	if (out)
		printf("%d\n", *out);
#endif
#ifdef MALLOC
	if (out)
		*(void **)out = malloc(*out);
#endif
#ifdef STACK
	volatile char local[STACK];

	for (int i = 0; i < (out ? 1 : 0); i++)
		local[(i * 97) % STACK] = (char)i;
	if (out)
		*out = local[*out % STACK];
#endif
}
