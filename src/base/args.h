/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_ARGS_H
#define TARE_BASE_ARGS_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One option table per command. It generates parsing, --help, the man page and the completions of shells, so
 * that they cannot disagree. Example (src/cmd/report.c):
 *
 *     struct options {
 *             const char *at;
 *             bool json;
 *             int by;
 *             uint64_t cap;
 *     };
 *
 *     static const struct tare_opt opts[] = {
 *             TARE_OPT(options, at, "at", 0, STRING, "INSTANT", "peak, end or seconds since start"),
 *             TARE_OPT(options, json, "json", 0, FLAG, NULL, "print JSON (docs/JSON.md)"),
 *             TARE_OPT(options, by, "by", 'b', CHOICE, "account|owner|phase", "one row per …"),
 *             TARE_OPT(options, cap, "cap", 0, BYTES, "SIZE", "size limit, such as 2GiB"),
 *             TARE_OPT_END,
 *     };
 *
 *     const struct tare_command tare_command_report = {
 *             .name = "report",
 *             .synopsis = "show the ledger of a recording",
 *             .operands = "REC",
 *             .min_operands = 1,
 *             .max_operands = 1,
 *             TARE_OPTIONS(opts, struct options, .at = "peak"),
 *             .run = tare_cmd_report,
 *     };
 *
 *     int tare_cmd_report(struct tare_cmd_call *c, void *options, struct tare_err *err) // cmd.h
 *     {
 *             const struct options *o = options;
 *
 *             … c->rest.items[0] …
 *     }
 *
 * Understood: --opt=value, --opt value, -o value, -ovalue, -abc for flags, "--". Operands may stand
 * between options, except with is_rest: then parsing stops at the first operand, which starts CMD.
 * -h and --help are always there. The last one of a repeated option wins, except LIST.
 */
enum tare_arg_kind {
	TARE_ARG_END,
	TARE_ARG_FLAG,     /* bool: becomes true */
	TARE_ARG_STRING,   /* const char *: points into argv */
	TARE_ARG_INT,      /* int64_t */
	TARE_ARG_NUMBER,   /* double */
	TARE_ARG_BYTES,    /* uint64_t: "8GiB", "1g", "512" (base/units.h) */
	TARE_ARG_DURATION, /* int64_t, nanoseconds: "500ms", "2s", "1.5" = seconds */
	TARE_ARG_CHOICE,   /* int: index of the word in the metavar "a|b|c" */
	TARE_ARG_PART,     /* struct tare_arg_part: "2 of 64", in one word or three */
	TARE_ARG_LIST,     /* struct tare_operands: every value given, in order */
};

struct tare_arg_part {
	int64_t part, whole; /* both above 0 */
};

struct tare_operands {
	const char **items; /* NULL-terminated: may be handed to execvp() */
	size_t count;
};

struct tare_opt {
	const char *name;    /* long name without dashes */
	char letter;         /* 0: none */
	const char *metavar; /* what --help calls the value; NULL for a flag */
	enum tare_arg_kind kind;
	size_t offset; /* of the field in the command's struct options */
	const char *help;
	bool is_hidden; /* understood, but in no help */
};

/* The field's type is checked by the kind's comment only; keep them together. */
#define TARE_OPT(STRUCT, FIELD, NAME, LETTER, KIND, METAVAR, HELP)                                                     \
	{                                                                                                                  \
		.name = NAME, .letter = LETTER, .metavar = METAVAR, .kind = TARE_ARG_##KIND,                                   \
		.offset = offsetof(struct STRUCT, FIELD), .help = HELP                                                         \
	}
#define TARE_OPT_END                                                                                                   \
	{                                                                                                                  \
		.kind = TARE_ARG_END                                                                                           \
	}

struct tare_cmd_call;

struct tare_command {
	const char *name;
	const char *synopsis;    /* half a line, lower case, no dot: stands in lists */
	const char *operands;    /* as shown in usage: "REC", "[--] CMD [ARG]…", NULL */
	const char *description; /* paragraphs parted by "\n\n", or NULL */
	const char *words;       /* of its operands, for completion: "pause|resume"; NULL: files */
	const char *examples;    /* lines, each a command with a remark, or NULL */
	const char *progress;    /* what it does while the user waits, such as "reading"; NULL: it shows none */
	const struct tare_opt *opts;
	const void *defaults; /* of its options; NULL: zeros */
	size_t size;          /* of its options */
	size_t min_operands;
	size_t max_operands; /* SIZE_MAX: any number */
	bool is_rest;        /* the first operand starts a command of its own */
	bool is_hidden;      /* not in lists */
	int (*run)(struct tare_cmd_call *c, void *options, struct tare_err *err);
};

/* Of a command: the table of its options, the struct that they fill, and what of that is not 0 at first. */
#define TARE_OPTIONS(table, type, ...) .opts = (table), .defaults = &(const type){ __VA_ARGS__ }, .size = sizeof(type)

/* As `words`: the names of all commands. */
#define TARE_ARGS_COMMANDS "$_tare_commands"

enum tare_args_outcome {
	TARE_ARGS_GO = 0,   /* parsed */
	TARE_ARGS_HELP = 1, /* -h or --help was met; nothing after it was looked at */
};

/*
 * argv[0] is the command's name. Writes into `options` (a struct of the command, filled with
 * defaults) and `rest` (freed by tare_operands_free). Returns an outcome, or TARE_E_USAGE with err.
 */
int tare_args_parse(const struct tare_command *cmd, int argc, char **argv, void *options, struct tare_operands *rest,
                    struct tare_err *err);

/* Keeps the pointer. */
void tare_operands_add(struct tare_operands *list, const char *item);
void tare_operands_free(struct tare_operands *list);

/* The index of `word` in "a|b|c", or -1. */
int tare_args_choice(const char *choices, const char *word, size_t len);

/*
 * The candidate nearest to `word` when it is near enough to be a slip of the hand, else NULL.
 * `next` is called with 0, 1, … and answers NULL after the last.
 */
const char *tare_args_near_miss(const char *word, const char *(*next)(void *arg, size_t i), void *arg);

/* base/args_help.c, args_bash.c, args_zsh.c, args_fish.c: what the table generates. */
void tare_args_help_within(const struct tare_command *cmd, size_t width, struct tare_str *out);
void tare_args_man(const struct tare_command *cmd, struct tare_str *out);
void tare_args_bash(const struct tare_command *const *cmds, struct tare_str *out);
void tare_args_zsh(const struct tare_command *const *cmds, struct tare_str *out);
void tare_args_fish(const struct tare_command *const *cmds, struct tare_str *out);

#endif
