/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI takes of the device: cupti.def. Programs are linked with it (PyTorch), or find it with dlsym. */
#ifndef TARE_RECORDER_CUPTI_CUPTI_H
#define TARE_RECORDER_CUPTI_CUPTI_H

#include <stdbool.h>
#include <stdint.h>

bool tare_cupti_is_hooked(const char *name);
/* The hook, if `found` is the function that it would call; else `found`. */
void *tare_cupti_swap(const char *name, void *found);
/* CUPTI's own, of the library that the code at `caller` is linked with. NULL: it is linked with none. */
void *tare_cupti_needed(const char *name, uintptr_t caller);

#endif
