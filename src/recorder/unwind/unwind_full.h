/* SPDX-License-Identifier: Apache-2.0 */
/* One frame up with all registers: always right, and slow. Call under tare_objects_with(). */
#ifndef TARE_RECORDER_UNWIND_FULL_H
#define TARE_RECORDER_UNWIND_FULL_H

#include "recorder/unwind/dwarf_cfi.h"
#include "recorder/unwind/unwind_regs.h"
#include "recorder/unwind/unwind_stack.h"

/* Returns false when there is no way on; the registers are then of no use. */
bool tare_full_step(struct tare_regs *regs, struct tare_unwind_stack *stack, const struct tare_cfi_row *row);

/* Does a signal handler return to `pc`, in that object or (NULL) in none? */
bool tare_full_is_sigreturn(const struct tare_elf_object *obj, uintptr_t pc);

/* From there to what the signal interrupted: the registers that the kernel saved. */
bool tare_full_leave_signal(struct tare_regs *regs, struct tare_unwind_stack *stack);

#endif
