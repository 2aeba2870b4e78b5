/* SPDX-License-Identifier: Apache-2.0 */
/* What store.c and store_check.c share. */
#ifndef TARE_STORE_STORE_PRIVATE_H
#define TARE_STORE_STORE_PRIVATE_H

#include "store/store.h"

static inline const struct tare_segment_block *tare_store_head(const struct tare_store *s,
                                                               const struct tare_stored_block *block)
{
	return &s->segments[block->segment].entries[block->entry].head;
}

#endif
