/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_REPLAY_WHATIF_H
#define TARE_REPLAY_WHATIF_H

#include "base/str.h"
#include "replay/replay.h"

/* A snapshot, replayed as it was and as it could have been, all devices of it together. */
struct tare_whatif_ask {
	const char *conf;    /* PYTORCH_CUDA_ALLOC_CONF; NULL: as recorded */
	const char *version; /* of PyTorch; NULL: found out by what reproduces the file */
	uint64_t vram;       /* of each device; 0: what was there */
	uint64_t used;       /* of that, by others than the allocator */
};

struct tare_whatif_case {
	const char *conf; /* NULL: as recorded */
	struct tare_replay_figures figures;
	struct tare_replay_oom oom;
	unsigned orders_that_run_out; /* of TARE_REPLAY_ORDERS; of several devices, the most */
};

struct tare_whatif {
	struct tare_trace trace;
	struct tare_alloc_rules rules;
	bool is_version_found; /* and not asked for */
	struct tare_alloc_settings recorded;
	struct tare_replay_check *checks; /* of each device */
	struct tare_replay_check sum;
	uint64_t events;
	bool is_complete;
	uint64_t contradictions; /* between the events and the end of the file: events are missing */
	uint64_t starts;         /* segments and blocks that were there before the first event */
	bool is_changed;         /* other settings or another card than recorded */
	struct tare_whatif_case asked;
};

/* Takes the trace, whatever it returns. */
int tare_whatif_of(struct tare_whatif *w, struct tare_trace *trace, const struct tare_whatif_ask *ask,
                   struct tare_err *err);
void tare_whatif_close(struct tare_whatif *w);
/* One more case, after tare_whatif_of. */
int tare_whatif_case(const struct tare_whatif *w, const char *conf, const struct tare_whatif_ask *ask,
                     struct tare_whatif_case *out, struct tare_err *err);

/* The settings of best.def, each replayed, least reserved first and what runs out last. Caller frees. */
struct tare_whatif_case *tare_whatif_best(const struct tare_whatif *w, const struct tare_whatif_ask *ask,
                                          size_t *count);

/* "train.py:87 function" of the program, not of PyTorch, if a stack has such a line; else "". */
void tare_whatif_line(const struct tare_whatif *w, uint32_t stack, struct tare_str *out);

/* Is it a file of Python code of the program's, and not of PyTorch's? */
bool tare_whatif_is_of_program(const char *file);

/* What the file does not have, and what that means: sentences, one after the other; NULL behind the last. */
const char *tare_whatif_lacks(const struct tare_whatif *w, size_t at);

#endif
