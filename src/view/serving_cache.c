/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "cache": of PyTorch's tensors that stay and are no weights, those of one line and one size that hold most, if
 * that is a share of the card. A cache may have a tensor for each layer, and one for keys beside one for values: lines of
 * one file that hold the same are one.
 */
#include "view/serving.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { SHARE = 64 }; /* of the card: less is no cache */

struct lines {
	struct line {
		struct tare_serving_cache of;
		int64_t size; /* of each tensor */
	} * items;
	size_t count, cap;
};

/* Was it made while a graph of its process was captured? */
static bool is_of_graph(const struct tare_ledger *l, const struct tare_device_ledger *d,
                        const struct tare_tensor_row *t)
{
	for (int i = 0; i < l->graph_nr; i++) {
		const struct tare_graph *g = &l->graphs[i];

		if (g->device == d->index && g->pid == t->pid && t->born_ns >= g->begin_ns && t->born_ns <= g->end_ns)
			return true;
	}
	return false;
}

static bool trains(const struct tare_ledger *l, int64_t pid)
{
	for (int i = 0; i < l->training_nr; i++)
		if (l->trainings[i].pid == pid && l->trainings[i].by != TARE_TRAINING_PHASES)
			return true;
	return false;
}

/* What a forward leaves in a program that trains is there for the way back. */
static bool may_be_cache(const struct tare_ledger *l, const struct tare_tensor_row *t)
{
	switch (tare_rules[t->rule].category) {
	case TARE_CATEGORY_PARAMETER:
	case TARE_CATEGORY_GRADIENT:
	case TARE_CATEGORY_OPTIMIZER:
		return false;
	case TARE_CATEGORY_ACTIVATION:
	case TARE_CATEGORY_TEMPORARY:
		return !trains(l, t->pid);
	default:
		return true;
	}
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static struct tare_serving_cache *line_of(struct lines *all, const struct tare_tensor_row *t)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].of.pid == t->pid && all->items[i].size == t->bytes && is_same(all->items[i].of.line, t->line))
			return &all->items[i].of;
	all->items = tare_array_reserve(all->items, &all->cap, all->count + 1, sizeof(*all->items));
	all->items[all->count] =
		(struct line){ { .pid = t->pid, .first_ns = t->born_ns, .line = t->line, .short_line = t->short_line },
		               t->bytes };
	return &all->items[all->count++].of;
}

static void add(struct lines *all, const struct tare_tensor_row *t)
{
	struct tare_serving_cache *line = line_of(all, t);

	line->bytes += t->bytes;
	line->blocks += t->count;
	if (t->born_ns >= 0 && t->born_ns < line->first_ns)
		line->first_ns = t->born_ns;
}

static bool is_same_file(const char *a, const char *b)
{
	size_t x = a ? strcspn(a, ":") : 0, y = b ? strcspn(b, ":") : 0;

	return x && x == y && !strncmp(a, b, x);
}

/* Keys and values of two lines. */
static void join_twin(const struct lines *all, struct tare_serving_cache *cache, size_t at)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct tare_serving_cache *twin = &all->items[i].of;

		if (i == at || twin->pid != cache->pid || twin->blocks != cache->blocks ||
		    all->items[i].size != all->items[at].size || !is_same_file(twin->line, cache->line))
			continue;
		cache->bytes += twin->bytes;
		cache->blocks += twin->blocks;
		if (twin->first_ns < cache->first_ns)
			cache->first_ns = twin->first_ns;
		return;
	}
}

/* So few tensors are larger than that, that the others need not be looked at. */
static bool is_small(const struct tare_device_ledger *d, const struct tare_tensor_row *t)
{
	return (uint64_t)t->bytes * t->count < d->total / SHARE / 1024;
}

bool tare_serving_cache_find(struct tare_serving_cache *out, const struct tare_ledger *ledger,
                             const struct tare_device_ledger *device)
{
	struct lines all = { 0 };
	size_t most = 0;
	bool is_found;

	if (device->total == TARE_NOT_KNOWN)
		return false;
	for (int i = 0; i < device->tensors.count; i++) {
		const struct tare_tensor_row *t = &device->tensors.items[i];

		if (!is_small(device, t) && may_be_cache(ledger, t) && !is_of_graph(ledger, device, t))
			add(&all, t);
	}
	for (size_t i = 1; i < all.count; i++)
		if (all.items[i].of.bytes > all.items[most].of.bytes)
			most = i;
	is_found = all.count && (uint64_t)all.items[most].of.bytes >= device->total / SHARE;
	if (is_found) {
		*out = all.items[most].of;
		join_twin(&all, out, most);
	}
	free(all.items);
	return is_found;
}
