/* SPDX-License-Identifier: Apache-2.0 */
/* Works out what a server takes, and the largest cache that is safe: `--by serving`. */
#include "view/serving.h"

#include <math.h>
#include <string.h>

#define PAGE INT64_C(2097152) /* of the driver: a cache is of whole ones */

static const char *program_of(const struct tare_device_ledger *d, int64_t pid)
{
	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].account == TARE_ACCOUNT_PROCESS && d->rows[i].pid == pid)
			return d->rows[i].label;
	return NULL;
}

/* When the last of the weights was there that came before the cache; -1: there are none. */
static int64_t loaded_ns(const struct tare_serving *s)
{
	int64_t last = -1;

	for (int i = 0; i < s->device->tensors.count; i++) {
		const struct tare_tensor_row *t = &s->device->tensors.items[i];

		if (t->pid == s->pid && t->born_ns > last && t->born_ns < s->cache_ns &&
		    tare_rules[t->rule].category == TARE_CATEGORY_PARAMETER)
			last = t->born_ns;
	}
	return last;
}

/* Of stretches that begin in from … until, as one; what came before `from` is not looked at. */
static struct tare_need needs_in(const struct tare_device_ledger *d, int64_t from, int64_t until, int64_t least)
{
	struct tare_need sum = { .from_ns = -1 };

	for (int i = 0; i < d->need_nr; i++) {
		struct tare_need n = d->needs[i];
		bool is_begun = i + 1 == d->need_nr || d->needs[i + 1].from_ns > from;

		if (!is_begun || n.from_ns >= until)
			continue;
		if (n.least < least)
			break;
		if (n.most_ns < from) {
			n.most = n.last;
			n.most_ns = from;
		}
		if (n.fall_ns < from)
			n.fall = 0;
		if (sum.from_ns < 0)
			sum = n;
		else
			tare_need_join(&sum, &n);
	}
	return sum;
}

/* The highest level to which it fell again while the cache was there: a moment at which nothing was under way. */
static int64_t trough_of(const struct tare_serving *s, int64_t least)
{
	const struct tare_device_ledger *d = s->device;
	int64_t highest = INT64_MIN;

	for (int i = 0; i < d->need_nr; i++) {
		int64_t low = d->needs[i].least;

		if (d->needs[i].from_ns < s->cache_ns)
			continue;
		if (low < least)
			break;
		if (i + 1 < d->need_nr && d->needs[i + 1].least < low && d->needs[i + 1].least >= least)
			low = d->needs[i + 1].least;
		if (low > highest)
			highest = low;
	}
	return highest;
}

/* Of those since the cache came, the first in which less than half of it is left is behind its end. */
static void needs_of(struct tare_serving *s, int64_t unrecorded)
{
	struct tare_need before = needs_in(s->device, loaded_ns(s), s->cache_ns, INT64_MIN);
	struct tare_need since = needs_in(s->device, s->cache_ns, INT64_MAX, before.last + s->cache / 2);

	int64_t trough = trough_of(s, before.last + s->cache / 2);

	s->came_before = before.last;
	s->before = before.fall;
	s->before_ns = before.fall ? before.fall_ns : -1;
	if (since.from_ns < 0)
		since.most = trough = before.last + s->cache;
	s->stays = trough - s->cache + unrecorded;
	s->since = since.most > trough ? since.most - trough : 0;
	s->since_ns = s->since ? since.most_ns : -1;
	s->on_top = s->before > s->since ? s->before : s->since;
}

/* What is in use and no row of a recorded process has. */
static int64_t unrecorded_of(const struct tare_serving *s)
{
	int64_t bytes = (int64_t)s->device->used + s->counted;

	for (int i = 0; i < s->device->row_nr; i++)
		if (s->device->rows[i].leaf && s->device->rows[i].pid >= 0)
			bytes -= s->device->rows[i].bytes;
	return bytes;
}

