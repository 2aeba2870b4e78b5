/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_WHATIF_RECORDING_H
#define TARE_CMD_WHATIF_RECORDING_H

#include "replay/trace.h"

struct tare_recording;

struct tare_whatif_reading {
	uint64_t most; /* events that are read */
	/* max_split_size_mb in bytes: a block of that or a little more counts as asked for as a little less; 0: as told */
	uint64_t split;
	bool finds_waits; /* of struct tare_trace */
};

/*
 * What PyTorch's allocators were asked for, out of a recording that is at its begin: of each process on each GPU one device of the trace. NOT_FOUND
 * where no process has blocks of PyTorch's on a GPU, LIMIT where there are more events than are read.
 */
int tare_whatif_recording(struct tare_trace *t, struct tare_recording *recording, const char *folder,
                          const struct tare_whatif_reading *reading, struct tare_err *err);

#endif
