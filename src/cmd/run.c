/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"
#include "cmd/report_print.h"
#include "cmd/run_options.h"
#include "session/child.h"

#include <stdint.h>

const struct tare_command tare_command_run = {
	.name = "run",
	.synopsis = "record a program and show where its memory went",
	.operands = "[--] CMD [ARG]…",
	.description = "Runs CMD unmodified, records every change of GPU memory it causes, and at its end prints the "
		       "ledger of each GPU on stderr, at the peak and at the end. stdin, stdout and the exit code are "
		       "CMD's own. `tare CMD` is short for `tare run CMD`.\n\n"
		       "Each row of the ledger says where its number comes from, and what is left over is called "
		       "unexplained. The recording stays in a folder; look at it again, at other instants or grouped "
		       "otherwise, with `tare report`. Children of CMD are recorded too.\n\n"
		       "The exit code is CMD's, 128 + n if signal n ended it, 126 if CMD cannot be executed, 127 if "
		       "it is not found, 125 if Tare itself failed, 2 for a mistake on the command line.",
	.examples = "tare run -- python train.py\n"
		    "tare run -o train.tare -- ./solver 14\n"
		    "tare run --sim h200 -- ./driver_api_program",
	.opts = tare_run_opts,
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.is_rest = true,
	.run = tare_cmd_run,
};

/* A recording that cannot be shown is no reason to hide how the program ended. */
static void print_ledger(const char *path)
{
	struct tare_report_options options = TARE_REPORT_DEFAULTS;
	struct tare_recording *recording;
	struct tare_err err = { 0 };

	if (tare_recording_open(&recording, path, &err) != 0) {
		tare_cmd_fail(&err);
		return;
	}
	if (tare_report_print(stderr, recording, &options, &err) != 0)
		tare_cmd_fail(&err);
	tare_recording_close(recording);
}

int tare_cmd_run(int argc, char **argv)
{
	struct tare_session_result result;
	int code = tare_run_command(&tare_command_run, argc, argv, &result);

	if (code >= 0)
		return code;
	tare_run_print_end(&result);
	if (result.processes > 0)
		print_ledger(result.path);
	code = tare_child_exit_code(result.status);
	tare_session_result_free(&result);
	return code;
}
