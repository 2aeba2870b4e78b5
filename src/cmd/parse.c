/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"

#include <stdio.h>

int tare_cmd_fail(const struct tare_err *err)
{
	fprintf(stderr, "tare: %s\n", err->text);
	return err->code == TARE_E_USAGE ? TARE_EXIT_USAGE : TARE_EXIT_FAILED;
}

int tare_cmd_parse(const struct tare_command *cmd, int argc, char **argv, void *options,
		   struct tare_operands *rest)
{
	struct tare_err err = { 0 };
	struct tare_str out = { 0 };
	int rc = tare_args_parse(cmd, argc, argv, options, rest, &err);

	if (rc == TARE_ARGS_GO)
		return -1;
	if (rc < 0)
		return tare_cmd_fail(&err);
	tare_args_help(cmd, &out);
	fputs(tare_str_text(&out), stdout);
	tare_str_free(&out);
	return TARE_EXIT_OK;
}
