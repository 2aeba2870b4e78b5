/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `tare run` and `tare record`, and what they do before and after the command. */
#include "cmd/run_options.h"

#include "base/file.h"
#include "base/print.h"
#include "base/str.h"
#include "base/units.h"
#include "cmd/answer_at.h"
#include "cmd/cmd.h"
#include "cmd/phase_lines.h"
#include "cmd/run_live.h"
#include "rollup/ahead.h"
#include "rollup/rollup.h"
#include "session/child.h"
#include "session/preload.h"
#include "record/decode.h"
#include "trace/rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

const char *const tare_stack_names[] = { "python", "native", "both", "none" };
const char *const tare_answer_names[] = { "zeros", "ones", "random", "nan", "overflow" };
/* At this mean 1 GiB of small blocks is known to 8 MiB, and a program that asks for 1 GiB a second is recorded 16,000 times. */
const uint64_t tare_host_means[] = { 1 << 16, 1 };

const struct tare_opt tare_run_opts[] = {
	TARE_OPT(run_options, output, "output", 'o', STRING, "REC",
	         "write the recording to the folder REC instead of PROGRAM-DATE-PID.tare"),
	TARE_OPT(run_options, force, "force", 'f', FLAG, NULL, "replace REC if it is an older recording"),
	TARE_OPT(
		run_options, sim, "sim", 0, STRING, "PROFILE",
		"run on a simulated GPU, such as h200, or h200:2 for two: what it holds is what that card would hold, but nothing is computed"),
	TARE_OPT(run_options, answers, "answers", 0, CHOICE, TARE_ANSWER_NAMES,
	         "with --sim: what the program gets where it reads back what a kernel would have computed (zeros)"),
	TARE_OPT(run_options, answers_at, "answer-at", 0, LIST, "FILE:LINE=VALUE", "with --sim: " TARE_ANSWER_AT_HELP),
	TARE_OPT(run_options, ranks, "ranks-simulated", 0, PART, "K of N", "with --sim: " TARE_RANKS_HELP),
	TARE_OPT(run_options, cap, "cap", 0, BYTES, "SIZE",
	         "let the recording take no more than SIZE; the oldest events are dropped, and their totals stay (2GiB; at "
	         "least 1MiB)"),
	TARE_OPT(run_options, vram, "vram", 0, STRING, "SIZE",
	         "let the program see a card of SIZE, and refuse what would not fit on it; or per GPU: 0=8GiB,1=16GiB"),
	TARE_OPT(run_options, card, "card", 0, STRING, "PROFILE",
	         "the same for the card of a profile, with its context and local memory; or per GPU: 0=h200"),
	TARE_OPT(run_options, stacks, "stacks", 0, CHOICE, TARE_STACK_NAMES,
	         "which stacks to record of driver calls and tensors (both; of tensors only Python's lines); without "
	         "native stacks no allocation has an owner"),
	TARE_OPT(run_options, host, "host", 0, CHOICE, TARE_HOST_NAMES,
	         "also record malloc, with stacks: full, every block; sample, every block of 64 KiB and more, and a random "
	         "part of the smaller ones"),
	TARE_OPT(
		run_options, live, "live", 0, FLAG, NULL,
		"while the program runs, show in the last two lines of the terminal what it has in use; the program sees a "
		"terminal with two rows less"),
	TARE_OPT(run_options, no_paths, "no-paths", 0, FLAG, NULL,
	         "keep the command's arguments and every path out of the recording: of files it has the names without "
	         "folders"),
	TARE_OPT(run_options, no_tensors, "no-tensors", 0, FLAG, NULL,
	         "do not record the blocks of PyTorch's allocator: its segments are then one row"),
	TARE_OPT(run_options, no_scan, "no-scan", 0, FLAG, NULL,
	         "do not look through the modules and optimizers of a PyTorch program: then no tensor has a name"),
	TARE_OPT(run_options, phases, "phase", 0, LIST, "FILE:LINE",
	         "make a phase of a line of a Python program, or of FILE:LINE-LINE; again for more"),
	TARE_OPT(run_options, paused, "paused", 0, FLAG, NULL,
	         "start paused: nothing is recorded until tare ctl REC resume"),
	/* For tare sweep. */
	{ .name = "into",
	  .metavar = "FOLDER",
	  .kind = TARE_ARG_STRING,
	  .offset = offsetof(struct run_options, into),
	  .help = "without -o: choose the recording's name in FOLDER",
	  .is_hidden = true },
	{ .name = "quiet",
	  .kind = TARE_ARG_FLAG,
	  .offset = offsetof(struct run_options, quiet),
	  .help = "say nothing at the end",
	  .is_hidden = true },
	TARE_OPT_END,
};

