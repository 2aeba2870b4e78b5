/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of segments do with them in make_dir(). */
#ifndef TARE_TESTS_UNIT_SEGMENTS_H
#define TARE_TESTS_UNIT_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Of tare_compact_options.below: nobody writes any log. */
uint64_t segments_everything(void *arg, const char *log, bool has_ring);

/* Overwrites the begin of each block of events of a segment; what is behind is written as it was. */
void segments_damage(uint32_t number);

#endif
