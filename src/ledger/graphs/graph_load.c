/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of graphs out of a checkpoint. */
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
#define LOAD(field) now->row.field = r->field;
#include "ledger/graphs/graph_loaded.def"
#undef LOAD
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
