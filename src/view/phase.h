/* SPDX-License-Identifier: Apache-2.0 */
/* `--by phase`: a line per phase, in the order in which they began, those inside one below it. */
#ifndef TARE_VIEW_PHASE_H
#define TARE_VIEW_PHASE_H

#include "base/emit.h"
#include "ledger/ledger.h"
#include "view/text_table.h"

struct tare_phase_view {
	/* of any instant: phases are those of the whole recording */
	const struct tare_ledger *ledger;
	int64_t pid; /* only this process; -1: all */
};

bool tare_phase_is_any(const struct tare_phase_view *view);

/* JSON members "by" and "rows", or tables in text and CSV. */
void tare_phase_show(struct tare_emit *e, const struct tare_phase_view *view);

/* The words key=value in a name. Returns how many there are; the first `max` are in `out`. */
struct tare_phase_param {
	const char *key, *value; /* inside `name`, not terminated */
	size_t key_len, value_len;
};
size_t tare_phase_params(const char *name, struct tare_phase_param *out, size_t max);

#endif
