/* SPDX-License-Identifier: Apache-2.0 */
/* Reads which stacks are recorded with what. */
#include <string.h>

#include "recorder/base/environment.h"
#include "recorder/base/parts.h"
#include "recorder/base/plib.h"
#include "recorder/recorder.h"

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

void tare_config_start(char **envp)
{
	const char *folder, *library, *preload, *scan, *nop;

	tare_environment_start(envp);
	folder = tare_environment("TARE_RECORDING");
	library = tare_environment("TARE_LIBRARY");
	if (folder && folder[0] == '/')
		tare_plib_format(tare_config.folder, sizeof(tare_config.folder), "%s", folder);
	if (library)
		tare_plib_format(tare_config.library, sizeof(tare_config.library), "%s", library);
	preload = tare_environment("TARE_PRELOAD");
	tare_plib_format(tare_config.preload, sizeof(tare_config.preload), "%s", preload ? preload : tare_config.library);
	choose_stacks(tare_environment("TARE_STACKS"));
	tare_config.disabled_hook = tare_environment("TARE_TEST_DISABLE_HOOK");
	tare_config.no_weigh = tare_environment("TARE_TEST_NO_WEIGH") != NULL;
	nop = tare_environment("TARE_TEST_NOP");
	tare_config.may_switch = nop && tare_plib_equal(nop, "switch");
	tare_config.nop = nop && !tare_config.may_switch;
	tare_config.simulated = tare_environment("TARE_SIM_PROFILE") != NULL;
	tare_config.no_tensors = tare_environment("TARE_TENSORS") != NULL;
	tare_config.no_paths = tare_environment("TARE_NO_PATHS");
	tare_config.heap_mean = tare_plib_number(tare_environment("TARE_HOST"));
	scan = tare_environment("TARE_SCAN");
	tare_config.no_scan = scan && tare_plib_equal(scan, "off");
	tare_config.eager_scan = scan && tare_plib_equal(scan, "eager");
	tare_config.enabled = tare_config.folder[0] != '\0';
	tare_config.has_limit = tare_config.enabled && tare_environment("TARE_VRAM") != NULL;
}
