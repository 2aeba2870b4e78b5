/* SPDX-License-Identifier: Apache-2.0 */
/* What programs get instead of the driver's functions. */
#ifndef TARE_RECORDER_HOOKS_H
#define TARE_RECORDER_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/cuda/real.h"

extern void *const tare_api_hooks[CU_API_NR]; /* NULL: shape CALL */

/* The hook to hand out instead of `found`, which the driver's own resolver gave for `name`; or `found`. */
void *tare_driver_swap_version(const char *name, void *found);

#endif
