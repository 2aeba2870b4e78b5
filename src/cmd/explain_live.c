/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a running process for `tare explain`: its GPUs, its host memory, its ledger. */
#include "cmd/explain.h"

#include "base/array.h"
#include "cmd/weigh.h"
#include "witness/nvml.h"

#include <stdlib.h>
#include <string.h>

void tare_explain_add(struct tare_explain *x, const char *path, int64_t bytes)
{
	if (!bytes)
		return;
	TARE_APPEND(x->rows, x->count, x->cap) =
		(struct tare_explain_row){ tare_arena_strdup(&x->arena, path), bytes, false };
}

static void add_of_others(struct tare_explain *x, const char *path, int64_t bytes)
{
	size_t before = x->count;

	tare_explain_add(x, path, bytes);
	if (x->count > before)
		x->rows[before].is_of_others = true;
}

static void add(int64_t *to, uint64_t bytes)
{
	if (bytes > INT64_MAX)
		return;
	*to = (*to == TARE_FIGURE_NOT_KNOWN ? 0 : *to) + (int64_t)bytes;
}

/* Of all GPUs together, as the process sees them. */
static void read_gpus(struct tare_figures *f, pid_t pid)
{
	struct tare_nvml_processes list;
	struct tare_nvml_memory memory;
	struct tare_nvml *nvml;

	if (tare_nvml_open(NULL, &nvml, NULL))
		return;
	for (int d = 0; d < tare_nvml_device_count(nvml); d++) {
		if (!tare_nvml_memory(nvml, d, &memory, NULL) && memory.version) {
			add(&f->of[TARE_FIGURE_GPU_USED], memory.used);
			add(&f->of[TARE_FIGURE_GPU_FREE], memory.free);
		}
		if (tare_nvml_processes(nvml, d, &list, NULL))
			continue;
		for (size_t i = 0; i < list.count; i++)
			if (list.items[i].pid == (uint32_t)pid)
				add(&f->of[TARE_FIGURE_GPU_PROCESS], list.items[i].used);
		if (list.version)
			add(&f->of[TARE_FIGURE_GPU_PROCESS], 0);
		tare_nvml_processes_free(&list);
	}
	tare_nvml_close(nvml);
}

/* Kinds of the process, and what the machine has beside it: single libraries explain no difference. */
static void add_rows(struct tare_explain *x, const struct tare_weigh_process *p, const struct tare_weigh_machine *m)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

	for (int kind = 0; kind < TARE_WEIGH_KIND_NR; kind++) {
		int64_t bytes = 0;

		for (size_t i = 0; i < p->count; i++)
			bytes += p->rows[i].kind == (enum tare_weigh_kind)kind ? p->rows[i].resident - p->rows[i].swap : 0;
		tare_explain_add(x, tare_weigh_kind_names[kind], bytes);
	}
	tare_explain_add(x, "swap of the process", p->swap);
	tare_explain_add(x, "shared with others, counted in full", p->rss - p->pss);
	for (size_t i = 0; i < m->count; i++) {
		if (!strcmp(m->rows[i].path, "free"))
			continue; /* nobody has it, so nobody leaves it out */
		tare_str_cut(&path, 0);
		tare_str_addf(&path, "system/%s", m->rows[i].path);
		add_of_others(x, tare_str_text(&path), m->rows[i].bytes);
	}
	if (m->swap_total != TARE_NOT_KNOWN && m->swap_free != TARE_NOT_KNOWN)
		add_of_others(x, "system/swap of others", (int64_t)(m->swap_total - m->swap_free) - p->swap);
}

int tare_explain_process(struct tare_explain *x, pid_t pid, const char *root, struct tare_err *err)
{
	struct tare_weigh_processes one = { 0 }, all = { 0 };
	struct tare_weigh_machine machine;
	struct tare_str title = { 0 };
	int rc = tare_weigh_read(&one, pid, root, "explain", err);

	if (rc)
		return rc;
	tare_figures_clear(&x->figures);
	tare_figures_of_process(&x->figures, &one.items[0]);
	tare_weigh_machine(&machine, &one, root, false);
	x->has_board = machine.nvmap != TARE_NOT_KNOWN;
	tare_figures_of_machine(&x->figures, &machine, root);
	tare_weigh_machine_free(&machine);
	if (!*root)
		read_gpus(&x->figures, pid);
	tare_str_addf(&title, "%s (pid %d) · now", one.items[0].name, (int)pid);
	x->title = tare_arena_strdup(&x->arena, tare_str_text(&title));
	tare_str_free(&title);
	/* The others come last, so that what was read of the process and of the machine is of one moment. */
	tare_weigh_all(&all, root);
	tare_weigh_machine(&machine, &all, root, true);
	add_rows(x, &one.items[0], &machine);
	tare_weigh_machine_free(&machine);
	tare_weigh_free(&all);
	tare_weigh_free(&one);
	return 0;
}
