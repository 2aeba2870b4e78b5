/* SPDX-License-Identifier: Apache-2.0 */
/* How much something had in the last minutes: the most of each second. */
#ifndef TARE_TOP_COURSE_H
#define TARE_TOP_COURSE_H

#include "base/str.h"
#include "ledger/ledger.h"

#include <stddef.h>
#include <stdint.h>

enum { TARE_COURSE_SECONDS = 300 };

struct tare_top_course {
	int64_t last_s;                    /* the newest second; 0: none yet */
	int64_t most[TARE_COURSE_SECONDS]; /* by second modulo their number; -1: not known */
	int64_t latest;                    /* in the newest second, as it was at last */
	uint64_t turn;                     /* when it was used last */
};

/* Between two calls it had what it had at the first of them. */
void tare_top_course_add(struct tare_top_course *c, int64_t now_ns, int64_t bytes);
/* What a recording says of the time before the first call. `end_ns`: when its last record was, on the clock of now_ns. */
void tare_top_course_begin(struct tare_top_course *c, int64_t end_ns, const struct tare_timeline *t);
/* Adds `columns` characters, the newest at the right, up to its own maximum. */
void tare_top_course_show(const struct tare_top_course *c, size_t columns, struct tare_str *out);

#endif
