/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_CUDA_CONTEXT_H
#define TARE_RECORDER_CUDA_CONTEXT_H

#include "record/cuda_abi.h"

/* Contexts and the devices they live on. */
void tare_context_add(CUcontext context, int device);
void tare_context_remove(CUcontext context);
int tare_context_device(CUcontext context); /* -1: not known */
CUcontext tare_context_current(void);
int tare_context_count(void);               /* made so far */
CUcontext tare_context_primary(int device); /* NULL: none that we saw */
void tare_context_set_primary(int device, CUcontext context);

#endif
