/* SPDX-License-Identifier: Apache-2.0 */
/* Says which options of `tare report` do not go together. */
#include "cmd/report_check.h"

#include "cmd/report_file.h"
#include "view/by.h"

bool tare_report_is_page(const struct tare_report_given *o)
{
	return o->html && !o->at.count && o->by < 0 && o->cost != TARE_COST_TIME && o->pid < 0 && !o->line &&
	       !o->annotate && !o->sort;
}

/* What a file for another program has is settled: all of one instant. */
static int check_file(const struct tare_report_given *o, struct tare_err *err)
{
	bool is_file = tare_report_file_format(o->format.name) >= 0;

	if (o->output && o->format.name < 0)
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: -o goes with --format NAME; --html and --svg name "
		                    "their file themselves");
	if (!is_file)
		return 0;
	if (o->by >= 0 || o->cost == TARE_COST_TIME || o->pid >= 0 || o->line || o->annotate || o->sort || o->md ||
	    o->html || o->svg || o->at.count > 1)
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: a file for another program has everything that was there at one instant: "
		                    "with it go --at, --job and -o, and no other option");
	return o->output ? 0
	                 : tare_err_set(err, TARE_E_USAGE,
	                                "report: this format is a file for another program: say "
	                                "where to, with -o FILE");
}

static int check_views(const struct tare_report_given *o, struct tare_err *err)
{
	bool is_text = o->format.name < 0 && !o->format.json && !o->format.csv && !o->md && !o->html;

	if (o->graphs && (o->by != TARE_BY_SERVING || o->graphs < 1))
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --graphs N goes with --by serving: how many CUDA "
		                    "graphs the server captures in all, at least one");
	if (o->svg && (!is_text || o->at.count || o->pid >= 0 || o->cost == TARE_COST_TIME || o->line || o->annotate))
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --svg shows the whole run and takes none of --at, --cost "
		                    "time, --pid, --line, --annotate, --format, --json, --csv, --md and --html");
	if (o->svg && o->by >= 0 && o->by != TARE_BY_ACCOUNT && o->by != TARE_BY_CATEGORY && o->by != TARE_BY_LINE)
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --svg stacks memory by account, tensors by category, or the "
		                    "heap by line, and takes no other --by");
	if (o->confidential && !tare_report_is_page(o))
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --confidential goes with --html, and with no view or "
		                    "instant of its own");
	if (o->no_source && !tare_report_is_page(o))
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --no-source goes with --html, and with no view or "
		                    "instant of its own");
	if (o->source && (!tare_report_is_page(o) || o->no_source || o->confidential))
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --source goes with --html, and neither with "
		                    "--no-source nor --confidential");
	if (o->cost == TARE_COST_TIME && o->by >= 0)
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --cost time is by account and call "
		                    "and takes no --by");
	if (o->by == TARE_BY_PHASE && o->at.count)
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --by phase shows every phase of the recording and "
		                    "takes no --at");
	if (o->parts != (o->line != NULL))
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --parts shows what the line of --line FILE:N is made of: "
		                    "give both");
	if (o->line && o->annotate)
		return tare_err_set(err, TARE_E_USAGE, "report: --line and --annotate exclude each other");
	if ((o->line || o->annotate) && o->by >= 0 && o->by != TARE_BY_LINE)
		return tare_err_set(err, TARE_E_USAGE, "report: --line and --annotate go with --by line");
	if ((o->line || o->annotate) && o->cost == TARE_COST_TIME)
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --line and --annotate show memory and take no "
		                    "--cost time");
	return 0;
}

int tare_report_check(const struct tare_report_given *o, struct tare_err *err)
{
	int rc = check_views(o, err);

	return rc ? rc : check_file(o, err);
}

int tare_report_check_kind(const struct tare_report_given *o, const char *path, bool is_sweep, struct tare_err *err)
{
	if (!is_sweep && (o->baseline || o->timed || o->claims.count))
		return tare_err_set(err, TARE_E_USAGE,
		                    "report: --baseline, --timed and --claim are for the file of a sweep, and %s is none",
		                    path);
	if (is_sweep &&
	    (o->at.count || o->by >= 0 || o->cost == TARE_COST_TIME || o->pid >= 0 || o->confidential || o->no_source ||
	     o->source || o->job || o->svg || o->sort || tare_report_file_format(o->format.name) >= 0))
		return tare_err_set(err, TARE_E_USAGE, "report: %s is a sweep; its runs are recordings that take these options",
		                    path);
	return 0;
}
