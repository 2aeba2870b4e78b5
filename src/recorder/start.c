/* SPDX-License-Identifier: Apache-2.0 */
/* When the library is loaded, and when the process ends. */
#include "recorder/recorder.h"

#include "recorder/base/parts.h"
#include "recorder/elf/libc.h"
#include "recorder/log/emit.h"
#include "recorder/ring/ring.h"
#include "recorder/weigh/rss.h"
#include "recorder/weigh/weigh.h"

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
	tare_start_with(envp);
	/* Before any of the program's own, so that it runs last; it needs no memory this early. */
	tare_libc()->on_exit(on_status, NULL);
}

/* A child of fork that ends without a driver call of its own has nothing to say here. */
void tare_finish(uint32_t how)
{
	uint64_t weighed, ran;

	if (!tare_ring_is_own())
		return;
	tare_parts_end();
	tare_weigh_account(&weighed, &ran);
	tare_emit_end_of_log(how, weighed, ran, tare_rss_most());
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
