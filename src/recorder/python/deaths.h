/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_PYTHON_DEATHS_H
#define TARE_RECORDER_PYTHON_DEATHS_H

#include <stdbool.h>
#include <stdint.h>

/* Counts the deaths of code objects from now on. `type`: &PyCode_Type. False: they cannot be counted. */
bool tare_python_deaths_start(uintptr_t type);

/* How many there were, after a start that worked; unknown: somebody else has taken them over. */
#define TARE_PYTHON_DEATHS_UNKNOWN UINT64_MAX
uint64_t tare_python_deaths(void);

#endif
