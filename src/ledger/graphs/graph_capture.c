/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "captured memory": what the thread that began a capture allocates until it ends belongs to the
 * graph. If it is the only capture of the process, so does what other threads allocate meanwhile: a
 * framework's backward pass is such a thread.
 */
#include "ledger/graphs/graphs.h"

#include "base/array.h"

int tare_capture_of(const struct tare_graphs_part *part, const struct tare_step *s)
{
	int only = -1, count = 0;

	for (size_t i = part->capturing_nr; i-- > 0;) {
		const struct tare_graph_now *now = &part->rows[part->capturing[i]];

		if (now->process != s->process)
			continue;
		if (now->tid == (s->tid & 0x7fffffff))
			return part->capturing[i];
		count++;
		only = part->capturing[i];
	}
	return count == 1 ? only : -1;
}

static bool capture_is_allocation(const struct tare_bucket *b)
{
	switch (b->account) {
	case TARE_ACCOUNT_NONE:
	case TARE_ACCOUNT_OTHER:
	case TARE_ACCOUNT_PROCESS:
	case TARE_ACCOUNT_DRIVER:
	case TARE_ACCOUNT_CONTEXT:
	case TARE_ACCOUNT_CODE:
	case TARE_ACCOUNT_LOCAL:
	case TARE_ACCOUNT_KERNEL_HEAP:
	case TARE_ACCOUNT_STREAM:
	case TARE_ACCOUNT_GRAPH:
	case TARE_ACCOUNT_EXEC:
	case TARE_ACCOUNT_GRAPHMEM:
	case TARE_ACCOUNT_KEPT:
	case TARE_ACCOUNT_GRANULARITY:
	case TARE_ACCOUNT_HOSTMAP:
		return false;
	default:
		return tare_bucket_is_device(b);
	}
}

static void add_part(struct tare_graph_now *now, uint64_t owner, int64_t bytes)
{
	size_t i = 0;

	while (i < now->owner_nr && now->owners[i].owner != owner)
		i++;
	if (i == now->owner_nr)
		TARE_APPEND(now->owners, now->owner_nr, now->owner_cap) = (struct tare_graph_owner){ .owner = owner };
	now->owners[i].bytes += bytes;
}

static uint64_t owner_of(struct tare_fold *f, const struct tare_bucket *b)
{
	if (b->account == TARE_ACCOUNT_ALLOCATION)
		return b->owner;
	return tare_fold_text(f, tare_accounts[b->account].label);
}

void tare_capture_took(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s, int capture,
                       int bucket, int64_t bytes)
{
	struct tare_graph_now *now = &part->rows[capture];

	if (!bytes || bucket < 0 || !capture_is_allocation(&f->buckets[bucket]))
		return;
	now->row.allocated += bytes;
	if (now->tid != (s->tid & 0x7fffffff))
		now->row.by_others += bytes;
	add_part(now, owner_of(f, &f->buckets[bucket]), bytes);
}

/*
 * An object was freed: if during its capture, the graph did not need the memory beyond the capture.
 */
void tare_graphs_gone(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_object_live *o)
{
	struct tare_graph_now *now;

	if (o->graph < 0 || o->class == TARE_CLASS_GRAPH)
		return;
	now = &part->rows[o->graph];
	now->row.held -= (int64_t)o->granted;
	if (!now->tid || o->bucket < 0)
		return;
	now->row.allocated -= (int64_t)o->granted;
	add_part(now, owner_of(f, &f->buckets[o->bucket]), -(int64_t)o->granted);
}

/* ---- pools of a framework ---- */

static int add_pool(struct tare_graphs_part *part, const struct tare_step *s, bool has_id)
{
	TARE_APPEND(part->pools, part->pool_nr, part->pool_cap) =
		(struct tare_graph_pool){ .process = s->process,
		                          .has_id = has_id,
		                          .object = s->parent,
		                          .first = has_id ? s->asked : 0,
		                          .second = has_id ? s->granted : 0,
		                          .begin_ns = s->begin };
	return (int)part->pool_nr;
}

/* A pool that was begun without an id has the one that its graph object was asked for later. */
static void resolve_pools(struct tare_graphs_part *part)
{
	for (size_t i = 0; i < part->mempools.count; i++) {
		const struct tare_pending_graph_record *word = &part->mempools.items[i];

		for (size_t k = part->pool_nr; k-- > 0;) {
			struct tare_graph_pool *pool = &part->pools[k];

			if (pool->process != word->process || pool->begin_ns > word->at_ns || pool->object != word->mempool.object)
				continue;
			if (!pool->has_id) {
				pool->has_id = true;
				pool->first = word->mempool.first;
				pool->second = word->mempool.second;
			}
			break;
		}
	}
	part->mempools.count = 0;
}

void tare_capture_pool(struct tare_graphs_part *part, const struct tare_step *s, struct tare_graph_now *now)
{
	if (!(s->flags & TARE_EVENT_POOL_TOLD))
		return;
	if (!s->asked && !s->granted) {
		now->row.pool = (uint32_t)add_pool(part, s, false);
		return;
	}
	resolve_pools(part);
	for (size_t i = 0; i < part->pool_nr; i++)
		if (part->pools[i].process == s->process && part->pools[i].has_id && part->pools[i].first == s->asked &&
		    part->pools[i].second == s->granted) {
			now->row.pool = (uint32_t)i + 1;
			return;
		}
	now->row.pool = (uint32_t)add_pool(part, s, true);
}
