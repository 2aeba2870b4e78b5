/* SPDX-License-Identifier: Apache-2.0 */
/* `tare check`: reads limits, judges a recording by them, prints the verdict. */
#include "base/print.h"
#include "cmd/check_source.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
	struct tare_operands max;
	const char *budget, *growth, *baseline, *junit;
	struct tare_format_options format;
	bool github;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, budget, "budget", 'b', STRING, "FILE",
	         "a file of limits, one a line: NAME = SIZE, growth = SIZE, baseline = FILE [+2%]; # begins a comment"),
	TARE_OPT(
		options, max, "max", 'm', LIST, "NAME=SIZE",
		"at most SIZE: used, need, elastic, unexplained, pinned, resident, a category (activation), an account "
		"(context), or a row of a view (line:train.py:87, module:encoder, owner:cuBLAS); NAME@end: at that instant"),
	TARE_OPT(options, growth, "growth", 'g', STRING, "SIZE",
	         "nothing may grow by more than SIZE a step; 0: nothing may grow"),
	TARE_OPT(
		options, baseline, "baseline", 0, STRING, "REC",
		"what is used at the peak may not be above that of this recording, or of a report that was saved with --json"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT(options, junit, "junit", 0, STRING, "FILE",
	         "write what was found as XML that CI servers read (- is stdout)"),
	TARE_OPT(options, github, "github", 0, FLAG, NULL,
	         "print lines that GitHub shows beside the source; the default where GITHUB_ACTIONS is true"),
	TARE_OPT_END,
};

const struct tare_command tare_command_check = {
	.name = "check",
	.synopsis = "hold a recording to limits, for CI",
	.operands = "[REC…] [+2%|+SIZE]",
	.description =
		"Compares what a recording holds with limits, and fails when one is exceeded. Every figure is one that tare "
		"report --json has: it does not depend on how busy the machine is, and a recording of a simulated GPU (tare "
		"run --sim h200) has it, too, so no GPU is needed.\n\n"
		"NAME is a sum, a category of tensors, an account, an owner, or VIEW:ROW for a row of a view of tare report "
		"--by VIEW. Its size at the peak counts; NAME@INSTANT takes another instant of tare report --at. Each GPU, "
		"and the CPU, has to keep the limit; the one nearest to it is shown. Of a line counts what it asked of the "
		"driver, or its live tensors, whichever is more; of a module also what is in it. unexplained may be as far "
		"below 0 as above.\n\n"
		"--baseline compares with the peak of another recording, or of a report that was saved with tare report "
		"--json; +2% or +64MiB behind it says how much more is allowed.\n\n"
		"A figure that is not known is never within a limit.\n\n"
		"The exit code is 0 when all limits hold, 1 when one is exceeded, 2 for a mistake on the command line or in "
		"FILE, for a row that is not there and for a figure that is not known, 125 if a recording cannot be read.",
	.examples = "tare check train.tare --budget memory.budget\n"
				"tare check train.tare --max used=8GiB --max 'activation=2GiB' --growth 0\n"
				"tare check train.tare --max line:train.py:87=512MiB --max module:encoder=1GiB\n"
				"tare check train.tare --max used@end=600MiB --max unexplained=16MiB\n"
				"tare check train.tare --baseline good.json +2%\n"
				"tare check train.tare --budget memory.budget --junit memory.xml --github",
	.progress = "reading",
	TARE_OPTIONS(opts, struct options, .format = TARE_FORMAT_DEFAULTS),
	.max_operands = SIZE_MAX,
	.run = tare_cmd_check,
};

/* "+2%" among the operands belongs to --baseline: a recording of that name is ./+2%. */
static int take_above(struct tare_operands *rest, const struct options *o, const char **above, struct tare_err *err)
{
	size_t kept = 0;

	*above = NULL;
	for (size_t i = 0; i < rest->count; i++) {
		const char *word = rest->items[i];

		if (word[0] != '+')
			rest->items[kept++] = word;
		else if (*above || !o->baseline)
			return tare_err_set(err, TARE_E_USAGE, "check: %s is what may be added to the peak of --baseline%s", word,
			                    *above ? ": say it once" : ", which is not there");
		else
			*above = word;
	}
	rest->count = kept;
	if (rest->items)
		rest->items[kept] = NULL;
	return 0;
}

