/* SPDX-License-Identifier: Apache-2.0 */
/* `tare record`: records a command and prints no report. */
#include "cmd/cmd.h"
#include "cmd/run_options.h"

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
	.defaults = &tare_run_defaults,
	.size = sizeof(tare_run_defaults),
	.run = tare_cmd_record,
};

int tare_cmd_record(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct run_options *o = options;
	struct tare_session_result result;
	int rc = tare_run_command(c, o, false, &result, err);

	if (rc)
		return rc;
	if (!o->quiet)
		tare_run_print_end(&result, "");
	tare_session_result_free(&result);
	return 0;
}
