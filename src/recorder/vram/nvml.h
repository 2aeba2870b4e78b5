/* SPDX-License-Identifier: Apache-2.0 */
/* NVML inside the program: how large a GPU is, and how much of it is in use, as the card has it. */
#ifndef TARE_RECORDER_VRAM_NVML_H
#define TARE_RECORDER_VRAM_NVML_H

#include <stdbool.h>

/* Is it one of the functions that are answered here? */
bool tare_vram_nvml_is_hooked(const char *name);
/* The hook to hand out instead of `found`, if that is NVML's own; else `found`. */
void *tare_vram_nvml_swap(const char *name, void *found);
/* NVML's own; NULL: it is not loaded. */
void *tare_vram_nvml_real(const char *name);

#endif
