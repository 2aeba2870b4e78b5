/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_CMD_H
#define TARE_CMD_CMD_H

#include "base/arena.h"
#include "base/args.h"
#include "base/emit.h"

/*
 * Every row of cmd.def is one file, src/cmd/<name>.c, with two symbols: the table row and the function, which is what this command
 * does and no other: it calls modules and writes; what all do is tare_cmd_call()'s. Example in base/args.h.
 */
#define X(NAME)                                                                                                        \
	extern const struct tare_command tare_command_##NAME;                                                              \
	int tare_cmd_##NAME(struct tare_cmd_call *c, void *options, struct tare_err *err);
#include "cmd/cmd.def"

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

/* What a command is given beside its options, and what comes of it. */
struct tare_cmd_call {
	int argc;
	char **argv; /* with the command's name */
	struct tare_operands rest;
	enum tare_emit_format format; /* by --format, --json and --csv, where it has them */
	struct tare_arena names;      /* of what is added to rest */
	struct tare_str out;          /* for stdout, where it does not fail */
	int code;                     /* the exit code, where it does not fail */
	int fail_code;                /* where it does; 0: that of its error */
};

/*
 * Runs a command: argv[0] is its name. Parses by its table, prints --help, calls its function, prints what that wrote or why it
 * failed, and gives everything back. Returns the exit code.
 */
int tare_cmd_call(const struct tare_command *cmd, int argc, char **argv);

/* Begins what it prints, in its format, as wide and as colourful as stdout allows. */
void tare_cmd_begin(struct tare_cmd_call *c, struct tare_emit *e);

/* Prints "tare: TEXT" to stderr and returns the exit code for err->code: 2 for usage, else 125. */
int tare_cmd_fail(const struct tare_err *err);

/*
 * newest.c: where no recording was named: adds the newest of the current folder to `rest`, with_ranks also the other ranks of its job, and
 * says on stderr which one that is. Does nothing if there is an operand already. USAGE if there is no recording here.
 */
int tare_newest_add(struct tare_operands *rest, struct tare_arena *names, bool with_ranks, const char *command,
                    struct tare_err *err);

#endif
