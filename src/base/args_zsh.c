/* SPDX-License-Identifier: Apache-2.0 */
/* The completion for zsh. */
#include "base/args_private.h"

/* 'NAME:HELP' of _describe, where a quote would end it. */
static void add_item(struct tare_str *out, const char *dashes, const char *name, const char *help)
{
	tare_str_addf(out, " '%s%s:", dashes, name);
	for (const char *p = help; *p; p++) {
		tare_str_add_char(out, *p);
		if (*p == '\'')
			tare_str_add(out, "\\''");
	}
	tare_str_add_char(out, '\'');
}

static void add_value(struct tare_str *out, const struct tare_opt *o)
{
	tare_str_addf(out, "\t\t--%s", o->name);
	if (o->letter)
		tare_str_addf(out, "|-%c", o->letter);
	tare_str_add(out, ") values=\"");
	tare_args_add_words(out, tare_args_words(o));
	tare_str_add(out, "\" ;;\n");
}

static void add_command(struct tare_str *out, const struct tare_command *cmd)
{
	const struct tare_opt *o;

	tare_str_addf(out, "\t%s)\n\t\tcase $option in\n", cmd->name);
	for (size_t i = 0; (o = tare_args_visible(cmd, i)); i++)
		if (o->kind != TARE_ARG_FLAG)
			add_value(out, o);
	tare_str_add(out, "\t\t*) options=(");
	for (size_t i = 0; (o = tare_args_visible(cmd, i)); i++)
		add_item(out, "--", o->name, o->help);
	tare_str_add(out, ")\n\t\t\tvalues=\"");
	tare_args_add_words(out, cmd->words ? cmd->words : "");
	tare_str_add(out, "\" ;;\n\t\tesac ;;\n");
}

/* The file is a function when zsh loads it by name, and defines one when it is evaluated: the last lines serve both. */
void tare_args_zsh(const struct tare_command *const *cmds, struct tare_str *out)
{
	const struct tare_command *cmd;

	tare_str_add(out, "#compdef tare\n"
	                  "# zsh completion for tare, generated from its option tables\n"
	                  "_tare_profiles() { \"${words[1]}\" help --profiles 2>/dev/null }\n"
	                  "_tare()\n{\n"
	                  "\tlocal option=${words[CURRENT-1]} values= _tare_commands=\"");
	for (size_t i = 0; (cmd = tare_args_command(cmds, i)); i++)
		tare_str_addf(out, "%s%s", i ? " " : "", cmd->name);
	tare_str_add(out, "\"\n"
	                  "\tlocal -a options\n"
	                  "\tif (( CURRENT == 2 )); then\n"
	                  "\t\toptions=(");
	for (size_t i = 0; (cmd = tare_args_command(cmds, i)); i++)
		add_item(out, "", cmd->name, cmd->synopsis);
	tare_str_add(out, ")\n"
	                  "\t\t_describe -t commands command options || _command_names -e\n"
	                  "\t\treturn\n"
	                  "\tfi\n"
	                  "\tif [[ $PREFIX == --*=* ]]; then\n"
	                  "\t\toption=${PREFIX%%=*}\n"
	                  "\t\tcompset -P '*='\n"
	                  "\tfi\n"
	                  "\tcase ${words[2]} in\n");
	for (size_t i = 0; (cmd = tare_args_command(cmds, i)); i++)
		add_command(out, cmd);
	tare_str_add(out, "\tesac\n"
	                  "\tif [[ $PREFIX == -* ]]; then\n"
	                  "\t\t_describe -o option options\n"
	                  "\telif [[ -n $values ]]; then\n"
	                  "\t\tcompadd -S '' -- ${(M)${=values}:#*:}\n"
	                  "\t\tcompadd -- ${${=values}:#*:}\n"
	                  "\telse\n"
	                  "\t\t_files\n"
	                  "\tfi\n"
	                  "}\n"
	                  "if [[ ${funcstack[1]} == _tare ]]; then\n"
	                  "\t_tare \"$@\"\n"
	                  "else\n"
	                  "\tcompdef _tare tare\n"
	                  "fi\n");
}
