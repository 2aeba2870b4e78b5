/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the ticks of a clock to nanoseconds: which pairs of readings of two clocks are kept, and the straight lines
 * between them.
 */
#include "trace/clockmap.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/comparator.h"
#include "base/owned.h"

#include <stdlib.h>

/* Reading three clocks in a row takes up to a microsecond; closer pairs give no useful rate. */
#define MIN_DISTANCE_NS 10000000u

void tare_clockmap_add(struct tare_clockmap *map, uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	if (ticks == 0 || monotonic_ns == 0 || ticks > (uint64_t)TARE_CLOCK_FAR_NS ||
	    monotonic_ns > (uint64_t)TARE_CLOCK_FAR_NS || realtime_ns > 4 * (uint64_t)TARE_CLOCK_FAR_NS)
		return;
	TARE_APPEND(map->pairs, map->pair_nr, map->pair_cap) = (struct tare_clockmap_pair){
		.ticks = ticks,
		.monotonic_ns = monotonic_ns,
		.realtime_ns = realtime_ns,
	};
}

TARE_COMPARATOR(by_ticks, struct tare_clockmap_pair, TARE_RISING(ticks) TARE_RISING(monotonic_ns))

/*
 * Both clocks only go forward: keeps the longest series of pairs in which they do. (The classic
 * longest increasing subsequence: tops[n] is the pair with the smallest time that ends a series of
 * n + 1 pairs, before[] links each pair to the one before it in its series.)
 */
static void keep_longest_series(struct tare_clockmap *map)
{
	TARE_FREED_HERE size_t *tops = tare_xcalloc(map->pair_nr, sizeof(*tops));
	TARE_FREED_HERE size_t *before = tare_xcalloc(map->pair_nr, sizeof(*before));
	size_t length = 0, at;

	for (size_t i = 0; i < map->pair_nr; i++) {
		size_t low = 0;

		if (i > 0 && map->pairs[i].ticks == map->pairs[i - 1].ticks)
			continue;
		TARE_BISECT(low, length, n, map->pairs[tops[n]].monotonic_ns < map->pairs[i].monotonic_ns);
		before[i] = low > 0 ? tops[low - 1] : i;
		tops[low] = i;
		if (low == length)
			length++;
	}
	at = length > 0 ? tops[length - 1] : 0;
	for (size_t n = length; n > 0; n--) {
		tops[n - 1] = at;
		at = before[at];
	}
	for (size_t n = 0; n < length; n++)
		map->pairs[n] = map->pairs[tops[n]];
	map->pair_nr = length;
}

static double rate(const struct tare_clockmap_pair *a, const struct tare_clockmap_pair *b)
{
	return (double)(b->monotonic_ns - a->monotonic_ns) / (double)(b->ticks - a->ticks);
}

/*
 * Adds the pair at `i` to those before `kept`, which are thinned out: of pairs closer than the least distance the last of the map stands in place
 * of the one before it, until another one comes.
 */
static size_t keep(struct tare_clockmap *map, size_t kept, size_t i)
{
	const struct tare_clockmap_pair pair = map->pairs[i];

	if (map->is_last_close) {
		kept -= !map->has_replaced;
		if (map->has_replaced)
			map->pairs[kept - 1] = map->replaced;
	}
	map->is_last_close = pair.monotonic_ns - map->pairs[kept - 1].monotonic_ns < MIN_DISTANCE_NS;
	map->has_replaced = map->is_last_close && kept > 1;
	if (map->has_replaced)
		map->replaced = map->pairs[--kept];
	map->pairs[kept++] = pair;
	return kept;
}

static void thin_out(struct tare_clockmap *map)
{
	size_t kept = 1;

	map->is_last_close = map->has_replaced = false;
	for (size_t i = 1; i < map->pair_nr; i++)
		kept = keep(map, kept, i);
	map->pair_nr = kept;
}

static int64_t offset_of(const struct tare_clockmap_pair *pair)
{
	return (int64_t)(pair->realtime_ns - pair->monotonic_ns);
}

static void find_moved(struct tare_clockmap *map)
{
	int64_t low = INT64_MAX, high = INT64_MIN;

	for (size_t i = 0; i < map->pair_nr; i++) {
		const struct tare_clockmap_pair *pair = &map->pairs[i];

		if (pair->realtime_ns <= pair->monotonic_ns)
			continue; /* not read */
		low = offset_of(pair) < low ? offset_of(pair) : low;
		high = offset_of(pair) > high ? offset_of(pair) : high;
	}
	map->realtime_moved_ns = high > low ? high - low : 0;
}

