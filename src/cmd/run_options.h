/* SPDX-License-Identifier: Apache-2.0 */
/* What `tare run` and `tare record` share: the same options, the same way to start and to end. */
#ifndef TARE_CMD_RUN_OPTIONS_H
#define TARE_CMD_RUN_OPTIONS_H

#include "base/args.h"
#include "session/session.h"

struct run_options {
	const char *output, *into, *sim, *vram, *card;
	struct tare_operands phases, answers_at;
	struct tare_arg_part ranks; /* of which only some run; 0: all do */
	bool force, no_paths, no_tensors, no_scan, paused, quiet, live;
	int stacks, host, answers; /* -1: not given */
	uint64_t cap;
};

#define TARE_RUN_CAP       (2ull << 30)
#define TARE_RUN_CAP_LEAST (1ull << 20) /* logs and states of a small program */
/* What the recorder reads from TARE_STACKS: as options name it, and one by one. */
#define TARE_STACK_NAMES "python|native|both|none"
extern const char *const tare_stack_names[];
/* --answers: what kernels of a simulated GPU would have computed reads as; the first unless told otherwise. */
#define TARE_ANSWER_NAMES "zeros|ones|random|nan|overflow"
extern const char *const tare_answer_names[];
/* --ranks-simulated, of run, record and predict. */
#define TARE_RANKS_HELP                                                                                                \
	"run the first K ranks of a job of N, and answer for the others: the program sees N; its launcher starts K, or all"

/* --host: how much of the heap is recorded, and what tare_preload_find() is told then. */
#define TARE_HOST_NAMES "sample|full"
extern const uint64_t tare_host_means[];
extern const struct tare_opt tare_run_opts[];

/*
 * Parses, runs CMD and records it. Returns -1 when it ran: `result` is to be reported and freed;
 * else the exit code to return at once.
 * `is_quiet`: `tare sweep` started it and will say itself how it ended; NULL: not asked.
 */
int tare_run_command(const struct tare_command *command, int argc, char **argv, struct tare_session_result *result,
                     bool *is_quiet);

/*
 * The line that says how it ended and where the recording is, and what the user should know. `more`: in
 * that line, or "".
 */
void tare_run_print_end(const struct tare_session_result *result, const char *more);

#endif
