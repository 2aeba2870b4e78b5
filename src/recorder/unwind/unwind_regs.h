/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers by their DWARF numbers. What differs between processors is in the two headers below:
 *   TARE_REG_COUNT, TARE_REG_SP, TARE_REG_FP   general registers tracked
 *   TARE_REG_RA                                DWARF column of the return address
 *   TARE_REG_COLUMNS                           columns of a CFI row
 *   TARE_REG_LINK                              bit of the register that calls overwrite, or 0
 *   TARE_REG_SAVED                             bits that tare_unwind_capture() fills
 *   TARE_CAPTURE_ASM                           its text
 *   TARE_SIGRETURN                             the instructions that end a signal handler
 *   TARE_SIGNAL_PC                             number of the pc for tare_regs_signal_slot()
 *   tare_regs_strip, tare_regs_thread_pointer, tare_regs_signal_slot
 */
#ifndef TARE_RECORDER_UNWIND_REGS_H
#define TARE_RECORDER_UNWIND_REGS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include "recorder/unwind/unwind_regs_x86_64.h"
#elif defined(__aarch64__)
#include "recorder/unwind/unwind_regs_aarch64.h"
#else
#error "Tare's recorder knows x86_64 and aarch64"
#endif

struct tare_regs {
	uintptr_t r[TARE_REG_COUNT];
	uintptr_t pc;
	uint32_t known; /* bit i: r[i] has the value it had in this frame */
	bool is_exact;  /* pc was interrupted: it is not behind a call */
};

/* The registers that a function must keep, as they are in the caller. */
void tare_unwind_capture(struct tare_regs *regs);

#endif
