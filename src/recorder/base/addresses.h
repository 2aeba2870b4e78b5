/* SPDX-License-Identifier: Apache-2.0 */
/* The limit of the process's addresses (ulimit -v): what we map, the program can no longer map. */
#ifndef TARE_RECORDER_ADDRESSES_H
#define TARE_RECORDER_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

uint64_t tare_addresses_left(void); /* TARE_NOT_KNOWN: there is no limit, or it cannot be seen */

/* Is the log with all its tables at most an eighth of that? Else there is none: the program may need what is left. */
bool tare_addresses_suffice(void);

#endif
