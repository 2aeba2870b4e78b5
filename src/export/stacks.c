/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where every byte is, once. The smallest rows of a ledger sum to what is in use; each is taken apart by who asked for it, as far
 * as lines are known: what of a row has no line stays with the row. So the samples of a device sum to its `used`.
 */
#include "export/builder.h"

#include "ledger/owner.h"

#include <stdlib.h>
#include <string.h>

static void add_row(struct tare_builder *b, const struct tare_row *row, int64_t bytes, uint64_t count)
{
	const struct tare_blocks_ledger sizes = { .bytes = bytes, .count = count };

	tare_builder_begin(b);
	tare_builder_row(b, row);
	tare_builder_add(b, row->pid, row->evidence, &sizes);
}

/* ---- rows, by who asked ---- */

/* Live tensors; where there are none at the moment, the row has no categories. */
static bool is_tensors(const struct tare_row *row)
{
	return row->has_categories || row->pool;
}

/* A row beside live tensors, or they themselves: its memory is in segments of PyTorch's allocator. */
static bool is_of_pool(const struct tare_device_ledger *d, const struct tare_row *row)
{
	for (int i = 0; i < d->row_nr; i++) {
		const struct tare_row *at = row;

		if (!is_tensors(&d->rows[i]))
			continue;
		while (at->parent >= 0 && at->parent != d->rows[i].parent)
			at = &d->rows[at->parent];
		if (at->parent >= 0)
			return true;
	}
	return false;
}

static bool is_part_of(const struct tare_row *row, const struct tare_ledger_line *l, const struct tare_line_part *part)
{
	struct tare_str end = { 0 };
	bool is_it;

	if (part->account != row->account || l->pid != row->pid)
		return false;
	if (!tare_account_has_libraries(row->account))
		return true;
	if (!part->owner)
		return false;
	tare_row_path_add(&end, "");
	tare_owner_path_add(&end, part->owner);
	is_it = strlen(row->path) >= end.len && !strcmp(row->path + strlen(row->path) - end.len, tare_str_text(&end));
	tare_str_free(&end);
	return is_it;
}

/* Calls add_part() or sums up. Lines know no generation: where more is asked for by lines than the row has, they are several rows'. */
static int64_t each_part(struct tare_builder *b, const struct tare_row *row, uint64_t *count, bool is_added)
{
	int64_t bytes = 0;

	for (int i = 0; i < b->d->line_nr; i++)
		for (int k = 0; k < b->d->lines[i].part_nr; k++) {
			const struct tare_ledger_line *l = &b->d->lines[i];
			const struct tare_line_part *part = &l->parts[k];
			const struct tare_blocks_ledger sizes = {
				.bytes = part->bytes, .count = part->count, .ever_bytes = part->ever_bytes, .ever = part->ever
			};

			if (!is_part_of(row, l, part))
				continue;
			bytes += part->bytes;
			*count += part->count;
			if (!is_added)
				continue;
			tare_builder_begin(b);
			tare_builder_row(b, row);
			tare_builder_line(b, l);
			tare_builder_add(b, row->pid, part->evidence, &sizes);
		}
	return bytes;
}

static void add_parts(struct tare_builder *b, const struct tare_row *row)
{
	uint64_t count = 0, again = 0;
	int64_t bytes = each_part(b, row, &count, false);

	if (!bytes || bytes > row->bytes || count > row->count) {
		add_row(b, row, row->bytes, row->count);
		return;
	}
	each_part(b, row, &again, true);
	add_row(b, row, row->bytes - bytes, row->count - count);
}

