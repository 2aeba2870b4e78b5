/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORD_BOUND_H
#define TARE_RECORD_BOUND_H

#include "record/decode.h"

/* A pebibyte: more than any machine has, and so little that thousands of them can be added and doubled. */
#define TARE_BOUND_BYTES ((int64_t)1 << 50)
/* No device, and no process, has more in use: a figure above it is damage, or is not known (TARE_NOT_KNOWN), and nothing is booked by it. */
#define TARE_MOST_BYTES ((int64_t)1 << 44)

/*
 * Sizes in a record that are larger, as only a damaged file or a request that was refused has them, become
 * TARE_BOUND_BYTES, so that the books can be kept in int64_t. `rec` is a whole record of this kind; TARE_NOT_KNOWN stays.
 */
void tare_bound_sizes(uint16_t kind, void *rec);

#endif
