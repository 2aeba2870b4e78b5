/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of graphs into a checkpoint and out of it. */
#include "ledger/fold.h"

#include "base/array.h"

/* No recording has more rows than this. */
enum { NUMBERS_MAX = 1 << 16 };

static void carry_pool(struct tare_fold *f, const struct tare_rec_graph_row *r, int process)
{
	struct tare_graphs *g = &f->graphs;

	if (!r->pool || r->pool > NUMBERS_MAX)
		return;
	g->pools = tare_array_reserve(g->pools, &g->pool_cap, r->pool, sizeof(*g->pools));
	while (g->pool_nr < r->pool)
		g->pools[g->pool_nr++] = (struct tare_graph_pool){ .process = -1 };
	g->pools[r->pool - 1] =
		(struct tare_graph_pool){ .process = process,
					  .has_id = r->flags & TARE_GRAPH_FLAG_POOL_ID,
					  .object = r->pool_object,
					  .first = r->pool_first,
					  .second = r->pool_second,
					  .begin_ns = r->begin_ns };
}

static void carry_row(struct tare_fold *f, const struct tare_event *e, int process)
{
	const struct tare_rec_graph_row *r = e->rec.graph_row;
	struct tare_graph_now *now;
	uint64_t number = r->number;

	if (!number || number > NUMBERS_MAX)
		return;
	now = tare_fold_graph_row(f, number - 1);
	now->process = process;
	now->device = e->device ? tare_fold_device(f, e->device)->index : -1;
	now->tid = r->tid;
	now->handle = r->graph;
	now->site = tare_fold_origin(f, f->processes[process], e).site;
	now->phase = tare_fold_text(f, e->name);
	now->told = r->told;
	now->row.state =
		r->state >= TARE_GRAPH_STATE_CAPTURED && r->state <= TARE_GRAPH_STATE_INVALID
			? (enum tare_graph_state)r->state
			: TARE_GRAPH_STATE_BUILT;
	now->row.flags = r->flags & (TARE_GRAPH_FLAG_NODES | TARE_GRAPH_FLAG_CAPPED);
	now->row.pool = r->pool <= NUMBERS_MAX ? r->pool : 0;
#define TARE_NODE(key, field, name) now->row.kinds[TARE_NODE_##key] = r->field;
#include "trace/node.def"
#undef TARE_NODE
#define CARRY(field) now->row.field = r->field;
#include "ledger/graphs/graph_saved.def"
#undef CARRY
	if (r->graph)
		*tare_map_put(&f->processes[process]->graphs, r->graph, NULL) = number;
	carry_pool(f, r, process);
	if (r->state != TARE_GRAPH_STATE_CAPTURING || !r->tid)
		return;
	f->graphs.capturing =
		tare_array_reserve(f->graphs.capturing, &f->graphs.capturing_cap,
				   f->graphs.capturing_nr + 1, sizeof(*f->graphs.capturing));
	f->graphs.capturing[f->graphs.capturing_nr++] = (int)number - 1;
}

void tare_fold_graph_carry(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_process *p = e->about ? e->about : e->process;
	const struct tare_rec_graph_part *part = e->rec.graph_part;
	struct tare_graph_now *now;

	tare_fold_process(f, p);
	if (e->kind == TARE_KIND_GRAPH_ROW) {
		carry_row(f, e, p->index);
		return;
	}
	if (!part->number || part->number > f->graphs.row_nr)
		return;
	now = &f->graphs.rows[part->number - 1];
	now->owners = tare_array_reserve(now->owners, &now->owner_cap, now->owner_nr + 1,
					 sizeof(*now->owners));
	now->owners[now->owner_nr++] =
		(struct tare_graph_owner){ tare_fold_text(f, e->name), part->bytes };
}

/* ---- into one ---- */

struct tell {
	struct tare_fold *f;
	int64_t t;
	tare_fold_teller *emit;
	void *arg;
};

static struct tare_event event_of(const struct tell *c, enum tare_kind kind, int process)
{
	const struct tare_process *p = c->f->processes[process]->process;

