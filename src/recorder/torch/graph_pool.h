/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_TORCH_GRAPH_POOL_H
#define TARE_RECORDER_TORCH_GRAPH_POOL_H

#include "recorder/hooks/call.h"

/* If PyTorch is about to begin a capture on this thread: from which of its pools it will allocate. */
void tare_torch_take_pool(struct tare_call *begin);

#endif
