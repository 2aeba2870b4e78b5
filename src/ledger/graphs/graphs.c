/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: one row for each, from the capture of a stream or the first executable graph of one that
 * was built by hand. What its calls were weighed with is booked in accounts like that of any other
 * call; the row remembers which part was whose.
 */
#include "ledger/graphs/graphs.h"

#include "base/array.h"
#include "record/bytes.h"

#include <string.h>

/* Rows beyond it are summed in the last one. And what the driver said is not kept for ever. */
enum { ROWS_MAX = 4096, WORDS_MAX = 4096 };

/* A damaged count must not overflow the sums. */
enum { EXEC_NODES_MAX = 1 << 20 };

static uint32_t tid_of(uint32_t tid)
{
	return tid & 0x7fffffff;
}

/* ---- what the driver said ---- */

static struct tare_pending_graph_record *add_pending(struct tare_pending_graph_records *w, const struct tare_event *e)
{
	if (w->count >= WORDS_MAX) { /* their events were lost */
		memmove(w->items, w->items + WORDS_MAX / 2, WORDS_MAX / 2 * sizeof(*w->items));
		w->count = WORDS_MAX / 2;
	}
	return TARE_ADD(w->items, w->count, w->cap,
	                (struct tare_pending_graph_record){ .process = e->process->index, .at_ns = e->at_ns });
}

void tare_graphs_said(struct tare_graphs_part *part, const struct tare_event *e)
{
	if (e->kind == TARE_KIND_GRAPH)
		add_pending(&part->said, e)->graph = *e->rec.graph;
	else
		add_pending(&part->mempools, e)->mempool = *e->rec.mempool;
}

static bool take_said(struct tare_graphs_part *part, const struct tare_step *s, struct tare_rec_graph *out)
{
	struct tare_pending_graph_records *w = &part->said;
	int64_t at = s->effect == TARE_EFFECT_DEL ? s->begin : s->end;

	for (size_t i = w->count; i-- > 0;) {
		if (w->items[i].at_ns != at || w->items[i].process != s->process ||
		    tid_of(w->items[i].graph.tid) != tid_of(s->tid))
			continue;
		*out = w->items[i].graph;
		memmove(&w->items[i], &w->items[i + 1], (--w->count - i) * sizeof(*w->items));
		return true;
	}
	return false;
}

/* ---- rows ---- */

struct tare_graph_now *tare_graph_row(struct tare_graphs_part *part, size_t row)
{
	part->rows = tare_array_reserve(part->rows, &part->row_cap, row + 1, sizeof(*part->rows));
	while (part->row_nr <= row) {
		struct tare_graph_now *fresh = &part->rows[part->row_nr++];

		*fresh = (struct tare_graph_now){ .process = -1, .device = -1 };
		fresh->row.number = part->row_nr;
		fresh->row.used_after = TARE_NOT_KNOWN;
	}
	return &part->rows[row];
}

/*
 * Is the graph still there? One that was captured may still be instantiated; a failed capture keeps its pool.
 */
static bool is_there(const struct tare_graph *g)
{
	return g->alive || !g->execs;
}

void tare_graph_publish(struct tare_graphs_part *part, struct tare_fold *f, size_t row)
{
	f->groups = tare_array_reserve(f->groups, &f->group_cap, part->row_nr, sizeof(*f->groups));
	while (f->group_nr < part->row_nr)
		f->groups[f->group_nr++] = (struct tare_capture_group){ .process = -1 };
	f->group_pool_nr = part->pool_nr;
	f->groups[row] = (struct tare_capture_group){ part->rows[row].process, part->rows[row].row.pool,
		                                          is_there(&part->rows[row].row) };
}

static int new_row(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                   enum tare_graph_state state)
{
	size_t row = part->row_nr < ROWS_MAX ? part->row_nr : ROWS_MAX - 1;
	struct tare_graph_now *now = tare_graph_row(part, row);

	if (!now->row.count++) {
		now->process = s->process;
		now->device = s->device;
		now->site = s->site;
		now->phase = tare_fold_text(f, s->phase);
		now->row.begin_ns = s->begin;
	}
	now->row.state = state;
	now->row.end_ns = s->end;
	return (int)row;
}

static int row_of_graph(struct tare_graphs_part *part, const struct tare_step *s, uint64_t graph)
{
	uint64_t *row = tare_map_get(&part->of_handle[s->process], graph);

	return row ? (int)*row - 1 : -1;
}

static void name_graph(struct tare_graphs_part *part, const struct tare_step *s, uint64_t graph, int row)
{
	struct tare_map *graphs = &part->of_handle[s->process];

	if (row < 0) {
		tare_map_remove(graphs, graph, NULL);
		return;
	}
	*tare_map_put(graphs, graph, NULL) = (uint64_t)row + 1;
	part->rows[row].handle = graph;
}

