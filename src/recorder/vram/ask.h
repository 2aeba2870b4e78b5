/* SPDX-License-Identifier: Apache-2.0 */
/* What only the limit of --vram asks of the driver, and what is known without asking. */
#ifndef TARE_RECORDER_VRAM_ASK_H
#define TARE_RECORDER_VRAM_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "record/cuda_abi.h"

/* The steps in which the driver takes memory, as measured on an H200 (`tare calibrate`). */
#define TARE_CUDA_PAGE        (UINT64_C(2) << 20)
#define TARE_CUDA_POOL_STEP   (UINT64_C(32) << 20) /* in which a pool grows */
#define TARE_CUDA_STACK       1024                 /* bytes of local memory per thread that a context comes with */
#define TARE_CUDA_STACK_ALIGN 16u
#define TARE_CUDA_LOCAL_EXTRA (UINT64_C(512) << 10) /* 388 to 512 KiB */

/* What a pool (NULL: the device's current one) must grow by to hand out `bytes` more. */
uint64_t tare_ask_pool_growth(CUmemoryPool pool, int device, uint64_t bytes);
/* The device whose pool it is; one that a program made is taken to be of the current device. */
int tare_ask_pool_device(CUmemoryPool pool);

/* Then an allocation is a node of a graph, and takes nothing now. */
bool tare_ask_is_capturing(CUstream stream, bool ptsz);

/* Can managed memory be moved out of the device again to make room? */
bool tare_ask_moves_managed(int device);

/* Bytes of local memory that a thread of this function needs; 0: not known. */
uint64_t tare_ask_stack(const void *function, int device);

uint64_t tare_ask_threads(int device); /* that can run at once */

#endif
