/* SPDX-License-Identifier: Apache-2.0 */
/* `tare sweep`: parses values and limits, and starts the runs of all cells. */
#include "base/print.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/sweep_print.h"
#include "session/folder.h"
#include "session/target.h"
#include "sweep/run.h"
#include "sweep/summary.h"
#include "sweep/sweep.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_GIVEN INT64_MIN /* of a number that is no option yet: 0 is one, and wrong */

struct options {
	const char *output, *timed, *launcher, *sim, *vram, *card, *cap, *stacks;
	struct tare_operands grids, jsons, works, phases;
	int64_t repeat, jobs, gpus, timeout;
	double total;
	bool resume, no_tensors, no_paths;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, grids, "grid", 'g', LIST, "NAME=A,B,…", "values of a parameter; again for more parameters"),
	TARE_OPT(options, jsons, "grid-json", 0, LIST, "JSON|FILE",
	         "the same as an object of lists, or single cells as a list of objects"),
	TARE_OPT(options, output, "output", 'o', STRING, "DB",
	         "the file to write, instead of PROG-sweep-DATE-PID.db; its recordings go to DB.d"),
	TARE_OPT(options, resume, "resume", 0, FLAG, NULL, "go on with DB: run what has not been run, add new cells"),
	TARE_OPT(options, repeat, "repeat", 'n', INT, "N", "run every cell N times (1)"),
	TARE_OPT(options, works, "work", 'w', LIST, "UNIT=EXPR",
	         "how many units of work a run does, such as 'timesteps={batch}*500'; again for more units"),
	TARE_OPT(options, total, "total", 0, NUMBER, "N", "say how many hours N units of the first kind would take"),
	TARE_OPT(options, timed, "timed", 0, STRING, "PHASE",
	         "compare runs by the time of this phase of the program, so that start-up does not count"),
	TARE_OPT(options, timeout, "timeout", 0, DURATION, "TIME", "end a run that takes longer, such as 30min"),
	TARE_OPT(options, jobs, "jobs", 'j', INT, "N", "run N cells at a time, each on GPUs of its own (1)"),
	TARE_OPT(options, gpus, "gpus", 0, INT, "N", "with --jobs: how many GPUs each run has (1)"),
	TARE_OPT(options, launcher, "launcher", 0, STRING, "CMD",
	         "put this before every run, such as 'srun --gpus=1', which then chooses the GPUs"),
	TARE_OPT(options, sim, "sim", 0, STRING, "PROFILE", "run on a simulated GPU, as with tare run"),
	TARE_OPT(options, vram, "vram", 0, STRING, "SIZE", "let the runs see a card of SIZE, as with tare run"),
	TARE_OPT(options, card, "card", 0, STRING, "PROFILE", "the same for the card of a profile"),
	TARE_OPT(options, cap, "cap", 0, STRING, "SIZE", "let no recording take more than SIZE (2GiB)"),
	TARE_OPT(options, stacks, "stacks", 0, STRING, "WHICH", "which stacks are recorded, as with tare run"),
	TARE_OPT(options, phases, "phase", 0, LIST, "FILE:LINE", "make a phase of a line, as with tare run"),
	TARE_OPT(options, no_tensors, "no-tensors", 0, FLAG, NULL, "do not record the blocks of PyTorch's allocator"),
	TARE_OPT(options, no_paths, "no-paths", 0, FLAG, NULL,
	         "keep arguments and paths out of DB and the recordings, as with tare run"),
	TARE_OPT_END,
};

const struct tare_command tare_command_sweep = {
	.name = "sweep",
	.synopsis = "run a program over a grid of parameters and measure each run",
	.operands = "[--] CMD [ARG]…",
	.description =
		"Runs CMD once for every cell of a grid, each under the recorder, and writes what it measured into "
		"one SQLite file: how each run ended, its time, its memory by account and by phase, its time in the "
		"driver, how often memory was refused. {NAME} in CMD becomes the parameter's value ({{NAME}} stays as "
		"{NAME}), and every parameter is an environment variable of CMD too. docs/SWEEP.md describes the file.\n\n"
		"A run ends as ok, oom (told by the refused calls in its recording, not by what it printed), timeout or "
		"failed; the sweep goes on with the next. Each run's stdout, stderr and recording are kept in DB.d.\n\n"
		"When it is stopped, killed, or the machine goes down, tare sweep --resume -o DB goes on: no run that had "
		"ended is repeated. A grid with more values adds their cells.\n\n"
		"The exit code is 0 when every cell was run, however it ended; 128 + n when signal n stopped the sweep; "
		"2 for a mistake on the command line; 125 if Tare failed; 127 if CMD is not found.",
	.examples = "tare sweep --grid batch=1,2,4 --repeat 3 -- python train.py --batch {batch}\n"
				"tare sweep -o roll.db --grid batch=1,2,3 --grid precision=fp16,fp32 \\\n"
				"    --work 'timesteps={batch}*500' --total 10000 -- python roll.py {batch} {precision}\n"
				"tare sweep --resume -o roll.db\n"
				"tare sweep --launcher 'srun --gpus=1' --jobs 8 --grid L=8,10,12 -- ./solver {L}\n"
				"tare report roll.db",
	.opts = opts,
	.min_operands = 0,
	.max_operands = SIZE_MAX,
	.is_rest = true,
	.defaults =
		&(const struct options){
			.repeat = NOT_GIVEN, .jobs = NOT_GIVEN, .gpus = NOT_GIVEN, .timeout = NOT_GIVEN, .total = NAN },
	.size = sizeof(struct options),
	.run = tare_cmd_sweep,
};

