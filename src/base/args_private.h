/* SPDX-License-Identifier: Apache-2.0 */
/* What args*.c share. */
#ifndef TARE_BASE_ARGS_PRIVATE_H
#define TARE_BASE_ARGS_PRIVATE_H

#include "base/args.h"

/* args_words.c: the commands that are shown, in the order of their table; NULL ends. */
const struct tare_command *tare_args_command(const struct tare_command *const *cmds, size_t i);
/* The options in the order of their table, --help last; NULL ends. */
const struct tare_opt *tare_args_visible(const struct tare_command *cmd, size_t i);

/*
 * What the value of an option may be, as "a|b" or "a b"; "" is a file or anything. A shell expands $_tare_commands and
 * $(_tare_profiles), which its completion defines.
 */
const char *tare_args_words(const struct tare_opt *o);
/* The choices with blanks between them; the shell expands no text with a bar in it. */
void tare_args_add_words(struct tare_str *out, const char *words);

#endif
