/* SPDX-License-Identifier: Apache-2.0 */
/* Phases: their names, and whether they are all there is. */
#ifndef TARE_VIEW_PHASE_H
#define TARE_VIEW_PHASE_H

#include "ledger/ledger.h"

#include <stdbool.h>
#include <stddef.h>

/* The words key=value in a name. Returns how many there are; the first `max` are in `out`. */
struct tare_phase_param {
	const char *key, *value; /* inside `name`, not terminated */
	size_t key_len, value_len;
};
size_t tare_phase_params(const char *name, struct tare_phase_param *out, size_t max);

/* Is the recording nothing but figures that a program printed (tare import)? Then its phases say all of it. */
bool tare_phases_are_printed(const struct tare_ledger *ledger);

#endif
