/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_TORCH_CPU_TENSORS_H
#define TARE_RECORDER_TORCH_CPU_TENSORS_H

#include <stdbool.h>

/* Is PyTorch's CPU allocator reporting this block on this thread right now? Then it is recorded already. */
bool tare_cpu_tensor_is_known(const void *block);

#endif
