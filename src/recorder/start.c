/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/confine.h"
#include "recorder/cuda/devices.h"
#include "recorder/cuda/graphs.h"
#include "recorder/emit.h"
#include "recorder/environment.h"
#include "recorder/fork.h"
#include "recorder/plib.h"
#include "recorder/python/line_phase.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/scratch.h"
#include "recorder/sys.h"
#include "recorder/vram/card.h"
#include "recorder/weigh.h"

#define DEGRADED_MAX 32

struct tare_config tare_config;
TARE_TLS struct tare_thread tare_thread;

/*
 * What is asked for; if nothing is, both for driver calls and only lines for tensors: of those there
 * are many, and their native stacks cost more than all else that is recorded of them.
 */
static void choose_stacks(const char *value)
{
	static const struct {
		const char *value;
		uint32_t stacks;
	} choices[] = {
		{ "none", 0 },
		{ "python", TARE_STACKS_PYTHON },
		{ "native", TARE_STACKS_NATIVE },
		{ "both", TARE_STACKS_PYTHON | TARE_STACKS_NATIVE },
	};
	size_t i;

	tare_config.stacks = TARE_STACKS_PYTHON | TARE_STACKS_NATIVE;
	tare_config.tensor_stacks = TARE_STACKS_PYTHON;
	for (i = 0; value && i < sizeof(choices) / sizeof(choices[0]); i++)
		if (tare_plib_equal(value, choices[i].value))
			tare_config.stacks = tare_config.tensor_stacks = choices[i].stacks;
}

static void configure(char **envp)
{
	const char *folder, *library, *probe, *nop;

	tare_environment_start(envp);
	folder = tare_environment("TARE_RECORDING");
	library = tare_environment("TARE_LIBRARY");
	if (folder && folder[0] == '/')
		tare_plib_format(tare_config.folder, sizeof(tare_config.folder), "%s", folder);
	if (library)
		tare_plib_format(tare_config.library, sizeof(tare_config.library), "%s", library);
	choose_stacks(tare_environment("TARE_STACKS"));
	tare_config.disabled_hook = tare_environment("TARE_TEST_DISABLE_HOOK");
	tare_config.no_weigh = tare_environment("TARE_TEST_NO_WEIGH") != NULL;
	nop = tare_environment("TARE_TEST_NOP");
	tare_config.may_switch = nop && tare_plib_equal(nop, "switch");
	tare_config.nop = nop && !tare_config.may_switch;
	tare_config.simulated = tare_environment("TARE_SIM_PROFILE") != NULL;
	tare_config.no_tensors = tare_environment("TARE_TENSORS") != NULL;
	tare_config.no_paths = tare_environment("TARE_NO_PATHS");
	probe = tare_environment("TARE_PROBE");
	tare_config.no_probe = probe && tare_plib_equal(probe, "off");
	tare_config.eager_probe = probe && tare_plib_equal(probe, "eager");
	tare_config.enabled = tare_config.folder[0] != '\0';
	tare_vram_is_on = tare_config.enabled && tare_environment("TARE_VRAM") != NULL;
}

static uint32_t started; /* 0, 1 while one thread does it, 2 */

static void start(char **envp)
{
	uint32_t none = 0;

	if (!__atomic_compare_exchange_n(&started, &none, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	configure(envp);
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
	if (!tare_ring_is_own())
		return;
	if (tare_thread.depth == 0 && tare_ring_command() == TARE_COMMAND_RECORD)
		tare_devices_read_last();
	tare_execs_report();
	tare_emit_end_of_log(how);
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

/* False: it was said before, or too much was. */
static bool is_said_first(const char *text)
{
	static uint64_t said[DEGRADED_MAX];
	uint64_t hash = tare_plib_hash(text, strlen(text)) | 1;
	int i;

	for (i = 0; i < DEGRADED_MAX; i++) {
		uint64_t none = 0;

		if (said[i] == hash)
			return false;
		if (__atomic_compare_exchange_n(&said[i], &none, hash, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

void tare_degraded(const char *sentence, const char *subject)
{
	enum { TEXT = 512 };
	char *text = tare_scratch_take(TEXT);

	if (!text)
		return;
	tare_plib_format(text, TEXT, "%s%s%s", subject ? subject : "", subject ? ": " : "",
			 sentence);
	if (is_said_first(text))
		tare_emit_degraded(&(struct tare_rec_degraded){ 0 }, text);
	tare_scratch_give(text, TEXT);
}
