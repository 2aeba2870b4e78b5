/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of tensors on GPUs, and what is recorded of any tensor. PyTorch calls this function of libc10
 * through the PLT for every block of a GPU that it hands out or takes back, whether its profiler runs or
 * not, so what a preloaded library exports under that name sees all of them. Its arguments are pointers
 * and integers. Each call is passed on, for torch's own profiler is behind it.
 *
 * A call comes with the allocator's lock held: no lock is taken here, and what is asked (stream.c) only reads
 * what the thread has.
 */
#include "recorder/torch/tensors.h"

#include <sys/auxv.h>

#include "recorder/base/cost.h"
#include "recorder/base/fork.h"
#include "recorder/cuda/simulated.h"
#include "recorder/elf/elfsym.h"
#include "recorder/elf/libc.h"
#include "recorder/log/emit.h"
#include "recorder/phase/phase.h"
#include "recorder/python/interpreter.h"
#include "recorder/python/stack.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/torch/node.h"
#include "recorder/torch/real.h"
#include "recorder/torch/scan.h"
#include "record/clock.h"

/* c10::DeviceType, the low byte of a c10::Device. Its index is the next. */
enum { CPU = 0, CUDA = 1 /* also of HIP builds */ };

/* Mangled: they take a c10::Device. Sizes are signed until 1.13, unsigned since 2.0. */
#define REPORT_SIGNED _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE
#define REPORT        _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE

typedef void report_fn(void *block, int64_t bytes, uint64_t allocated, uint64_t reserved, uint16_t device);

report_fn REPORT_SIGNED, REPORT;

/*
 * Python frees what is left of a program when it is taken down: that is no longer what the program
 * had at its end. The interpreter says so by a function that reads one word.
 */
static int never(void)
{
	return 0;
}

/* The program itself (the usual python3), or the library that it embeds. */
static bool find_python(int i, struct tare_elf_object *object)
{
	return i == 0 ? tare_elf_object_at((const void *)tare_libc()->auxiliary(AT_ENTRY), object)
	              : tare_elf_find_object("libpython", object);
}

static int (*find_finalizing(void))(void)
{
	static const char *const names[] = { "Py_IsFinalizing", "_Py_IsFinalizing" }; /* 3.13, 3.7 */
	struct tare_elf_object object;
	void *found;
	int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < 2; k++)
			if (find_python(i, &object) && (found = tare_elf_symbol(&object, names[k], NULL)))
				return (int (*)(void))found;
	return never;
}

static bool is_finalizing(void)
{
	static int (*ask)(void) TARE_HOT_DATA;
	int (*fn)(void) = __atomic_load_n(&ask, __ATOMIC_RELAXED);

	if (unlikely(!fn))
		__atomic_store_n(&ask, fn = find_finalizing(), __ATOMIC_RELAXED);
	return fn() != 0;
}

/* Where a block was handed out: the program's line, what called the allocator, and for which module. */
static uint32_t find_stacks(struct tare_rec_tensor *rec)
{
	struct tare_python_here here = tare_python_here();
	struct tare_module_seen module = { 0, 0, 0 };

	rec->python = here.stack;
	if (tare_config.tensor_stacks & TARE_STACKS_NATIVE)
		rec->stack = tare_emit_stack();
	if (tare_thread.backward > 0)
		module = tare_node_module(here.module);
	else if (here.module)
		module = tare_module_see(here.module);
	return tare_module_flag(&module);
}

static bool is_wanted(bool is_end)
{
	enum tare_control_command command;

	if (tare_thread.depth > 0 || !tare_config.enabled || tare_config.nop || tare_config.no_tensors)
		return false;
	tare_fork_check();
	command = tare_ring_command();
	return command == TARE_COMMAND_RECORD || (command == TARE_COMMAND_PAUSE && is_end);
}

TARE_HOT static void record(const void *block, int64_t bytes, int device, uint32_t flags)
{
	struct tare_rec_tensor rec;
	uint64_t now;

	if (!is_wanted(bytes <= 0))
		return;
	tare_thread.depth++;
	tare_phase_log_opens(); /* phases that wait for a log began before its first block */
	rec = (struct tare_rec_tensor){
		.block = (uint64_t)(uintptr_t)block, .bytes = bytes, .tid = tare_fork_tid(), .device = (int16_t)device
	};
	if (bytes > 0) {
		if (unlikely(flags & TARE_TENSOR_MAPPED))
			tare_mapped_file_record(block);
		flags |= find_stacks(&rec);
		if (device >= 0)
			flags |= tare_torch_stream(device);
		flags |= tare_autograd_flags();
	} else {
		flags |= tare_autograd_backward();
		if (is_finalizing())
			flags |= TARE_TENSOR_FINALIZING;
		else if (tare_python_is_collecting())
			flags |= TARE_TENSOR_GC;
	}
	rec.flags = (uint16_t)flags;
	now = tare_clock_ticks();
	tare_emit_often(TARE_KIND_TENSOR, &rec.head, sizeof(rec), now);
	tare_thread.depth--;
	if (bytes > 0)
		tare_scan_ask(rec.flags, now);
}

TARE_HOT void tare_tensor_record(const void *block, int64_t bytes, int device, uint32_t flags)
{
	uint64_t begin = tare_cost_begin();

	record(block, bytes, device, flags);
	tare_cost_end(bytes > 0 ? TARE_COST_HANDED_OUT : TARE_COST_TAKEN_BACK, begin, 1);
}

/* Of the CPU come only tensors in shared memory and files: the allocator's blocks are recorded already. */
TARE_HOT static void see(const void *block, int64_t bytes, uint16_t device)
{
	if ((device & 0xff) == CUDA) {
		if (bytes > 0)
			tare_simulated_handed_out(block, bytes);
		tare_tensor_record(block, bytes, (int8_t)(device >> 8), 0);
	} else if ((device & 0xff) == CPU && block && !tare_cpu_tensor_is_known(block)) {
		tare_tensor_record(block, bytes, TARE_TENSOR_ON_CPU, TARE_TENSOR_HOST | TARE_TENSOR_MAPPED);
	}
}

TARE_HOT TARE_EXPORT void REPORT_SIGNED(void *block, int64_t bytes, uint64_t allocated, uint64_t reserved,
                                        uint16_t device)
{
	static struct tare_torch_real torch TARE_HOT_DATA = TARE_TORCH_AT_HOME(REPORT_SIGNED);
	report_fn *real = (report_fn *)tare_torch_real(&torch);

	see(block, bytes, device);
	if (likely(real != NULL))
		real(block, bytes, allocated, reserved, device);
}

TARE_HOT TARE_EXPORT void REPORT(void *block, int64_t bytes, uint64_t allocated, uint64_t reserved, uint16_t device)
{
	static struct tare_torch_real torch TARE_HOT_DATA = TARE_TORCH_AT_HOME(REPORT);
	report_fn *real = (report_fn *)tare_torch_real(&torch);

	see(block, bytes, device);
	if (likely(real != NULL))
		real(block, bytes, allocated, reserved, device);
}
