/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what processes weigh, by kind of memory or by mapping. */
#include "cmd/weigh.h"

#include "base/units.h"

#include <string.h>

/* A row as it is shown: of one mapping or several, or the sum of a kind. */
struct row {
	int64_t pid;
	const char *process, *label;
	uint64_t asked; /* nobody recorded what was asked for */
	struct tare_weigh_row of;
};

#define ASKED .unknown = TARE_UNKNOWN_HUGE

static const struct tare_column data_columns[] = {
	TARE_COLUMN(row, pid, "pid", NULL, ID),
	TARE_COLUMN(row, process, "process", NULL, TEXT),
	TARE_COLUMN(row, of.path, "path", NULL, TEXT),
	TARE_COLUMN(row, of.resident, "resident_bytes", NULL, BYTES),
	TARE_COLUMN(row, asked, "asked_bytes", NULL, BYTES, ASKED),
	TARE_COLUMN(row, of.swap, "swap_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.rss, "rss_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.mapped, "mapped_bytes", NULL, BYTES),
	TARE_COLUMN(row, of.mappings, "mappings", NULL, COUNT),
	TARE_COLUMN(row, of.file, "file", NULL, TEXT),
};

static void add_rows(struct tare_emit *e, const struct tare_weigh_process *p)
{
	for (size_t i = 0; i < p->count; i++)
		tare_emit_add(e, &(struct row){ .pid = p->pid, .process = p->name, .asked = TARE_NOT_KNOWN, .of = p->rows[i] });
}

static const struct tare_column process_columns[] = {
	TARE_COLUMN(tare_weigh_process, name, "name", NULL, TEXT),
	TARE_COLUMN(tare_weigh_process, user, "user", NULL, TEXT),
	TARE_COLUMN(tare_weigh_process, uid, "uid", NULL, ID),
	TARE_COLUMN(tare_weigh_process, command, "command", NULL, TEXT),
	TARE_COLUMN(tare_weigh_process, cgroup, "cgroup", NULL, TEXT),
	TARE_COLUMN(tare_weigh_process, threads, "threads", NULL, COUNT, .unknown = TARE_UNKNOWN_HUGE),
	TARE_COLUMN(tare_weigh_process, pss, "pss_bytes", NULL, BYTES),
	TARE_COLUMN(tare_weigh_process, swap, "swap_bytes", NULL, BYTES),
	TARE_COLUMN(tare_weigh_process, rss, "rss_bytes", NULL, BYTES),
	TARE_COLUMN(tare_weigh_process, uss, "uss_bytes", NULL, BYTES),
	TARE_COLUMN(tare_weigh_process, pss_anon, "pss_anon_bytes", NULL, BYTES),
	TARE_COLUMN(tare_weigh_process, pss_file, "pss_file_bytes", NULL, BYTES),
	TARE_COLUMN(tare_weigh_process, pss_shmem, "pss_shmem_bytes", NULL, BYTES),
	TARE_COLUMN(tare_weigh_process, hugetlb, "hugetlb_bytes", NULL, BYTES),
	TARE_COLUMN(tare_weigh_process, nvmap, "nvmap_bytes", NULL, BYTES, .unknown = TARE_UNKNOWN_HUGE),
	TARE_COLUMN(tare_weigh_process, page_tables, "page_tables_bytes", NULL, BYTES, .unknown = TARE_UNKNOWN_HUGE),
	TARE_COLUMN(tare_weigh_process, kernel_stacks, "kernel_stacks_bytes", NULL, BYTES, .unknown = TARE_UNKNOWN_HUGE),
};

static void print_data(struct tare_emit *e, const struct tare_weigh_processes *all)
{
	tare_emit_open(e, "processes", '[');
	for (size_t i = 0; i < all->count; i++) {
		const struct tare_weigh_process *p = &all->items[i];

		if (p->failure)
			continue;
		tare_emit_open(e, NULL, '{');
		tare_emit_int(e, "pid", p->pid);
		tare_emit_members(e, TARE_COLUMNS(process_columns), p);
		tare_emit_table(e, "rows", NULL, TARE_COLUMNS(data_columns));
		add_rows(e, p);
		tare_emit_table_end(e);
		tare_emit_close(e);
	}
	tare_emit_close(e);
}

/* ---- for people ---- */

static const struct tare_column columns[] = {
	TARE_COLUMN(row, label, NULL, "", TEXT),
	TARE_COLUMN(row, of.resident, NULL, "RESIDENT", BYTES),
	TARE_COLUMN(row, of.swap, NULL, "IN SWAP", BYTES),
	TARE_COLUMN(row, asked, NULL, "ASKED", BYTES, ASKED),
	TARE_COLUMN(row, of.mapped, NULL, "ADDRESSES", BYTES),
};

enum { LEAST = 52429 /* what does not show as 0.0 MiB */, MOST_LINES = 6 };

