/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the variables that concern the recorder, at its start. */
#include "recorder/base/environment.h"

#include <stddef.h>

#include "recorder/base/plib.h"

#define LINE_MAX (1024 + 32)

enum kind { OWN, CARRIED, SIM /* carried to a simulated GPU, and then perhaps the user's */ };

static const struct {
	const char *name;
	enum kind kind;
} names[] = {
	{ "TARE_RECORDING", CARRIED },
	{ "TARE_LIBRARY", CARRIED },
	{ "TARE_PRELOAD", CARRIED },
	{ "TARE_FILTERS", CARRIED },
	{ "TARE_STACKS", CARRIED },
	{ "TARE_TENSORS", CARRIED },
	{ "TARE_HOST", CARRIED },
	{ "TARE_SCAN", CARRIED },
	{ "TARE_VRAM", CARRIED },
	{ "TARE_PHASES", CARRIED },
	{ "TARE_NO_PATHS", CARRIED },
	{ "TARE_NVTX_CHAIN", CARRIED },
	{ "NVTX_INJECTION64_PATH", CARRIED },
	{ "TARE_SIM_DIR", SIM },
	{ "TARE_SIM_PROFILE", SIM },
	{ "TARE_SIM_SCRIPT", SIM },
	{ "TARE_SIM_DEVICES", SIM },
	{ "TARE_SIM_RANKS", SIM },
	{ "TARE_SIM_WORLD", SIM },
	{ "TARE_SIM_WANTED", SIM },
	{ "TARE_SIM_ANSWERS", SIM },
	{ "TARE_SIM_ANSWER_AT", SIM },
	/* A real driver is found without it, and what the program does to it is its own affair. */
	{ "LD_LIBRARY_PATH", SIM },
	{ "TARE_TEST_NO_WEIGH", OWN },
	{ "TARE_TEST_DISABLE_HOOK", OWN },
	{ "TARE_TEST_NOP", OWN },
};
#define NAMES ((int)(sizeof(names) / sizeof(names[0])))
_Static_assert(NAMES <= TARE_ENVIRONMENT_MAX, "for those who count them");

static char lines[NAMES][LINE_MAX]; /* empty: it is not set, or too long to be one of ours */

static const char *value_of(const char *line, const char *name)
{
	while (*name && *line == *name)
		line++, name++;
	return *name == '\0' && *line == '=' ? line + 1 : NULL;
}

void tare_environment_start(char **envp)
{
	int i;

	for (; envp && *envp; envp++)
		for (i = 0; i < NAMES; i++)
			if (value_of(*envp, names[i].name) && tare_plib_format(lines[i], LINE_MAX, "%s", *envp) == LINE_MAX - 1)
				lines[i][0] = '\0';
}

const char *tare_environment(const char *name)
{
	int i;

	for (i = 0; i < NAMES; i++)
		if (tare_plib_equal(names[i].name, name))
			return value_of(lines[i], name);
	return NULL;
}

const char *tare_environment_carried(int i, bool *is_ours)
{
	if (i >= NAMES || !lines[i][0] || names[i].kind == OWN)
		return NULL;
	if (names[i].kind == SIM && !tare_environment("TARE_SIM_PROFILE"))
		return NULL;
	*is_ours = names[i].kind == CARRIED;
	return lines[i];
}
