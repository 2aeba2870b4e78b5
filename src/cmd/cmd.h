/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_CMD_H
#define TARE_CMD_CMD_H

#include "base/args.h"

/*
 * Every row of cmd.def is one file, src/cmd/<name>.c, with two symbols: the table row and the
 * function. The function gets argv[0] = the command's name and returns the exit code of the process.
 * It parses its options, calls modules and prints; it decides nothing else. Example in base/args.h.
 */
#define X(NAME)                                                                                                        \
	extern const struct tare_command tare_command_##NAME;                                                              \
	int tare_cmd_##NAME(int argc, char **argv);
#include "cmd/cmd.def"
#undef X

/* Exit codes that are Tare's own; else the child's (128 + n for signal n). */
enum tare_exit {
	TARE_EXIT_OK = 0,
	TARE_EXIT_LIMIT = 1, /* diff, check: a limit was exceeded; predict: the program failed */
	TARE_EXIT_USAGE = 2,
	TARE_EXIT_NO_FIT = 3,   /* plan: nothing fits */
	TARE_EXIT_FAILED = 125, /* Tare's own failure */
	TARE_EXIT_NOT_EXEC = 126,
	TARE_EXIT_NOT_FOUND = 127,
};

/* All commands, NULL at the end (cmd/table.c). */
extern const struct tare_command *const tare_commands[];

const struct tare_command *tare_cmd_find(const char *name); /* NULL: no such command */

/*
 * Parses by the command's table. Prints --help to stdout or the usage error to stderr. Returns -1 to
 * go on, else the exit code to return at once.
 */
int tare_cmd_parse(const struct tare_command *cmd, int argc, char **argv, void *options, struct tare_operands *rest);

/* Prints "tare: TEXT" to stderr and returns the exit code for err->code: 2 for usage, else 125. */
int tare_cmd_fail(const struct tare_err *err);

#endif
