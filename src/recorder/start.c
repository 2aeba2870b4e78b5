/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "recorder/confine.h"
#include "recorder/cuda/devices.h"
#include "recorder/hooks/graphs.h"
#include "recorder/log/emit.h"
#include "recorder/base/fork.h"
#include "recorder/python/line_phase.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/base/sys.h"
#include "recorder/weigh/weigh.h"

static uint32_t started; /* 0, 1 while one thread does it, 2 */

static void start(char **envp)
{
	uint32_t none = 0;

	if (!__atomic_compare_exchange_n(&started, &none, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	tare_configure(envp);
	tare_confine_start();
	tare_fork_start();
	tare_weigh_birth();
	tare_exec_start();
	tare_confine_find();
	tare_launch_start(envp);
	tare_line_phase_start();
	__atomic_store_n(&started, 2, __ATOMIC_RELEASE);
}

void tare_start_once(void)
{
	if (unlikely(__atomic_load_n(&started, __ATOMIC_ACQUIRE) != 2))
		start(environ);
}

/* The destructor below comes first and cannot know what exit() was called with. */
static void on_status(int status, void *arg)
{
	(void)arg;
	tare_finish_with(status);
}

__attribute__((constructor(101))) static void on_load(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	start(envp);
	/* Before any of the program's own, so that it runs last; it needs no memory this early. */
	tare_libc()->on_exit(on_status, NULL);
}

/*
 * A child of fork that ends without a driver call of its own has nothing to say here. Inside a driver
 * call (exit in a signal handler) NVML is left alone: it may hold a lock of ours.
 */
void tare_finish(uint32_t how)
{
	uint64_t weighed, ran;

	if (!tare_ring_is_own())
		return;
	if (tare_thread.depth == 0 && tare_ring_command() == TARE_COMMAND_RECORD)
		tare_devices_read_last();
	tare_execs_report();
	tare_weigh_account(&weighed, &ran);
	tare_emit_end_of_log(how, weighed, ran);
	tare_ring_finish();
}

void tare_finish_with(int status)
{
	if (!tare_ring_is_own())
		return;
	tare_emit_status(status);
	tare_ring_finish();
}

/* exit(), from whichever thread: what runs after this (other destructors) is still recorded. */
__attribute__((destructor(101))) static void on_exit_or_unload(void)
{
	tare_finish(1);
}
