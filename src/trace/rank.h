/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_RANK_H
#define TARE_TRACE_RANK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Which rank of which job a process is; rank.def says how that is told from its environment. */
struct tare_rank {
	int rank;             /* -1: none, and then nothing else is known either */
	int local, world;     /* -1: not known */
	int attempt;          /* 0 unless the job was started again */
	const char *launcher; /* never NULL */
	char job[128];        /* "": not known */
};
#define TARE_RANK_NONE ((struct tare_rank){ -1, -1, -1, 0, "", "" })

/* Of the environment. False: no rank, `out` says none. */
bool tare_rank_of_environment(struct tare_rank *out);

/* Of the text of a LAUNCH record: lines NAME=value. */
bool tare_rank_of_text(struct tare_rank *out, const char *text, size_t len);

/* The text of a LAUNCH record about this process; empty where no launcher has set anything. `no_paths`: as path.h says. */
void tare_rank_text_of_environment(struct tare_str *out, bool no_paths);

#endif
