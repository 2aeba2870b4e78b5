/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_GATHERED_H
#define TARE_STORE_GATHERED_H

#include "base/owned.h"
#include "store/segment.h"

/* Records of one log that wait to be written as blocks of a segment. {0}: none. */
struct tare_gathered {
	TARE_OWNED struct tare_pack bytes;
	TARE_OWNED struct tare_block_record *records; /* data: not known before a block is written */
	TARE_OWNED size_t *at;                        /* where each lies in `bytes` */
	size_t n, record_cap, at_cap;
};

void tare_gathered_add(struct tare_gathered *g, const struct tare_block_record *record);
/* Good until the next one is added. */
struct tare_record *tare_gathered_record(const struct tare_gathered *g, size_t i);
/* There is a block of them. */
bool tare_gathered_is_full(const struct tare_gathered *g);
/* As many blocks as that takes; they stay gathered. */
void tare_gathered_write(const struct tare_gathered *g, struct tare_segment_writer *w, enum tare_segment_kind kind,
                         uint32_t log, const struct tare_layouts *layouts);
/* The memory is kept for others. */
void tare_gathered_clear(struct tare_gathered *g);
TARE_FREES(tare_gathered_free, tare_gathered);

#endif
