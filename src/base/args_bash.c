/* SPDX-License-Identifier: Apache-2.0 */
/* The completion for bash. */
#include "base/args_private.h"

static void add_words(struct tare_str *out, const char *words)
{
	tare_str_add(out, "words=\"");
	tare_args_add_words(out, words);
	tare_str_add(out, "\" ;;\n");
}

/* Options with a value, and what it may be: nothing of ours is a file, which the shell completes by itself. */
static void add_values(struct tare_str *out, const struct tare_command *cmd)
{
	const struct tare_opt *o;

	for (size_t i = 0; (o = tare_args_visible(cmd, i)); i++) {
		if (o->kind == TARE_ARG_FLAG)
			continue;
		tare_str_addf(out, "\t\t--%s) ", o->name);
		add_words(out, tare_args_words(o));
		if (o->letter) {
			tare_str_addf(out, "\t\t-%c) ", o->letter);
			add_words(out, tare_args_words(o));
		}
	}
}

static void add_command(struct tare_str *out, const struct tare_command *cmd)
{
	const struct tare_opt *o;

	tare_str_addf(out, "\t%s)\n\t\tcase $prev in\n", cmd->name);
	add_values(out, cmd);
	tare_str_add(out, "\t\t*) if [[ $cur == -* ]]; then words=\"");
	for (size_t i = 0; (o = tare_args_visible(cmd, i)); i++)
		tare_str_addf(out, "%s--%s", i ? " " : "", o->name);
	tare_str_add(out, "\"");
	if (cmd->words) {
		tare_str_add(out, "; else words=\"");
		tare_args_add_words(out, cmd->words);
		tare_str_add(out, "\"");
	}
	tare_str_add(out, "; fi ;;\n\t\tesac ;;\n");
}

/*
 * Bash parts words at ':' and '=', so `--at peak:te` is several to it: what was typed is read from the line, and of what is offered
 * everything up to the last of them is taken away again.
 */
void tare_args_bash(const struct tare_command *const *cmds, struct tare_str *out)
{
	const struct tare_command *cmd;

	tare_str_add(out, "# bash completion for tare, generated from its option tables\n"
	                  "_tare_profiles() { \"${COMP_WORDS[0]}\" help --profiles 2>/dev/null; }\n"
	                  "_tare()\n{\n"
	                  "\tlocal line=${COMP_LINE:0:COMP_POINT} cur prev\n"
	                  "\tcur=${line##*[[:space:]]}\n"
	                  "\tprev=${line%\"$cur\"}; prev=${prev%\"${prev##*[![:space:]]}\"}\n"
	                  "\tprev=${prev##*[[:space:]]}\n"
	                  "\t[[ $cur == --*=* ]] && { prev=${cur%%=*}; cur=${cur#*=}; }\n"
	                  "\tlocal words=\"");
	for (size_t i = 0; (cmd = tare_args_command(cmds, i)); i++)
		tare_str_addf(out, "%s ", cmd->name);
	tare_str_add(out, "\"\n\tlocal _tare_commands=$words\n"
	                  "\tif [[ $COMP_CWORD -gt 1 ]]; then\n\twords=\n"
	                  "\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; (cmd = tare_args_command(cmds, i)); i++)
		add_command(out, cmd);
	tare_str_add(out, "\tesac\n\tfi\n"
	                  "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	                  "\t[[ $COMP_WORDBREAKS == *:* && $cur == *:* ]] &&\n"
	                  "\t\tCOMPREPLY=(\"${COMPREPLY[@]#\"${cur%\"${cur##*:}\"}\"}\")\n"
	                  "\t[[ ${#COMPREPLY[@]} -eq 1 && $COMPREPLY == *: ]] && compopt -o nospace\n"
	                  "}\n"
	                  "complete -o default -F _tare tare\n");
}
