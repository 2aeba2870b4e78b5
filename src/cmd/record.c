/* SPDX-License-Identifier: Apache-2.0 */
/* `tare record`: records a command and prints no report. */
#include "cmd/cmd.h"
#include "cmd/run_options.h"
#include "session/child.h"

#include <stdint.h>

const struct tare_command tare_command_record = {
	.name = "record",
	.synopsis = "record a program's memory without showing it",
	.operands = "[--] CMD [ARG]…",
	.description =
		"Runs CMD unmodified and records what `tare run` records of it, memory of GPUs and tensors on the CPU, but "
		"prints no ledger. Look at it with `tare report`, which also works while CMD runs. The exit code is "
		"CMD's own, as with `tare run`.",
	.examples = "tare record -o train.tare -- python train.py\n"
				"tare report train.tare --at peak",
	.opts = tare_run_opts,
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.is_rest = true,
	.run = tare_cmd_record,
};

int tare_cmd_record(int argc, char **argv)
{
	struct tare_session_result result;
	bool is_quiet = false;
	int code = tare_run_command(&tare_command_record, argc, argv, &result, &is_quiet);

	if (code >= 0)
		return code;
	if (!is_quiet)
		tare_run_print_end(&result, "");
	code = tare_child_exit_code(result.status);
	tare_session_result_free(&result);
	return code;
}
