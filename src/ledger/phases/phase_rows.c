/* SPDX-License-Identifier: Apache-2.0 */
/* Phases as a ledger has them: a tree per process, in the order in which they first began. */
#include "ledger/phases/phases.h"

#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>

static const char *source_name(uint8_t source)
{
	switch (source) {
#define WORD(value, key, word, meaning)                                                                                \
	case value:                                                                                                        \
		return word;
		TARE_PHASE_SOURCE_MAP(WORD)
#undef WORD
	}
	return "unknown";
}

static enum tare_phase_kind kind_of(uint8_t what)
{
	if (what == TARE_PHASE_MARK)
		return TARE_PHASE_MOMENT;
	return what == TARE_PHASE_BEGIN ? TARE_PHASE_RANGE : TARE_PHASE_NESTED;
}

TARE_COMPARATOR(by_size, struct tare_phase_part, TARE_FALLING_BY(llabs(it->bytes)) TARE_RISING(account))

static void add_parts(const struct tare_phase_total *t, struct tare_arena *memory, struct tare_phase_on_device *out)
{
	int nr = 0;

	for (int a = 0; a < TARE_ACCOUNT_NR; a++)
		nr += t->parts[a] != 0;
	out->parts = tare_arena_alloc(memory, (size_t)nr * sizeof(*out->parts) + 1);
	for (int a = 0; a < TARE_ACCOUNT_NR; a++)
		if (t->parts[a])
			out->parts[out->part_nr++] = (struct tare_phase_part){ (enum tare_account)a, t->parts[a] };
	TARE_SORT(out->parts, nr, by_size);
}

static void add_device(const struct tare_device_fold *d, const struct tare_phase_total *t, struct tare_arena *memory,
                       struct tare_phase_row *row)
{
	struct tare_phase_on_device *out = &row->devices[row->device_nr++];
	const struct tare_device *device = d->device;

	*out = (struct tare_phase_on_device){
		.index = tare_device_number(device),
		.repeats = t->seen,
		.used_before = t->before + d->used_start,
		.used_after = t->after + d->used_start,
		.change = t->change,
		.change_min = t->change_min,
		.change_max = t->change_max,
		.own = t->own,
		.own_min = t->own_min,
		.own_max = t->own_max,
		.peak = t->peak.used + d->used_start,
		.peak_t_ns = t->peak.ns,
	};
	add_parts(t, memory, out);
}

/* On the CPU nothing was in use that nobody asked for, and no account changed. */
static void add_cpu(const struct tare_phase_total *t, struct tare_phase_row *row)
{
	row->devices[row->device_nr++] = (struct tare_phase_on_device){
		.index = -1,
		.repeats = t->seen,
		.used_before = t->before,
		.used_after = t->after,
		.change = t->change,
		.change_min = t->change_min,
		.change_max = t->change_max,
		.own = t->own,
		.own_min = t->own_min,
		.own_max = t->own_max,
		.peak = t->peak.used,
		.peak_t_ns = t->peak.ns,
	};
}

static bool has_context(const struct tare_process_fold *p, int device)
{
	return device < p->on_device_nr && p->on_device[device] && p->on_device[device]->created;
}

/* The ranks of a job have a GPU each: what happens on the others is not theirs to show. */
static bool is_of(const struct tare_fold *f, int process, int device)
{
	const struct tare_process_fold *p = f->processes[process];

	for (int i = 0; i < p->on_device_nr; i++)
		if (has_context(p, i))
			return has_context(p, device);
	return true;
}

static void add_row(const struct tare_fold *f, const struct tare_phase_known *k, int parent, struct tare_ledger *out)
{
	const struct tare_process *process = f->processes[k->process]->process;
	struct tare_phase_row *row = &out->phases[out->phase_nr++];
	struct tare_arena *memory = out->memory;

	*row = (struct tare_phase_row){
		.name = tare_arena_strdup(memory, k->name),
		.path = tare_arena_strdup(memory, k->path),
		.domain = k->domain[0] ? tare_arena_strdup(memory, k->domain) : NULL,
		.source = source_name(k->source),
		.kind = kind_of(k->what),
		.parent = parent,
		.depth = parent < 0 ? 0 : out->phases[parent].depth + 1,
		.program = tare_arena_strdup(memory, process->program ? process->program : ""),
		.pid = process->pid,
		.generation = process->generation,
		.repeats = k->repeats,
		.unclosed = k->unclosed,
		.threads = k->threads,
		.first_t_ns = k->first_ns,
		.last_t_ns = k->last_ns,
		.ns = k->ns,
		.devices = tare_arena_alloc(memory, ((size_t)f->device_nr + 1) * sizeof(*row->devices)),
	};
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i] && k->totals[i].seen && is_of(f, k->process, i))
			add_device(f->devices[i], &k->totals[i], memory, row);
	if (f->host.most && k->host.seen)
		add_cpu(&k->host, row);
	row->resident_readings = k->resident.readings;
	row->resident_is_known = k->resident.readings > 0;
	row->resident_change_is_known = row->resident_is_known && !k->resident.without_change;
	row->resident_after = row->resident_is_known ? k->resident.after : -1;
	row->resident_change = k->resident.change;
	row->resident_most = k->resident.most;
	row->resident_most_t_ns = k->resident.most_ns;
}

struct order {
	int known, process;
	int64_t first_ns;
};

TARE_COMPARATOR(by_begin, struct order, TARE_RISING(process) TARE_RISING(first_ns) TARE_RISING(known))

/* Children by their parent: first_of[1 + parent], then next_of[child], in order. */
static void link_children(const struct tare_phases_part *p, int *first_of, int *next_of)
{
	TARE_FREED_HERE struct order *order = tare_xcalloc(p->known_nr, sizeof(*order));

	for (size_t i = 0; i <= p->known_nr; i++)
		first_of[i] = -1;
	for (size_t i = 0; i < p->known_nr; i++)
		order[i] = (struct order){ (int)i, p->known[i].process, p->known[i].first_ns };
	TARE_SORT(order, p->known_nr, by_begin);
	for (size_t i = p->known_nr; i-- > 0;) {
		int child = order[i].known, parent = p->known[child].parent;

		next_of[child] = first_of[1 + parent];
		first_of[1 + parent] = child;
	}
}

void tare_phases_rows(const struct tare_phases_part *phases, const struct tare_fold *f, struct tare_ledger *out)
{
	int *first_of, *next_of, *row_of, at;

	if (!phases->known_nr)
		return;
	first_of = tare_xcalloc(phases->known_nr + 1, sizeof(*first_of));
	next_of = tare_xcalloc(phases->known_nr, sizeof(*next_of));
	row_of = tare_xcalloc(phases->known_nr, sizeof(*row_of));
	link_children(phases, first_of, next_of);
	out->phases = tare_arena_alloc(out->memory, phases->known_nr * sizeof(*out->phases));
	for (at = first_of[0]; at >= 0;) {
		int parent = phases->known[at].parent;

		row_of[at] = out->phase_nr;
		add_row(f, &phases->known[at], parent < 0 ? -1 : row_of[parent], out);
		if (first_of[1 + at] >= 0) {
			at = first_of[1 + at];
			continue;
		}
		while (at >= 0 && next_of[at] < 0)
			at = phases->known[at].parent;
		at = at < 0 ? -1 : next_of[at];
	}
	free(first_of);
	free(next_of);
	free(row_of);
}
