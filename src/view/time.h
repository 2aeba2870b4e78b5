/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_TIME_H
#define TARE_VIEW_TIME_H

#include "base/emit.h"
#include "ledger/driver_time.h"

/* `--cost time`: one table, in the format of `e`. Text shows the longest dozen and adds the rest up. */
void tare_time_view(struct tare_emit *e, const struct tare_time_rows *rows);

#endif
