/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for a moment, where a path that is rarely taken needs more than a stack should give: threads
 * of programs may have 16 KiB in all (tools/check-recorder-stack.py). A few pieces are there from the
 * start, also for a program that restricts its system calls; when all are taken it is a mapping.
 */
#ifndef TARE_RECORDER_SCRATCH_H
#define TARE_RECORDER_SCRATCH_H

#include <stddef.h>

/* Zeros. NULL: there is none. */
void *tare_scratch_take(size_t size);
void tare_scratch_give(void *at, size_t size);

#endif
