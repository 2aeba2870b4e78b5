/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_WHATIF_RECORDING_H
#define TARE_CMD_WHATIF_RECORDING_H

#include "replay/trace.h"

/*
 * What PyTorch's allocators were asked for, out of a recording: of each process on each GPU one device of the trace. pre: `path` is no
 * file. NOT_FOUND where no process has blocks of PyTorch's on a GPU.
 */
int tare_whatif_recording(struct tare_trace *t, const char *path, struct tare_err *err);

#endif
