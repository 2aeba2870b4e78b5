/* SPDX-License-Identifier: Apache-2.0 */
/* All address ranges that the driver knows, in order of address. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "sim_answer.h"
#include "sim_overflow.h"

static struct sim_range **ranges;
static size_t count, room;
static uint64_t last_id;

/* The number of ranges that begin at or before an address. */
static size_t position(uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle]->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct sim_range *sim_range_add(enum sim_range_kind kind, uint64_t start, uint64_t size)
{
	struct sim_range *range;
	size_t at;

	if (count == room) {
		size_t wanted = room ? room * 2 : 256;
		void *more = realloc(ranges, wanted * sizeof(*ranges));

		if (!more)
			return NULL;
		ranges = more;
		room = wanted;
	}
	range = calloc(1, sizeof(*range));
	if (!range)
		return NULL;
	range->kind = kind;
	range->start = start;
	range->size = range->span = size;
	range->id = ++last_id;
	at = position(start);
	memmove(ranges + at + 1, ranges + at, (count - at) * sizeof(*ranges));
	ranges[at] = range;
	count++;
	return range;
}

void sim_range_remove(struct sim_range *range)
{
	size_t at = position(range->start);

	if (!at || ranges[at - 1] != range)
		return;
	memmove(ranges + at - 1, ranges + at, (count - at) * sizeof(*ranges));
	count--;
	sim_known_remove(range->start, range->size);
	sim_overflow_forget(range->start, range->size);
	free(range->touched);
	free(range);
}

struct sim_range *sim_range_at(uint64_t address)
{
	size_t at = position(address);

	return at && address - ranges[at - 1]->start < ranges[at - 1]->size ? ranges[at - 1] : NULL;
}

struct sim_range *sim_range_exactly(uint64_t start)
{
	size_t at = position(start);

	return at && ranges[at - 1]->start == start ? ranges[at - 1] : NULL;
}

struct sim_range *sim_range_of(const struct sim_context *context)
{
	size_t i;

	for (i = count; i > 0; i--)
		if (ranges[i - 1]->context == context)
			return ranges[i - 1];
	return NULL;
}

struct sim_range *sim_range_owned(const void *owner)
{
	size_t i;

	for (i = count; i > 0; i--)
		if (ranges[i - 1]->owner == owner)
			return ranges[i - 1];
	return NULL;
}
