/* SPDX-License-Identifier: Apache-2.0 */
/* What only the limit of --vram asks of the driver. */
#ifndef TARE_RECORDER_VRAM_ASK_H
#define TARE_RECORDER_VRAM_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "record/cuda_abi.h"

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
