/* SPDX-License-Identifier: Apache-2.0 */
/* `tare weigh`: weighs processes, or the machine. */
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/terminal.h"
#include "cmd/weigh_print.h"
#include "cmd/weigh_read.h"
#include "cmd/write_file.h"

#include <stdint.h>

struct options {
	const char *root, *output;
	struct tare_format_options format;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, output, "output", 'o', STRING, "FILE.json", "save it as JSON, for tare diff"),
	TARE_OPT(options, root, "root", 0, STRING, "FOLDER",
	         "read /proc and /sys below this folder: a copy of another machine's files"),
	TARE_FORMAT_OPTS(options, format),
	TARE_OPT_END,
};

const struct tare_command tare_command_weigh = {
	.name = "weigh",
	.synopsis = "say where the host memory of running programs lies",
	.operands = "[PID]…",
	.description = "Shows what the resident memory of a process consists of, whether it was recorded or not: "
				   "libraries, heap, stacks, shared and pinned memory, and so on. What several processes share is "
				   "divided among them, so rows sum to the Pss of /proc/PID/smaps and what is in swap, and those of "
				   "all processes can be added up. Memory that was asked for and never touched takes addresses only "
				   "and is not resident; how much was asked for is known of recorded programs only.\n\n"
				   "Without PID: all processes, the largest first.\n\n"
				   "Processes of others can be read by root only.",
	.examples = "tare weigh 4711\n"
				"sudo tare weigh\n"
				"tare weigh -o before.json",
	.opts = opts,
	.max_operands = SIZE_MAX,
	.progress = "weighing",
	.run = tare_cmd_weigh,
};

/* The processes that were asked for, of which every one must be there; else all. */
static int weigh_these(struct tare_weigh_processes *all, const struct tare_operands *pids, const char *root,
                       struct tare_err *err)
{
	if (!pids->count)
		tare_weigh_all(all, root);
	for (size_t i = 0; i < pids->count; i++) {
		pid_t pid = 0;
		int rc = tare_weigh_parse_pid(pids->items[i], &pid, "weigh", err);

		if (!rc)
			rc = tare_weigh_read(all, pid, root, "weigh", err);
		if (rc)
			return rc;
	}
	return 0;
}

static void print(const struct tare_weigh_processes *all, const char *root, bool is_all, enum tare_emit_format format,
                  struct tare_str *out)
{
	struct tare_weigh_machine machine;
	struct tare_emit e;

	tare_weigh_machine(&machine, all, root, is_all);
	tare_emit_begin(&e, format, out);
	e.style = tare_terminal_style(stdout);
	tare_emit_uint(&e, "tare", 1);
	tare_emit_page(&e, "tare weigh");
	if (is_all && tare_emit_is_for_people(&e))
		tare_weigh_print_list(&e, all);
	else
		tare_weigh_print_processes(&e, all);
	if (is_all || !tare_emit_is_for_people(&e))
		tare_weigh_print_machine(&e, &machine, all);
	else
		tare_weigh_print_limits(&e, &machine);
	tare_weigh_print_nvmap(&e, &machine, all);
	if (format == TARE_EMIT_JSON)
		tare_weigh_print_hosts(&e, all, &machine);
	tare_emit_end(&e);
	tare_weigh_machine_free(&machine);
}

int tare_cmd_weigh(int argc, char **argv)
{
	struct options o = { .root = "", .format = TARE_FORMAT_DEFAULTS };
	struct tare_weigh_processes all = { 0 };
	enum tare_emit_format format;
	struct tare_operands rest;
	struct tare_str out = { 0 };
	struct tare_err err = { 0 };
	int code = tare_cmd_parse(&tare_command_weigh, argc, argv, &o, &rest), rc;

	if (code >= 0)
		return code;
	rc = tare_format_choose(&o.format, "weigh", &format, &err);
	if (!rc)
		rc = tare_weigh_check_root(o.root, "weigh", &err);
	if (!rc)
		rc = weigh_these(&all, &rest, o.root, &err);
	if (!rc) {
		print(&all, o.root, !rest.count, o.output ? TARE_EMIT_JSON : format, &out);
		rc = tare_cmd_write_file(o.output ? o.output : "-", &out, &err);
	}
	tare_str_free(&out);
	tare_weigh_free(&all);
	tare_operands_free(&rest);
	return rc ? tare_cmd_fail(&err) : TARE_EXIT_OK;
}
