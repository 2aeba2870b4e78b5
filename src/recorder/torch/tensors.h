/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_TORCH_TENSORS_H
#define TARE_RECORDER_TORCH_TENSORS_H

#include <stdint.h>

/*
 * Records a block that an allocator of PyTorch handed out (`bytes` > 0) or took back, with the calling
 * thread and, handed out, its stacks and what autograd does. `device`: ordinal, or TARE_TENSOR_ON_CPU. `flags`:
 * enum tare_tensor_flag. While paused only what is taken back is recorded.
 */
enum { TARE_TENSOR_ON_CPU = -1 };
void tare_tensor_record(const void *block, int64_t bytes, int device, uint32_t flags);

#endif
