/* SPDX-License-Identifier: Apache-2.0 */
/* When to look: rarely, and best right after a backward pass, when everything is there. */
#include "recorder/torch/scan.h"

#include "recorder/base/fork.h"
#include "recorder/base/sys.h"
#include "recorder/log/emit.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/torch/scan_api.h"
#include "recorder/torch/scan_budget.h"
#include "recorder/unwind/unwind_stack.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"

/*
 * Scans have a budget (scan_budget.h). Without a backward pass there is one after a quarter of a second
 * of tensors, then after twice as long, and so on; backward passes from the second on, when optimizers have
 * their state, are followed by one each until there were EAGER of them.
 */
enum { EAGER = 4, FIRST_MS = 250, DOUBLINGS = 6, LEAST_MS = 3, LOST_MS = 10000 };

static struct {
	uint64_t next; /* not before, in ticks; 0: there was no tensor yet */
	uint32_t backwards;
	bool was_backward;
	bool has_unknown_modules, is_for_all; /* what was asked for */
	uint64_t asked;                       /* when the interpreter was asked; 0: it has answered */
	struct tare_scan_budget budget;
	uint64_t next_modules; /* not before: a scan for names of modules alone */
	uint32_t scans, module_scans;
} the TARE_HOT_DATA;

static uint64_t of_ms(uint64_t ms)
{
	uint64_t per_s = tare_clock_ticks_per_s();

	return ms * (per_s ? per_s : 3000000000u) / 1000;
}

static bool may_afford(void)
{
	uint64_t weigh, run;

	tare_weigh_account(&weigh, &run);
	return tare_scan_budget_allows(&the.budget, run, of_ms(LEAST_MS));
}

static uint64_t after(uint32_t scans)
{
	return tare_clock_ticks() + (of_ms(FIRST_MS) << (scans < DOUBLINGS ? scans : DOUBLINGS));
}

static void scan(void)
{
	uint64_t begin = tare_clock_ticks(), ns = tare_sys_now_ns(CLOCK_MONOTONIC),
			 cpu_ns = tare_sys_now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct tare_scan_result result = { .only_modules = !the.is_for_all };
	struct tare_rec_scan rec;
	bool is_done;

	tare_thread.depth++;
	is_done = tare_scan_walk(&result);
	rec = (struct tare_rec_scan){
		.objects = result.objects, .entries = result.entries, .flags = result.flags, .ticks = tare_clock_ticks() - begin
	};
	if (is_done)
		tare_emit_scan(&rec, tare_clock_ticks());
	tare_thread.depth--;
	cpu_ns = tare_sys_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	ns = tare_sys_now_ns(CLOCK_MONOTONIC) - ns;
	tare_scan_budget_spend(&the.budget, tare_clock_ticks() - begin, ns, cpu_ns);
	if (!is_done)
		return;
	the.has_unknown_modules = false;
	the.next_modules = after(the.module_scans++);
	if (!result.only_modules)
		the.next = after(the.scans++);
}

/* In the interpreter's main thread, its lock held, between two of its instructions. Never fails. */
static int on_safe_point(void *arg)
{
	(void)arg;
	__atomic_store_n(&the.asked, 0, __ATOMIC_RELAXED);
	if (tare_thread.depth > 0 || tare_is_vfork_child() || !tare_stack_has(TARE_STACK_FOREIGN))
		return 0;
	tare_fork_check();
	if (tare_ring_command() == TARE_COMMAND_RECORD)
		scan();
	return 0;
}

/*
 * CPython 3.8 takes no calls any more once an interpreter has ended, be it a sub-interpreter, and sets an
 * exception to say so: without the GIL that is an exception of nobody, and a crash.
 */
static bool may_ask(const struct tare_python *python)
{
	return python->layout.minor != 8 ||
	       (python->runtime && !*(const volatile int *)(python->runtime + TARE_PYTHON_FINISHING));
}

/* What would be looked for; false: nothing, yet. */
static bool is_time(bool begins_backward, uint64_t now, bool *is_for_all)
{
	*is_for_all = now >= the.next || (begins_backward && the.scans < EAGER);
	return *is_for_all || (the.has_unknown_modules && now >= the.next_modules);
}

TARE_COLD static void consider(bool begins_backward, uint64_t now)
{
	bool is_for_all;
	uint64_t asked = __atomic_load_n(&the.asked, __ATOMIC_RELAXED);
	const struct tare_scan_api *py;

	if (!the.next)
		the.next = now + of_ms(FIRST_MS);
	/* What was asked for may have been lost with an interpreter. */
	if ((asked && now - asked < of_ms(LOST_MS)) || !is_time(begins_backward, now, &is_for_all))
		return;
	if (!tare_config.eager_scan && !may_afford())
		return;
	the.is_for_all = is_for_all;
	py = tare_scan_api();
	if (py && may_ask(py->python) &&
	    __atomic_compare_exchange_n(&the.asked, &asked, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
	    py->Py_AddPendingCall(on_safe_point, NULL) != 0)
		__atomic_store_n(&the.asked, 0, __ATOMIC_RELAXED);
}

void tare_scan_ask_modules(void)
{
	the.has_unknown_modules = true;
}

TARE_HOT void tare_scan_ask(uint32_t flags, uint64_t now)
{
	bool is_backward = flags & TARE_TENSOR_BACKWARD, begins = is_backward && !the.was_backward;

	if (the.was_backward != is_backward)
		the.was_backward = is_backward;
	begins = begins && ++the.backwards > 1;
	if (tare_config.no_scan || (!begins && !tare_config.eager_scan && now < the.next && !the.has_unknown_modules))
		return;
	if (tare_config.eager_scan)
		the.next = 1;
	tare_thread.depth++;
	consider(begins, now);
	tare_thread.depth--;
}
