/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pool a capture of PyTorch allocates from. libtorch_python calls CUDAGraph::capture_begin and
 * CUDAGraph::pool of libtorch_cuda through the PLT; their arguments are pointers and integers (a
 * MempoolId_t is a pair of two numbers, {0, 0} asks for a pool of the graph's own), so what a
 * preloaded library exports under those names is called first, and passes the call on.
 *
 * Either may throw. No frame of ours has anything to undo: the pool is noted before the call, and
 * taken by the driver's call that begins the capture.
 */
#include "recorder/torch/tensors.h"

#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/log/emit.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/torch/real.h"
#include "record/clock.h"

/* Mangled. With a capture mode since 2.1, without one from 1.10 on. */
#define BEGIN_MODE _ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE21cudaStreamCaptureMode
#define BEGIN      _ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE
#define POOL       _ZN2at4cuda9CUDAGraph4poolEv

struct pool_id {
	uint64_t first, second;
};

typedef void begin_mode_fn(void *graph, struct pool_id pool, int mode);
typedef void begin_fn(void *graph, struct pool_id pool);
typedef struct pool_id pool_fn(void *graph);

begin_mode_fn BEGIN_MODE;
begin_fn BEGIN;
pool_fn POOL;

static TARE_TLS struct {
	bool is_told;
	uint64_t graph;
	struct pool_id pool;
} next;

static void note(void *graph, struct pool_id pool)
{
	next.is_told = true;
	next.graph = (uint64_t)(uintptr_t)graph;
	next.pool = pool;
}

bool tare_torch_take_capture(struct tare_torch_capture *out)
{
	if (!next.is_told)
		return false;
	next.is_told = false;
	*out = (struct tare_torch_capture){ next.graph, next.pool.first, next.pool.second };
	return true;
}

TARE_EXPORT void BEGIN_MODE(void *graph, struct pool_id pool, int mode)
{
	static struct tare_torch_real torch = TARE_TORCH_ANYWHERE(BEGIN_MODE);
	begin_mode_fn *real = (begin_mode_fn *)tare_torch_real(&torch);

	if (unlikely(!real)) /* but whoever called it was linked with it */
		return;
	note(graph, pool);
	real(graph, pool, mode);
}

TARE_EXPORT void BEGIN(void *graph, struct pool_id pool)
{
	static struct tare_torch_real torch = TARE_TORCH_ANYWHERE(BEGIN);
	begin_fn *real = (begin_fn *)tare_torch_real(&torch);

	if (unlikely(!real))
		return;
	note(graph, pool);
	real(graph, pool);
}

/* Asked for to give it to another graph: this is the id of the pool that the graph has. */
TARE_EXPORT struct pool_id POOL(void *graph) {
	static struct tare_torch_real torch = TARE_TORCH_ANYWHERE(POOL);
	pool_fn *real = (pool_fn *)tare_torch_real(&torch);
	struct pool_id pool = { 0, 0 };
	struct tare_rec_mempool rec;

	if (unlikely(!real))
		return pool;
	pool = real(graph);
	if (tare_thread.depth > 0 || !tare_config.enabled || tare_config.nop)
		return pool;
	tare_fork_check();
	if (tare_is_vfork_child() || tare_ring_command() != TARE_COMMAND_RECORD)
		return pool;
	tare_thread.depth++;
	memset(&rec, 0, sizeof(rec));
	rec.object = (uint64_t)(uintptr_t)graph;
	rec.first = pool.first;
	rec.second = pool.second;
	tare_emit_mempool(&rec, tare_clock_ticks());
	tare_thread.depth--;
	return pool;
}