/* The rows of one kind: their sum, then the largest of them. */
static size_t print_kind(struct tare_emit *e, const struct tare_weigh_process *p, size_t from)
{
	enum tare_weigh_kind kind = p->rows[from].kind;
	struct row sum = { .label = tare_weigh_kind_names[kind], .asked = TARE_NOT_KNOWN };
	struct row rest = { .asked = TARE_NOT_KNOWN };
	TARE_FREED_BY(tare_str_free) struct tare_str label = { 0 };
	size_t to = from, left = 0;

	for (; to < p->count && p->rows[to].kind == kind; to++) {
		sum.of.resident += p->rows[to].resident;
		sum.of.swap += p->rows[to].swap;
		sum.of.mapped += p->rows[to].mapped;
	}
	tare_emit_add(e, &sum);
	if (sum.of.resident < LEAST && sum.of.resident > -LEAST)
		return to;
	for (size_t i = from; i < to && (to - from > 1 || *p->rows[i].name); i++) {
		const struct tare_weigh_row *r = &p->rows[i];

		if (i - from < MOST_LINES && (r->resident >= LEAST || r->resident <= -LEAST || to - from == 1)) {
			tare_emit_add_as(e, &(struct row){ .label = r->name, .asked = TARE_NOT_KNOWN, .of = *r },
			                 (struct tare_row_look){ .level = 1 });
			continue;
		}
		rest.of.resident += r->resident;
		rest.of.swap += r->swap;
		rest.of.mapped += r->mapped;
		left++;
	}
	if (left) {
		tare_str_addf(&label, "%zu other%s", left, left > 1 ? "s" : "");
		rest.label = tare_str_text(&label);
		tare_emit_add_as(e, &rest, (struct tare_row_look){ .level = 1 });
	}
	return to;
}

static void add_mib(struct tare_str *out, const char *before, uint64_t bytes)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "%s%s", before, bytes == TARE_NOT_KNOWN ? "not known" : tare_units_mib(text, (int64_t)bytes));
}

static void print_beside(struct tare_emit *e, const struct tare_weigh_process *p)
{
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	add_mib(&line, "MiB. Counted in full, whoever shares it: RSS ", (uint64_t)p->rss);
	add_mib(&line, "; its own alone: USS ", (uint64_t)p->uss);
	tare_emit_note(e, "%s", tare_str_text(&line));
	tare_str_cut(&line, 0);
	add_mib(&line, "Beside that, in the kernel: page tables ", p->page_tables);
	add_mib(&line, ", stacks ", p->kernel_stacks);
	if (p->hugetlb)
		add_mib(&line, "; pages that were set aside (hugetlb): ", p->hugetlb);
	tare_emit_note(e, "%s", tare_str_text(&line));
}

/*
 * The GPU's memory of a Tegra is the machine's. What the CPU has mapped of it is in RSS; in Pss about half of that, because nvmap
 * counts each page as mapped once more than it is.
 */
static void print_nvmap(struct tare_emit *e, const struct tare_weigh_process *p)
{
	uint64_t rss = 0, pss = 0;
	TARE_FREED_BY(tare_str_free) struct tare_str line = { 0 };

	if (p->nvmap == TARE_NOT_KNOWN || !p->nvmap)
		return;
	for (size_t i = 0; i < p->count; i++)
		if (p->rows[i].kind == TARE_WEIGH_NVMAP) {
			rss += p->rows[i].rss;
			pss += (uint64_t)p->rows[i].resident;
		}
	add_mib(&line, "The GPU has ", p->nvmap);
	add_mib(&line, " for it (nvmap), of which RSS has ", rss);
	add_mib(&line, " and Pss ", pss);
	add_mib(&line, "; with all of that it takes ", (uint64_t)(p->pss + p->swap) + p->nvmap - pss);
	tare_emit_note(e, "%s", tare_str_text(&line));
}

static void print_process(struct tare_emit *e, const struct tare_weigh_process *p)
{
	struct tare_str title = { 0 };
	struct row sum = { .label = "Pss + swap", .asked = TARE_NOT_KNOWN };

	tare_str_addf(&title, "%s (pid %d) · %s", p->name, (int)p->pid, p->user);
	if (p->threads != TARE_NOT_KNOWN)
		tare_str_addf(&title, " · %llu thread%s", (unsigned long long)p->threads, p->threads == 1 ? "" : "s");
	tare_emit_shape(e, TARE_SHAPE_TREE, "rows", tare_str_text(&title), TARE_COLUMNS(columns));
	for (size_t i = 0; i < p->count;)
		i = print_kind(e, p, i);
	for (size_t i = 0; i < p->count; i++)
		sum.of.mapped += p->rows[i].mapped;
	sum.of.resident = p->pss + p->swap;
	sum.of.swap = p->swap;
	tare_emit_rule(e);
	tare_emit_add_as(e, &sum, (struct tare_row_look){ .tone = TARE_TONE_STRONG });
	tare_emit_table_end(e);
	tare_str_free(&title);
	print_beside(e, p);
	print_nvmap(e, p);
}

void tare_weigh_print_processes(struct tare_emit *e, const struct tare_weigh_processes *all)
{
	bool is_first = true;

	if (tare_emit_has_members(e)) {
		print_data(e, all);
		return;
	}
	if (!tare_emit_is_for_people(e)) {
		tare_emit_table(e, "rows", NULL, TARE_COLUMNS(data_columns));
		for (size_t i = 0; i < all->count; i++)
			add_rows(e, &all->items[i]);
		tare_emit_table_end(e);
		return;
	}
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].failure)
			continue;
		if (!is_first)
			tare_emit_gap(e);
		is_first = false;
		print_process(e, &all->items[i]);
	}
}
