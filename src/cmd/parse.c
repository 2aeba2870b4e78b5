/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line of a command, and prints its errors. */
#include "base/print.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "cmd/terminal.h"
#include "cmd/write_file.h"

int tare_cmd_fail(const struct tare_err *err)
{
	tare_say("%s", err->text);
	return err->code == TARE_E_USAGE ? TARE_EXIT_USAGE : TARE_EXIT_FAILED;
}

int tare_cmd_parse(const struct tare_command *cmd, int argc, char **argv, void *options, struct tare_operands *rest)
{
	struct tare_err err = { 0 };
	struct tare_str out = { 0 };
	int rc = tare_args_parse(cmd, argc, argv, options, rest, &err);

	if (rc == TARE_ARGS_GO && cmd->progress)
		tare_progress_begin(cmd->progress);
	if (rc == TARE_ARGS_GO)
		return -1;
	if (rc < 0)
		return tare_cmd_fail(&err);
	tare_args_help_within(cmd, tare_terminal_help_width(), &out);
	rc = tare_cmd_write_file("-", &out, &err);
	tare_str_free(&out);
	return rc ? tare_cmd_fail(&err) : TARE_EXIT_OK;
}
