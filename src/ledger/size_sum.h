/* SPDX-License-Identifier: Apache-2.0 */
/* How large the blocks of a heap are. */
#ifndef TARE_LEDGER_SIZE_SUM_H
#define TARE_LEDGER_SIZE_SUM_H

#include <stdint.h>

/* What a heap has of blocks and mappings of at least 2^power bytes and fewer than twice as many. */
struct tare_size_sum {
	int power;
	uint64_t count;
	int64_t bytes;
};

#endif
