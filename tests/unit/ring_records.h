/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_UNIT_RING_RECORDS_H
#define TARE_TESTS_UNIT_RING_RECORDS_H

#include <stdint.h>

enum { NUMBERS = 1 << 13 };

/* Of the records that this process began. */
struct ring_book {
	uint32_t process; /* 0; of its child 1 … */
	uint32_t next;
	uint8_t fate[NUMBERS]; /* by number */
};
extern struct ring_book book;

/* One record, as the recorder writes one. */
void put(void);
/* All that was ended is in this process's log once, whole, and nothing else is. */
void check_log(void);

#endif
