/* SPDX-License-Identifier: Apache-2.0 */
/* Writes --help and the man page of a command from its table of options. */
#include "base/args_private.h"

#include <string.h>

/* Where the help of an option begins; on a screen that is narrower than twice that, below its name. */
enum { WIDTH = 100, HELP_COLUMN = 30, NARROW_COLUMN = 8 };

static void add_usage(const struct tare_command *cmd, struct tare_str *out)
{
	tare_str_addf(out, "tare %s [OPTION]…", cmd->name);
	if (cmd->operands)
		tare_str_addf(out, " %s", cmd->operands);
}

static void add_option_head(const struct tare_opt *o, struct tare_str *out)
{
	if (o->letter)
		tare_str_addf(out, "-%c, ", o->letter);
	else
		tare_str_add(out, "    ");
	tare_str_addf(out, "--%s", o->name);
	if (o->metavar)
		tare_str_addf(out, " %s", o->metavar);
}

static void help_option(const struct tare_opt *o, size_t width, struct tare_str *out)
{
	size_t at = width < 2 * HELP_COLUMN ? NARROW_COLUMN : HELP_COLUMN, columns;
	TARE_FREED_BY(tare_str_free) struct tare_str head = { 0 };

	tare_str_add(&head, "  ");
	add_option_head(o, &head);
	tare_str_add(out, tare_str_text(&head));
	columns = tare_str_columns(tare_str_text(&head));
	if (columns + 2 > at) {
		tare_str_add_char(out, '\n');
		columns = 0;
	}
	tare_str_add_repeat(out, " ", at - columns);
	tare_str_add_wrapped(out, o->help, at, at, width);
	tare_str_add_char(out, '\n');
}

void tare_args_help_within(const struct tare_command *cmd, size_t width, struct tare_str *out)
{
	const struct tare_opt *o;

	width = width < WIDTH ? width : WIDTH;
	tare_str_add(out, "usage: ");
	add_usage(cmd, out);
	tare_str_add(out, "\n\n");
	tare_str_add_wrapped(out, cmd->synopsis, 0, 0, width);
	tare_str_add(out, "\n\n");
	if (cmd->description) {
		tare_str_add_wrapped(out, cmd->description, 0, 0, width);
		tare_str_add(out, "\n\n");
	}
	for (size_t i = 0; (o = tare_args_visible(cmd, i)); i++)
		help_option(o, width, out);
	if (cmd->examples)
		tare_str_addf(out, "\n%s%s", cmd->examples, cmd->examples[strlen(cmd->examples) - 1] == '\n' ? "" : "\n");
}

/* Text for roff: a backslash and a leading dot or quote would be commands, a plain '-' a hyphen. */
static void add_roff(struct tare_str *out, const char *text)
{
	bool is_line_start = true;

	for (const char *p = text; *p; p++) {
		if (is_line_start && (*p == '.' || *p == '\''))
			tare_str_add(out, "\\&");
		if (*p == '\\')
			tare_str_add(out, "\\e");
		else if (*p == '-')
			tare_str_add(out, "\\-");
		else if (p[0] == '\n' && p[1] == '\n')
			tare_str_add(out, "\n.PP");
		else
			tare_str_add_char(out, *p);
		is_line_start = *p == '\n';
	}
}

void tare_args_man(const struct tare_command *cmd, struct tare_str *out)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };
	const struct tare_opt *o;

	tare_str_addf(out, ".TH \"TARE\\-%s\" \"1\" \"\" \"tare %s\" \"Tare\"\n", cmd->name, TARE_VERSION);
	tare_str_addf(out, ".SH NAME\ntare\\-%s \\- ", cmd->name);
	add_roff(out, cmd->synopsis);
	tare_str_add(out, "\n.SH SYNOPSIS\n");
	add_usage(cmd, &line);
	add_roff(out, tare_str_text(&line));
	tare_str_add_char(out, '\n');
	if (cmd->description) {
		tare_str_add(out, ".SH DESCRIPTION\n");
		add_roff(out, cmd->description);
		tare_str_add_char(out, '\n');
	}
	tare_str_add(out, ".SH OPTIONS\n");
	for (size_t i = 0; (o = tare_args_visible(cmd, i)); i++) {
		tare_str_cut(&line, 0);
		add_option_head(o, &line);
		tare_str_add(out, ".TP\n");
		add_roff(out, tare_str_text(&line) + strspn(tare_str_text(&line), " "));
		tare_str_add_char(out, '\n');
		add_roff(out, o->help);
		tare_str_add_char(out, '\n');
	}
	if (cmd->examples) {
		tare_str_add(out, ".SH EXAMPLES\n.nf\n");
		add_roff(out, cmd->examples);
		tare_str_add(out, "\n.fi\n");
	}
}
