/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_WHATIF_RECORDING_H
#define TARE_CMD_WHATIF_RECORDING_H

#include "replay/trace.h"

struct tare_recording;

/*
 * What PyTorch's allocators were asked for, out of a recording that is at its begin: of each process on each GPU one device of the trace. NOT_FOUND
 * where no process has blocks of PyTorch's on a GPU, LIMIT where there are more events than `most`.
 */
int tare_whatif_recording(struct tare_trace *t, struct tare_recording *recording,
			  const char *folder, uint64_t most, struct tare_err *err);

#endif
