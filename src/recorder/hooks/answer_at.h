/* SPDX-License-Identifier: Apache-2.0 */
/* What the user says that lines of a Python program read back from a simulated device. */
#ifndef TARE_RECORDER_HOOKS_ANSWER_AT_H
#define TARE_RECORDER_HOOKS_ANSWER_AT_H

#include <stdint.h>

/*
 * Fills `to` with the values of TARE_SIM_ANSWER_AT for the line that this thread runs, or for one that it was called from, the innermost;
 * 0: nothing is said of them. Called by the simulated driver, which holds its lock: nothing is recorded here.
 */
int tare_answer_at(void *to, uint64_t size);

#endif
