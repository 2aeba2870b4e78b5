/* SPDX-License-Identifier: Apache-2.0 */
/* `tare help` and the overview, by the table of commands. */
#include "cmd/cmd.h"
#include "session/profiles.h"
#include "cmd/output.h"

#include <string.h>

struct options {
	bool man;
	bool bash, zsh, fish;
	bool profiles;
	bool version;
};

static const struct tare_opt opts[] = {
	TARE_OPT(options, version, "version", 0, FLAG, NULL, "print the version"),
	TARE_OPT(options, man, "man", 0, FLAG, NULL, "print the man page, for man -l -"),
	TARE_OPT(options, bash, "bash", 0, FLAG, NULL, "print the completion for bash, for eval"),
	TARE_OPT(options, zsh, "zsh", 0, FLAG, NULL, "print the completion for zsh, for eval"),
	TARE_OPT(options, fish, "fish", 0, FLAG, NULL, "print the completion for fish, for source"),
	TARE_OPT(options, profiles, "profiles", 0, FLAG, NULL,
	         "print the names of the GPUs that come with Tare as profiles"),
	TARE_OPT_END,
};

const struct tare_command tare_command_help = {
	.name = "help",
	.synopsis = "explain a command",
	.operands = "[CMD]",
	.words = TARE_ARGS_COMMANDS,
	.max_operands = 1,
	.opts = opts,
	.size = sizeof(struct options),
	.run = tare_cmd_help,
};

static const char *next_command(void *arg, size_t i)
{
	(void)arg;
	return tare_commands[i] ? tare_commands[i]->name : NULL;
}

static void add_overview(struct tare_str *out)
{
	tare_str_add(out, "usage: tare [run] [OPTION]… [--] CMD [ARG]…\n"
	                  "       tare COMMAND [OPTION]… …\n\n"
	                  "Weighs the memory of an unmodified GPU program: driver used = accounts + "
	                  "unexplained.\n\n");
	for (size_t i = 0; tare_commands[i]; i++)
		if (!tare_commands[i]->is_hidden)
			tare_str_addf(out, "  %-10s %s\n", tare_commands[i]->name, tare_commands[i]->synopsis);
	tare_str_add(out, "\ntare help COMMAND, or tare COMMAND --help, says more.\n");
}

/* tare(1): what the pages of the commands hang on. */
static void add_main_page(struct tare_str *out)
{
	tare_str_add(out, ".TH TARE 1 \"\" \"tare " TARE_VERSION "\" Tare\n"
	                  ".SH NAME\ntare \\- weigh the memory of a GPU program\n"
	                  ".SH SYNOPSIS\n.B tare\n[run] [OPTION]… [\\-\\-] CMD [ARG]…\n.br\n"
	                  ".B tare\nCOMMAND [OPTION]… …\n.SH COMMANDS\n");
	for (size_t i = 0; tare_commands[i]; i++)
		if (!tare_commands[i]->is_hidden)
			tare_str_addf(out, ".TP\n.BR tare\\-%s (1)\n%s\n", tare_commands[i]->name, tare_commands[i]->synopsis);
	tare_str_add(out, ".SH EXIT STATUS\n"
	                  "The program's own (128 + n for signal n) with run and record; 1 a limit was "
	                  "exceeded; 2 usage; 3 nothing fits; 125, 126 and 127 Tare's own failure.\n");
}

static int unknown_command(const char *name, struct tare_err *err)
{
	const char *near = tare_args_near_miss(name, next_command, NULL);

	if (near)
		return tare_err_set(err, TARE_E_USAGE, "help: there is no command \"%s\"; did you mean %s?", name, near);
	return tare_err_set(err, TARE_E_USAGE, "help: there is no command \"%s\"; see tare help", name);
}

int tare_cmd_help(struct tare_cmd_call *c, void *options, struct tare_err *err)
{
	const struct options *o = options;
	const char *name = c->rest.count ? c->rest.items[0] : NULL;
	const struct tare_command *cmd = name ? tare_cmd_find(name) : NULL;
	struct tare_str *out = &c->out;

	if (name && !cmd)
		return unknown_command(name, err);
	if (o->version)
		tare_str_add(out, "tare " TARE_VERSION "\n");
	else if (o->profiles)
		tare_profiles_list(out);
	else if (o->bash)
		tare_args_bash(tare_commands, out);
	else if (o->zsh)
		tare_args_zsh(tare_commands, out);
	else if (o->fish)
		tare_args_fish(tare_commands, out);
	else if (o->man && cmd)
		tare_args_man(cmd, out);
	else if (o->man)
		add_main_page(out);
	else if (cmd)
		tare_args_help_within(cmd, tare_terminal_help_width(), out);
	else
		add_overview(out);
	return 0;
}
