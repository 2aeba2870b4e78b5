/* SPDX-License-Identifier: Apache-2.0 */
/* Where a part puts the records that say its state again: into a checkpoint. */
#ifndef TARE_LEDGER_CORE_SAVE_H
#define TARE_LEDGER_CORE_SAVE_H

#include "ledger/build.h"

struct tare_save {
	int64_t t; /* when the state is that, and all is stamped that has no time of its own */
	const int64_t *group_ns; /* by device and moment: when its group is saved */
	/* Both live until it returns; the record has the ids of the event's stacks, and those of no texts. */
	void (*add)(void *arg, const struct tare_event *e, const struct tare_record *rec,
		    size_t size);
	void *arg;
};

#endif
