/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free blocks of a pool and a stream, sorted by size into bins: the functions that are called rarely, or for large
 * bins.
 */
#include "allocator/free_set.h"

#include "base/array.h"

#include <stdlib.h>

struct tare_free_set *tare_free_set_new(uint32_t pool)
{
	struct tare_free_set *set = tare_xcalloc(1, sizeof(*set));

	set->pool = pool;
	set->bin_count = 1;
	return set;
}

void tare_free_set_delete(struct tare_free_set *set)
{
	for (uint32_t i = 1; set && i < set->bin_count; i++)
		if (set->bins[i].cap > TARE_FREE_FEW)
			free(set->bins[i].entries);
	if (set)
		free(set->bins);
	free(set);
}

/* Room for twice as many bins. Those that have their entries in themselves take them along. */
static void more_bins(struct tare_free_set *set)
{
	uint32_t cap = set->bin_cap ? 2 * set->bin_cap : 16;

	set->bins = tare_xrealloc_lines(set->bins, set->bin_cap, cap, sizeof(*set->bins));
	for (uint32_t i = 1; i < set->bin_count; i++)
		if (set->bins[i].cap == TARE_FREE_FEW)
			set->bins[i].entries = set->bins[i].few;
	set->bin_cap = cap;
}

uint32_t tare_free_bin_new(struct tare_free_set *set, uint32_t number)
{
	uint32_t at = set->bin_count;

	if (at >= set->bin_cap)
		more_bins(set);
	set->bin_count++;
	set->bins[at] = (struct tare_free_bin){ .cap = TARE_FREE_FEW };
	set->bins[at].entries = set->bins[at].few;
	set->bin_at[number] = (uint16_t)at;
	return at;
}

void tare_free_bin_grow(struct tare_free_bin *bin)
{
	bool is_inside = bin->cap == TARE_FREE_FEW;
	struct tare_free_entry *more;

	bin->cap = 4 * bin->cap;
	more = tare_xrealloc(is_inside ? NULL : bin->entries, bin->cap, sizeof(*more));
	if (is_inside)
		memcpy(more, bin->few, sizeof(bin->few));
	bin->entries = more;
}

/* The least of the children that begin at `from`: without a branch, for which it is cannot be foreseen. */
static inline uint32_t least_child(const struct tare_free_bin *bin, uint32_t from)
{
	uint32_t least = from, end = from + TARE_FREE_CHILDREN;

	if (end > bin->count)
		end = bin->count;
	for (uint32_t i = from + 1; i < end; i++)
		least += (i - least) & -(uint32_t)tare_free_is_less(&bin->entries[i], &bin->entries[least]);
	return least;
}

void tare_free_bin_fill(struct tare_free_bin *bin, struct tare_cache_block *blocks, uint32_t at,
                        const struct tare_free_entry *e)
{
	uint32_t child;

	while ((child = TARE_FREE_CHILDREN * at + 1) < bin->count) {
		child = least_child(bin, child);
		if (!tare_free_is_less(&bin->entries[child], e))
			break;
		tare_free_bin_put(bin, blocks, at, &bin->entries[child]);
		at = child;
	}
	tare_free_bin_rise(bin, blocks, at, e);
}

const struct tare_free_entry *tare_free_bin_least(const struct tare_free_bin *bin, uint64_t size, uint64_t order)
{
	struct tare_free_entry from = { .order = order, .size = size };
	const struct tare_free_entry *least = NULL;

	for (uint32_t i = 0; i < bin->count; i++) {
		const struct tare_free_entry *e = &bin->entries[i];

		if (!tare_free_is_less(e, &from) && (!least || tare_free_is_less(e, least)))
			least = e;
	}
	return least;
}

const struct tare_free_entry *tare_free_set_behind(const struct tare_free_set *set, uint64_t size, uint64_t order)
{
	uint32_t b = tare_free_bin_of(size);
	const struct tare_free_entry *e = NULL;

	if (set->bin_at[b])
		e = tare_free_bin_least(&set->bins[set->bin_at[b]], size + (order == UINT64_MAX), order + 1);
	if (e)
		return e;
	b = tare_free_set_from(set, b + 1);
	return b == TARE_FREE_BINS ? NULL : set->bins[set->bin_at[b]].entries;
}

/* The greatest that is less than this one. */
static const struct tare_free_entry *greatest(const struct tare_free_bin *bin, uint64_t size, uint64_t order)
{
	struct tare_free_entry to = { .order = order, .size = size };
	const struct tare_free_entry *found = NULL;

	for (uint32_t i = 0; i < bin->count; i++) {
		const struct tare_free_entry *e = &bin->entries[i];

		if (tare_free_is_less(e, &to) && (!found || tare_free_is_less(found, e)))
			found = e;
	}
	return found;
}

/* The last bin up to this number that is not empty; TARE_FREE_BINS: there is none. */
static uint32_t last_bin(const struct tare_free_set *set, uint32_t bin)
{
	uint32_t word = bin / 64;
	uint64_t bits = set->words[word] & (~0ull >> (63 - bin % 64)), summary;

	if (!bits) {
		summary = set->summary & ((1ull << word) - 1);
		if (!summary)
			return TARE_FREE_BINS;
		word = 63 - (uint32_t)__builtin_clzll(summary);
		bits = set->words[word];
	}
	return word * 64 + 63 - (uint32_t)__builtin_clzll(bits);
}

const struct tare_free_entry *tare_free_set_before(const struct tare_free_set *set, uint64_t size, uint64_t order)
{
	uint32_t b = last_bin(set, tare_free_bin_of(size));

	while (b < TARE_FREE_BINS) {
		const struct tare_free_entry *e = greatest(&set->bins[set->bin_at[b]], size, order);

		if (e || !b)
			return e;
		b = last_bin(set, b - 1);
	}
	return NULL;
}

bool tare_free_set_has(const struct tare_free_set *set, uint64_t size, uint32_t at, uint32_t block)
{
	const struct tare_free_bin *bin = &set->bins[set->bin_at[tare_free_bin_of(size)]];
	const struct tare_free_entry *e = &bin->entries[at];

	return at < bin->count && e->block == block && e->size == size &&
	       !(at && tare_free_is_less(e, &bin->entries[(at - 1) / TARE_FREE_CHILDREN]));
}

static int compare(const void *a, const void *b)
{
	const struct tare_free_entry *x = a, *y = b;

	if (tare_free_is_less(x, y))
		return -1;
	return tare_free_is_less(y, x);
}

/* Sorted entries are a heap still, but no block would know its place: a copy is sorted. */
static void list_bin(const struct tare_free_bin *bin, uint32_t *blocks)
{
	struct tare_free_entry *sorted = tare_xrealloc(NULL, bin->count, sizeof(*sorted));

	memcpy(sorted, bin->entries, bin->count * sizeof(*sorted));
	qsort(sorted, bin->count, sizeof(*sorted), compare);
	for (uint32_t i = 0; i < bin->count; i++)
		blocks[i] = sorted[i].block;
	free(sorted);
}

uint32_t *tare_free_set_list(const struct tare_free_set *set, uint32_t *blocks, size_t *count, size_t *cap)
{
	for (uint32_t b = tare_free_set_from(set, 0); b < TARE_FREE_BINS; b = tare_free_set_from(set, b + 1)) {
		const struct tare_free_bin *bin = &set->bins[set->bin_at[b]];

		blocks = tare_array_reserve(blocks, cap, *count + bin->count, sizeof(*blocks));
		if (bin->count == 1)
			blocks[*count] = bin->entries->block;
		else
			list_bin(bin, &blocks[*count]);
		*count += bin->count;
	}
	return blocks;
}
