/* SPDX-License-Identifier: Apache-2.0 */
/* From the fold's graphs to those of a ledger, and what could be saved on them. */
#include "ledger/graphs/graphs.h"

#include "base/array.h"
#include "base/comparator.h"
#include "ledger/line.h"

#include <stdlib.h>
#include <string.h>

const char *tare_graph_state_name(enum tare_graph_state state)
{
	switch (state) {
#define STATE(value, key, word, meaning)                                                                               \
	case TARE_GRAPH_STATE_##key:                                                                                       \
		return word;
		TARE_GRAPH_STATE_MAP(STATE)
#undef STATE
	}
	return "not known";
}

/* ---- rows ---- */

TARE_COMPARATOR(by_bytes, struct tare_graph_part, TARE_FALLING(bytes) TARE_ALPHABETIC(label))

static const char *text(const struct tare_fold *f, uint64_t id, struct tare_arena *memory)
{
	const char *found = tare_fold_text_of(f, id);

	return found ? tare_arena_strdup(memory, found) : NULL;
}

static void fill_parts(const struct tare_fold *f, const struct tare_graph_now *now, struct tare_arena *memory,
                       struct tare_graph *out)
{
	out->parts = tare_arena_alloc(memory, now->owner_nr * sizeof(*out->parts) + 1);
	out->part_nr = 0;
	for (size_t i = 0; i < now->owner_nr; i++)
		if (now->owners[i].bytes)
			out->parts[out->part_nr++] =
				(struct tare_graph_part){ text(f, now->owners[i].owner, memory), now->owners[i].bytes };
	TARE_SORT(out->parts, out->part_nr, by_bytes);
}

static const char *source_of(const struct tare_fold *f, uint32_t site, struct tare_arena *memory)
{
	const struct tare_site *at = site ? &f->sites[site] : NULL;
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	if (!at)
		return NULL;
	if (at->python)
		tare_line_add(&line, tare_line_of_user(at->python), false);
	else
		tare_line_add_native(&line, at->process, at->stack, at->pc, false);
	return tare_arena_strdup(memory, tare_str_text(&line));
}

static void fill(const struct tare_fold *f, const struct tare_graph_now *now, struct tare_arena *memory, int device,
                 struct tare_graph *out)
{
	const struct tare_process *p = f->processes[now->process]->process;

	*out = now->row;
	out->device = device;
	out->pid = p->pid;
	out->generation = p->generation;
	out->source = source_of(f, now->site, memory);
	out->phase = text(f, now->phase, memory);
	if (now->known_execs == out->execs)
		out->flags |= TARE_GRAPH_FLAG_LAUNCHES;
	fill_parts(f, now, memory, out);
}

/* Streams of a process in the order in which they were first captured. */
static void number_streams(struct tare_graph *graphs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t most = 0;

		if (graphs[i].state == TARE_GRAPH_STATE_BUILT)
			continue;
		for (size_t k = i; k-- > 0 && !graphs[i].stream_number;) {
			if (graphs[k].pid != graphs[i].pid || graphs[k].generation != graphs[i].generation ||
			    !graphs[k].stream_number)
				continue;
			if (graphs[k].stream == graphs[i].stream)
				graphs[i].stream_number = graphs[k].stream_number;
			if (most < graphs[k].stream_number)
				most = graphs[k].stream_number;
		}
		if (!graphs[i].stream_number)
			graphs[i].stream_number = most + 1;
	}
}

static void find_private(struct tare_graph *graphs, size_t count)
{
	TARE_FREED_BY(tare_map_free) struct tare_map users = { 0 };

	for (size_t i = 0; i < count; i++)
		*tare_map_put(&users, graphs[i].pool, NULL) += graphs[i].count;
	for (size_t i = 0; i < count; i++)
		graphs[i].is_private = graphs[i].pool && *tare_map_get(&users, graphs[i].pool) == 1;
}

/* ---- savings ---- */

static void add_saving(struct tare_ledger *out, enum tare_graph_saving_kind kind, int device, uint64_t count,
                       int64_t have, int64_t need)
{
	struct tare_graph_saving *all;

	if (have <= need || count < 1)
		return;
	all = tare_arena_alloc(out->memory, (size_t)(out->saving_nr + 1) * sizeof(*all));
	if (out->saving_nr)
		memcpy(all, out->savings, (size_t)out->saving_nr * sizeof(*all));
	all[out->saving_nr++] = (struct tare_graph_saving){ kind, device, count, have, need };
	out->savings = all;
}

/*
 * Finds what could be saved if graphs with pools of their own shared one: their sum, less the largest of each
 * process.
 */
static void save_pools(struct tare_ledger *out, const struct tare_graph *graphs, size_t count)
{
	int64_t have = 0, need = 0;
	uint64_t pools = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t largest = 0;
		bool is_first = true;

		for (size_t k = 0; k < count; k++) {
			if (graphs[k].pid != graphs[i].pid || !graphs[k].is_private || graphs[k].generation != graphs[i].generation)
				continue;
			is_first &= k >= i;
			if (largest < graphs[k].allocated)
				largest = graphs[k].allocated;
		}
		if (!graphs[i].is_private || graphs[i].allocated <= 0)
			continue;
		pools++;
		have += graphs[i].allocated;
		need += is_first ? largest : 0;
	}
	if (pools > 1)
		add_saving(out, TARE_GRAPH_SAVING_POOLS, graphs->device, pools, have, need);
}

