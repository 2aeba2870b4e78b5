/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver-API programs of this folder share: the primary context of GPU 0, and one check. */
#ifndef TESTS_GPU_PROGRAMS_CU_H
#define TESTS_GPU_PROGRAMS_CU_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define MiB (1ull << 20)

#define OK(call)                                                                                                       \
	do {                                                                                                               \
		CUresult ok_result = (call);                                                                                   \
		if (ok_result != CUDA_SUCCESS) {                                                                               \
			fprintf(stderr, "%s failed with CUDA error %d\n", #call, (int)ok_result);                                  \
			exit(1);                                                                                                   \
		}                                                                                                              \
	} while (0)

static inline void open_gpu(int ordinal)
{
	CUcontext context;
	CUdevice device;

	OK(cuInit(0));
	OK(cuDeviceGet(&device, ordinal));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
}

#endif
