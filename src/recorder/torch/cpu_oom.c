/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's allocator for the memory of the CPU gives up: it calls this member of libc10's reporter through the PLT,
 * just before it throws, whether its profiler runs or not. The call is passed on. Why the system had no memory (a
 * limit of the process, or no more in the machine) is read here, where it can be known: a moment later it may be over.
 */
#include "recorder/torch/tensors.h"

#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/base/addresses.h"
#include "recorder/base/plib.h"
#include "recorder/log/emit.h"
#include "recorder/python/stack.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/torch/real.h"
#include "record/clock.h"

/* Mangled: c10::ProfiledCPUMemoryReporter::OutOfMemory(size_t). */
#define OUT_OF_MEMORY _ZN3c1025ProfiledCPUMemoryReporter11OutOfMemoryEm

typedef void out_of_memory_fn(void *reporter, size_t bytes);

out_of_memory_fn OUT_OF_MEMORY;

/* What programs can have of the machine now; -1: not known. */
static int64_t available(void)
{
	char text[512];
	uint64_t kib;

	if (!tare_plib_read_file("/proc/meminfo", text, sizeof(text)) || !tare_plib_value(text, "MemAvailable:", &kib))
		return -1;
	return (int64_t)(kib * 1024);
}

static void record(size_t bytes)
{
	struct tare_rec_oom rec;

	if (tare_thread.depth > 0 || !tare_config.enabled || tare_config.nop || tare_config.no_tensors)
		return;
	tare_fork_check();
	if (tare_ring_command() != TARE_COMMAND_RECORD)
		return;
	tare_thread.depth++;
	memset(&rec, 0, sizeof(rec));
	rec.asked = bytes;
	rec.tid = tare_fork_tid();
	rec.device = TARE_TENSOR_ON_CPU;
	rec.free = available();
	rec.room = tare_addresses_left();
	rec.python = tare_python_stack();
	rec.stack = tare_emit_stack();
	tare_emit_oom(&rec, tare_clock_ticks());
	tare_thread.depth--;
}

TARE_EXPORT void OUT_OF_MEMORY(void *reporter, size_t bytes)
{
	static struct tare_torch_real torch = TARE_TORCH_ANYWHERE(OUT_OF_MEMORY);
	out_of_memory_fn *real = (out_of_memory_fn *)tare_torch_real(&torch);

	record(bytes);
	if (real)
		real(reporter, bytes);
}
