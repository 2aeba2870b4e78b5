/* SPDX-License-Identifier: Apache-2.0 */
/* What every command does before and after its own work: it parses its command line, prints, and says why it failed. */
#include "base/print.h"
#include "base/progress.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/output.h"

#include <stdlib.h>
#include <string.h>

int tare_cmd_fail(const struct tare_err *err)
{
	tare_say("%s", err->text);
	return err->code == TARE_E_USAGE ? TARE_EXIT_USAGE : TARE_EXIT_FAILED;
}

void tare_cmd_begin(struct tare_cmd_call *c, struct tare_emit *e)
{
	tare_emit_begin(e, c->format, &c->out);
	e->style = tare_terminal_style(stdout);
}

static void *field_of(void *options, const struct tare_opt *o)
{
	return (char *)options + o->offset;
}

static int choose_format(const struct tare_command *cmd, void *options, struct tare_cmd_call *c, struct tare_err *err)
{
	for (const struct tare_opt *o = cmd->opts; o->kind != TARE_ARG_END; o++)
		if (!strcmp(o->name, TARE_FORMAT_OPTION))
			return tare_format_choose(field_of(options, o), cmd->name, &c->format, err);
	return 0;
}

static void free_options(const struct tare_command *cmd, void *options)
{
	for (const struct tare_opt *o = cmd->opts; o->kind != TARE_ARG_END; o++)
		if (o->kind == TARE_ARG_LIST)
			tare_operands_free(field_of(options, o));
	free(options);
}

static int call(const struct tare_command *cmd, void *options, struct tare_cmd_call *c, struct tare_err *err)
{
	int rc = tare_args_parse(cmd, c->argc, c->argv, options, &c->rest, err);

	if (rc == TARE_ARGS_HELP) {
		tare_args_help_within(cmd, tare_terminal_help_width(), &c->out);
		return 0;
	}
	if (!rc && cmd->progress)
		tare_progress_begin(cmd->progress);
	if (!rc)
		rc = choose_format(cmd, options, c, err);
	return rc ? rc : cmd->run(c, options, err);
}

int tare_cmd_call(const struct tare_command *cmd, int argc, char **argv)
{
	struct tare_cmd_call c = { .argc = argc, .argv = argv };
	void *options = tare_xcalloc(1, cmd->size);
	struct tare_err err = { 0 };
	int rc;

	if (cmd->defaults)
		memcpy(options, cmd->defaults, cmd->size);
	rc = call(cmd, options, &c, &err);
	if (!rc && c.out.len)
		rc = tare_cmd_write_file("-", &c.out, &err);
	free_options(cmd, options);
	tare_operands_free(&c.rest);
	tare_arena_free(&c.names);
	tare_str_free(&c.out);
	if (!rc)
		return c.code;
	rc = tare_cmd_fail(&err);
	return c.fail_code ? c.fail_code : rc;
}
