/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first word decides: a command of cmd/cmd.def, or else the start of a `tare run`. Everything
 * about a command is in its own file under src/cmd.
 */
#include "base/private.h"
#include "base/progress.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/start_ranks.h"

#include <string.h>

/* Words for which there is a command by another name. */
static struct {
	const char *word;
	char *argv[3];
} aliases[] = {
	{ "--help", { "help" } },
	{ "-h", { "help" } },
	{ "--version", { "help", "--version" } },
	{ "-V", { "help", "--version" } },
};

static int run(const struct tare_command *cmd, int argc, char **argv)
{
	int code = tare_cmd_call(cmd, argc, argv);

	tare_progress_end();
	return code;
}

int main(int argc, char **argv)
{
	const struct tare_command *cmd = argc > 1 ? tare_cmd_find(argv[1]) : NULL;

	tare_xalloc_begin();
	tare_private_begin();
	if (cmd)
		return run(cmd, argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], TARE_START_RANKS))
		return tare_start_ranks(argc - 1, argv + 1);
	for (size_t i = 0; argc > 1 && i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		char **words = aliases[i].argv;

		if (!strcmp(argv[1], aliases[i].word))
			return tare_cmd_call(&tare_command_help, words[1] ? 2 : 1, words);
	}
	if (argc < 2) {
		char *words[] = { "help", NULL };

		tare_cmd_call(&tare_command_help, 1, words);
		return TARE_EXIT_USAGE;
	}
	argv[0] = "run";
	return run(&tare_command_run, argc, argv);
}
