/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "shared memory": tensors in one file, or one piece of shared memory, are the same memory, whichever processes
 * map it. It is counted once, for the place that mapped it first. What nobody said the file of is counted by itself.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/comparator.h"

#include <stdlib.h>

/* What tells the memory from all other: its file and where it begins there, on its machine. Never 0. */
static uint64_t key_of(const struct tare_process *p, const struct tare_rec_mapped_file *r)
{
	uint64_t key = r->inode * 0x9e3779b97f4a7c15u;

	key = (key ^ r->device) * 0x9e3779b97f4a7c15u;
	key = (key ^ r->offset) * 0x9e3779b97f4a7c15u;
	key = (key ^ (uint64_t)(p->machine + 1)) * 0x9e3779b97f4a7c15u;
	return key ? key : 1;
}

void tare_mapped_file_take(struct tare_fold *f, const struct tare_event *e)
{
	struct tare_process_fold *p = tare_fold_process(f, e->process);

	*tare_map_put(&p->mapped_files, e->rec.mapped_file->block, NULL) = key_of(e->process, e->rec.mapped_file);
}

uint64_t tare_mapped_file_of_next(struct tare_process_fold *p, uint64_t address)
{
	uint64_t key = 0;

	tare_map_remove(&p->mapped_files, address, &key);
	return key;
}

/* ---- rows ---- */

struct mapped {
	uint64_t key;
	const struct tare_live_block *block;
};

TARE_COMPARATOR(by_key, struct mapped, TARE_RISING(key) TARE_RISING(block->born_ns) TARE_RISING(block->process))

TARE_COMPARATOR(by_place, struct mapped, TARE_RISING(block->process) TARE_RISING(block->site))

/* The first of each file, and all whose file is not known. */
static size_t collect(const struct tare_fold *f, enum tare_moment m, struct mapped **out)
{
	size_t count = 0, cap = 0, kept = 0;

	for (int i = 0; i < f->process_nr; i++) {
		struct tare_block_walk walk = tare_block_walk_of(f, -1, i, m);
		const struct tare_live_block *b;

		while (f->processes[i] && (b = tare_block_walk_next(&walk))) {
			if (!(b->flags & TARE_TENSOR_MAPPED))
				continue;
			TARE_APPEND(*out, count, cap) =
				(struct mapped){ (uint64_t)tare_block_walk_known(&walk, b).facts.booked, b };
		}
	}
	TARE_SORT(*out, count, by_key);
	for (size_t i = 0; i < count; i++)
		if (!i || !(*out)[i].key || (*out)[i].key != (*out)[i - 1].key)
			(*out)[kept++] = (*out)[i];
	return kept;
}

void tare_mapped_file_rows(const struct tare_fold *f, enum tare_moment m, struct tare_ledger *out)
{
	struct tare_shared_ledger *s = &out->shared;
	struct mapped *items = NULL;
	size_t count = collect(f, m, &items);

	*s = (struct tare_shared_ledger){ 0 };
	s->lines = tare_arena_alloc(out->memory, (count + 1) * sizeof(*s->lines));
	TARE_SORT(items, count, by_place);
	for (size_t i = 0; i < count; i++) {
		const struct tare_live_block *b = items[i].block;
		struct tare_ledger_line *line = s->line_nr ? &s->lines[s->line_nr - 1] : NULL;

		if (!i || by_place(&items[i - 1], &items[i])) {
			line = &s->lines[s->line_nr++];
			*line = (struct tare_ledger_line){
				.pid = f->processes[b->process]->process->pid,
				.evidence = TARE_EVIDENCE_EXACT,
			};
			tare_fold_line_name(f, b->site, TARE_ACCOUNT_NONE, out->memory, line);
		}
		line->tensors.bytes += b->bytes;
		line->tensors.count++;
		s->bytes += b->bytes;
		s->count++;
	}
	free(items);
}
