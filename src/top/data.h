/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TOP_DATA_H
#define TARE_TOP_DATA_H

#include "base/emit.h"
#include "top/draw.h"

/* The rows, closed ones too, and the recordings, as docs/JSON.md describes them. */
void tare_top_data(struct tare_emit *e, const struct tare_top_picture *p);

#endif