/* ---- captures ---- */

static void begin_capture(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                          struct tare_applied *a)
{
	struct tare_graph_now *now;

	a->graph = new_row(part, f, s, TARE_GRAPH_STATE_CAPTURING);
	now = &part->rows[a->graph];
	now->tid = tid_of(s->tid);
	now->row.stream = s->handle;
	tare_capture_pool(part, s, now);
	a->changes_graphs = true;
	TARE_APPEND(part->capturing, part->capturing_nr, part->capturing_cap) = a->graph;
}

static void end_capture(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                        struct tare_applied *a)
{
	bool is_failed = s->flags & TARE_EVENT_FAILED;
	struct tare_graph_now *now;

	for (size_t i = part->capturing_nr; i-- > 0 && a->graph < 0;) {
		now = &part->rows[part->capturing[i]];
		if (now->process != s->process || now->row.stream != s->handle)
			continue;
		a->graph = part->capturing[i];
		memmove(&part->capturing[i], &part->capturing[i + 1], (--part->capturing_nr - i) * sizeof(*part->capturing));
	}
	if (a->graph < 0 && is_failed)
		return;
	if (a->graph < 0) { /* the capture began before the recording */
		a->graph = new_row(part, f, s, TARE_GRAPH_STATE_CAPTURED);
		part->rows[a->graph].row.stream = s->handle;
	}
	now = &part->rows[a->graph];
	now->tid = 0;
	now->row.end_ns = s->end;
	now->row.state = is_failed ? TARE_GRAPH_STATE_INVALID : TARE_GRAPH_STATE_CAPTURED;
	a->sets_used = true;
	if (!is_failed && s->parent) /* it adds to a graph, and to which is not known */
		name_graph(part, s, s->parent, a->graph);
}

static void apply_capture(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                          struct tare_applied *a)
{
	bool is_failed = s->flags & TARE_EVENT_FAILED;

	switch ((uint32_t)s->limit) {
	case TARE_GRAPH_CALL_BEGIN:
		if (!is_failed)
			begin_capture(part, f, s, a);
		return;
	case TARE_GRAPH_CALL_END:
		end_capture(part, f, s, a);
		return;
	case TARE_GRAPH_CALL_CREATE: /* a clone counts as its original */
		if (!is_failed)
			name_graph(part, s, s->handle, s->parent ? row_of_graph(part, s, s->parent) : -1);
		return;
	default:
		return;
	}
}

/* ---- executable graphs ---- */

static uint64_t exec_nodes(const struct tare_graph *g)
{
	uint64_t nodes = g->kinds[TARE_NODE_KERNEL];

	if (!nodes)
		return 1;
	return nodes < EXEC_NODES_MAX ? nodes : EXEC_NODES_MAX;
}

/*
 * Rule "kept": what executable graphs took stays with the driver when they are destroyed, and the
 * next ones use it. So of what is held, the part that fits what was alive at most and is not alive
 * now is kept; by kernel nodes, which are what takes it.
 */
static void balance_kept(struct tare_fold *f, int context)
{
	int exec_bucket = tare_fold_bucket(f, context, TARE_ACCOUNT_EXEC, 0);
	int kept_bucket = tare_fold_bucket(f, context, TARE_ACCOUNT_KEPT, 0);
	int64_t kept = f->buckets[kept_bucket].now.bytes;
	int64_t held = kept + tare_fold_held(f, exec_bucket), most, gone, change;
	struct tare_context *c = &f->contexts[context];

	if (c->exec_nodes > c->exec_nodes_high)
		c->exec_nodes_high = c->exec_nodes;
	most = (int64_t)c->exec_nodes_high;
	gone = most - (int64_t)c->exec_nodes;
	change = -kept;
	if (held > 0 && most > 0)
		change += held / most * gone + held % most * gone / most;
	if (!change)
		return;
	tare_fold_book_bytes(f, kept_bucket, change, TARE_EVIDENCE_INFERRED);
	tare_fold_book_fall(f, exec_bucket, -change, TARE_EVIDENCE_INFERRED);
}

static void count_exec(struct tare_fold *f, int context, const struct tare_graph *g, int sign)
{
	struct tare_context *c = &f->contexts[context];
	uint64_t nodes = exec_nodes(g);

	if (sign < 0)
		c->exec_nodes -= nodes < c->exec_nodes ? nodes : c->exec_nodes;
	else if (c->exec_nodes < UINT32_MAX)
		c->exec_nodes += nodes;
}

