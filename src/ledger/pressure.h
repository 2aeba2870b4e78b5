/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_PRESSURE_H
#define TARE_LEDGER_PRESSURE_H

#include "ledger/build.h"

/*
 * How short of memory a program was: every driver call that was refused for lack of it, by the driver
 * or by the card of --vram. An allocator that is refused frees what it caches and asks again, so a
 * refusal that was followed by a success is a retry and costs time; one that was not is how a program
 * runs out of memory.
 */
struct tare_pressure {
	uint64_t refused; /* calls */
	uint64_t retries; /* refused calls after which the process got memory */
	/* largest refused size; 0: not known (the driver does not tell how much was wanted) */
	uint64_t largest;
	int64_t first_ns; /* -1: none was refused */
	int64_t ns;       /* time inside the refused calls */
	/* Rule "out of memory": the last thing that a process heard about memory was a refusal. */
	bool is_out;
	uint64_t out_bytes;  /* bytes of that refusal, 0: not known */
	const char *out_api; /* "" */
};

void tare_pressure_of_recording(struct tare_recording *recording, struct tare_pressure *out);

#endif