/* 0 would be what nobody means: no run, no time. */
static bool is_number(int64_t v, int64_t most)
{
	return v == NOT_GIVEN || (v > 0 && v <= most);
}

static int64_t given(int64_t v)
{
	return v == NOT_GIVEN ? 0 : v;
}

static int check_options(const struct options *o, const struct tare_operands *command, struct tare_err *err)
{
	bool has_grid = o->grids.count || o->jsons.count;

	if (o->resume && !o->output)
		return tare_err_set(err, TARE_E_USAGE, "sweep: --resume needs -o DB, the file to go on with");
	if (!o->resume && !command->count)
		return tare_err_set(err, TARE_E_USAGE, "sweep: there is no command to run; put it behind --");
	if (o->resume && (has_grid || o->works.count) && !command->count)
		return tare_err_set(err, TARE_E_USAGE, "sweep: a new grid needs the command it is for");
	if (o->resume && !has_grid && command->count)
		return tare_err_set(err, TARE_E_USAGE,
		                    "sweep: --resume with a command needs its grid too; without both it goes on as it was");
	if (!is_number(o->repeat, 100000) || !is_number(o->jobs, 4096) || !is_number(o->gpus, 4096) ||
	    !is_number(o->timeout, INT64_MAX))
		return tare_err_set(err, TARE_E_USAGE, "sweep: --repeat, --jobs, --gpus and --timeout are more than 0");
	if (o->timed && !*o->timed)
		return tare_err_set(err, TARE_E_USAGE, "sweep: --timed wants the name of a phase, as the program calls it");
	if (!isnan(o->total) && !(o->total > 0))
		return tare_err_set(err, TARE_E_USAGE, "sweep: --total is more than 0");
	return 0;
}

static void add_option(struct tare_sweep *s, const char *name, const char *value)
{
	if (!value)
		return;
	tare_sweep_words_add(&s->options, name, &s->memory);
	if (*value)
		tare_sweep_words_add(&s->options, value, &s->memory);
}

/* What `tare record` gets; only what was given is told, so that its defaults stay its own. */
static void add_options(struct tare_sweep *s, const struct options *o)
{
	add_option(s, "--sim", o->sim);
	add_option(s, "--vram", o->vram);
	add_option(s, "--card", o->card);
	add_option(s, "--cap", o->cap);
	add_option(s, "--stacks", o->stacks);
	for (size_t i = 0; i < o->phases.count; i++)
		add_option(s, "--phase", o->phases.items[i]);
	add_option(s, "--no-tensors", o->no_tensors ? "" : NULL);
	add_option(s, "--no-paths", o->no_paths ? "" : NULL);
}

/* Words parted by blanks; quotes keep blanks inside one. */
static void split_launcher(struct tare_sweep *s, const char *text)
{
	TARE_FREED_BY(tare_str_free) struct tare_str word = { 0 };
	bool is_word = false;
	char quote = 0;

	for (; text && *text; text++) {
		if (quote ? *text == quote : *text == '\'' || *text == '"') {
			quote = quote ? 0 : *text;
			is_word = true;
		} else if (!quote && isspace((unsigned char)*text)) {
			if (is_word)
				tare_sweep_words_add(&s->launcher, tare_str_text(&word), &s->memory);
			tare_str_cut(&word, 0);
			is_word = false;
		} else {
			tare_str_add_char(&word, *text);
			is_word = true;
		}
	}
	if (is_word)
		tare_sweep_words_add(&s->launcher, tare_str_text(&word), &s->memory);
}

static int fill(struct tare_sweep *s, const struct options *o, const struct tare_operands *command,
                struct tare_err *err)
{
	int rc = 0;

	s->repeat = given(o->repeat);
	s->jobs = given(o->jobs);
	s->gpus_per_run = given(o->gpus);
	s->timeout_ns = given(o->timeout);
	s->total = o->total;
	s->timed = o->timed;
	split_launcher(s, o->launcher);
	add_options(s, o);
	for (size_t i = 0; i < command->count; i++)
		tare_sweep_words_add(&s->command, command->items[i], &s->memory);
	for (size_t i = 0; i < o->works.count && !rc; i++)
		rc = tare_sweep_add_work(s, o->works.items[i], err);
	if (!rc && command->count)
		rc = tare_grid_parse(&s->grid, o->grids.items, o->grids.count, o->jsons.items, o->jsons.count, err);
	return rc || !command->count ? rc : tare_sweep_check(s, err);
}

