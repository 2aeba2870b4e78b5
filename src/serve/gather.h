/* SPDX-License-Identifier: Apache-2.0 */
/* All that is served, of one moment: the GPUs of this machine as `tare top` has them, and the recordings. */
#ifndef TARE_SERVE_GATHER_H
#define TARE_SERVE_GATHER_H

#include "serve/table.h"
#include "top/tree.h"

struct tare_gather {
	const struct tare_operands *folders; /* recordings, or folders that have some; none: this machine's */
	struct tare_finder found;
	struct tare_top_machine machine;
	struct tare_top_tree tree;
	struct tare_serve_table table;
	int64_t realtime_ns;  /* of the last time */
	int64_t turn_ns;      /* when that was, on the monotonic clock */
	int64_t next_ns;      /* not again before, on the monotonic clock */
	int64_t cost_ns;      /* CPU of the last time */
	struct tare_str text; /* of /metrics */
};

void tare_gather_begin(struct tare_gather *g, const struct tare_operands *folders);
/*
 * Looks at everything, if the last time is long enough ago: a second, or twenty times as long as it took. Recordings that ended are read for
 * two seconds at most, the others the next time; is_whole: all of them, now.
 */
void tare_gather_turn(struct tare_gather *g, bool is_whole);
void tare_gather_free(struct tare_gather *g);

/* gather_tell.c: the text of /metrics. */
void tare_gather_tell(const struct tare_gather *g, struct tare_str *out);

#endif
