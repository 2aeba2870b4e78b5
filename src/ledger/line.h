/* SPDX-License-Identifier: Apache-2.0 */
/* Where an event came from, for people: a line of a Python program, or a function of a native one. */
#ifndef TARE_LEDGER_LINE_H
#define TARE_LEDGER_LINE_H

#include "base/str.h"
#include "trace/event.h"

/* Is it code of Python itself or of an installed package, by the name of its file? */
bool tare_line_is_library(const char *file);

/*
 * Rule "line": the innermost frame that is not library code, nor only begins what a library does; where all are, the innermost of a
 * package other than PyTorch, else the innermost. NULL for a stack without frames.
 */
const struct tare_line *tare_line_of_user(const struct tare_line_stack *stack);

/*
 * "train.py:87 in forward", "torch/nn/modules/linear.py:125 in forward" for a package; with `is_full`,
 * the file as Python names it.
 */
void tare_line_add(struct tare_str *out, const struct tare_line *line, bool is_full);

/* The return address of the first frame, from the innermost out, in no object that is passed. 0: none. */
uint64_t tare_line_first(const struct tare_process *process, const struct tare_stack *stack,
                         bool (*is_passed)(const char *path));

/*
 * The return address of the first frame, from the innermost out, that is neither in the driver, nor its
 * runtime, nor Tare. 0: none.
 */
uint64_t tare_line_native(const struct tare_process *process, const struct tare_stack *stack);

/*
 * "step+0x4f in solver", of known lines "FILE:12 in step": the innermost frame from that return address outwards that is no
 * allocator's (src/ledger/frame.h).
 */
void tare_line_add_native(struct tare_str *out, const struct tare_process *process, const struct tare_stack *stack,
                          uint64_t pc, bool is_full);

/* What stands between the frames of a stack, innermost first. */
#define TARE_LINE_BETWEEN " < "

#endif
