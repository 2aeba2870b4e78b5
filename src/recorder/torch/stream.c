/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which stream a block lies. PyTorch's allocator keeps segments for each stream apart, and does not
 * report which one a block is of; but almost all blocks are of the calling thread's current stream,
 * which the allocator has just asked for itself by the function that is asked here. It reads a word of
 * the thread and an array of the process, both made by then. (A caller of raw_alloc_with_stream may
 * name another stream.)
 *
 * It takes 19 ns on an H200, and one answer is enough for a segment: it is asked at the first block
 * after the driver gave this thread memory, which is the first of a new segment. Any other block can
 * only contradict that, so of those one in ASK_EVERY is asked about; the ledger counts the
 * contradictions.
 *
 * The function returns a c10::cuda::CUDAStream: a c10::Stream { Device { int8_t type, index };
 * StreamId id; }, all of them copied like C structures and so returned in registers. An id has 64 bits
 * since there are streams from outside (1.10), which are their own ids; before, it had 32, and all of it
 * came in one register.
 */
#include "recorder/torch/tensors.h"

#include "recorder/base/fork.h"
#include "recorder/log/emit.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/torch/real.h"
#include "record/clock.h"

/*
 * Mangled; a DeviceIndex is a signed char. The last is there since streams have more than two priorities
 * (2.1).
 */
#define CURRENT  "_ZN3c104cuda20getCurrentCUDAStreamEa"
#define EXTERNAL "_ZN3c104cuda21getStreamFromExternalEP11CUstream_sta"
#define PRIORITY "_ZN3c104cuda17getStreamFromPoolEia"

struct c10_stream {
	uint64_t first, second;
};

typedef struct c10_stream current_fn(int8_t device);

static struct {
	current_fn *current;
	uint32_t ids; /* enum tare_stream_ids */
	uint32_t misses;
} torch;

enum { ASK_EVERY = 16 };

/* What this thread's last STREAM record says. */
static TARE_TLS struct {
	uint64_t id;
	uint32_t epoch;
	int device;
} said;

static void *find(const char *name)
{
	struct tare_torch_real real = { .name = name };

	return tare_torch_real(&real);
}

static uint32_t find_ids(void)
{
	if (find(PRIORITY))
		return TARE_STREAM_IDS_ODD;
	return find(EXTERNAL) ? TARE_STREAM_IDS_POINTER : TARE_STREAM_IDS_OLD;
}

/*
 * Where blocks are reported before the library is there, or without it, it is looked for again after
 * twice as many. Several threads may look at once, and find the same.
 */
TARE_COLD static current_fn *find_current(void)
{
	uint32_t misses = __atomic_add_fetch(&torch.misses, 1, __ATOMIC_RELAXED);
	current_fn *found = (misses & (misses - 1)) ? NULL : (current_fn *)find(CURRENT);

	if (!found)
		return NULL;
	__atomic_store_n(&torch.ids, find_ids(), __ATOMIC_RELAXED);
	__atomic_store_n(&torch.current, found, __ATOMIC_RELEASE);
	return found;
}

TARE_COLD static bool record_stream(int device, uint64_t id)
{
	struct tare_rec_stream rec = { .id = id,
		                           .tid = tare_fork_tid(),
		                           .device = (int16_t)device,
		                           .ids = (uint16_t)__atomic_load_n(&torch.ids, __ATOMIC_RELAXED) };

	if (!tare_emit_stream(&rec, tare_clock_ticks()))
		return false;
	said.id = id;
	said.device = device;
	said.epoch = tare_ring_epoch(); /* the first record opens the log */
	return true;
}

void tare_torch_stream_matters(void)
{
	tare_thread.unasked = 0;
}

static uint32_t ask(int device)
{
	current_fn *current = __atomic_load_n(&torch.current, __ATOMIC_ACQUIRE);
	struct c10_stream stream;
	uint64_t id;

	if (unlikely(!current) && !(current = find_current()))
		return 0;
	stream = current((int8_t)device);
	id = __atomic_load_n(&torch.ids, __ATOMIC_RELAXED) == TARE_STREAM_IDS_OLD ? stream.first >> 32 : stream.second;
	if (likely(!id))
		return TARE_TENSOR_ON_DEFAULT;
	if (id == said.id && device == said.device && said.epoch == tare_ring_epoch())
		return TARE_TENSOR_ON_STREAM;
	return record_stream(device, id) ? TARE_TENSOR_ON_STREAM : 0;
}

TARE_HOT uint32_t tare_torch_stream(int device)
{
	if (likely(tare_thread.unasked)) {
		tare_thread.unasked--;
		return 0;
	}
	tare_thread.unasked = ASK_EVERY - 1;
	return ask(device);
}