static int read_limits(struct tare_budget *b, const struct options *o, const char *above, struct tare_err *err)
{
	int rc = 0;

	if (o->budget)
		rc = tare_budget_read(b, o->budget, err);
	for (size_t i = 0; !rc && i < o->max.count; i++) {
		rc = tare_budget_add(b, o->max.items[i], NULL, 0, err);
		if (rc)
			tare_err_prefix(err, "check: --max %s", o->max.items[i]);
	}
	if (!rc && o->growth && (rc = tare_budget_add_growth(b, o->growth, err)) != 0)
		tare_err_prefix(err, "check: --growth");
	if (!rc && o->baseline && (rc = tare_budget_add_baseline(b, o->baseline, above, err)) != 0)
		tare_err_prefix(err, "check: --baseline");
	if (!rc && !b->nr)
		rc = tare_err_set(err, TARE_E_USAGE,
		                  "check: there is no limit; say --budget FILE, --max NAME=SIZE, --growth SIZE or "
		                  "--baseline REC");
	return rc;
}

static bool is_on_github(const struct options *o)
{
	const char *says = getenv("GITHUB_ACTIONS");

	return o->github || (says && !strcmp(says, "true"));
}

/* Data stays data: then the lines for GitHub, which reads both, are on stderr. */
static int annotate(const struct tare_budget *b, bool is_text, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	TARE_FREED_HERE char *folder = getcwd(NULL, 0);
	int rc;

	tare_budget_github(&text, b, folder);
	rc = tare_print(is_text ? stdout : stderr, &text);
	return rc ? tare_err_set_errno(err, -rc, "the output cannot be written") : 0;
}

static int print(struct tare_cmd_call *c, const struct options *o, const struct tare_budget *b, struct tare_err *err)
{
	const char *path = c->rest.items[0];
	TARE_FREED_BY(tare_str_free) struct tare_str xml = { 0 };
	struct tare_emit e;
	int rc = 0;

	tare_cmd_begin(c, &e);
	tare_emit_simulated(&e, b->is_simulated);
	tare_emit_page(&e, "Limits of %s", path);
	tare_budget_show(&e, b);
	tare_emit_end(&e);
	if (o->junit) {
		tare_budget_junit(&xml, b, path);
		rc = tare_cmd_write_file(o->junit, &xml, err);
	}
	if (!rc && !(o->junit && !strcmp(o->junit, "-")))
		rc = tare_cmd_write_file("-", &c->out, err);
	tare_str_cut(&c->out, 0); /* what is for GitHub comes after it */
	if (!rc && is_on_github(o))
		rc = annotate(b, c->format == TARE_EMIT_TEXT, err);
	return rc;
}

static int verdict(const struct tare_budget *b)
{
	if (tare_budget_count(b, TARE_LIMIT_OVER))
		return TARE_EXIT_LIMIT;
	return tare_budget_count(b, TARE_LIMIT_UNKNOWN) ? TARE_EXIT_USAGE : TARE_EXIT_OK;
}

int tare_cmd_check(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	struct tare_check_source source = { .paths = &c->rest };
	struct tare_budget budget = { 0 };
	const char *above;
	int rc;

	if (o->junit && !strcmp(o->junit, "-") && c->format != TARE_EMIT_TEXT)
		return tare_err_set(err, TARE_E_USAGE, "check: --junit - and data on stdout exclude each other");
	rc = take_above(&c->rest, o, &above, err);
	if (!rc)
		rc = read_limits(&budget, o, above, err);
	if (!rc)
		rc = tare_newest_add(&c->rest, &c->names, true, "check", err);
	if (!rc)
		rc = tare_check_find(&source, &budget, err);
	if (!rc)
		rc = print(c, o, &budget, err);
	c->code = verdict(&budget);
	tare_check_source_free(&source);
	tare_budget_free(&budget);
	return rc;
}
