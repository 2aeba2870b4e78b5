/* SPDX-License-Identifier: Apache-2.0 */
/* `tare weigh`: weighs processes, or the machine. */
#include "cmd/weigh.h"

#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/output.h"

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
	TARE_OPTIONS(opts, struct options, .root = "", .format = TARE_FORMAT_DEFAULTS),
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

static void print(struct tare_cmd_call *c, const struct tare_weigh_processes *all, const char *root, bool is_all)
{
	struct tare_weigh_machine machine;
	struct tare_emit e;

	tare_weigh_machine(&machine, all, root, is_all);
	tare_cmd_begin(c, &e);
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
	if (c->format == TARE_EMIT_JSON)
		tare_weigh_print_hosts(&e, all, &machine);
	tare_emit_end(&e);
	tare_weigh_machine_free(&machine);
}

int tare_cmd_weigh(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	struct tare_weigh_processes all = { 0 };
	int rc = tare_weigh_check_root(o->root, "weigh", err);

	if (!rc)
		rc = weigh_these(&all, &c->rest, o->root, err);
	if (!rc) {
		c->format = o->output ? TARE_EMIT_JSON : c->format;
		print(c, &all, o->root, !c->rest.count);
	}
	tare_weigh_free(&all);
	if (rc || !o->output)
		return rc;
	rc = tare_cmd_write_file(o->output, &c->out, err);
	tare_str_cut(&c->out, 0);
	return rc;
}
