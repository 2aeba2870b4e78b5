/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native stack of the calling thread, by call frame information; where code has none, by the
 * frame pointer if that looks sane. Never faults, loops, allocates, or takes a lock of ours,
 * whatever the stack holds: a walk that meets nonsense ends. In signal handlers it can end early.
 */
#ifndef TARE_RECORDER_UNWIND_H
#define TARE_RECORDER_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/elf/objects.h"
#include "recorder/unwind/seen.h"

/*
 * Return addresses, innermost first, at most `max`; the first one is in the caller. With `frame`, a
 * __builtin_frame_address(0), they begin instead with the return address of the function with that
 * frame. Code interrupted by a signal is there with the address it was interrupted at. Returns how
 * many there are.
 */
#define tare_unwind(pcs, max, frame) tare_unwind_until(pcs, max, frame, NULL)

/* The same; the first one in `last` is the outermost that is told. NULL: there is no such code. */
int tare_unwind_until(uintptr_t *pcs, int max, const void *frame, const struct tare_code *last);

/*
 * The same, but *id is what the stack is called in `log`, and then nothing is told, where `seen` has it from the last time
 * (seen.h); else 0. `seen` is what was taken, or NULL.
 */
int tare_unwind_again(uintptr_t *pcs, int max, const struct tare_code *last, struct tare_seen *seen, uint32_t log,
                      uint32_t *id);

#endif
