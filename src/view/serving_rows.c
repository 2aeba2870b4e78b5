/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger's rows once more, by what a server takes. Each leaf goes to one kind; of PyTorch's memory the weights are a
 * leaf, the cache is its tensors, what graphs hold is their segments, and the rest is the difference.
 */
#include "view/serving.h"

#include "base/comparator.h"

#include <stdlib.h>
#include <string.h>

/* The library of a row, out of its path: "process:431/allocations/libc10_cuda/partly". */
static const char *owner_of(const struct tare_row *row, char *name, size_t size)
{
	const char *key = tare_accounts[row->account].key, *at = row->path;
	size_t len = strlen(key), n;

	while ((at = strstr(at, key)) != NULL && at[len] != '/')
		at += len;
	if (!at)
		return NULL;
	at += len + 1;
	n = strcspn(at, "/");
	if (n >= size)
		return NULL;
	memcpy(name, at, n);
	name[n] = 0;
	return tare_owner_name(name);
}

static bool is_called(const struct tare_row *row, const char *name)
{
	const char *slash = strrchr(row->path, '/');

	return slash && !strcmp(slash + 1, name);
}

static enum tare_coming of_torch(const struct tare_row *row)
{
	if (is_called(row, "cached"))
		return TARE_COMING_CACHED;
	if (row->is_category && is_called(row, "parameter"))
		return TARE_COMING_WEIGHTS;
	return TARE_COMING_TENSORS;
}

static enum tare_coming kind_of(const struct tare_serving *s, const struct tare_row *row)
{
	enum tare_coming what;
	char name[256];

	if (row->pid >= 0 && row->pid != s->pid)
		return TARE_COMING_PROCESSES;
	what = tare_coming_of(row->account, owner_of(row, name, sizeof(name)));
	return what == TARE_COMING_TENSORS ? of_torch(row) : what;
}

static int64_t graph_segments(const struct tare_serving *s)
{
	int64_t bytes = 0;

	for (int i = 0; i < s->device->segment_nr; i++) {
		const struct tare_pool_segment *segment = &s->device->segments[i];

		if (segment->pid == s->pid && segment->is_of_graph && (segment->is_held || segment->blocks))
			bytes += segment->bytes;
	}
	return bytes;
}

static int64_t first_weight(const struct tare_serving *s)
{
	int64_t first = -1;

	for (int i = 0; i < s->device->tensors.count; i++) {
		const struct tare_tensor_row *t = &s->device->tensors.items[i];

		if (t->pid == s->pid && t->born_ns >= 0 && tare_rules[t->rule].category == TARE_CATEGORY_PARAMETER &&
		    (first < 0 || t->born_ns < first))
			first = t->born_ns;
	}
	return first;
}

static int64_t first_graph(const struct tare_serving *s)
{
	int64_t first = -1;

	for (int i = 0; i < s->ledger->graph_nr; i++) {
		const struct tare_graph *g = &s->ledger->graphs[i];

		if (tare_serving_is_its_graph(s, g) && (first < 0 || g->begin_ns < first))
			first = g->begin_ns;
	}
	return first;
}

static int64_t first_of(const struct tare_serving *s, const struct tare_serving_cache *cache, enum tare_coming what)
{
	switch (what) {
	case TARE_COMING_CACHE:
		return cache->first_ns;
	case TARE_COMING_WEIGHTS:
		return first_weight(s);
	case TARE_COMING_GRAPH_POOLS:
	case TARE_COMING_GRAPH_EXECS:
		return first_graph(s);
	case TARE_COMING_TENSORS:
	case TARE_COMING_CACHED:
	case TARE_COMING_PROCESSES:
		return -1;
	default:
		return s->device->first_ns[what];
	}
}

/* In the order in which they came; then those of which that is not known, as they stand in the table. */
TARE_COMPARATOR(compare, struct tare_serving_row,
                TARE_RISING_BY(it->first_ns < 0) TARE_RISING(first_ns) TARE_RISING(what))

void tare_serving_rows_of(struct tare_serving *s, const struct tare_serving_cache *cache)
{
	int64_t sums[TARE_COMING_NR] = { 0 };
	int64_t pools = graph_segments(s);

	for (int i = 0; i < s->device->row_nr; i++)
		if (s->device->rows[i].leaf)
			sums[kind_of(s, &s->device->rows[i])] += s->device->rows[i].bytes;
	sums[TARE_COMING_CACHE] = cache->bytes;
	sums[TARE_COMING_GRAPH_POOLS] = pools;
	sums[TARE_COMING_TENSORS] -= cache->bytes + pools;
	for (int what = 0; what < TARE_COMING_NR; what++)
		if (sums[what])
			s->rows[s->row_nr++] = (struct tare_serving_row){ (enum tare_coming)what, sums[what],
				                                              first_of(s, cache, (enum tare_coming)what) };
	TARE_SORT(s->rows, s->row_nr, compare);
}

int64_t tare_serving_bytes(const struct tare_serving *s, enum tare_coming what)
{
	for (int i = 0; i < s->row_nr; i++)
		if (s->rows[i].what == what)
			return s->rows[i].bytes;
	return 0;
}
