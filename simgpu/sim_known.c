/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of the device copies, fills and collectives have written for real, as pieces in order of address. Pieces
 * that touch are one, so a program that copies into the same places over and over adds none.
 */
#include <stdlib.h>
#include <string.h>

#include "sim_answer.h"

struct piece {
	uint64_t start, end;
};

static struct piece *pieces;
static size_t count, room;

/* The number of pieces that end before an address, or there if `is_touching` is false. */
static size_t position(uint64_t address, bool is_touching)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pieces[middle].end < address || (!is_touching && pieces[middle].end == address))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* `with` pieces in place of those from `first` to `last`. False: there is no memory for more. */
static bool replace(size_t first, size_t last, const struct piece *with, size_t with_nr)
{
	size_t wanted = count - (last - first) + with_nr;

	if (wanted > room) {
		size_t more = room ? room * 2 : 64;
		struct piece *grown = realloc(pieces, more * sizeof(*pieces));

		if (!grown)
			return false;
		pieces = grown;
		room = more;
	}
	memmove(pieces + first + with_nr, pieces + last, (count - last) * sizeof(*pieces));
	memcpy(pieces + first, with, with_nr * sizeof(*pieces));
	count = wanted;
	return true;
}

void sim_known_add(uint64_t start, uint64_t size)
{
	struct piece whole = { start, start + size };
	size_t first = position(start, true), last = first;

	if (!size)
		return;
	while (last < count && pieces[last].start <= whole.end) {
		if (pieces[last].start < whole.start)
			whole.start = pieces[last].start;
		if (pieces[last].end > whole.end)
			whole.end = pieces[last].end;
		last++;
	}
	replace(first, last, &whole, 1);
}

void sim_known_remove(uint64_t start, uint64_t size)
{
	uint64_t end = start + size;
	size_t first = position(start, false), last = first, left_nr = 0;
	struct piece left[2];

	if (!size)
		return;
	while (last < count && pieces[last].start < end) {
		if (pieces[last].start < start)
			left[left_nr++] = (struct piece){ pieces[last].start, start };
		if (pieces[last].end > end)
			left[left_nr++] = (struct piece){ end, pieces[last].end };
		last++;
	}
	if (last > first && !replace(first, last, left, left_nr))
		pieces[first].end = start; /* no memory: what lies behind is forgotten, too */
}

bool sim_known_next(uint64_t at, uint64_t end, uint64_t *start, uint64_t *until)
{
	size_t i = position(at, false);

	if (at >= end || i == count || pieces[i].start >= end)
		return false;
	*start = pieces[i].start > at ? pieces[i].start : at;
	*until = pieces[i].end < end ? pieces[i].end : end;
	return true;
}
