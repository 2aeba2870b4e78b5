/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_TORCH_STREAM_H
#define TARE_RECORDER_TORCH_STREAM_H

#include <stdint.h>

/*
 * The calling thread is handed out a block of a GPU: what enum tare_tensor_flag says of the stream. A
 * STREAM record is written where that is another one than the last time. 0: it was not asked for, or
 * PyTorch does not tell.
 */
uint32_t tare_torch_stream(int device);

/* The driver gave this thread memory: the stream of its next block is that of a segment. */
void tare_torch_stream_matters(void);

#endif
