/* SPDX-License-Identifier: Apache-2.0 */
/* What `tare run` and `tare record` share: the same options, the same way to start and to end. */
#ifndef TARE_CMD_RUN_OPTIONS_H
#define TARE_CMD_RUN_OPTIONS_H

#include "cmd/cmd.h"
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

extern const struct run_options tare_run_defaults;

/* Runs CMD and records it; its exit code becomes that of `c`, and `result` is to be reported and freed. `is_shown`: the ledger is, at the end. */
int tare_run_command(struct tare_cmd_call *c, const struct run_options *o, bool is_shown,
                     struct tare_session_result *result, struct tare_err *err);

/*
 * The line that says how it ended and where the recording is, and what the user should know. `more`: in
 * that line, or "".
 */
void tare_run_print_end(const struct tare_session_result *result, const char *more);

#endif