static void instantiate(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                        struct tare_applied *a, const struct tare_rec_graph *said)
{
	struct tare_graph *row;

	a->graph = row_of_graph(part, s, s->parent);
	if (s->flags & TARE_EVENT_FAILED)
		return;
	if (a->graph < 0) {
		a->graph = new_row(part, f, s, TARE_GRAPH_STATE_BUILT);
		name_graph(part, s, s->parent, a->graph);
	}
	row = &part->rows[a->graph].row;
	a->sets_used = !row->execs;
	row->execs++;
	row->alive++;
	a->changes_graphs |= row->alive == 1 && row->execs > 1;
	if (said && said->flags & TARE_GRAPH_FLAG_NODES) {
		row->flags |= said->flags & (TARE_GRAPH_FLAG_NODES | TARE_GRAPH_FLAG_CAPPED);
		row->nodes = said->nodes;
#define TARE_NODE(key, field, name) row->kinds[TARE_NODE_##key] = said->field;
#include "record/node.def"
		row->ask_ns += (int64_t)said->ticks;
	}
	if (a->context >= 0)
		count_exec(f, a->context, row, 1);
}

static void count_launches(struct tare_graphs_part *part, struct tare_object_live *o, uint64_t launches)
{
	struct tare_graph_now *now = &part->rows[o->graph];

	if (o->asked) /* launches were recorded before */
		return;
	o->asked = 1;
	now->known_execs++;
	now->row.launches += launches;
}

static void destroy(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                    struct tare_applied *a, const struct tare_rec_graph *said, int object)
{
	struct tare_object_live *o = &f->objects[object];
	struct tare_graph *row;

	if (a->graph < 0 || s->flags & TARE_EVENT_FAILED)
		return;
	row = &part->rows[a->graph].row;
	row->alive -= row->alive > 0;
	a->changes_graphs |= !row->alive;
	if (said && said->flags & TARE_GRAPH_FLAG_LAUNCHES)
		count_launches(part, o, said->launches);
	if (o->context >= 0)
		count_exec(f, o->context, row, -1);
}

/*
 * The executable graph of a row is updated to another graph: the two share executable graphs from now on.
 */
static void update(struct tare_graphs_part *part, const struct tare_step *s, int row)
{
	struct tare_graph *of = &part->rows[row].row;
	int other = row_of_graph(part, s, s->parent);

	if (s->flags & TARE_EVENT_FAILED) {
		of->refused++;
		return;
	}
	of->updates++;
	if (other >= 0 && other != row)
		part->rows[other].row.in_exec_of = (uint32_t)of->number;
}

/* Rule "graph memory": the driver tells how large the pool of allocation nodes is. */
static void set_reserved(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                         struct tare_applied *a, uint64_t reserved)
{
	const struct tare_device_fold *d = f->devices[s->device];
	int64_t change = tare_bytes_are_known(reserved) ? (int64_t)reserved : 0;

	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		if (f->buckets[i].process == s->process && f->buckets[i].account == TARE_ACCOUNT_GRAPHMEM)
			change -= f->buckets[i].now.bytes;
	if (!change)
		return;
	tare_fold_op(&f->ops, tare_fold_bucket(f, a->context, TARE_ACCOUNT_GRAPHMEM, 0),
	             &(struct tare_amount){
					 .bytes = change, .low = change, .high = change, .evidence = 1 + TARE_EVIDENCE_EXACT });
	if (a->graph >= 0)
		part->rows[a->graph].row.memory += change;
}

static void apply_exec(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                       struct tare_applied *a)
{
	int object = tare_fold_object_find(f, s->process, s->class, s->handle);
	struct tare_rec_graph said;
	bool is_said = take_said(part, s, &said);

	if (object >= 0 && s->effect != TARE_EFFECT_NEW)
		a->graph = f->objects[object].graph;
	if (s->effect == TARE_EFFECT_NEW)
		instantiate(part, f, s, a, is_said ? &said : NULL);
	else if (s->effect == TARE_EFFECT_DEL && object >= 0)
		destroy(part, f, s, a, is_said ? &said : NULL, object);
	else if ((uint32_t)s->limit == TARE_GRAPH_CALL_UPDATE && s->parent && a->graph >= 0)
		update(part, s, a->graph);
	if (a->graph >= 0)
		part->rows[a->graph].row.unweighed += !!(s->flags & TARE_EVENT_UNWEIGHED);
	if (is_said && said.flags & TARE_GRAPH_FLAG_RESERVED && a->context >= 0)
		set_reserved(part, f, s, a, said.reserved);
	if (a->context >= 0)
		balance_kept(f, a->context);
}

void tare_graphs_apply(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                       struct tare_applied *a)
{
	a->graph = a->capture = -1;
	if (s->class == TARE_CLASS_CAPTURE)
		apply_capture(part, f, s, a);
	else if (s->class == TARE_CLASS_GRAPH || s->class == TARE_CLASS_GRAPHMEM)
		apply_exec(part, f, s, a);
	else
		a->capture = tare_capture_of(part, s);
	if (a->graph >= 0)
		tare_graph_publish(part, f, (size_t)a->graph);
}

