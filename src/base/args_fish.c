/* SPDX-License-Identifier: Apache-2.0 */
/* The completion for fish: a line for each command, and one for each of its options. */
#include "base/args_private.h"

/* In single quotes fish knows \\ and \'. */
static void add_quoted(struct tare_str *out, const char *text)
{
	tare_str_add_char(out, '\'');
	for (const char *p = text; *p; p++) {
		if (*p == '\'' || *p == '\\')
			tare_str_add_char(out, '\\');
		tare_str_add_char(out, *p);
	}
	tare_str_add_char(out, '\'');
}

/* What fish expands when it completes: before 3.4 it knows (…) and not $(…). */
static void add_words(struct tare_str *out, const char *words)
{
	tare_str_add(out, " -a '");
	tare_args_add_words(out, words[0] == '$' && words[1] == '(' ? words + 1 : words);
	tare_str_add_char(out, '\'');
}

static void add_option(struct tare_str *out, const struct tare_command *cmd, const struct tare_opt *o)
{
	const char *words = tare_args_words(o);

	tare_str_addf(out, "complete -c tare -n '_tare_in %s' -l %s", cmd->name, o->name);
	if (o->letter)
		tare_str_addf(out, " -s %c", o->letter);
	if (o->kind != TARE_ARG_FLAG) {
		tare_str_add(out, words[0] ? " -x" : " -r");
		if (words[0])
			add_words(out, words);
	}
	tare_str_add(out, " -d ");
	add_quoted(out, o->help);
	tare_str_add_char(out, '\n');
}

static void add_command(struct tare_str *out, const struct tare_command *cmd)
{
	const struct tare_opt *o;

	tare_str_addf(out, "complete -c tare -n _tare_first -a %s -d ", cmd->name);
	add_quoted(out, cmd->synopsis);
	tare_str_add_char(out, '\n');
	for (size_t i = 0; (o = tare_args_visible(cmd, i)); i++)
		add_option(out, cmd, o);
	if (!cmd->words)
		return;
	tare_str_addf(out, "complete -c tare -n '_tare_in %s' -f", cmd->name);
	add_words(out, cmd->words);
	tare_str_add_char(out, '\n');
}

void tare_args_fish(const struct tare_command *const *cmds, struct tare_str *out)
{
	const struct tare_command *cmd;

	tare_str_add(out, "# fish completion for tare, generated from its option tables\n"
	                  "function _tare_profiles\n"
	                  "\tcommand -q tare; and command tare help --profiles 2>/dev/null\n"
	                  "end\n"
	                  "function _tare_first\n"
	                  "\ttest (count (commandline -opc)) -eq 1\n"
	                  "end\n"
	                  "function _tare_in\n"
	                  "\tset -l words (commandline -opc)\n"
	                  "\ttest (count $words) -ge 2; and test $words[2] = $argv[1]\n"
	                  "end\n"
	                  "set -g _tare_commands");
	for (size_t i = 0; (cmd = tare_args_command(cmds, i)); i++)
		tare_str_addf(out, " %s", cmd->name);
	tare_str_add_char(out, '\n');
	for (size_t i = 0; (cmd = tare_args_command(cmds, i)); i++)
		add_command(out, cmd);
}