static int roll_up(const char *folder, const struct tare_rollup_wish *wish)
{
	struct tare_rollup_options options = { .cap = wish->cap,
		                                   .is_hurried = wish->is_hurried,
		                                   .is_forced = true,
		                                   .is_final = wish->is_final,
		                                   .skips_state = wish->is_late,
		                                   .most = wish->most };
	struct tare_rolled_up done;

	if (wish->is_late)
		tare_file_skip_sync();
	return tare_rollup(folder, &options, &done, NULL);
}

/* A state of more bytes is not worth the memory. */
#define AHEAD_MOST (UINT64_C(512) << 20)
/* Of segments, folded at once: a second's work. */
#define AHEAD_STEP (UINT64_C(3) << 20)

static bool read_whole(int fd, uint64_t size, struct tare_str *out)
{
	void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (bytes == MAP_FAILED)
		return false;
	tare_str_add_n(out, bytes, size);
	munmap(bytes, size);
	return true;
}

static bool write_whole(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n <= 0)
			return false;
		bytes += n;
		size -= (size_t)n;
	}
	return true;
}

static int fold_ahead(const char *folder, const struct tare_ahead_state *before, int from, struct tare_ahead_state *out,
                      int to)
{
	struct tare_rollup_ahead then = { .at = { before->number, before->until_ns } }, now;
	int rc;

	if (before->number && !read_whole(from, before->size, &then.bytes))
		return TARE_E_IO;
	rc = tare_rollup_ahead(folder, &then, AHEAD_STEP, &now, NULL);
	if (!rc && (now.bytes.len > AHEAD_MOST || !write_whole(to, now.bytes.data, now.bytes.len)))
		rc = TARE_E_IO;
	if (!rc)
		*out = (struct tare_ahead_state){ now.at.number, now.at.until_ns, now.bytes.len, now.has_more };
	return rc;
}

static const char *next_command(void *arg, size_t i)
{
	(void)arg;
	return tare_commands[i] ? tare_commands[i]->name : NULL;
}

/* `tare repot` starts a program repot, as `tare CMD` does; who typed it most likely meant something else. */
static void add_near_command(struct tare_err *err, const char *word)
{
	const char *near = strchr(word, '/') ? NULL : tare_args_near_miss(word, next_command, NULL);
	const struct tare_err old = *err;

	if (near)
		tare_err_set(err, old.code, "%s; did you mean tare %s?", old.text, near);
}

static int check_answers(const struct run_options *o, struct tare_err *err)
{
	if (o->answers_at.count && !o->sim)
		return tare_err_set(err, TARE_E_USAGE, "--answer-at %s: it is for a simulated GPU; give --sim, too",
		                    o->answers_at.items[0]);
	if (o->answers < 0 || o->sim)
		return 0;
	return tare_err_set(err, TARE_E_USAGE,
	                    "--answers %s: it is for a simulated GPU, which computes nothing; give --sim, too",
	                    tare_answer_names[o->answers]);
}

static int check_ranks(const struct run_options *o, struct tare_err *err)
{
	if (!o->ranks.part)
		return 0;
	if (!o->sim)
		return tare_err_set(err, TARE_E_USAGE,
		                    "--ranks-simulated %lld of %lld: it is for simulated GPUs; give --sim, too",
		                    (long long)o->ranks.part, (long long)o->ranks.whole);
	if (o->ranks.part > TARE_SIM_MOST || o->ranks.whole > TARE_SIM_RANKS_MOST)
		return tare_err_set(err, TARE_E_USAGE, "--ranks-simulated %lld of %lld: %d ranks can run, of %d at most",
		                    (long long)o->ranks.part, (long long)o->ranks.whole, TARE_SIM_MOST, TARE_SIM_RANKS_MOST);
	return 0;
}

static int check_cap(uint64_t cap, struct tare_err *err)
{
	if (cap >= TARE_RUN_CAP_LEAST)
		return 0;
	return tare_err_set(err, TARE_E_USAGE,
	                    "--cap %llu: logs and states have no room in so little, so records "
	                    "would be lost; the least is --cap 1MiB",
	                    (unsigned long long)cap);
}

const struct run_options tare_run_defaults = { .cap = TARE_RUN_CAP, .stacks = -1, .host = -1, .answers = -1 };

static int check(const struct run_options *o, struct tare_err *err)
{
	int rc = check_cap(o->cap, err);

	if (!rc)
		rc = check_answers(o, err);
	return rc ? rc : check_ranks(o, err);
}

