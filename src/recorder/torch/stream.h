/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_TORCH_STREAM_H
#define TARE_RECORDER_TORCH_STREAM_H

#include <stdint.h>

/*
 * The calling thread is handed out a block of a GPU: what enum tare_tensor_flag says of the stream. A STREAM record
 * is written where that is another one than the last time. 0: PyTorch does not tell.
 */
uint32_t tare_torch_stream(int device);

#endif
