/* SPDX-License-Identifier: Apache-2.0 */
/* What a loss scale (GradScaler) asks of the card: was a number among the gradients not finite? */
#ifndef SIM_OVERFLOW_H
#define SIM_OVERFLOW_H

#include <stdbool.h>
#include <stdint.h>

/* A kernel of that check is launched, whose name is `kernel`: where it writes what it found is a flag from now on. */
void sim_overflow_launched(const char *kernel, void **params);
/* Is that such a flag? */
bool sim_overflow_is(uint64_t from, uint64_t size);
/* This memory is handed out again: no flag lies there any more. */
void sim_overflow_forget(uint64_t address, uint64_t size);

#endif