int tare_run_command(struct tare_cmd_call *c, const struct run_options *o, bool is_shown,
                     struct tare_session_result *result, struct tare_err *err)
{
	struct tare_session_options session = {
		.output = o->output,
		.into = o->into,
		.force = o->force,
		.sim = o->sim,
		.ranks_running = (int)o->ranks.part,
		.ranks_nr = (int)o->ranks.whole,
		.answers = o->answers < 0 ? NULL : tare_answer_names[o->answers],
		.cap = o->cap,
		.roll_up = roll_up,
		.fold_ahead = is_shown ? fold_ahead : NULL,
		.live = tare_run_live(o->live),
		.no_paths = o->no_paths,
		.paused = o->paused,
		.no_tensors = o->no_tensors,
		.no_scan = o->no_scan,
		.heap_mean = o->host < 0 ? 0 : tare_host_means[o->host],
		.stacks = o->stacks < 0 ? NULL : tare_stack_names[o->stacks],
		.argv = c->rest.items,
	};
	char *phases = NULL, *answers_at = NULL;
	int rc = check(o, err);

	if (!rc)
		rc = tare_phase_lines_parse(&o->phases, &phases, err);
	if (!rc)
		rc = tare_answer_at_join(&o->answers_at, &answers_at, err);
	if (!rc)
		rc = tare_vram_parse(&session.vram, o->vram, o->card, err);
	session.phases = phases;
	session.answers_at = answers_at;
	if (!rc) {
		rc = tare_session_run(&session, result, err);
		c->fail_code = rc == TARE_E_NOT_FOUND ? TARE_EXIT_NOT_FOUND : rc == TARE_E_DENIED ? TARE_EXIT_NOT_EXEC : 0;
		tare_vram_free(&session.vram);
	}
	if (!rc)
		c->code = tare_child_exit_code(result->status);
	else if (c->fail_code == TARE_EXIT_NOT_FOUND)
		add_near_command(err, c->rest.items[0]);
	free(phases);
	free(answers_at);
	return rc;
}

/* What it leaves a program is at most what it leaves us, from whom the program has it. */
static bool has_limit_of_addresses(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Why there is nothing to show, and what to do about it. */
static const char *nothing_recorded(const struct tare_session_result *result)
{
	if (result->refused && has_limit_of_addresses())
		return "no log is opened where ulimit -v leaves the program less than 768 MiB: of its addresses the recorder "
			   "takes up to 96; raise the limit, or weigh the program while it runs (tare weigh)";
	if (result->refused)
		return "no log could be opened in the recording's folder; is the disk full, or the folder not writable?";
	if (result->was_paused)
		return "recording was paused all the time; tare ctl REC resume starts it while the program runs";
	if (result->target.elsewhere)
		return result->target.elsewhere;
	if (result->heap_mean > 1)
		return "the program asked malloc for too little to be in a sample, or has a malloc of its own, as one that is built with a sanitizer; "
			   "and it neither called the NVIDIA driver nor made tensors with PyTorch; tare run --host=full records every block";
	if (result->heap_mean)
		return "the program asked malloc for nothing, or has a malloc of its own, as one that is built with a sanitizer; "
			   "and it neither called the NVIDIA driver nor made tensors with PyTorch; docs/HEAP.md";
	return "the program, and whatever it started, neither called the NVIDIA driver nor made tensors with PyTorch; "
		   "tare run --host=sample records what it asks of malloc, `tare doctor` checks this machine";
}

static void say_wanted(const char *lines)
{
	for (const char *line = lines; line && *line; line = strchr(line, '\n') + 1)
		tare_say("%.*s", (int)strcspn(line, "\n"), line);
}

void tare_run_print_end(const struct tare_session_result *result, const char *more)
{
	int code = tare_child_exit_code(result->status);
	struct tare_str whose = { 0 };
	char size[TARE_UNITS_TEXT_MAX];
	struct tare_rank rank;

	if (tare_rank_of_environment(&rank))
		tare_str_addf(&whose, "rank %d: ", rank.rank);
	tare_say("%sexit %d after %.1f s%s · %s (%s)", tare_str_text(&whose), code, (double)result->ns / 1e9, more,
	         result->path, tare_units_human(size, (uint64_t)result->bytes));
	tare_str_free(&whose);
	tare_run_live_say(result);
	if (result->disk_errno)
		tare_say("writing the recording failed (%s): %llu records are missing", strerror(result->disk_errno),
		         (unsigned long long)result->lost);
	else if (result->lost)
		tare_say("%llu records are missing: %s", (unsigned long long)result->lost,
		         tare_lost_meaning(result->lost_reason));
	if (result->alive)
		tare_say(result->alive == 1 ? "%d of its processes still runs and goes on recording itself"
		                            : "%d of its processes still run and go on recording themselves",
		         result->alive);
	say_wanted(result->wanted);
	if (result->notice)
		tare_say("%s", result->notice);
	else if (result->unrecorded > 0)
		tare_say("%d of its processes used the GPU and could not be recorded: LD_PRELOAD was taken "
		         "away, a library reached the driver by an unknown route such as RTLD_DEEPBIND, or their "
		         "system calls are restricted (seccomp)",
		         result->unrecorded);
	else if (result->processes == 0)
		tare_say("nothing was recorded: %s", nothing_recorded(result));
}
