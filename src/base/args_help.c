/* SPDX-License-Identifier: Apache-2.0 */
#include "base/args.h"

#include <string.h>

enum { WIDTH = 100, HELP_COLUMN = 30 };

static const struct tare_opt help_opt = {
	.name = "help", .letter = 'h', .kind = TARE_ARG_FLAG, .help = "print this and exit"
};

/* The options in the order of their table, --help last; NULL ends. */
static const struct tare_opt *visible(const struct tare_command *cmd, size_t i)
{
	const struct tare_opt *o;

	for (o = cmd->opts; o->kind != TARE_ARG_END; o++)
		if (!o->is_hidden && i-- == 0)
			return o;
	return i == 0 ? &help_opt : NULL;
}

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

static void help_option(const struct tare_opt *o, struct tare_str *out)
{
	struct tare_str head = { 0 };
	size_t columns;

	tare_str_add(&head, "  ");
	add_option_head(o, &head);
	tare_str_add(out, tare_str_text(&head));
	columns = tare_str_columns(tare_str_text(&head));
	if (columns + 2 > HELP_COLUMN) {
		tare_str_add_char(out, '\n');
		columns = 0;
	}
	tare_str_add_repeat(out, " ", HELP_COLUMN - columns);
	tare_str_add_wrapped(out, o->help, HELP_COLUMN, HELP_COLUMN, WIDTH);
	tare_str_add_char(out, '\n');
	tare_str_free(&head);
}

void tare_args_help(const struct tare_command *cmd, struct tare_str *out)
{
	const struct tare_opt *o;

	tare_str_add(out, "usage: ");
	add_usage(cmd, out);
	tare_str_addf(out, "\n\n%s\n\n", cmd->synopsis);
	if (cmd->description) {
		tare_str_add_wrapped(out, cmd->description, 0, 0, WIDTH);
		tare_str_add(out, "\n\n");
	}
	for (size_t i = 0; (o = visible(cmd, i)); i++)
		help_option(o, out);
	if (cmd->examples)
		tare_str_addf(out, "\n%s%s", cmd->examples,
			      cmd->examples[strlen(cmd->examples) - 1] == '\n' ? "" : "\n");
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
	struct tare_str line = { 0 };
	const struct tare_opt *o;

	tare_str_addf(out, ".TH \"TARE\\-%s\" \"1\" \"\" \"tare %s\" \"Tare\"\n", cmd->name,
		      TARE_VERSION);
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
	for (size_t i = 0; (o = visible(cmd, i)); i++) {
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
	tare_str_free(&line);
}

static void bash_command(const struct tare_command *cmd, struct tare_str *out)
{
	const struct tare_opt *o;

	tare_str_addf(out, "\t%s)\n\t\tcase $prev in\n", cmd->name);
	for (size_t i = 0; (o = visible(cmd, i)); i++) {
		if (o->kind != TARE_ARG_CHOICE)
			continue;
		tare_str_addf(out, "\t\t--%s) words=\"", o->name);
		for (const char *p = o->metavar; *p; p++)
			tare_str_add_char(out, *p == '|' ? ' ' : *p);
		tare_str_add(out, "\" ;;\n");
	}
	tare_str_add(out, "\t\t*) [[ $cur == -* ]] && words=\"");
	for (size_t i = 0; (o = visible(cmd, i)); i++)
		tare_str_addf(out, "%s--%s", i ? " " : "", o->name);
	tare_str_add(out, "\" ;;\n\t\tesac ;;\n");
}

void tare_args_bash(const struct tare_command *const *cmds, struct tare_str *out)
{
	tare_str_add(
		out,
		"# bash completion for tare, generated from its option tables\n"
		"_tare()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
		"\tif [[ $COMP_CWORD -eq 1 ]]; then\n\t\twords=\"");
	for (size_t i = 0; cmds[i]; i++)
		if (!cmds[i]->is_hidden)
			tare_str_addf(out, "%s ", cmds[i]->name);
	tare_str_add(out, "\"\n\telse\n\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; cmds[i]; i++)
		if (!cmds[i]->is_hidden)
			bash_command(cmds[i], out);
	tare_str_add(out, "\tesac\n\tfi\n"
			  "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			  "}\n"
			  "complete -o default -F _tare tare\n");
}
