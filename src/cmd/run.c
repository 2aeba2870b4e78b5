/* SPDX-License-Identifier: Apache-2.0 */
/* `tare run`: records a command, then prints its ledger. */
#include "base/print.h"
#include "base/progress.h"
#include "base/str.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/report.h"
#include "cmd/run_options.h"
#include "trace/rank.h"
#include "view/rank.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const struct tare_command tare_command_run = {
	.name = "run",
	.synopsis = "record a program and show where its memory went",
	.operands = "[--] CMD [ARG]…",
	.description =
		"Runs CMD unmodified, records every change of GPU memory it causes, and of PyTorch's tensors on the CPU, and "
		"when CMD ends prints the ledger of both on stderr, at the peak and at the end. stdin, stdout and the exit "
		"code are CMD's own. `tare CMD` is short for `tare run CMD`.\n\n"
		"Each row of the ledger says where its number comes from; what no row explains is shown as unexplained. The "
		"recording stays in a folder; look at it again, at other instants or grouped in other ways, with `tare "
		"report`. Children of CMD are recorded too.\n\n"
		"With --live the last two lines of the terminal show what the program has in use while it runs. The program "
		"still writes to its terminal itself, and sees one with two rows less. The two lines are hidden while the "
		"program uses the whole screen, while it is stopped, and where the terminal has fewer than 11 rows or 40 "
		"columns; at the end the terminal is as before.\n\n"
		"If CMD is a rank of a distributed job (torchrun, mpirun, srun in front of tare), the rank is in the "
		"recording's name, and ranks other than 0 print one line instead of the ledger.\n\n"
		"The exit code is CMD's, 128 + n if signal n ended it, 126 if CMD cannot be executed, 127 if it is not found, "
		"125 if Tare itself failed, 2 for a mistake on the command line.",
	.examples = "tare run -- python train.py\n"
				"tare run -o train.tare -- ./solver 14\n"
				"tare run --phase train.py:87 -- python train.py\n"
				"tare run --live -- python train.py\n"
				"tare run --sim h200 -- python train.py",
	.opts = tare_run_opts,
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.is_rest = true,
	.defaults = &tare_run_defaults,
	.size = sizeof(tare_run_defaults),
	.run = tare_cmd_run,
};

/* How to see what one ledger does not show: the ranks of the job, which may have recordings of their own. */
static void say_ranks(const char *path, const struct tare_recording *recording, const struct tare_rank *rank)
{
	const char *slash = strrchr(path, '/');
	int ranks = 0;

	if (rank->rank >= 0 && rank->world != 1) {
		tare_say("the other ranks: tare report %.*s --by rank%s%s", (int)(slash - path), path,
		         rank->job[0] ? " --job " : "", rank->job);
		return;
	}
	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *p = tare_recording_process(recording, i);

		ranks += p->role == TARE_ROLE_PROGRAM && p->rank.rank > 0;
	}
	if (ranks)
		tare_say("its ranks side by side: tare report %s --by rank", path);
}

/* The state that was folded ahead is lent to the reader of the recording for as long as the memory is mapped. */
static void *lend(const struct tare_session_result *result, struct tare_recording *recording)
{
	const struct tare_recording_state at = { result->ahead.number, result->ahead.until_ns };
	void *bytes = result->ahead_file >= 0 ? mmap(NULL, result->ahead.size, PROT_READ, MAP_SHARED, result->ahead_file, 0)
	                                      : MAP_FAILED;

	if (bytes == MAP_FAILED)
		return bytes;
	tare_recording_lend_state(recording, &at, bytes, result->ahead.size);
	if (getenv("TARE_TEST_AHEAD_BYTES"))
		tare_say("folded ahead up to %.3f s of %.3f", (double)at.until_ns / 1e9,
		         (double)tare_recording_last_ns(recording) / 1e9);
	return bytes;
}

/* A recording that cannot be shown is no reason to hide how the program ended. */
static void print_ledger(const struct tare_session_result *result, const struct tare_rank *rank)
{
	const char *path = result->path;
	void *lent;
	struct tare_report_options options = TARE_REPORT_DEFAULTS;
	struct tare_recording *recording;
	struct tare_err err = { 0 };

	if (tare_recording_open(&recording, path, &err) != 0) {
		tare_cmd_fail(&err);
		return;
	}
	tare_progress_begin("reading");
	lent = lend(result, recording);
	if (tare_report_print(stderr, NULL, recording, &options, &err) != 0)
		tare_cmd_fail(&err);
	tare_progress_end();
	say_ranks(path, recording, rank);
	tare_recording_close(recording);
	if (lent != MAP_FAILED)
		munmap(lent, result->ahead.size);
}

/* Rank 0 prints the ledger; of the others one line each is enough on a terminal that they share. */
static void add_peak(struct tare_str *out, const char *path, const struct tare_rank *rank)
{
	static const struct tare_instant peak = { .moment = TARE_MOMENT_PEAK, .text = "peak" };
	const struct tare_rank_row *home = NULL;
	struct tare_recording *recording;
	struct tare_rank_rows rows;
	struct tare_ledger ledger;
	char mib[TARE_UNITS_TEXT_MAX];

	if (tare_recording_open(&recording, path, NULL) != 0)
		return;
	tare_ledger_of_recording(recording, NULL, &peak, 1, &ledger);
	tare_rank_rows_build(&rows, &ledger);
	for (int i = 0; i < ledger.rank_nr && !home; i++)
		if (ledger.ranks[i].rank == rank->rank)
			home = tare_rank_home(&rows, &ledger.ranks[i]);
	if (home && home->device)
		tare_str_addf(out, " · %s MiB at the peak of GPU %d", tare_units_mib(mib, home->bytes), home->device->index);
	tare_rank_rows_free(&rows);
	tare_ledger_free(&ledger);
	tare_recording_close(recording);
}

int tare_cmd_run(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	struct tare_session_result result;
	int rc = tare_run_command(c, options, true, &result, err);
	TARE_FREED_BY(tare_str_free) struct tare_str more = { 0 };
	struct tare_rank rank;
	bool shows;

	if (rc)
		return rc;
	tare_rank_of_environment(&rank);
	shows = rank.rank <= 0 && result.processes > 0;
	if (shows && result.wanted)
		result.wanted[0] = '\0'; /* the ledger says it */
	if (rank.rank > 0 && result.processes > 0)
		add_peak(&more, result.path, &rank);
	tare_run_print_end(&result, tare_str_text(&more));
	if (shows)
		print_ledger(&result, &rank);
	tare_session_result_free(&result);
	return 0;
}
