/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the views of a recording agree? Each says something of every account, category and sum at an instant: what two of them say of
 * the same must be the same to the byte. `tare info --check` asks, and the tests of every recording that they make.
 */
#ifndef TARE_VIEW_AGREE_H
#define TARE_VIEW_AGREE_H

#include "base/str.h"
#include "ledger/ledger.h"
#include "ledger/memory_history.h"

struct tare_agreement {
	uint64_t figures; /* that were compared */
	uint64_t differ;
	struct tare_str why; /* of the first that differs: a sentence */
};

/*
 * A point of a picture by category beside the ledger of that instant, and the views of that ledger beside each other: tables and
 * their data. `panel`: of a GPU, or of CPUs.
 */
void tare_agree_at(struct tare_agreement *a, const struct tare_ledger *l, const struct tare_memory_history_panel *panel,
                   const struct tare_memory_history_point *point);
/* The line of time of a ledger of the same recording (--by time) beside a panel. */
void tare_agree_time(struct tare_agreement *a, const struct tare_ledger *l,
                     const struct tare_memory_history_panel *panel);

#endif