static void room_of(struct tare_serving *s)
{
	const struct tare_device_ledger *d = s->device;
	uint64_t used = d->used;

	s->reserved = d->reserved == TARE_NOT_KNOWN ? 0 : (int64_t)d->reserved;
	s->room = (int64_t)d->total - s->reserved;
	if (d->card.is_there && d->card.used != TARE_NOT_KNOWN) {
		s->reserved = (int64_t)d->card.reserved;
		s->room = (int64_t)(d->card.total - d->card.reserved);
		used = d->card.used;
		s->counted = (int64_t)used - (int64_t)d->used;
	}
	s->left = s->room - (int64_t)used;
}

/* Of the server's own, what was there when it began to load: at least its context. */
static int64_t at_start_of(const struct tare_serving *s)
{
	int64_t bytes = 0, weights = -1;

	for (int i = 0; i < s->row_nr; i++)
		if (s->rows[i].what == TARE_COMING_WEIGHTS)
			weights = s->rows[i].first_ns;
	for (int i = 0; i < s->row_nr; i++)
		if (s->rows[i].first_ns >= 0 && s->rows[i].first_ns < weights)
			bytes += s->rows[i].bytes;
	return weights < 0 ? tare_serving_bytes(s, TARE_COMING_CONTEXT) : bytes;
}

/* What other recorded processes have: it is in what was needed before the cache, which is of all of them. */
static int64_t recorded_others_of(const struct tare_serving *s)
{
	int64_t bytes = 0;

	for (int i = 0; i < s->device->row_nr; i++)
		if (s->device->rows[i].leaf && s->device->rows[i].pid >= 0 && s->device->rows[i].pid != s->pid)
			bytes += s->device->rows[i].bytes;
	return bytes;
}

/* Rounded down: a thousandth more might be too much. Servers take no more than 1, which is a smaller cache, so it is safe. */
static double share(int64_t bytes, int64_t of)
{
	return of > 0 && bytes > 0 ? floor(fmin((double)bytes / (double)of, 1) * 1000) / 1000 : NAN;
}

/* docs/SERVING.md has how each server comes from its setting to its cache. */
static void settings_of(struct tare_serving *s, int64_t unrecorded)
{
	int64_t others = tare_serving_bytes(s, TARE_COMING_PROCESSES), own = at_start_of(s);
	int64_t at_start = s->room - others - own;
	int64_t at_cache = s->room - unrecorded - s->came_before;
	int64_t since_start = s->came_before - recorded_others_of(s) - own;
	int64_t wanted = s->safe + since_start + s->before;

	s->utilization = share(wanted < at_start ? wanted : at_start, s->room);
	s->fraction_static = share(at_start - (at_cache - s->safe), at_start);
	s->fraction_free = share(s->safe, at_cache);
}

bool tare_serving_find(struct tare_serving *out, const struct tare_ledger *ledger,
                       const struct tare_device_ledger *device, uint64_t graphs)
{
	struct tare_serving_cache cache;
	int64_t unrecorded;

	if (!tare_device_ledger_is_gpu(device) || device->used == TARE_NOT_KNOWN ||
	    !tare_serving_cache_find(&cache, ledger, device))
		return false;
	*out = (struct tare_serving){ .ledger = ledger,
		                          .device = device,
		                          .pid = cache.pid,
		                          .program = program_of(device, cache.pid),
		                          .cache = cache.bytes,
		                          .cache_ns = cache.first_ns,
		                          .cache_blocks = cache.blocks,
		                          .cache_line = cache.line,
		                          .cache_short_line = cache.short_line };
	room_of(out);
	tare_serving_rows_of(out, &cache);
	tare_serving_graphs_of(out, graphs);
	unrecorded = unrecorded_of(out);
	needs_of(out, unrecorded);
	out->safe = out->room - out->stays - out->on_top - out->graphs.to_come;
	out->safe = out->safe > 0 ? out->safe / PAGE * PAGE : 0;
	settings_of(out, unrecorded);
	return true;
}

bool tare_serving_is_found(const struct tare_ledger *ledger)
{
	struct tare_serving_cache cache;

	for (int i = 0; i < ledger->device_nr; i++)
		if (tare_serving_cache_find(&cache, ledger, &ledger->devices[i]))
			return true;
	return false;
}
