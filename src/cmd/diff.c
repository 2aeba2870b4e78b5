/* SPDX-License-Identifier: Apache-2.0 */
/* `tare diff`: compares recordings, reports and instants. */
#include "cmd/cmd.h"
#include "cmd/diff_page.h"
#include "cmd/diff_source.h"
#include "cmd/format.h"

#include <stdio.h>

struct options {
	struct tare_operands at;
	int by;
	bool residue;
	struct tare_format_options format;
	const char *sort, *html;
	bool confidential;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, at, "at", 0, LIST, "INSTANT", "as of tare report (peak): once for both sides, or once for each"),
	TARE_OPT(options, by, "by", 'b', CHOICE, TARE_BY_NAMES,
	         "compare the rows of this view; time, pool, graph, stream and rank cannot be compared"),
	TARE_OPT(options, residue, "residue", 0, FLAG, NULL,
	         "show what is still there in B, whose it is, and which call frees it: the same as --by residue"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT(options, sort, "sort", 's', STRING, "COLUMN",
	         "order rows by this column instead of the size of the change; -COLUMN: in reverse"),
	TARE_OPT(options, html, "html", 0, STRING, "FILE",
	         "write a page to look at, which needs no other file and no network; also of more than two recordings"),
	TARE_OPT(options, confidential, "confidential", 0, FLAG, NULL,
	         "with --html: without the names of programs, files, lines, modules and owners; figures stay"),
	TARE_OPT_END,
};

const struct tare_command tare_command_diff = {
	.name = "diff",
	.synopsis = "show what two recordings, or two instants of one, have more or less",
	.operands = "[A [B…]]",
	.description =
		"Puts two reports side by side: the size of every row in A, its size in B, and the difference, the largest "
		"difference first. The differences of the rows and of unexplained sum to the difference of what is used.\n\n"
		"A and B are recordings (or folders with those of one job), or files with what tare report --json printed; "
		"either may end in @INSTANT, such as train.tare@end. Without an instant the peak is compared, and of a file "
		"the first instant in it. With A alone its two instants are those of --at; without A it is the newest "
		"NAME.tare here.\n\n"
		"Rows are paired by their path. Pids differ from run to run, so processes are paired by name, and if one is "
		"left over on each side, these two are a pair. A line of source may lie in another folder. GPUs are paired by "
		"UUID, else by number.\n\n"
		"--by phase compares what the phases of the same path changed, in their order: so the figures of a note (tare "
		"import) stand beside those of a recording.\n\n"
		"--html writes a page to look at in a browser, offline: what came and what went, in every view, and memory "
		"over time of both on one plot. Of more than two recordings it shows each beside the others, to one scale, "
		"and compares the first with any of them.\n\n"
		"The exit code is 0, also where there are differences, 2 for a mistake on the command line, 125 if a "
		"recording or a file cannot be read.",
	.examples = "tare diff sgd.tare adam.tare\n"
				"tare diff train.tare --at 2s --at 30s\n"
				"tare diff train.tare@peak train.tare@end --by line\n"
				"tare diff before.tare after.tare --by category --csv\n"
				"tare diff serve.tare@peak serve.tare@phase:asleep:end --residue\n"
				"tare diff notes.tare train.tare --by phase\n"
				"tare report train.tare --json > good.json; tare diff good.json train.tare\n"
				"tare diff good.json bad.json --json\n"
				"tare diff sgd.tare adam.tare --html change.html\n"
				"tare diff sgd-1.tare sgd-4.tare adam-1.tare adam-4.tare --html grid.html",
	.progress = "reading",
	TARE_OPTIONS(opts, struct options, .by = -1, .format = TARE_FORMAT_DEFAULTS),
	.max_operands = SIZE_MAX,
	.run = tare_cmd_diff,
};

/* A page has all views and orders. */
static int check_page(const struct options *o, const struct tare_operands *rest, struct tare_err *err)
{
	if (o->by >= 0 || o->sort || o->format.name >= 0 || o->format.json || o->format.csv)
		return tare_err_set(err, TARE_E_USAGE,
		                    "diff: --html has every view; leave out --by, --sort, --format, "
		                    "--json and --csv");
	if (rest->count > TARE_DIFF_PAGE_MAX)
		return tare_err_set(err, TARE_E_USAGE, "diff: a page has %d recordings at most, these are %zu",
		                    TARE_DIFF_PAGE_MAX, rest->count);
	return 0;
}

static int check(const struct options *o, const struct tare_operands *rest, struct tare_err *err)
{
	struct tare_str views = { 0 };
	int rc = o->html ? check_page(o, rest, err) : 0;

	if (rc)
		return rc;
	if (!o->html && (rest->count > 2 || o->confidential))
		return tare_err_set(err, TARE_E_USAGE, "diff: %s",
		                    o->confidential ? "--confidential goes with --html"
		                                    : "too many recordings: two are compared, more of them with --html FILE");
	if (o->at.count > 2)
		return tare_err_set(err, TARE_E_USAGE, "diff: --at is given %zu times; two sides have two instants at most",
		                    o->at.count);
	if (o->residue && o->by >= 0 && o->by != TARE_BY_RESIDUE)
		return tare_err_set(err, TARE_E_USAGE,
		                    "diff: --residue and --by %s exclude each other; --residue is --by residue",
		                    tare_by_infos[o->by].name);
	if (rest->count < 2 && o->at.count != 2)
		return tare_err_set(err, TARE_E_USAGE,
		                    "diff: one recording is compared with itself at two instants: "
		                    "say --at twice, or name a second recording");
	if (!tare_diff_can(o->by)) {
		tare_diff_views(&views);
		rc = tare_err_set(err, TARE_E_USAGE, "diff: rows --by %s are not sizes that could be subtracted; say one of %s",
		                  tare_by_infos[o->by].name, tare_str_text(&views));
		tare_str_free(&views);
	}
	return rc;
}

static int print(struct tare_cmd_call *c, const struct options *o, const struct tare_diff *d, struct tare_err *err)
{
	struct tare_emit e;
	int rc;

	tare_cmd_begin(c, &e);
	e.sort = o->sort;
	tare_emit_simulated(&e, d->before.is_simulated || d->after.is_simulated);
	tare_emit_page(&e, "Memory of %s and of %s", d->before.source, d->after.source);
	tare_diff_show(&e, d);
	rc = tare_format_check_sort(&e, err);
	tare_emit_end(&e);
	return rc;
}

static int compare(struct tare_cmd_call *c, const struct options *o, struct tare_err *err)
{
	const struct tare_operands *rest = &c->rest;
	const char *const *at = o->at.items;
	struct tare_diff d = { .by = o->by };
	int rc = tare_diff_source_read(&d.before, rest->items[0], o->at.count ? at[0] : NULL, o->by, err);

	if (!rc)
		rc = tare_diff_source_read(&d.after, rest->items[rest->count - 1], o->at.count ? at[o->at.count - 1] : NULL,
		                           o->by, err);
	if (!rc) {
		tare_diff_build(&d);
		rc = print(c, o, &d, err);
	}
	tare_diff_free(&d);
	return rc;
}

int tare_cmd_diff(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	struct options *o = options;
	int rc = check(o, &c->rest, err);

	if (o->residue)
		o->by = TARE_BY_RESIDUE;
	if (!rc)
		rc = tare_newest_add(&c->rest, &c->names, false, "diff", err);
	if (rc)
		return rc;
	return o->html ? tare_diff_page(o->html, c->rest.items, c->rest.count, &o->at, o->confidential, err)
	               : compare(c, o, err);
}
