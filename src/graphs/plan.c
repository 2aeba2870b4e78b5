/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic storage allocation, known beforehand. Optimal is NP-hard; so several orders of placing,
 * each item at the lowest gap between the items in its way, and then rounds that place first what
 * stood highest. For what neural networks allocate, one of the orders nearly always reaches the
 * floor; tests/unit/graphs/t_graphs_plan.c compares with brute force.
 */
#include "graphs/plan.h"

#include <stdlib.h>
#include <string.h>

/* Rounds per order; a round is quadratic in the number of items. */
#define ROUNDS       32
#define ROUNDS_ITEMS 256

bool tare_plan_conflict(const struct tare_item *a, const struct tare_item *b)
{
	return a->stream != b->stream || (a->born < b->died && b->born < a->died);
}

uint64_t tare_plan_floor(const struct tare_item *items, size_t count)
{
	uint64_t best, live, floor = 0;
	size_t i, j;

	/* Streams share no bytes, so the most bytes alive are summed over streams. */
	for (i = 0; i < count; i++) {
		bool is_first = true;

		for (j = 0; j < i && is_first; j++)
			is_first = items[j].stream != items[i].stream;
		if (!is_first)
			continue;
		best = 0;
		for (j = i; j < count; j++) {
			if (items[j].stream != items[i].stream)
				continue;
			live = 0;
			for (size_t k = 0; k <= j; k++)
				if (items[k].stream == items[i].stream && items[k].died > items[j].born)
					live += items[k].bytes;
			best = live > best ? live : best;
		}
		floor += best;
	}
	return floor;
}

struct place {
	const struct tare_item *item;
	uint64_t offset;
	uint64_t key; /* items with a larger key are placed first */
	size_t index;
};

static int by_key(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_offset(const void *a, const void *b)
{
	const struct place *x = *(struct place *const *)a, *y = *(struct place *const *)b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The lowest offset at which place[at] overlaps no item that was placed before. */
static uint64_t lowest(const struct place *places, size_t at, const struct place **sorted)
{
	uint64_t offset = 0;
	size_t i, n = 0;

	for (i = 0; i < at; i++)
		if (tare_plan_conflict(places[i].item, places[at].item))
			sorted[n++] = &places[i];
	qsort(sorted, n, sizeof(*sorted), by_offset);
	for (i = 0; i < n; i++) {
		uint64_t end = sorted[i]->offset + sorted[i]->item->bytes;

		if (offset + places[at].item->bytes <= sorted[i]->offset)
			break;
		offset = end > offset ? end : offset;
	}
	return offset;
}

static uint64_t place_all(struct place *places, size_t count, const struct place **sorted)
{
	uint64_t high = 0;
	size_t i;

	qsort(places, count, sizeof(*places), by_key);
	for (i = 0; i < count; i++) {
		uint64_t end;

		places[i].offset = lowest(places, i, sorted);
		end = places[i].offset + places[i].item->bytes;
		high = end > high ? end : high;
	}
	return high;
}

static uint64_t span_of(const struct tare_item *item, uint64_t last)
{
	return (item->died < last ? item->died : last) - item->born;
}

static uint64_t key_of(const struct tare_item *item, int order, uint64_t last)
{
	switch (order) {
	case 0:
		return item->bytes;
	case 1:
		return span_of(item, last);
	case 2:
		return item->bytes * (span_of(item, last) + 1);
	case 3:
		return last - item->born; /* in order of allocation */
	default:
		return item->died < last ? item->died : last; /* in order of free, the last first */
	}
}
#define ORDERS 5

static void keep(struct tare_item *items, const struct place *places, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		items[places[i].index].offset = places[i].offset;
}

static uint64_t high_of(const struct tare_item *items, size_t count)
{
	uint64_t high = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (items[i].offset + items[i].bytes > high)
			high = items[i].offset + items[i].bytes;
	return high;
}

/* The item that stood highest, and so made the plan high, is placed first in the next round. */
static void promote(struct place *places, size_t count, uint64_t high)
{
	uint64_t top = 0;
	size_t i;

	for (i = 0; i < count; i++)
		top = places[i].key > top ? places[i].key : top;
	for (i = 0; i < count; i++)
		if (places[i].offset + places[i].item->bytes == high)
			places[i].key = top + 1;
}

static uint64_t improve(struct tare_item *items, size_t count, struct place *places, const struct place **sorted)
{
	uint64_t last = 0, best = high_of(items, count), floor = tare_plan_floor(items, count);
	int order, round, rounds = count <= ROUNDS_ITEMS ? ROUNDS : 1;
	size_t i;

	for (i = 0; i < count; i++)
		last = items[i].born > last ? items[i].born : last;
	for (order = 0; order < ORDERS && best > floor; order++) {
		for (i = 0; i < count; i++)
			places[i] = (struct place){ &items[i], 0, key_of(&items[i], order, last + 1), i };
		for (round = 0; round < rounds && best > floor; round++) {
			uint64_t high = place_all(places, count, sorted);

			if (high < best) {
				keep(items, places, count);
				best = high;
			}
			promote(places, count, high);
		}
	}
	return best;
}

uint64_t tare_plan(struct tare_item *items, size_t count)
{
	struct place *places = calloc(count + 1, sizeof(*places));
	const struct place **sorted = calloc(count + 1, sizeof(const struct place *));
	uint64_t high = UINT64_MAX;

	if (places && sorted)
		high = improve(items, count, places, sorted);
	free(places);
	free(sorted);
	return high;
}
