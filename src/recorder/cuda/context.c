/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts this process made, and on which device: a small table, read without a lock. */
#include "recorder/cuda/context.h"

#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/cuda/real.h"

#define SLOTS 256 /* contexts alive at once; further ones are asked of the driver each time */

static struct {
	CUcontext context;
	int device;
} contexts[SLOTS];
TARE_OF_PROCESS(contexts);
static int made;
TARE_OF_PROCESS(made);
static CUcontext primary[64];
TARE_OF_PROCESS(primary);

void tare_context_add(CUcontext context, int device)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (__atomic_load_n(&contexts[i].context, __ATOMIC_ACQUIRE) == context)
			return; /* a primary context retained again */
	__atomic_fetch_add(&made, 1, __ATOMIC_RELEASE);
	for (i = 0; i < SLOTS; i++) {
		CUcontext none = NULL;

		if (!__atomic_compare_exchange_n(&contexts[i].context, &none, (CUcontext)1, false, __ATOMIC_ACQ_REL,
		                                 __ATOMIC_ACQUIRE))
			continue;
		contexts[i].device = device;
		__atomic_store_n(&contexts[i].context, context, __ATOMIC_RELEASE);
		return;
	}
}

void tare_context_remove(CUcontext context)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (__atomic_load_n(&contexts[i].context, __ATOMIC_ACQUIRE) == context)
			__atomic_store_n(&contexts[i].context, NULL, __ATOMIC_RELEASE);
}

int tare_context_device(CUcontext context)
{
	int i, device;

	if (!context)
		return -1;
	for (i = 0; i < SLOTS; i++)
		if (__atomic_load_n(&contexts[i].context, __ATOMIC_ACQUIRE) == context)
			return contexts[i].device;
	/* A context that came by another way. The current one can be asked for its device. */
	if (tare_real.cuCtxGetDevice && tare_real.cuCtxGetDevice(&device) == CUDA_SUCCESS)
		return device;
	return -1;
}

CUcontext tare_context_current(void)
{
	CUcontext context = NULL;

	if (!tare_real.cuCtxGetCurrent || tare_real.cuCtxGetCurrent(&context) != CUDA_SUCCESS)
		return NULL;
	return context;
}

int tare_context_count(void)
{
	return __atomic_load_n(&made, __ATOMIC_ACQUIRE);
}

CUcontext tare_context_primary(int device)
{
	return device >= 0 && device < 64 ? primary[device] : NULL;
}

void tare_context_set_primary(int device, CUcontext context)
{
	if (device >= 0 && device < 64)
		primary[device] = context;
}
