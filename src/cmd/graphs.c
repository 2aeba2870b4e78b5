/* SPDX-License-Identifier: Apache-2.0 */
/* `tare graphs`: chooses which sizes to capture, by requests and costs. */
#include "base/comparator.h"
#include "base/emit.h"
#include "base/file.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "graphs/choose.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZES_MAX  2048
#define GRAPHS_MAX 256 /* the time to choose grows with it; from there on, all sizes */

struct options {
	const char *times;
	int64_t graphs;
	double worth;
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, graphs, "graphs", 'n', INT, "N", "capture at most N sizes"),
	TARE_OPT(options, times, "times", 0, STRING, "FILE",
	         "measured step times: lines SIZE MICROSECONDS; without them a step costs what its rows do"),
	TARE_OPT(options, worth, "worth", 0, NUMBER, "PERCENT",
	         "without -n: the fewest sizes that cost at most this much more than all (0.5)"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_graphs = {
	.name = "graphs",
	.synopsis = "choose which batch sizes to capture as CUDA graphs",
	.operands = "choose FILE",
	.description = "A request of a size that was not captured runs as the next larger one that was. FILE "
				   "says which sizes requests had: lines SIZE, or SIZE COUNT (also with a comma between); "
				   "- is standard input. tare graphs choose finds the set of sizes with the least mean cost, "
				   "exactly, for every number of graphs, and says what each more graph would save.\n\n"
				   "With libtare_graphs (docs/GRAPHS.md) device memory does not grow with the number of "
				   "sizes, so all of them are often the answer. The largest size is always among them.",
	.examples = "tare graphs choose sizes.txt\n"
				"tare graphs choose -n 16 --times steps.csv sizes.csv\n"
				"awk '{print $3}' server.log | tare graphs choose --json -",
	TARE_OPTIONS(opts, struct options, .worth = 0.5, .format = TARE_FORMAT_DEFAULTS),
	.min_operands = 2,
	.max_operands = 2,
	.progress = "choosing",
	.run = tare_cmd_graphs,
};

struct sizes {
	struct tare_choose_size *items;
	size_t count;
};

TARE_COMPARATOR(by_size, struct tare_choose_size, TARE_RISING(size))

/* "SIZE", "SIZE NUMBER" or "SIZE,NUMBER". 0: read; 1: nothing in it; -1: something else. */
static int read_line(char *line, uint64_t *size, double *number)
{
	char *at = line + strspn(line, " \t\r\n"), *end;

	if (!*at || *at == '#')
		return 1;
	errno = 0;
	*size = strtoull(at, &end, 10);
	if (end == at || *at == '-' || errno || !*size)
		return -1;
	at = end + strspn(end, " \t,;");
	*number = 1;
	if (*at && *at != '\r' && *at != '\n') {
		*number = strtod(at, &end);
		if (end == at || !(*number >= 0) || end[strspn(end, " \t\r\n")])
			return -1;
	}
	return 0;
}

static void add(struct sizes *sizes, size_t *room, uint64_t size, double number)
{
	size_t i;

	for (i = sizes->count; i-- > 0;) /* logs repeat what came lately */
		if (sizes->items[i].size == size) {
			sizes->items[i].weight += number;
			return;
		}
	if (sizes->count == *room) {
		*room = *room ? *room * 2 : 64;
		sizes->items = tare_xrealloc(sizes->items, *room, sizeof(*sizes->items));
	}
	sizes->items[sizes->count++] = (struct tare_choose_size){ .size = size, .weight = number };
}

enum { FILE_MAX_BYTES = 256 << 20 };

static int read_sizes(const char *path, struct sizes *sizes, struct tare_err *err)
{
	struct tare_str text = { 0 };
	size_t number = 0, room = 0;
	int rc = tare_file_read_input(&text, path, FILE_MAX_BYTES, err);
	char *rest = text.data, *line;

	while (!rc && (line = strsep(&rest, "\n"))) {
		uint64_t size;
		double weight;
		int kind = read_line(line, &size, &weight);

		number++;
		if (kind < 0 && number == 1)
			continue; /* the head of a table */
		if (kind < 0)
			rc = tare_err_set(err, TARE_E_FORMAT, "%s: line %zu is neither SIZE nor SIZE NUMBER; give one size a line",
			                  path, number);
		else if (kind == 0 && weight > 0)
			add(sizes, &room, size, weight);
		if (!rc && sizes->count > SIZES_MAX)
			rc = tare_err_set(err, TARE_E_RANGE, "%s: more than %d different sizes; round them up to fewer", path,
			                  SIZES_MAX);
	}
	tare_str_free(&text);
	if (!rc && !sizes->count)
		rc = tare_err_set(err, TARE_E_EMPTY, "%s: no sizes in it; give one size a line", path);
	if (!rc)
		TARE_SORT(sizes->items, sizes->count, by_size);
	return rc;
}

/* Between two measured sizes on a straight line; beyond them as the nearest piece goes on. */
static double time_of(const struct sizes *times, uint64_t size)
{
	const struct tare_choose_size *a, *b;
	size_t i = 1;

	if (times->count == 1)
		return times->items[0].weight;
	while (i + 1 < times->count && times->items[i].size < size)
		i++;
	a = &times->items[i - 1];
	b = &times->items[i];
	return a->weight + (b->weight - a->weight) * ((double)size - (double)a->size) / ((double)b->size - (double)a->size);
}

static int set_costs(struct sizes *sizes, const char *path, struct tare_err *err)
{
	struct sizes times = { 0 };
	double least = 0;
	size_t i;
	int rc = path ? read_sizes(path, &times, err) : 0;

	for (i = 0; !rc && i < sizes->count; i++) {
		struct tare_choose_size *at = &sizes->items[i];

		at->cost = path ? time_of(&times, at->size) : (double)at->size;
		if (at->cost < least) /* noise: a larger step that took less may run instead anyway */
			at->cost = least;
		least = at->cost;
	}
	free(times.items);
	return rc;
}

/* What it costs when every size has a graph of its own. */
static double cost_of_all(const struct sizes *sizes)
{
	double cost = 0, weight = 0;
	size_t i;

	for (i = 0; i < sizes->count; i++) {
		cost += sizes->items[i].weight * sizes->items[i].cost;
		weight += sizes->items[i].weight;
	}
	return cost / weight;
}

static size_t pick(const struct tare_choose_plan *plans, size_t count, const struct options *o, double all)
{
	size_t i;

	for (i = 0; i < count - 1; i++)
		if (!o->graphs && plans[i].cost <= all * (1 + o->worth / 100))
			break;
	return i;
}

static void show_sizes(struct tare_emit *e, const struct sizes *sizes, const struct tare_choose_plan *plan)
{
	TARE_FREED_BY(tare_str_free) struct tare_str list = { 0 };
	size_t i;

	tare_emit_open(e, "sizes", '[');
	for (i = 0; i < plan->graphs; i++) {
		uint64_t size = sizes->items[plan->sizes[i]].size;

		tare_str_addf(&list, "%s%llu", i ? " " : "", (unsigned long long)size);
		tare_emit_uint(e, NULL, size);
	}
	tare_emit_close(e);
	tare_emit_note(e, "%s", tare_str_text(&list));
}

struct row {
	double above_all;
	bool is_chosen;
	struct tare_choose_plan of;
};

static const struct tare_column columns[] = {
	TARE_COLUMN(row, of.graphs, "graphs", "graphs", COUNT),
	TARE_COLUMN(row, of.cost, "mean_cost", "mean cost", NUMBER),
	TARE_COLUMN(row, above_all, "above_all", "above all sizes", PERCENT),
	TARE_COLUMN(row, of.padding, "padding", "rows padded", PERCENT),
	TARE_COLUMN(row, is_chosen, "is_chosen", "chosen", FLAG),
};

static void show(struct tare_cmd_call *c, const struct options *o, const struct sizes *sizes,
                 const struct tare_choose_plan *plans, size_t count)
{
	double all = cost_of_all(sizes);
	size_t chosen = pick(plans, count, o, all), i;
	struct tare_emit e;

	tare_emit_begin(&e, c->format, &c->out);
	tare_emit_uint(&e, "tare", 1);
	show_sizes(&e, sizes, &plans[chosen]);
	tare_emit_table(&e, "plans", NULL, TARE_COLUMNS(columns));
	for (i = 0; i < count; i++) {
		if ((i + 1) & i && i != chosen && i != count - 1)
			continue; /* the curve is smooth: powers of two show it */
		tare_emit_add(&e,
		              &(struct row){ .above_all = plans[i].cost / all - 1, .is_chosen = i == chosen, .of = plans[i] });
	}
	tare_emit_table_end(&e);
	tare_emit_end(&e);
}

static size_t most_graphs(const struct options *o, size_t sizes)
{
	size_t most = o->graphs ? (size_t)o->graphs : GRAPHS_MAX;

	return most < sizes ? most : sizes;
}

static int choose(struct tare_cmd_call *c, const struct options *o, struct tare_err *err)
{
	struct sizes sizes = { 0 };
	struct tare_choose_plan *plans = NULL;
	size_t i, count = 0;
	int rc = read_sizes(c->rest.items[1], &sizes, err);

	if (!rc)
		rc = set_costs(&sizes, o->times, err);
	if (!rc) {
		count = most_graphs(o, sizes.count);
		plans = tare_xcalloc(count, sizeof(*plans));
		if (tare_choose(sizes.items, sizes.count, count, plans))
			rc = tare_err_set(err, -ENOMEM, "graphs: not enough memory; use -n");
	}
	if (!rc)
		show(c, o, &sizes, plans, count);
	for (i = 0; plans && i < count; i++)
		free(plans[i].sizes);
	free(plans);
	free(sizes.items);
	return rc;
}

int tare_cmd_graphs(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;

	if (strcmp(c->rest.items[0], "choose"))
		return tare_err_set(err, TARE_E_USAGE, "graphs: there is no \"graphs %s\"; use graphs choose FILE",
		                    c->rest.items[0]);
	if (o->graphs < 0 || o->worth < 0)
		return tare_err_set(err, TARE_E_USAGE, "graphs: -n and --worth cannot be negative");
	return choose(c, o, err);
}
