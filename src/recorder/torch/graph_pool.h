/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_TORCH_GRAPH_POOL_H
#define TARE_RECORDER_TORCH_GRAPH_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct tare_torch_capture {
	uint64_t graph, pool_first, pool_second;
};

/* If PyTorch is about to begin a capture on this thread: from which of its pools it will allocate. Asked once. */
bool tare_torch_take_capture(struct tare_torch_capture *out);

#endif