	return (struct tare_event){ .kind = kind,
				    .process = p,
				    .about = p,
				    .at_ns = c->t,
				    .begin_ns = c->t,
				    .end_ns = c->t,
				    .text = "" };
}

static void fill_pool(const struct tare_fold *f, const struct tare_graph_now *now,
		      struct tare_rec_graph_row *r)
{
	const struct tare_graph_pool *pool;

	r->pool = now->row.pool;
	if (!r->pool)
		return;
	pool = &f->graphs.pools[r->pool - 1];
	r->flags |= pool->has_id ? TARE_GRAPH_FLAG_POOL_ID : 0;
	r->pool_object = pool->object;
	r->pool_first = pool->first;
	r->pool_second = pool->second;
}

static void tell_row(const struct tell *c, const struct tare_graph_now *now)
{
	const struct tare_fold *f = c->f;
	struct tare_event e = event_of(c, TARE_KIND_GRAPH_ROW, now->process);
	const uint64_t *named = tare_map_get(&f->processes[now->process]->graphs, now->handle);
	struct tare_rec_graph_row r = { .head = { .kind = TARE_KIND_GRAPH_ROW },
					.pid = e.process->pid,
					.generation = e.process->generation,
					.number = (uint32_t)now->row.number,
					.state = now->row.state,
					.flags = now->row.flags,
					.tid = now->tid,
					.told = now->told };

	e.device = now->device < 0 ? NULL : f->devices[now->device]->device;
	e.name = tare_fold_text_of(f, now->phase);
	if (now->site) {
		e.stack = f->sites[now->site].stack;
		e.python = f->sites[now->site].python;
		r.stack = e.stack ? e.stack->id : 0;
		r.python = e.python ? e.python->id : 0;
	}
	if (named && *named == now->row.number)
		r.graph = now->handle;
	fill_pool(f, now, &r);
#define TARE_NODE(key, field, name) r.field = now->row.kinds[TARE_NODE_##key];
#include "trace/node.def"
#undef TARE_NODE
#define CARRY(field) r.field = now->row.field;
#include "ledger/graphs/graph_saved.def"
#undef CARRY
	c->emit(c->arg, &e, &r.head, sizeof(r));
}

static void tell_parts(const struct tell *c, const struct tare_graph_now *now)
{
	for (size_t i = 0; i < now->owner_nr; i++) {
		struct tare_event e = event_of(c, TARE_KIND_GRAPH_PART, now->process);
		struct tare_rec_graph_part r = { .head = { .kind = TARE_KIND_GRAPH_PART },
						 .pid = e.process->pid,
						 .generation = e.process->generation,
						 .number = (uint32_t)now->row.number,
						 .bytes = now->owners[i].bytes };

		e.name = tare_fold_text_of(c->f, now->owners[i].owner);
		c->emit(c->arg, &e, &r.head, sizeof(r));
	}
}

/* Launches of those that are still there, told before the process says that it ends. */
static void tell_words(const struct tell *c)
{
	const struct tare_graph_words *said = &c->f->graphs.said;

	for (size_t i = 0; i < said->count; i++) {
		struct tare_event e = event_of(c, TARE_KIND_GRAPH, said->items[i].process);
		struct tare_rec_graph r = said->items[i].graph;

		r.head.kind = TARE_KIND_GRAPH;
		c->emit(c->arg, &e, &r.head, sizeof(r));
	}
}

void tare_fold_graph_tell(struct tare_fold *f, int64_t t, tare_fold_teller *teller, void *arg)
{
	struct tell c = { f, t, teller, arg };

	tare_fold_capture_resolve_pools(f);
	for (size_t i = 0; i < f->graphs.row_nr; i++) {
		if (f->graphs.rows[i].process < 0)
			continue;
		tell_row(&c, &f->graphs.rows[i]);
		tell_parts(&c, &f->graphs.rows[i]);
	}
	tell_words(&c);
}