/* ---- what was measured ---- */

static int64_t *bytes_at(struct tare_graph *row, uint64_t call)
{
	switch ((uint32_t)call) {
	case TARE_GRAPH_CALL_INSTANTIATE:
		return &row->at_instantiate;
	case TARE_GRAPH_CALL_UPLOAD:
		return &row->at_upload;
	case TARE_GRAPH_CALL_UPDATE:
		return &row->at_update;
	case TARE_GRAPH_CALL_DESTROY:
		return &row->at_destroy;
	default:
		return &row->at_launch;
	}
}

void tare_graphs_weighed(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                         const struct tare_applied *a, int64_t bytes, int64_t low, int64_t high)
{
	if (s->class == TARE_CLASS_GRAPH && a->graph >= 0) {
		struct tare_graph *row = &part->rows[a->graph].row;

		*bytes_at(row, s->limit) += bytes;
		row->doubt += bytes - low > high - bytes ? bytes - low : high - bytes;
	}
	if (a->capture >= 0)
		tare_capture_took(part, f, s, a->capture, a->bucket, bytes);
	if (s->class != TARE_CLASS_GRAPH || a->context < 0)
		return;
	/* The memory for executable graphs had to grow, so nothing was kept of destroyed ones. */
	if (s->effect == TARE_EFFECT_NEW && bytes > 0)
		f->contexts[a->context].exec_nodes_high = f->contexts[a->context].exec_nodes;
	balance_kept(f, a->context);
}

void tare_graphs_measured(struct tare_graphs_part *part, const struct tare_applied *a, int64_t used)
{
	if (a->graph >= 0 && a->sets_used && used >= 0)
		part->rows[a->graph].row.used_after = (uint64_t)used;
}

/* A process ended, and its records said how often its graphs were launched. */
void tare_graphs_ended(struct tare_graphs_part *part, struct tare_fold *f, int process)
{
	size_t kept = 0;

	for (size_t i = 0; i < part->said.count; i++) {
		const struct tare_rec_graph *said = &part->said.items[i].graph;
		int object = -1;

		if (part->said.items[i].process == process && said->flags == TARE_GRAPH_FLAG_LAUNCHES)
			object = tare_fold_object_find(f, process, TARE_CLASS_GRAPH, said->exec);
		if (object >= 0 && f->objects[object].graph >= 0)
			count_launches(part, &f->objects[object], said->launches);
		else if (part->said.items[i].process != process)
			part->said.items[kept++] = part->said.items[i];
	}
	part->said.count = kept;
	kept = 0;
	for (size_t i = 0; i < part->capturing_nr; i++)
		if (part->rows[part->capturing[i]].process != process)
			part->capturing[kept++] = part->capturing[i];
	part->capturing_nr = kept;
}

/* ---- the part ---- */

void tare_graphs_begin(struct tare_graphs_part *part, const struct tare_fold *f)
{
	part->of_handle =
		tare_array_widen(part->of_handle, (size_t)part->process_nr, (size_t)f->process_nr, sizeof(*part->of_handle));
	part->process_nr = f->process_nr;
}

void tare_graphs_event(struct tare_graphs_part *part, struct tare_fold *f, struct tare_device_fold *d,
                       const struct tare_event *e)
{
	(void)f;
	(void)d;
	tare_graphs_said(part, e);
}

void tare_graphs_applied(struct tare_graphs_part *part, struct tare_fold *f, const struct tare_step *s,
                         const struct tare_applied *a)
{
	for (size_t i = 0; a->capture >= 0 && s->effect != TARE_EFFECT_DEL && i < f->ops.count; i++)
		tare_capture_took(part, f, s, a->capture, f->ops.items[i].bucket, f->ops.items[i].by.bytes);
}

/* Notes an object that was allocated for a graph. */
void tare_graphs_made(struct tare_graphs_part *part, const struct tare_object_live *o)
{
	if (o->graph >= 0 && o->class != TARE_CLASS_GRAPH)
		part->rows[o->graph].row.held += (int64_t)o->granted;
}

/*
 * Checks that no more executable graphs are alive than were made, and that the books have each row as it is.
 */
const char *tare_graphs_check(const struct tare_graphs_part *part, const struct tare_fold *f)
{
	for (size_t i = 0; i < part->row_nr; i++)
		if (part->rows[i].row.alive > part->rows[i].row.execs)
			return "more executable graphs are alive than were made";
	for (size_t i = 0; i < f->group_nr && i < part->row_nr; i++)
		if (f->groups[i].process >= 0 && f->groups[i].is_there != is_there(&part->rows[i].row))
			return "a graph is there for others and is not, or the other way round";
	return NULL;
}
