/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF expressions as call frame information has them: PLT stubs, realigned stacks, signals. */
#ifndef TARE_RECORDER_DWARF_EXPR_H
#define TARE_RECORDER_DWARF_EXPR_H

#include "recorder/unwind/unwind_regs.h"
#include "recorder/unwind/unwind_stack.h"

/*
 * Evaluates begin ≤ code < end. `initial` (NULL for none) is pushed first. Memory is read from the
 * stack only. Returns false for anything that does not work out.
 */
bool tare_expr_evaluate(const uint8_t *begin, const uint8_t *end, const struct tare_regs *regs,
                        struct tare_unwind_stack *stack, const uintptr_t *initial, uintptr_t *out);

/*
 * Is it "register `reg` + offset", and when `is_read` what is stored there, and nothing else?
 */
bool tare_expr_is_register(const uint8_t *begin, const uint8_t *end, unsigned int reg, bool is_read, int64_t *offset);

#endif
