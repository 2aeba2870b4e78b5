/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local memory and contexts, whose size depends on the card: the driver holds so much for each thread
 * that fits on the GPU. With a profile (--card) what this GPU takes does not count, and what that card
 * would take counts instead.
 */
#ifndef TARE_RECORDER_VRAM_LOCAL_H
#define TARE_RECORDER_VRAM_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/vram/limit.h"

#define TARE_LOCAL_CONTEXTS 64 /* alive at once; of further ones nothing is substituted */

int tare_local_current(void); /* number of the current context, -1: not known */

/* What a context takes on the card that `device` stands for; 0: not known. */
uint64_t tare_local_context(int device);
/* Has the card no room for the context that was just made? */
bool tare_local_is_passed(const struct tare_limit *limit, CUresult result);
void tare_local_begin(const struct tare_limit *limit, CUcontext context);
void tare_local_end(CUcontext context);
void tare_local_end_primary(int device); /* if it is not active any more */

/* What the card takes more when a thread in the current context needs this much. */
uint64_t tare_local_growth(uint64_t stack);
/* It did. `is_limit`: it may also have become less. */
void tare_local_set(const struct tare_limit *limit, uint64_t stack, bool is_limit);

#endif
