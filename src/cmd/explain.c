/* SPDX-License-Identifier: Apache-2.0 */
/* `tare explain`: takes figures of other tools, and says what they are made of. */
#include "cmd/explain.h"

#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/weigh.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *root, *at;
	int64_t pid;
	bool all;
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, root, "root", 0, STRING, "FOLDER",
	         "read /proc and /sys below this folder: a copy of another machine's files"),
	TARE_OPT(options, at, "at", 0, STRING, "INSTANT",
	         "of a recording: another moment than its peak, as in tare report"),
	TARE_OPT(options, pid, "pid", 0, INT, "PID", "this process of the recording; without this option, the largest"),
	TARE_OPT(
		options, all, "all", 0, FLAG, NULL,
		"on a screen: also what each tool leaves out and counts twice, tools of hardware that is not here, and those that cannot know"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_explain = {
	.name = "explain",
	.synopsis = "say what other tools show of a program, and why they differ",
	.operands = "PID|REC [TOOL=FIGURE]…",
	.description =
		"A row for each of ps, top, htop, smem, free, nvidia-smi, tegrastats, jtop, PyTorch's own figures and others: "
		"what it shows, of which rows of the ledger that is the sum, what it leaves out, what it counts twice, and "
		"which two must not be added up. For a process that runs these are the figures of now; for a recording those "
		"at its peak, the highest, and the highest that a tool that looks once a second would have shown.\n\n"
		"TOOL=FIGURE is a figure that you read: htop=2.5G, tegrastats=3443/3964, smem=1916M. tare explain finds the "
		"rows that make up what such figures differ by.",
	.examples = "tare explain 4711\n"
				"tare explain train.tare\n"
				"tare explain 4711 htop=2.5G tegrastats=3443/3964",
	TARE_OPTIONS(opts, struct options, .root = "", .at = "peak", .pid = -1, .format = TARE_FORMAT_DEFAULTS),
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.progress = "reading",
	.run = tare_cmd_explain,
};

static const char *next_tool(void *arg, size_t i)
{
	(void)arg;
	return i < TARE_TOOL_NR ? tare_tools[i].word : NULL;
}

/* "tegrastats=3443/3964": what is behind the "/" is the size of the whole, as the tool prints it. */
static int parse_given(struct tare_explain_given *out, const char *text, struct tare_err *err)
{
	const char *equals = strchr(text, '='), *near;
	TARE_FREED_BY(tare_str_free) struct tare_str word = { 0 };
	int rc = 0;

	if (!equals)
		return tare_err_set(err, TARE_E_USAGE, "explain: %s: it takes TOOL=FIGURE, such as htop=2.5G", text);
	tare_str_add_n(&word, text, (size_t)(equals - text));
	out->tool = tare_tool_find(word.data, word.len);
	if (out->tool == TARE_TOOL_NR) {
		near = tare_args_near_miss(tare_str_text(&word), next_tool, NULL);
		rc = tare_err_set(err, TARE_E_USAGE, "explain: there is no tool \"%s\"; %s%s%s", tare_str_text(&word),
		                  near ? "did you mean " : "tare explain PID --json ", near ? near : "lists all",
		                  near ? "?" : "");
	} else if (tare_tool_parse(out->tool, equals + 1, strcspn(equals + 1, "/"), &out->bytes, &out->tolerance)) {
		rc = tare_err_set(err, TARE_E_USAGE,
		                  "explain: %s: \"%s\" is no size; it takes one as the tool prints it, such "
		                  "as 2.5G or 3443M",
		                  text, equals + 1);
	}
	return rc;
}

/* A name of digits is a process, unless there is a recording of that name. */
static int take(struct tare_explain *x, const char *what, const struct options *o, struct tare_err *err)
{
	bool is_number = *what && !what[strspn(what, "0123456789")];
	pid_t pid = 0;
	int rc;

	if (!is_number || access(what, F_OK) == 0)
		return tare_explain_recording(x, what, o->pid, o->at, err);
	rc = tare_weigh_parse_pid(what, &pid, "explain", err);
	return rc ? rc : tare_explain_process(x, pid, o->root, err);
}

int tare_cmd_explain(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	const struct tare_operands *rest = &c->rest;
	TARE_FREED_HERE struct tare_explain_given *given = tare_xcalloc(rest->count, sizeof(*given));
	struct tare_explain x = { .is_all = o->all };
	struct tare_emit e;
	int rc = tare_weigh_check_root(o->root, "explain", err);

	for (size_t i = 1; !rc && i < rest->count; i++)
		rc = parse_given(&given[i - 1], rest->items[i], err);
	if (!rc)
		rc = take(&x, rest->items[0], o, err);
	if (!rc) {
		tare_cmd_begin(c, &e);
		tare_emit_simulated(&e, x.is_simulated);
		tare_emit_uint(&e, "tare", 1);
		tare_emit_page(&e, "tare explain %s", rest->items[0]);
		tare_explain_print(&e, &x);
		tare_explain_print_given(&e, &x, given, rest->count - 1);
		tare_emit_end(&e);
	}
	tare_explain_free(&x);
	return rc;
}
