/* SPDX-License-Identifier: Apache-2.0 */
/* `tare plan`: chooses the configuration that fits a memory, by laws. */
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/fit.h"
#include "session/profiles.h"
#include "fit/fit_report.h"
#include "witness/cgroup.h"
#include "witness/nvml.h"

#include <stdio.h>
#include <string.h>

struct options {
	const char *memory, *card, *maximize, *target, *params, *used;
	uint64_t vram;
	int unit;
	struct tare_format_options format;
};

/* In the order of --unit; 0 of them: by the name of the column. */
static const double units[] = { 0, 1, 1024, 1048576, 1073741824, 1e6, 1e9 };

static const struct tare_opt opts[] = {
	TARE_OPT(options, vram, "vram", 0, BYTES, "SIZE", "the memory of the card, such as 7.7GiB"),
	TARE_OPT(options, memory, "memory", 0, STRING, "SIZE|here",
	         "of runs on the CPU: the memory of the machine they are to fit, or that of this machine"),
	TARE_OPT(options, card, "card", 0, STRING, "PROFILE",
	         "the card of a profile: its memory, and its context instead of the measured one"),
	TARE_OPT(options, used, "used", 0, STRING, "SIZE|now",
	         "what other programs use of the card; now: what NVML says of this machine's first GPU"),
	TARE_OPT(options, maximize, "maximize", 'm', STRING, "EXPR",
	         "the value to maximize, such as '{batch}/{seconds}'; without it, what uses most memory"),
	TARE_OPT(options, target, "target", 't', STRING, "COLUMN",
	         "the memory: a column of a table; of a sweep, instead of need"),
	TARE_OPT(options, params, "params", 'p', STRING, "A,B", "the parameters, as with tare fit"),
	TARE_OPT(options, unit, "unit", 0, CHOICE, "auto|B|KiB|MiB|GiB|MB|GB",
	         "the unit of the column, where its name does not end in one"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_plan = {
	.name = "plan",
	.synopsis = "choose the best configuration that fits a card, or a machine's memory",
	.operands = "DB|TABLE",
	.description =
		"From the runs of a sweep, or a table of runs, tare plan says which configuration is best on a "
		"card, how much it leaves, which account binds, and which is the first that does not fit and "
		"by how much. Configurations are the measured cells, every other combination of their values, and "
		"other values (up to four times the greatest) of whole numbers, of those in --maximize if any is; their memory is "
		"predicted as tare fit does. A prediction counts as fitting when its interval does.\n\n"
		"Of runs that opened no GPU, --memory says what the machine has, and what was resident is what has to fit.\n\n"
		"The exit code is 0; 3 if nothing fits; 2 for a mistake on the command line.",
	.examples = "tare plan sweep.db --vram 7.7GiB --maximize '{batch}/{seconds}'\n"
				"tare plan sweep.db --card h200 --used 2GiB\n"
				"tare plan cpu.db --memory 16GiB --maximize '{batch}/{seconds}'\n"
				"tare plan runs.csv --target peak_bytes --params batch,layers --vram 24GiB",
	TARE_OPTIONS(opts, struct options, .format = TARE_FORMAT_DEFAULTS),
	.min_operands = 1,
	.max_operands = 1,
	.progress = "planning",
	.run = tare_cmd_plan,
};

/* The context of the runs, in bytes; 0: not known. */
static double measured_context(struct tare_series_list *list)
{
	const struct tare_series *s = tare_series_find(list, "context");
	double sum = 0, v;

	for (size_t r = 0; s && r < s->table.row_count; r++)
		if (tare_table_number(tare_table_cell(&s->table, r, tare_table_column(&s->table, "context")), &v))
			sum += v / (double)s->table.row_count;
	return sum;
}

static int used_now(double *used, struct tare_err *err)
{
	struct tare_nvml_memory memory;
	struct tare_nvml *nvml;
	int rc = tare_nvml_open(NULL, &nvml, err);

	if (rc)
		return rc;
	rc = tare_nvml_memory(nvml, 0, &memory, err);
	if (!rc)
		*used = (double)memory.used;
	tare_nvml_close(nvml);
	return rc;
}

static int find_memory(const char *text, struct tare_plan_card *card, struct tare_err *err)
{
	uint64_t bytes = 0;

	if (!strcmp(text, "here")) {
		if (tare_cgroup_room("", &bytes))
			return tare_err_set(err, TARE_E_NOT_FOUND,
			                    "plan: --memory here: /proc/meminfo cannot be read; say "
			                    "the size");
	} else if (tare_units_parse_bytes(text, &bytes) || !bytes) {
		return tare_err_set(err, TARE_E_USAGE, "plan: --memory %s: it takes a size such as 16GiB, or here", text);
	}
	card->total = (double)bytes;
	return 0;
}

static int find_card(const struct options *o, struct tare_fit_source *source, struct tare_plan_card *card,
                     struct tare_err *err)
{
	struct tare_profile profile;
	uint64_t used;
	int rc = 0;

	*card = (struct tare_plan_card){ .total = (double)o->vram, .is_memory = o->memory };
	if (o->memory)
		rc = find_memory(o->memory, card, err);
	if (o->card) {
		rc = tare_profiles_open("--card", o->card, &profile, err);
		if (!rc) {
			double context = source->is_table ? 0 : measured_context(&source->list);

			card->total = (double)(profile.total - profile.reserved);
			card->context = context > 0 ? (double)profile.context - context : 0;
		}
	}
	if (!rc && o->used) {
		card->is_used_known = true;
		if (!strcmp(o->used, "now") && !o->memory)
			return used_now(&card->used, err);
		if (tare_units_parse_bytes(o->used, &used))
			return tare_err_set(err, TARE_E_USAGE, "plan: --used %s: it takes a size such as 1.5GiB%s", o->used,
			                    o->memory ? " where --memory is given" : ", or now");
		card->used = (double)used;
	}
	return rc;
}

static int find_unit(const struct options *o, const struct tare_fit_source *source, const struct tare_problem_ask *fit,
                     double *unit, struct tare_err *err)
{
	static const struct {
		const char *name;
		double size;
	} names[] = { { "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 }, { "MB", 1e6 }, { "GB", 1e9 } };
	struct tare_problem problem;
	struct tare_arena arena = { 0 };
	struct tare_unit found;
	int rc;

	*unit = source->is_table ? units[o->unit] : 1;
	if (*unit > 0)
		return 0;
	rc = tare_problem_make(&source->table, fit, &arena, &problem, err);
	if (rc) {
		tare_arena_free(&arena);
		return rc;
	}
	found = tare_unit_of(&problem);
	if (found.is_bytes)
		*unit = 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!found.is_bytes && !strcmp(found.name, names[i].name))
			*unit = names[i].size;
	tare_problem_free(&problem);
	tare_arena_free(&arena);
	if (*unit > 0)
		return 0;
	return tare_err_set(err, TARE_E_USAGE, "plan: the unit of column \"%s\" is not known; say it with --unit",
	                    fit->target);
}

static int plan_source(const struct options *o, struct tare_fit_source *source, struct tare_plan_ask *ask,
                       struct tare_cmd_call *c, struct tare_err *err)
{
	struct tare_plan_card card;
	struct tare_expr *expr = NULL;
	struct tare_plan plan;
	struct tare_emit e;
	int rc = find_card(o, source, &card, err);

	if (!rc)
		rc = find_unit(o, source, &ask->fit, &ask->unit, err);
	if (!rc && o->maximize) {
		rc = tare_expr_parse(&expr, o->maximize, err);
		if (rc)
			tare_err_prefix(err, "plan: --maximize");
	}
	ask->maximize = expr;
	ask->room = card.total - card.used;
	ask->instead = card.context;
	if (!rc)
		rc = tare_plan_make(ask, &plan, err);
	if (!rc) {
		tare_cmd_begin(c, &e);
		tare_emit_simulated(&e, source->is_simulated);
		tare_plan_print(&e, &plan, &card, ask->fit.target, expr, ask->list);
		tare_emit_end(&e);
		c->code = plan.best >= 0 ? TARE_EXIT_OK : TARE_EXIT_NO_FIT;
		tare_plan_free(&plan);
	}
	tare_expr_free(expr);
	return rc;
}

/* Runs on the CPU have no card to fit, and those on a GPU say nothing of the machine's memory. */
static int check_kind(const char *path, const struct options *o, struct tare_fit_source *source, struct tare_err *err)
{
	bool is_cpu = !source->is_table && tare_series_find(&source->list, TARE_SERIES_RESIDENT);

	if (source->is_table || o->target || is_cpu == !!o->memory)
		return 0;
	return tare_err_set(err, TARE_E_USAGE,
	                    is_cpu ? "plan: %s: its runs opened no GPU, so there is no card to fit; say "
	                             "the memory of the machine with --memory SIZE (or here)"
	                           : "plan: %s: its runs used a GPU; say its card with --vram or --card, "
	                             "not --memory",
	                    path);
}

int tare_cmd_plan(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	const char *names[TARE_FIT_PARAMS_MAX], *path = c->rest.items[0];
	struct tare_plan_ask ask = { .fit = { .params = o->params ? names : NULL } };
	struct tare_fit_source source;
	int rc;

	if (!!o->vram + !!o->card + !!o->memory != 1)
		return tare_err_set(err, TARE_E_USAGE,
		                    "plan: say which card, with either --vram or --card, or of runs on the CPU the machine's "
		                    "memory, with --memory; --vram is more than 0");
	rc = tare_fit_source_open(&source, path, err);
	if (rc)
		return rc;
	ask.fit.target = o->target ? o->target : o->memory ? TARE_SERIES_RESIDENT : "need";
	ask.fit.is_bytes = !source.is_table;
	ask.table = source.is_table ? &source.table : NULL;
	ask.list = source.is_table ? NULL : &source.list;
	ask.failed = source.failed.count ? &source.failed.items[0].table : NULL;
	if (!rc)
		rc = check_kind(path, o, &source, err);
	if (!rc && source.is_table && !o->target)
		rc = tare_err_set(err, TARE_E_USAGE, "plan: name the column that holds the memory with --target");
	if (!rc && o->params)
		rc = tare_fit_split_params(o->params, &source.arena, names, &ask.fit.param_count, err);
	if (!rc)
		rc = plan_source(o, &source, &ask, c, err);
	tare_fit_source_close(&source);
	return rc;
}
