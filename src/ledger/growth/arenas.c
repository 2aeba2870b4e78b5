/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "growth": small objects of Python lie in arenas of a MiB, and which of the lines that make some has the next one mapped is chance. So
 * none of these lines may grow steadily where all of them together do. What they have in common is the function that calls them.
 *
 * It is told if it goes on in the same lines. A program that reads one thing after the other for as long as it starts
 * has them in a function as well, but each line of that ends before the next one begins.
 */
#include "ledger/growth/growth.h"

#include <string.h>

enum { PARTS = 3 }; /* of the time: a line that goes on has arenas in the first and in the last */

static bool is_of(const struct tare_growth_arenas *a, size_t i)
{
	return a->fold->buckets[a->courses[i]->id].process == a->process;
}

static const struct tare_site *site_of(const struct tare_growth_arenas *a, size_t i)
{
	return &a->fold->sites[a->fold->buckets[a->courses[i]->id].site];
}

static int64_t rise_of(const struct tare_growth_arenas *a, size_t i, int from, int to)
{
	int64_t rise = a->courses[i]->least[to] - a->courses[i]->least[from];

	return rise > 0 && is_of(a, i) ? rise : 0;
}

/* Where that function was in the stack; NULL: it was not. */
static const struct tare_line *frame_of(const struct tare_site *site, const struct tare_line *function)
{
	for (uint32_t i = 0; i < site->python->depth; i++) {
		const struct tare_line *frame = &site->python->lines[i];

		if (!strcmp(frame->function, function->function) && !strcmp(frame->file, function->file))
			return frame;
	}
	return NULL;
}

/* What came between two columns in that function, and in what it called; of one line of it, if that is given. */
static int64_t came_in(const struct tare_growth_arenas *a, const struct tare_line *function, bool in_its_line, int from,
                       int to)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct tare_line *frame = is_of(a, i) ? frame_of(site_of(a, i), function) : NULL;

		if (frame && (!in_its_line || frame->line == function->line))
			bytes += rise_of(a, i, from, to);
	}
	return bytes;
}

/* The place by which most came. */
static size_t most_of(const struct tare_growth_arenas *a)
{
	size_t most = 0;

	for (size_t i = 1; i < a->count; i++)
		if (rise_of(a, i, a->first, a->last) > rise_of(a, most, a->first, a->last))
			most = i;
	return most;
}

/* The innermost function of the program's own in which three quarters came. */
static const struct tare_line *function_of(const struct tare_growth_arenas *a, size_t place, int64_t all)
{
	const struct tare_line_stack *stack = site_of(a, place)->python;

	for (const struct tare_line *at = tare_line_of_user(stack); at < stack->lines + stack->depth; at++)
		if (4 * came_in(a, at, false, a->first, a->last) >= 3 * all)
			return at;
	return NULL;
}

/* Did half of it come by lines that went on? */
static bool goes_on(const struct tare_growth_arenas *a, const struct tare_line *function, int64_t all)
{
	int part = (a->last - a->first) / PARTS;
	int64_t bytes = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct tare_line *frame = is_of(a, i) ? frame_of(site_of(a, i), function) : NULL;

		if (frame && came_in(a, frame, true, a->first, a->first + part) &&
		    came_in(a, frame, true, a->last - part, a->last))
			bytes += rise_of(a, i, a->first, a->last);
	}
	return 2 * bytes >= all;
}

const struct tare_line *tare_growth_of_arenas(const struct tare_growth_arenas *a, uint32_t *site)
{
	const struct tare_line *function;
	int64_t all = 0;
	size_t place;

	for (size_t i = 0; i < a->count; i++)
		all += rise_of(a, i, a->first, a->last);
	if (!all)
		return NULL;
	place = most_of(a);
	function = function_of(a, place, all);
	*site = a->fold->buckets[a->courses[place]->id].site;
	return function && goes_on(a, function, all) ? function : NULL;
}
