/* SPDX-License-Identifier: Apache-2.0 */
/* NVML inside the program: how large a GPU is, and how much of it is in use, as the card has it. */
#ifndef TARE_RECORDER_VRAM_NVML_H
#define TARE_RECORDER_VRAM_NVML_H

#include <stdbool.h>
#include <stdint.h>

/* For look-ups by dlsym: parts.def. */
bool tare_nvml_is_hooked(const char *symbol);
void *tare_nvml_swap(const char *symbol, void *found);
void *tare_nvml_needed(const char *symbol, uintptr_t caller);

#endif
