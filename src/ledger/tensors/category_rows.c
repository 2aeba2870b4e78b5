/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Below the row of a pool's live tensors, a row for each category. Where the blocks do not come to what is
 * booked, because they were reported wrongly, that row stays whole.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

uint64_t tare_fold_pool_key(int process, enum tare_account account, uint64_t owner)
{
	return owner << 24 | (uint64_t)process << 1 | (account == TARE_ACCOUNT_VMM);
}

static struct tare_pool_sums *sums_of(struct tare_pool_list *l, uint64_t pool)
{
	for (size_t i = l->count; i-- > 0;)
		if (l->items[i].pool == pool)
			return &l->items[i];
	return TARE_ADD(l->items, l->count, l->cap, (struct tare_pool_sums){ .pool = pool });
}

void tare_fold_category_add(const struct tare_fold *f, struct tare_pool_list *l, const struct tare_known_block *b,
                            enum tare_rule rule)
{
	int bucket = b->block.bucket;
	const struct tare_bucket *at = bucket < 0 ? NULL : &f->buckets[bucket];
	enum tare_account account;

	if (!at)
		return;
	account = f->contexts[at->context].handle ? TARE_ACCOUNT_ALLOCATION : TARE_ACCOUNT_VMM;
	tare_category_sums_add(sums_of(l, tare_fold_pool_key(at->process, account, at->owner))->sums, rule,
	                       tare_block_booked(&b->block, &b->facts), 1);
}

static int64_t bytes_of(const struct tare_category_sum *sums)
{
	int64_t bytes = 0;

	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		bytes += sums[c].bytes;
	return bytes;
}

/* What a row is to be told apart into; NULL: it is not. */
static const struct tare_category_sum *parts_of(const struct tare_pool_list *l, const struct tare_row *row)
{
	for (size_t i = 0; row->pool && row->leaf && row->bytes && i < l->count; i++)
		if (l->items[i].pool == row->pool && bytes_of(l->items[i].sums) == row->bytes)
			return l->items[i].sums;
	return NULL;
}

static struct tare_row row_of(const struct tare_row *parent, int at, const struct tare_category_sum *sum,
                              struct tare_arena *memory)
{
	const char *name = tare_category_name(sum->category);
	struct tare_row row = *parent;

	row.path = tare_fold_row_path(memory, parent->path, name);
	row.label = name;
	row.parent = at;
	row.depth = parent->depth + 1;
	row.leaf = row.is_category = true;
	row.has_categories = false;
	row.pool = 0;
	row.bytes = row.low = row.high = sum->bytes;
	row.count = sum->count;
	row.driver_ns = 0; /* of the segments: the parent has it */
	row.evidence = sum->evidence;
	return row;
}

static int add_parts(struct tare_row *to, int n, int parent, const struct tare_category_sum *sums,
                     struct tare_arena *memory)
{
	to[parent].leaf = false;
	to[parent].has_categories = true;
	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		if (sums[c].count)
			to[n++] = row_of(&to[parent], parent, &sums[c], memory);
	return n;
}

void tare_fold_category_rows(struct tare_pool_list *l, struct tare_arena *memory, struct tare_device_ledger *out)
{
	struct tare_row *to;
	int *place, n = 0;

	if (!l->count)
		return;
	to = tare_arena_alloc(memory, ((size_t)out->row_nr + l->count * TARE_CATEGORY_NR) * sizeof(*to));
	place = tare_xcalloc((size_t)out->row_nr + 1, sizeof(*place));
	for (int i = 0; i < out->row_nr; i++) {
		const struct tare_category_sum *sums = parts_of(l, &out->rows[i]);

		place[i] = n;
		to[n] = out->rows[i];
		if (to[n].parent >= 0)
			to[n].parent = place[to[n].parent];
		n++;
		if (sums)
			n = add_parts(to, n, n - 1, sums, memory);
	}
	out->rows = to;
	out->row_nr = n;
	free(place);
	free(l->items);
	*l = (struct tare_pool_list){ 0 };
}

/* ---- the memory of the CPU ---- */

void tare_fold_host_category_rows(const struct tare_category_sum *sums, struct tare_arena *memory,
                                  struct tare_host_ledger *out)
{
	if (!out->tensors.bytes || bytes_of(sums) != out->tensors.bytes)
		return;
	out->categories = tare_arena_alloc(memory, TARE_CATEGORY_NR * sizeof(*out->categories));
	for (int c = 0; c < TARE_CATEGORY_NR; c++)
		if (sums[c].count)
			out->categories[out->category_nr++] = sums[c];
}
