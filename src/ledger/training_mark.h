/* SPDX-License-Identifier: Apache-2.0 */
/* When a step of training was, and what it had at most. */
#ifndef TARE_LEDGER_TRAINING_MARK_H
#define TARE_LEDGER_TRAINING_MARK_H

#include <stdint.h>

/*
 * A step of which it is known when it was. Of many, each that is kept stands for several, among which it had most. The
 * first one always is.
 */
struct tare_training_mark {
	uint64_t number; /* from 1, of its thread */
	int64_t begin_ns, ns;
	int64_t used, live; /* most that was in use on the device, and in tensors */
};

#endif
