/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that concern us, as they were at our start: the program may change its environment. */
#ifndef TARE_RECORDER_ENVIRONMENT_H
#define TARE_RECORDER_ENVIRONMENT_H

#include <stdbool.h>

void tare_environment_start(char **envp);

/* The value, or NULL. */
const char *tare_environment(const char *name);

/*
 * What a child needs to be recorded, "NAME=value", the i-th from 0 of TARE_ENVIRONMENT_MAX; NULL where
 * there is none. `is_ours`: nobody but `tare` sets it, so without us it would not be there.
 */
enum { TARE_ENVIRONMENT_MAX = 26 };
const char *tare_environment_carried(int i, bool *is_ours);

#endif
