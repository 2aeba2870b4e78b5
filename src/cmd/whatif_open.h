/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_WHATIF_OPEN_H
#define TARE_CMD_WHATIF_OPEN_H

#include "replay/whatif.h"

/* A recording, replayed as it was and as `ask` says. NOT_FOUND where no process has blocks of PyTorch's on a GPU. */
int tare_whatif_open(struct tare_whatif *w, const char *path, const struct tare_whatif_ask *ask, struct tare_err *err);

#endif
