/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORD_BOUND_H
#define TARE_RECORD_BOUND_H

#include "record/tensor_columns.h"

/* A pebibyte: more than any machine has, and so little that thousands of them can be added and doubled. */
#define TARE_BOUND_BYTES ((int64_t)1 << 50)
/* No device, and no process, has more in use. */
#define TARE_MOST_BYTES ((int64_t)1 << 44)
#define TARE_MOST_COUNT ((int64_t)1 << 40)
/* Ticks: a minute and more for every clock we know. */
#define TARE_MOST_LAG     ((int64_t)1 << 38)
#define TARE_MOST_ORDINAL 1023 /* of a device */
/* A size behind it, doubled, is still an address. */
#define TARE_MOST_ADDRESS (UINT64_MAX - 2 * (uint64_t)TARE_BOUND_BYTES)

/*
 * What cannot be becomes something that books can be kept of, field by field of a record and by the role of each, as bound.def says.
 * `rec` is a whole record of this kind.
 */
void tare_bound_record(uint16_t kind, void *rec);
void tare_bound_columns(const struct tare_tensor_columns *columns, size_t n); /* the same of n TENSOR records */

#endif
