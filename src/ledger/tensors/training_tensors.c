/* SPDX-License-Identifier: Apache-2.0 */
/* What a training's tensors were when there was most of them: by what they are for, and by module. */
#include "ledger/tensors/tensors.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Sums in the making. */
struct modules {
	const struct tare_fold *f;
	struct tare_arena *memory;
	struct tare_map rows; /* module → its row */
	struct tare_map at;   /* module, rule and whether it was made in a backward pass → 1 + place */
	struct tare_tensor_row *items;
	size_t count, cap;
	int process;
};

static void add_to_module(struct modules *m, const struct tare_block_facts *facts, enum tare_rule rule, int64_t bytes)
{
	bool is_of_backward = facts->kind == TARE_WORK_BACKWARD;
	uint64_t *place = tare_map_put(&m->at, (uint64_t)facts->module << 16 | (uint64_t)rule << 1 | is_of_backward, NULL);

	if (!*place) {
		TARE_APPEND(m->items, m->count, m->cap) = (struct tare_tensor_row){
			.module = tare_module_row_of(&m->rows, m->f, m->memory, m->process, facts->module),
			.is_of_backward = is_of_backward,
			.rule = rule,
			.born_ns = -1,
			.pid = m->f->processes[m->process]->process->pid,
		};
		*place = m->count;
	}
	m->items[*place - 1].bytes += bytes;
	m->items[*place - 1].count++;
}

static void finish_modules(struct modules *m, struct tare_training *row)
{
	row->modules.count = (int)m->count;
	row->modules.items = tare_arena_alloc(m->memory, m->count * sizeof(*m->items) + 1);
	if (m->count)
		memcpy(row->modules.items, m->items, m->count * sizeof(*m->items));
	tare_map_free(&m->rows);
	tare_map_free(&m->at);
	free(m->items);
}

/* What there was of its tensors when there was most on that device, or CPU. */
void tare_tensor_most(const struct tare_fold *f, struct tare_training *row, struct tare_arena *memory)
{
	struct modules modules = { .f = f, .memory = memory, .process = row->process };
	enum tare_moment m = row->memory < 0 ? TARE_MOMENT_HOST : TARE_MOMENT_TENSORS;
	const struct tare_process_fold *p = f->processes[row->process];
	const struct tare_live_block *b;
	struct tare_block_walk walk;
	const struct tare_work *work;

	row->most_at = tare_moment_name(m);
	row->most_ns = row->memory < 0 ? f->host.moment_ns[m] : f->devices[row->memory]->moment_ns[m];
	if (row->memory >= p->on_device_nr || (row->memory >= 0 && !p->on_device[row->memory]))
		return;
	work = tare_tensors_work(f, row->process, row->memory);
	walk = tare_block_walk_of(f, row->memory, row->process, m);
	while ((b = tare_block_walk_next(&walk))) {
		struct tare_known_block known = tare_known(work, b);
		enum tare_rule rule;

		if (b->flags & TARE_TENSOR_MAPPED)
			continue;
		rule = tare_fold_rule_of(f, &known, work);
		tare_category_sums_add(row->most, rule, b->bytes, 1);
		add_to_module(&modules, &known.facts, rule, b->bytes);
		if (rule == TARE_RULE_FED)
			row->fed_bytes += b->bytes;
	}
	finish_modules(&modules, row);
}
