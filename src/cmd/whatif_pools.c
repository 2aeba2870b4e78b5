/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private pools of graphs. While PyTorch captures, what the thread that began it allocates comes from the pool of that capture; if it
 * is the only capture of the process, so does what other threads allocate (autograd's), as in the ledger's rule "captured memory".
 */
#include "cmd/whatif_reader.h"

#include "base/array.h"

#include <stdlib.h>

static size_t add_pool(struct tare_whatif_pools *p, const struct tare_whatif_pool *pool)
{
	TARE_APPEND(p->items, p->count, p->cap) = *pool;
	return p->count;
}

/* 1 + its place; a capture without an id makes a pool of its own. */
static size_t pool_of(struct tare_whatif_pools *p, int process, const struct tare_rec_event *c)
{
	struct tare_whatif_pool pool = { process, c->parent, c->asked, c->granted };

	for (size_t i = p->count; i-- && (c->asked || c->granted);)
		if (p->items[i].process == process && p->items[i].first == c->asked && p->items[i].second == c->granted)
			return i + 1;
	return add_pool(p, &pool);
}

static void begin(struct tare_whatif_pools *p, int process, const struct tare_rec_event *c)
{
	TARE_APPEND(p->captures, p->capture_count, p->capture_cap) =
		(struct tare_whatif_capture){ process, c->tid, pool_of(p, process, c) };
}

static void end(struct tare_whatif_pools *p, int process, uint32_t tid)
{
	for (size_t i = p->capture_count; i--;)
		if (p->captures[i].process == process && p->captures[i].tid == tid) {
			p->captures[i] = p->captures[--p->capture_count];
			return;
		}
}

static void name(struct tare_whatif_pools *p, int process, const struct tare_rec_mempool *r)
{
	for (size_t i = p->count; i--;)
		if (p->items[i].process == process && p->items[i].object == r->object) {
			p->items[i].first = r->first;
			p->items[i].second = r->second;
			return;
		}
}

void tare_whatif_pools_event(struct tare_whatif_pools *p, const struct tare_event *e)
{
	const struct tare_rec_event *c = e->rec.event;

	if (e->kind == TARE_KIND_MEMPOOL) {
		name(p, e->process->index, e->rec.mempool);
		return;
	}
	if (e->kind != TARE_KIND_EVENT || c->class != TARE_CLASS_CAPTURE)
		return;
	if ((uint32_t)c->limit == TARE_GRAPH_CALL_BEGIN && (c->flags & TARE_EVENT_POOL_TOLD) &&
	    !(c->flags & TARE_EVENT_FAILED))
		begin(p, e->process->index, c);
	else if ((uint32_t)c->limit == TARE_GRAPH_CALL_END)
		end(p, e->process->index, c->tid);
}

uint32_t tare_whatif_pools_of(const struct tare_whatif_pools *p, int process, uint32_t tid)
{
	size_t own = 0, any = 0, count = 0;

	for (size_t i = 0; i < p->capture_count; i++) {
		if (p->captures[i].process != process)
			continue;
		any = p->captures[i].pool;
		own = p->captures[i].tid == tid ? any : own;
		count++;
	}
	return (uint32_t)(own ? own : count == 1 ? any : 0);
}
