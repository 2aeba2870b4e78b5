/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_LEDGER_OWNER_H
#define TARE_LEDGER_OWNER_H

#include <stdbool.h>

/* Is it the CUDA driver, its runtime or Tare? They ask for memory on somebody's behalf. */
bool tare_owner_is_transparent(const char *path);

#endif