TARE_COMPARATOR_OF_POINTERS(by_pool_and_stream, struct tare_graph, TARE_RISING(pool) TARE_RISING(stream_number))

/*
 * Finds what could be saved if captures into one pool used one stream: the sum of what each stream needs, less
 * the largest.
 */
static void save_streams(struct tare_ledger *out, const struct tare_graph *graphs, size_t count)
{
	const struct tare_graph **list = tare_xcalloc(count, sizeof(*list));
	int64_t have = 0, need = 0;
	uint64_t streams = 0;

	for (size_t i = 0; i < count; i++)
		list[i] = &graphs[i];
	TARE_SORT(list, count, by_pool_and_stream);
	for (size_t i = 0, n; i < count; i += n) {
		int64_t sum = 0, largest = 0, own = 0;
		uint64_t own_streams = 0;

		for (n = 0; i + n < count && list[i + n]->pool == list[i]->pool; n++) {
			if (!n || list[i + n]->stream_number != list[i + n - 1]->stream_number) {
				own = 0;
				own_streams++;
			}
			own += list[i + n]->allocated;
			sum += list[i + n]->allocated;
			largest = own > largest ? own : largest;
		}
		if (!list[i]->pool || own_streams < 2 || sum <= largest)
			continue;
		have += sum;
		need += largest;
		streams += own_streams;
	}
	free(list);
	add_saving(out, TARE_GRAPH_SAVING_STREAMS, graphs->device, streams, have, need);
}

TARE_COMPARATOR_OF_POINTERS(by_shape, struct tare_graph,
                            TARE_RISING(pid) TARE_RISING(nodes)
                                TARE_COMPARED(memcmp(x->kinds, y->kinds, sizeof(x->kinds))))

/*
 * Finds what could be saved if executable graphs that are alike were one: their sum, less the largest.
 */
static void save_execs(struct tare_ledger *out, const struct tare_graph *graphs, size_t count)
{
	const struct tare_graph **list = tare_xcalloc(count, sizeof(*list));
	int64_t have = 0, need = 0;
	uint64_t execs = 0;
	size_t nr = 0;

	for (size_t i = 0; i < count; i++)
		if (graphs[i].alive && graphs[i].flags & TARE_GRAPH_FLAG_NODES)
			list[nr++] = &graphs[i];
	TARE_SORT(list, nr, by_shape);
	for (size_t i = 0, n; i < nr; i += n) {
		int64_t sum = 0, largest = 0;
		uint64_t alive = 0;

		for (n = 0; i + n < nr && !by_shape(&list[i], &list[i + n]); n++) {
			int64_t bytes = tare_graph_exec_bytes(list[i + n]);
			int64_t each = bytes / (int64_t)list[i + n]->execs;

			sum += bytes;
			largest = each > largest ? each : largest;
			alive += list[i + n]->alive;
		}
		if (alive < 2)
			continue;
		have += sum;
		need += largest;
		execs += alive;
	}
	free(list);
	add_saving(out, TARE_GRAPH_SAVING_UPDATE, graphs->device, execs, have, need);
}

static void save_kept(const struct tare_fold *f, const struct tare_device_fold *d, enum tare_moment m,
                      const struct tare_graph *graphs, size_t count, struct tare_ledger *out)
{
	uint64_t destroyed = 0;
	int64_t kept = 0;

	for (size_t i = 0; i < count; i++)
		destroyed += graphs[i].execs - graphs[i].alive;
	for (int i = d->buckets; i >= 0; i = f->buckets[i].next_of_device)
		if (f->buckets[i].account == TARE_ACCOUNT_KEPT)
			kept += tare_fold_amount(f, &f->buckets[i], m)->bytes;
	add_saving(out, TARE_GRAPH_SAVING_KEPT, graphs->device, destroyed, kept, 0);
}

/* ---- a device's ---- */

static struct tare_graph *grow(struct tare_ledger *out, size_t more)
{
	struct tare_graph *all = tare_arena_alloc(out->memory, ((size_t)out->graph_nr + more) * sizeof(*all) + 1);

	if (out->graph_nr)
		memcpy(all, out->graphs, (size_t)out->graph_nr * sizeof(*all));
	out->graphs = all;
	return all + out->graph_nr;
}

void tare_graphs_rows_of(const struct tare_graphs_part *part, const struct tare_fold *f,
                         const struct tare_device_fold *d, enum tare_moment m, struct tare_ledger *out)
{
	int device = tare_device_number(d->device);
	struct tare_graph *own = grow(out, part->row_nr);
	size_t count = 0;

	for (size_t i = 0; i < part->row_nr; i++)
		if (part->rows[i].device == d->index && part->rows[i].process >= 0)
			fill(f, &part->rows[i], out->memory, device, &own[count++]);
	if (!count)
		return;
	number_streams(own, count);
	find_private(own, count);
	save_pools(out, own, count);
	save_streams(out, own, count);
	save_kept(f, d, m, own, count, out);
	save_execs(out, own, count);
	out->graph_nr += (int)count;
}
