/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of PyTorch: recording one, and what the files beside tensors.c know of it. */
#ifndef TARE_RECORDER_TORCH_TENSORS_H
#define TARE_RECORDER_TORCH_TENSORS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Records a block that an allocator of PyTorch handed out (`bytes` > 0) or took back, with the calling
 * thread and, handed out, its stacks and what autograd does. `device`: ordinal, or TARE_TENSOR_ON_CPU. `flags`:
 * enum tare_tensor_flag. While paused only what is taken back is recorded.
 */
enum { TARE_TENSOR_ON_CPU = -1 };
void tare_tensor_record(const void *block, int64_t bytes, int device, uint32_t flags);

/* autograd.c: what the calling thread is doing, as enum tare_tensor_flag: BACKWARD, GRAD. Reads two words. */
uint32_t tare_autograd_flags(void);
uint32_t tare_autograd_backward(void); /* BACKWARD only */

/* cpu_tensors.c: is PyTorch's CPU allocator reporting this block on this thread right now? Then it is recorded already. */
bool tare_cpu_tensor_is_known(const void *block);

/*
 * mapped_file.c: a tensor was put in shared memory, or in a mapped file: writes which file that is, so that it counts once, however
 * many processes map it. Before the record of the tensor; nothing where Linux does not tell, or not in the time left.
 */
void tare_mapped_file_record(const void *block);

/*
 * stream.c: the calling thread is handed out a block of a GPU: what enum tare_tensor_flag says of the stream. A
 * STREAM record is written where that is another one than the last time. 0: it was not asked for, or
 * PyTorch does not tell.
 */
uint32_t tare_torch_stream(int device);

/* The driver gave this thread memory: the stream of its next block is that of a segment. */
void tare_torch_stream_matters(void);

/* graph_pool.c */
struct tare_torch_capture {
	uint64_t graph, pool_first, pool_second;
};

/* If PyTorch is about to begin a capture on this thread: from which of its pools it will allocate. Asked once. */
bool tare_torch_take_capture(struct tare_torch_capture *out);

#endif
