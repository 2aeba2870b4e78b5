/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of graphs into a checkpoint and out of it. */
#include "ledger/graphs/graphs.h"

#include "base/array.h"

/* No recording has more rows than this. */
enum { NUMBERS_MAX = 1 << 16 };

static void carry_pool(struct tare_graphs_part *part, const struct tare_rec_graph_row *r,
		       int process)
{
	if (!r->pool || r->pool > NUMBERS_MAX)
		return;
	part->pools =
		tare_array_reserve(part->pools, &part->pool_cap, r->pool, sizeof(*part->pools));
	while (part->pool_nr < r->pool)
		part->pools[part->pool_nr++] = (struct tare_graph_pool){ .process = -1 };
	part->pools[r->pool - 1] =
		(struct tare_graph_pool){ .process = process,
					  .has_id = r->flags & TARE_GRAPH_FLAG_POOL_ID,
					  .object = r->pool_object,
					  .first = r->pool_first,
					  .second = r->pool_second,
					  .begin_ns = r->begin_ns };
}

static void carry_row(struct tare_graphs_part *part, struct tare_fold *f,
		      const struct tare_event *e, int process)
{
	const struct tare_rec_graph_row *r = e->rec.graph_row;
	struct tare_graph_now *now;
	uint64_t number = r->number;

	if (!number || number > NUMBERS_MAX)
		return;
	now = tare_graph_row(part, number - 1);
	now->process = process;
	now->device = e->device ? tare_fold_device(f, e->device)->index : -1;
	now->tid = r->tid;
	now->handle = r->graph;
	now->site = tare_fold_origin(f, f->processes[process], e).site;
	now->phase = tare_fold_text(f, e->name);
	now->known_execs = r->told;
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
		*tare_map_put(&part->of_handle[process], r->graph, NULL) = number;
	carry_pool(part, r, process);
	tare_graph_publish(part, f, number - 1);
	if (r->state != TARE_GRAPH_STATE_CAPTURING || !r->tid)
		return;
	part->capturing = tare_array_reserve(part->capturing, &part->capturing_cap,
					     part->capturing_nr + 1, sizeof(*part->capturing));
	part->capturing[part->capturing_nr++] = (int)number - 1;
}

void tare_graphs_load(struct tare_graphs_part *part, struct tare_fold *f,
		      const struct tare_event *e)
{
	const struct tare_process *p = e->about ? e->about : e->process;
	const struct tare_rec_graph_part *of = e->rec.graph_part;
	struct tare_graph_now *now;

	tare_fold_process(f, p);
	if (e->kind == TARE_KIND_GRAPH_ROW) {
		carry_row(part, f, e, p->index);
		return;
	}
	if (!of->number || of->number > part->row_nr)
		return;
	now = &part->rows[of->number - 1];
	now->owners = tare_array_reserve(now->owners, &now->owner_cap, now->owner_nr + 1,
					 sizeof(*now->owners));
	now->owners[now->owner_nr++] =
		(struct tare_graph_owner){ tare_fold_text(f, e->name), of->bytes };
}

/* ---- into one ---- */

enum { BEFORE_NS = 12000 /* before contexts that come and go */ };

struct saving {
	const struct tare_graphs_part *part;
	struct tare_fold *f;
	const struct tare_save *to;
};

static struct tare_event event_of(const struct saving *c, enum tare_kind kind, int process)
{
	const struct tare_process *p = c->f->processes[process]->process;

	return (struct tare_event){ .kind = kind,
				    .process = p,
				    .about = p,
				    .at_ns = c->to->t - BEFORE_NS,
				    .begin_ns = c->to->t - BEFORE_NS,
				    .end_ns = c->to->t - BEFORE_NS,
				    .text = "" };
}

static void fill_pool(const struct saving *c, const struct tare_graph_now *now,
		      struct tare_rec_graph_row *r)
{
	const struct tare_graph_pool *pool;

	r->pool = now->row.pool;
	if (!r->pool)
		return;
	pool = &c->part->pools[r->pool - 1];
	r->flags |= pool->has_id ? TARE_GRAPH_FLAG_POOL_ID : 0;
	r->pool_object = pool->object;
	r->pool_first = pool->first;
	r->pool_second = pool->second;
}

static void save_row(const struct saving *c, const struct tare_graph_now *now)
{
	const struct tare_fold *f = c->f;
	struct tare_event e = event_of(c, TARE_KIND_GRAPH_ROW, now->process);
	const uint64_t *named = tare_map_get(&c->part->of_handle[now->process], now->handle);
	struct tare_rec_graph_row r = { .head = { .kind = TARE_KIND_GRAPH_ROW },
					.pid = e.process->pid,
					.generation = e.process->generation,
					.number = (uint32_t)now->row.number,
					.state = now->row.state,
					.flags = now->row.flags,
					.tid = now->tid,
					.told = now->known_execs };

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
	fill_pool(c, now, &r);
#define TARE_NODE(key, field, name) r.field = now->row.kinds[TARE_NODE_##key];
#include "trace/node.def"
#undef TARE_NODE
#define CARRY(field) r.field = now->row.field;
#include "ledger/graphs/graph_saved.def"
#undef CARRY
	c->to->add(c->to->arg, &e, &r.head, sizeof(r));
}

static void save_parts(const struct saving *c, const struct tare_graph_now *now)
{
	for (size_t i = 0; i < now->owner_nr; i++) {
		struct tare_event e = event_of(c, TARE_KIND_GRAPH_PART, now->process);
		struct tare_rec_graph_part r = { .head = { .kind = TARE_KIND_GRAPH_PART },
						 .pid = e.process->pid,
						 .generation = e.process->generation,
						 .number = (uint32_t)now->row.number,
						 .bytes = now->owners[i].bytes };

		e.name = tare_fold_text_of(c->f, now->owners[i].owner);
		c->to->add(c->to->arg, &e, &r.head, sizeof(r));
	}
}

/* Launches of those that are still there, told before the process says that it ends. */
static void save_words(const struct saving *c)
{
	const struct tare_pending_graph_records *said = &c->part->said;

	for (size_t i = 0; i < said->count; i++) {
		struct tare_event e = event_of(c, TARE_KIND_GRAPH, said->items[i].process);
		struct tare_rec_graph r = said->items[i].graph;

		r.head.kind = TARE_KIND_GRAPH;
		c->to->add(c->to->arg, &e, &r.head, sizeof(r));
	}
}

void tare_graphs_save(struct tare_graphs_part *part, struct tare_fold *f,
		      const struct tare_save *to)
{
	struct saving c = { part, f, to };

	tare_capture_resolve_pools(part);
	for (size_t i = 0; i < part->row_nr; i++) {
		if (part->rows[i].process < 0)
			continue;
		save_row(&c, &part->rows[i]);
		save_parts(&c, &part->rows[i]);
	}
	save_words(&c);
}
