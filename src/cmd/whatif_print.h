/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_WHATIF_PRINT_H
#define TARE_CMD_WHATIF_PRINT_H

#include "base/emit.h"
#include "replay/whatif.h"

void tare_whatif_print(struct tare_emit *e, const struct tare_whatif *w, const struct tare_whatif_ask *ask,
                       bool is_best);

#endif
