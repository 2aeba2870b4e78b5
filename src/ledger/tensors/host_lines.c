/* SPDX-License-Identifier: Apache-2.0 */
/* From live blocks of CPU memory to lines: what every place in the program has there. */
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/comparator.h"

#include <stdlib.h>

struct part {
	int64_t bytes;
	uint64_t count;
	int process;
	uint32_t site;
};

struct parts {
	struct part *items;
	size_t count, cap;
};

static void add(struct parts *p, int process, uint32_t site, int64_t bytes, uint64_t count)
{
	TARE_APPEND(p->items, p->count, p->cap) = (struct part){ bytes, count, process, site };
}

static void add_block(struct parts *p, const struct tare_live_block *b)
{
	if (!(b->flags & TARE_TENSOR_MAPPED))
		add(p, b->process, b->site, b->bytes, 1);
}

/* As they were at the moment: those that still live, and those that went since. */
static void add_blocks(const struct tare_fold *f, enum tare_moment m, struct parts *out)
{
	const struct tare_kept_blocks *kept = &f->host.kept;

	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_blocks *blocks = f->processes[i] ? &f->processes[i]->host_blocks : NULL;

		for (size_t k = 0; blocks && k < blocks->count; k++)
			if (blocks->items[k].process >= 0 && tare_block_was_live(&blocks->items[k], kept, m))
				add_block(out, &blocks->items[k]);
	}
	for (size_t i = 0; i < kept->count; i++)
		if (tare_block_is_kept(&kept->items[i], kept, m))
			add_block(out, &kept->items[i].block);
}

TARE_COMPARATOR(by_place, struct part, TARE_RISING(process) TARE_RISING(site))

static void merge(struct parts *p)
{
	size_t kept = 0;

	if (!p->count)
		return;
	TARE_SORT(p->items, p->count, by_place);
	for (size_t i = 1; i < p->count; i++) {
		if (by_place(&p->items[kept], &p->items[i])) {
			p->items[++kept] = p->items[i];
			continue;
		}
		p->items[kept].bytes += p->items[i].bytes;
		p->items[kept].count += p->items[i].count;
	}
	p->count = kept + 1;
}

void tare_fold_host_lines(const struct tare_fold *f, enum tare_moment m, struct tare_ledger *out)
{
	struct tare_ledger_line *lines;
	struct parts p = { 0 };

	add_blocks(f, m, &p);
	merge(&p);
	lines = tare_arena_alloc(out->memory, (p.count + 1) * sizeof(*lines));
	for (int i = 0; i < out->host_nr; i++)
		out->hosts[i].line_nr = 0;
	for (size_t i = 0; i < p.count; i++) {
		const struct tare_process_fold *process = f->processes[p.items[i].process];
		struct tare_host_ledger *h;

		if (process->host_row < 0)
			continue;
		h = &out->hosts[process->host_row];
		if (!h->line_nr++)
			h->lines = &lines[i];
		lines[i] = (struct tare_ledger_line){
			.pid = process->process->pid,
			.evidence = TARE_EVIDENCE_EXACT,
			.tensors = { .bytes = p.items[i].bytes, .count = p.items[i].count },
		};
		tare_fold_line_name(f, p.items[i].site, TARE_ACCOUNT_NONE, out->memory, &lines[i]);
	}
	free(p.items);
}
