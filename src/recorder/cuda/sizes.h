/* SPDX-License-Identifier: Apache-2.0 */
/* The steps in which the driver takes memory, as measured on an H200 (`tare calibrate`). */
#ifndef TARE_RECORDER_CUDA_SIZES_H
#define TARE_RECORDER_CUDA_SIZES_H

#include <stdint.h>

#define TARE_CUDA_PAGE        (UINT64_C(2) << 20)
#define TARE_CUDA_POOL_STEP   (UINT64_C(32) << 20) /* in which a pool grows */
#define TARE_CUDA_STACK       1024                 /* bytes of local memory per thread that a context comes with */
#define TARE_CUDA_STACK_ALIGN 16u
#define TARE_CUDA_LOCAL_EXTRA (UINT64_C(512) << 10) /* 388 to 512 KiB */

#endif
