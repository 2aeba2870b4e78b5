/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers records of a log until there are enough of them for a block of a segment. */
#include "store/gathered.h"

#include "base/array.h"

void tare_gathered_add(struct tare_gathered *g, const struct tare_block_record *record)
{
	g->records = tare_array_reserve(g->records, &g->record_cap, g->n + 1, sizeof(*g->records));
	g->records[g->n] = (struct tare_block_record){ .position = record->position, .bytes = record->bytes };
	TARE_APPEND(g->at, g->n, g->at_cap) = g->bytes.len;
	tare_pack_bytes(&g->bytes, record->data, record->bytes);
}

struct tare_record *tare_gathered_record(const struct tare_gathered *g, size_t i)
{
	return (struct tare_record *)(void *)(g->bytes.data + g->at[i]);
}

bool tare_gathered_is_full(const struct tare_gathered *g)
{
	return g->n == TARE_BLOCK_RECORDS || g->bytes.len >= TARE_BLOCK_BYTES;
}

/* How many records from `first` on go into one block. */
static size_t fits_in_block(const struct tare_gathered *g, size_t first)
{
	size_t n = 1;

	while (n < TARE_BLOCK_RECORDS && first + n < g->n && g->at[first + n] - g->at[first] < TARE_BLOCK_BYTES)
		n++;
	return n;
}

void tare_gathered_write(const struct tare_gathered *g, struct tare_segment_writer *w, enum tare_segment_kind kind,
                         uint32_t log, const struct tare_layouts *layouts)
{
	for (size_t i = 0; i < g->n; i++)
		g->records[i].data = g->bytes.data + g->at[i];
	for (size_t i = 0, n; i < g->n; i += n) {
		n = fits_in_block(g, i);
		tare_segment_add(w, kind, log, layouts, g->records + i, n);
	}
}

void tare_gathered_clear(struct tare_gathered *g)
{
	g->n = g->bytes.len = 0;
}
