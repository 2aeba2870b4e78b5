/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_READ_BACK_H
#define TARE_LEDGER_READ_BACK_H

#include <stdbool.h>
#include <stdint.h>

/* What a program on a simulated GPU read back that kernels would have computed: at one line of one process. */
struct tare_read_back {
	int number; /* in the order of their lines */
	int64_t pid, generation;
	const char *source, *short_source; /* NULL: not known */
	uint64_t count;                    /* of calls */
	uint64_t bytes;
	bool is_overflow; /* what a loss scale's check for numbers that are not finite found */
};

#endif
