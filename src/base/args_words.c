/* SPDX-License-Identifier: Apache-2.0 */
/* What the completions of all shells offer: what a word may be is told by the table of its option, or by what its value is called. */
#include "base/args_private.h"

#include <string.h>

static const struct tare_opt help_opt = {
	.name = "help", .letter = 'h', .kind = TARE_ARG_FLAG, .help = "print this and exit"
};

/* By metavar; the shell expands them. */
static const struct {
	const char *metavar, *words;
} known[] = {
	{ "INSTANT", "peak peak:tensors peak:host end oom snapshot: phase:" },
	{ "PROFILE", "$(_tare_profiles)" },
	{ "SIZE|here", "here" },
	{ "SIZE|now", "now" },
};

const struct tare_command *tare_args_command(const struct tare_command *const *cmds, size_t i)
{
	for (; *cmds; cmds++)
		if (!(*cmds)->is_hidden && i-- == 0)
			return *cmds;
	return NULL;
}

const struct tare_opt *tare_args_visible(const struct tare_command *cmd, size_t i)
{
	const struct tare_opt *o;

	for (o = cmd->opts; o->kind != TARE_ARG_END; o++)
		if (!o->is_hidden && i-- == 0)
			return o;
	return i == 0 ? &help_opt : NULL;
}

const char *tare_args_words(const struct tare_opt *o)
{
	if (o->kind == TARE_ARG_CHOICE)
		return o->metavar;
	for (size_t i = 0; o->metavar && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(o->metavar, known[i].metavar))
			return known[i].words;
	return "";
}

void tare_args_add_words(struct tare_str *out, const char *words)
{
	for (const char *p = words; *p; p++)
		tare_str_add_char(out, *p == '|' ? ' ' : *p);
}
