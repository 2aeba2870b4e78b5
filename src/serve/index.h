/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SERVE_INDEX_H
#define TARE_SERVE_INDEX_H

#include "base/str.h"
#include "serve/table.h"

/* The page "/": each recording, with a link to its own. */
void tare_serve_index(const struct tare_serve_table *t, struct tare_str *out);

#endif