/* The rows of live tensors of a process on the device are one here; `row` is the first of them. */
static void add_tensors(struct tare_builder *b, const struct tare_row *row)
{
	int64_t bytes = 0, of_lines = 0;
	uint64_t count = 0, count_of_lines = 0;

	for (int i = 0; i < b->d->row_nr; i++)
		if (is_tensors(&b->d->rows[i]) && b->d->rows[i].pid == row->pid) {
			if (&b->d->rows[i] < row)
				return;
			bytes += b->d->rows[i].bytes;
			count += b->d->rows[i].count;
		}
	for (int i = 0; i < b->d->line_nr; i++)
		if (b->d->lines[i].pid == row->pid) {
			of_lines += b->d->lines[i].tensors.bytes;
			count_of_lines += b->d->lines[i].tensors.count;
		}
	if (of_lines > bytes || count_of_lines > count) {
		add_row(b, row, bytes, count);
		return;
	}
	for (int i = 0; i < b->d->line_nr; i++) {
		const struct tare_ledger_line *l = &b->d->lines[i];

		if (l->pid != row->pid || !l->tensors.ever)
			continue;
		tare_builder_begin(b);
		tare_builder_row(b, row);
		tare_builder_line(b, l);
		tare_builder_add(b, row->pid, TARE_EVIDENCE_EXACT, &l->tensors);
	}
	add_row(b, row, bytes - of_lines, count - count_of_lines);
}

static void add_unexplained(struct tare_builder *b)
{
	static const char label[] = "unexplained";
	const struct tare_blocks_ledger sizes = { .bytes = b->d->unexplained };

	if (b->d->used == TARE_NOT_KNOWN || b->d->used_by == TARE_EVIDENCE_INFERRED)
		return;
	tare_builder_begin(b);
	tare_builder_push(b, label, strlen(label), true);
	tare_builder_add(b, -1, b->d->used_by, &sizes);
}

static void add_device(struct tare_builder *b)
{
	for (int i = 0; i < b->d->row_nr; i++) {
		const struct tare_row *row = &b->d->rows[i];

		if (!tare_row_is_end(row))
			continue;
		b->is_of_pool = is_of_pool(b->d, row);
		if (is_tensors(row))
			add_tensors(b, row);
		else
			add_parts(b, row);
	}
	b->is_of_pool = false;
	add_unexplained(b);
}

/* ---- the CPU ---- */

static void add_host_lines(struct tare_builder *b, const char *name, int64_t pid, int64_t all, int64_t count,
                           const struct tare_ledger_line *lines, int nr)
{
	struct tare_blocks_ledger rest = { .bytes = all, .count = (uint64_t)count };

	for (int i = 0; i < nr; i++) {
		tare_builder_begin(b);
		tare_builder_push(b, name, strlen(name), true);
		tare_builder_line(b, &lines[i]);
		tare_builder_add(b, pid, TARE_EVIDENCE_EXACT, &lines[i].tensors);
		rest.bytes -= lines[i].tensors.bytes;
		rest.count -= rest.count < lines[i].tensors.count ? rest.count : lines[i].tensors.count;
	}
	tare_builder_begin(b);
	tare_builder_push(b, name, strlen(name), true);
	if (rest.bytes)
		tare_builder_add(b, pid, TARE_EVIDENCE_EXACT, &rest);
}

static void add_hosts(struct tare_builder *b, const struct tare_ledger *l)
{
	for (int i = 0; i < l->host_nr; i++) {
		const struct tare_host_ledger *h = &l->hosts[i];
		struct tare_str name = { 0 };

		tare_str_addf(&name, "%s (pid %lld)", h->name, (long long)h->pid);
		if (h->tensors.is_known)
			add_host_lines(b, tare_str_text(&name), h->pid, h->tensors.bytes, h->tensors.count, h->lines, h->line_nr);
		tare_str_free(&name);
	}
	add_host_lines(b, "shared memory and mapped files", -1, l->shared.bytes, l->shared.count, l->shared.lines,
	               l->shared.line_nr);
}

static void end(struct tare_builder *b)
{
	tare_builder_keep_largest(b);
	tare_strmap_free(&b->by_stack);
	free(b->frames);
}

void tare_export_stacks_build(struct tare_export_stacks *out, const struct tare_ledger *l)
{
	for (int i = 0; i < l->device_nr; i++) {
		struct tare_builder b = { .s = out, .d = &l->devices[i], .first = out->nr };

		add_device(&b);
		end(&b);
	}
	struct tare_builder cpu = { .s = out, .first = out->nr };

	add_hosts(&cpu, l);
	end(&cpu);
}

void tare_export_stacks_free(struct tare_export_stacks *s)
{
	free(s->frames);
	free(s->samples);
	tare_strmap_free(&s->numbers);
	tare_arena_free(&s->arena);
	*s = (struct tare_export_stacks){ 0 };
}