/* A command that is nowhere would fail in every cell. Behind a launcher it may be elsewhere. */
static int check_command(const struct tare_sweep *s, struct tare_err *err)
{
	for (size_t c = 0; c < s->grid.cell_nr && !s->launcher.count; c++) {
		struct tare_target target;
		char *word = NULL;
		int rc = tare_words_fill(&word, s->command.items[0], &s->grid, c, err);

		if (rc)
			return rc;
		tare_target_look(&target, word);
		if (!target.path[0])
			rc = tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is no such command; check its name and PATH", word);
		free(word);
		if (rc || !strchr(s->command.items[0], '{'))
			return rc;
	}
	return 0;
}

static char *own_name(const char *const *command)
{
	struct tare_str name = { 0 };

	tare_folder_add_stem(&name, command, "sweep-");
	tare_str_add(&name, ".db");
	return tare_str_steal(&name);
}

static int open_db(struct tare_db **db, const char *path, const struct options *o, const struct tare_sweep *wanted,
                   struct tare_err *err)
{
	int rc = tare_db_open(db, path, o->resume ? TARE_DB_WRITE : TARE_DB_CREATE, err);

	if (rc == TARE_E_EXISTS)
		return tare_err_set(err, TARE_E_EXISTS, "%s: is there already; go on with it with --resume, or name another",
		                    path);
	if (rc)
		return rc;
	rc = o->resume ? tare_sweep_merge(*db, wanted, err) : tare_sweep_create(*db, wanted, err);
	if (rc && !o->resume)
		unlink(path);
	return rc;
}

static void swap_words(struct tare_sweep_words *a, struct tare_sweep_words *b)
{
	struct tare_sweep_words words = *a;

	*a = *b;
	*b = words;
}

/* Without paths the file does not have the words themselves, only the command line has. */
static void take_words(struct tare_sweep *s, struct tare_sweep *wanted)
{
	if (!tare_sweep_has_option(s, "--no-paths"))
		return;
	swap_words(&s->command, &wanted->command);
	swap_words(&s->options, &wanted->options);
	swap_words(&s->launcher, &wanted->launcher);
}

static void say_ignored(const struct tare_sweep *s)
{
	for (size_t i = 0; i < s->grid.param_nr; i++)
		if (!tare_words_use(s->command.items, &s->grid, i))
			tare_say("{%s} is not in the command: it gets %s as an environment variable only", s->grid.params[i].name,
			         s->grid.params[i].name);
}

static int run(struct tare_db *db, const struct tare_sweep *s, struct tare_sweep_end *end, struct tare_err *err)
{
	struct tare_sweep_printer printer;
	struct tare_sweep_watch watch;
	bool is_simulated = tare_sweep_has_option(s, "--sim");
	int rc;

	say_ignored(s);
	tare_sweep_printer_begin(&printer, &watch, is_simulated);
	rc = tare_sweep_run(db, s, is_simulated, &watch, end, err);
	tare_sweep_printer_end(&printer);
	return rc;
}

/* What only shows when cells are compared. */
static void say_effects(struct tare_db *db)
{
	struct tare_summary summary;

	if (tare_summary_load(db, NULL, NULL, &summary, NULL) != 0)
		return;
	for (size_t i = 0; i < summary.param_nr; i++)
		if (summary.params[i].is_without_effect)
			tare_say("%s changed neither memory nor driver calls nor output; does the program read it?",
			         summary.params[i].name);
	tare_summary_free(&summary);
}

static int say_end(struct tare_db *db, const struct tare_sweep *s, const struct tare_sweep_end *end)
{
	if (!end->signal) {
		say_effects(db);
		tare_say("%zu of %zu runs done: tare report %s", end->done, end->total, s->path);
		return TARE_EXIT_OK;
	}
	tare_say("stopped after %zu of %zu runs; tare sweep --resume -o %s%s goes on", end->done, end->total, s->path,
	         tare_sweep_has_option(s, "--no-paths") ? " with the same grid, options and command" : "");
	return 128 + end->signal;
}

int tare_cmd_sweep(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	const struct tare_operands *command = &c->rest;
	struct tare_sweep wanted = { 0 }, s = { 0 };
	struct tare_sweep_end end = { 0 };
	struct tare_db *db = NULL;
	char *path = NULL;
	int rc = check_options(o, command, err);

	if (!rc)
		rc = fill(&wanted, o, command, err);
	if (!rc) {
		path = o->output ? tare_xstrdup(o->output) : own_name(command->items);
		rc = command->count ? check_command(&wanted, err) : 0;
	}
	if (!rc)
		rc = open_db(&db, path, o, &wanted, err);
	if (!rc)
		rc = tare_sweep_load(db, &s, err);
	if (!rc) {
		take_words(&s, &wanted);
		rc = run(db, &s, &end, err);
	}
	if (!rc)
		c->code = say_end(db, &s, &end);
	tare_db_close(db);
	tare_sweep_free(&s);
	tare_sweep_free(&wanted);
	free(path);
	if (rc == TARE_E_NOT_FOUND && command->count)
		c->fail_code = TARE_EXIT_NOT_FOUND;
	return rc;
}
