/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_ROLLUP_STATE_H
#define TARE_ROLLUP_STATE_H

#include "rollup/rollup.h"

struct tare_settled;

/*
 * Saves the state of the fold as far as segments go, if enough has come since the last one. `settled`: how far the logs were when
 * their segments were made; NULL: nobody writes them.
 */
int tare_rollup_state(const char *folder, const struct tare_rollup_options *o, const struct tare_settled *settled,
                      struct tare_rolled_up *out, struct tare_err *err);

#endif