/* ns of a tick where no pair follows. */
static double usual_rate(const struct tare_clockmap *map)
{
	if (map->clock == TARE_CLOCK_MONOTONIC_NS)
		return 1;
	if (map->ticks_per_s > 0)
		return 1e9 / (double)map->ticks_per_s;
	return map->pair_nr > 1 ? rate(&map->pairs[0], &map->pairs[map->pair_nr - 1]) : 1;
}

/* From this pair on. */
static void set_rates(struct tare_clockmap *map, size_t from)
{
	map->is_rate_known = map->ticks_per_s > 0 || map->pair_nr > 1 || map->clock == TARE_CLOCK_MONOTONIC_NS;
	for (size_t i = from; i < map->pair_nr; i++)
		map->pairs[i].ns_per_tick = i + 1 < map->pair_nr ? rate(&map->pairs[i], &map->pairs[i + 1]) : usual_rate(map);
	map->settled_nr = map->pair_nr;
}

void tare_clockmap_settle(struct tare_clockmap *map)
{
	if (map->pair_nr > 0) {
		TARE_SORT(map->pairs, map->pair_nr, by_ticks);
		keep_longest_series(map);
		thin_out(map);
		find_moved(map);
		if (map->pairs[0].realtime_ns > map->pairs[0].monotonic_ns)
			map->realtime_offset_ns = (int64_t)(map->pairs[0].realtime_ns - map->pairs[0].monotonic_ns);
	}
	set_rates(map, 0);
}

/* Both clocks went forward. */
static bool follows(const struct tare_clockmap_pair *a, const struct tare_clockmap_pair *b)
{
	return b->ticks > a->ticks && b->monotonic_ns > a->monotonic_ns;
}

void tare_clockmap_go_on(struct tare_clockmap *map)
{
	size_t known = map->settled_nr, kept = known;

	if (known == map->pair_nr)
		return;
	for (size_t i = known; i < map->pair_nr; i++)
		if (!i || !follows(&map->pairs[i - 1], &map->pairs[i])) {
			tare_clockmap_settle(map);
			return;
		}
	for (size_t i = known; i < map->pair_nr; i++)
		kept = keep(map, kept, i);
	map->pair_nr = kept;
	set_rates(map, known > 2 ? known - 2 : 0);
}

/* The last pair that is not behind it; the first, where all are. */
static size_t pair_of(struct tare_clockmap *map, uint64_t ticks)
{
	size_t i = map->last;

	if (i >= map->pair_nr || map->pairs[i].ticks > ticks)
		i = 0;
	if (i + 1 < map->pair_nr && map->pairs[i + 1].ticks <= ticks) {
		size_t high = map->pair_nr;

		while (i + 1 < high) {
			size_t mid = (i + high) / 2;

			if (map->pairs[mid].ticks <= ticks)
				i = mid;
			else
				high = mid;
		}
	}
	map->last = i;
	return i;
}

struct tare_clock_line tare_clockmap_line(struct tare_clockmap *map, uint64_t ticks)
{
	const struct tare_clockmap_pair *pair;
	size_t i;

	if (map->clock == TARE_CLOCK_MONOTONIC_NS || map->pair_nr == 0)
		return (struct tare_clock_line){ .until = UINT64_MAX };
	i = pair_of(map, ticks);
	pair = &map->pairs[i];
	return (struct tare_clock_line){
		.from = i ? pair->ticks : 0,
		.until = i + 1 < map->pair_nr ? map->pairs[i + 1].ticks : UINT64_MAX,
		.ticks = pair->ticks,
		.ns = (int64_t)pair->monotonic_ns,
		.ns_per_tick = pair->ns_per_tick,
	};
}

int64_t tare_clockmap_ns(struct tare_clockmap *map, uint64_t ticks)
{
	struct tare_clock_line line = tare_clockmap_line(map, ticks);

	return tare_clock_line_ns(&line, ticks);
}

void tare_clockmap_free(struct tare_clockmap *map)
{
	free(map->pairs);
	map->pairs = NULL;
	map->pair_nr = map->pair_cap = 0;
}
