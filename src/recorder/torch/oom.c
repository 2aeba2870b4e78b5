/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's allocator for GPUs gives up: it calls this function of libc10 through the PLT just before it
 * throws, so what a preloaded library exports under that name hears of it, also where the program
 * catches the error. Arguments are integers; each call is passed on to torch's own profiler.
 */

#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/log/emit.h"
#include "recorder/python/stack.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/torch/real.h"
#include "record/clock.h"

enum { CUDA = 1 /* c10::DeviceType, also of HIP builds; the low byte of a c10::Device */ };

/* Mangled: they take a c10::Device. Sizes are signed until 1.13, unsigned since 2.0. */
#define OOM_SIGNED _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE
#define OOM        _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE

typedef void oom_fn(int64_t asked, uint64_t allocated, uint64_t reserved, uint16_t device);

oom_fn OOM_SIGNED, OOM;

static void record(int64_t asked, uint64_t allocated, uint64_t reserved, uint16_t device)
{
	struct tare_rec_oom rec;

	if ((device & 0xff) != CUDA || tare_thread.depth > 0 || !tare_config.enabled || tare_config.nop ||
	    tare_config.no_tensors)
		return;
	tare_fork_check();
	if (tare_ring_command() != TARE_COMMAND_RECORD)
		return;
	tare_thread.depth++;
	memset(&rec, 0, sizeof(rec));
	rec.asked = asked > 0 ? (uint64_t)asked : 0;
	rec.allocated = allocated;
	rec.reserved = reserved;
	rec.tid = tare_fork_tid();
	rec.device = (int8_t)(device >> 8);
	rec.python = tare_python_stack();
	rec.stack = tare_emit_stack();
	tare_emit_oom(&rec, tare_clock_ticks());
	tare_thread.depth--;
}

static void pass_on(struct tare_torch_real *torch, int64_t asked, uint64_t allocated, uint64_t reserved,
                    uint16_t device)
{
	oom_fn *real = (oom_fn *)tare_torch_real(torch);

	record(asked, allocated, reserved, device);
	if (real)
		real(asked, allocated, reserved, device);
}

TARE_EXPORT void OOM_SIGNED(int64_t asked, uint64_t allocated, uint64_t reserved, uint16_t device)
{
	static struct tare_torch_real torch = TARE_TORCH_AT_HOME(OOM_SIGNED);

	pass_on(&torch, asked, allocated, reserved, device);
}

TARE_EXPORT void OOM(int64_t asked, uint64_t allocated, uint64_t reserved, uint16_t device)
{
	static struct tare_torch_real torch = TARE_TORCH_AT_HOME(OOM);

	pass_on(&torch, asked, allocated, reserved, device);
}
