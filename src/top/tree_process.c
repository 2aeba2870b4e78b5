/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a GPU's processes: those that NVML lists, those that recordings know, each once. */
#include "top/tree_private.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/str.h"
#include "base/units.h"
#include "top/tree_ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which recordings have a say ---- */

bool tare_top_is_device(const struct tare_follow *f, const struct tare_device_ledger *d, const char *uuid,
                        const char *sim_state)
{
	if (!uuid[0] || strcmp(d->uuid, uuid) != 0)
		return false;
	if (!f->sim_state || !sim_state)
		return !f->sim_state && !sim_state;
	return sim_state[0] && !strcmp(f->sim_state, sim_state);
}

bool tare_top_has_program(const struct tare_device_ledger *d)
{
	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].pid >= 0 && d->rows[i].account != TARE_ACCOUNT_OTHER)
			return true;
	return false;
}

void tare_top_claim(struct tare_top_claims *claims, const struct tare_follow *f, const struct tare_device_ledger *d)
{
	TARE_APPEND(claims->items, claims->count, claims->cap) = (struct tare_top_claim){ f, d };
}

struct tare_top_claims tare_top_claims_of(const struct tare_finder *found, const char *uuid, const char *sim_state)
{
	struct tare_top_claims claims = { 0 };

	for (size_t i = 0; i < found->count; i++) {
		const struct tare_follow *f = found->items[i];

		for (int k = 0; f->has_ledger && k < f->ledger.device_nr; k++)
			if (tare_top_is_device(f, &f->ledger.devices[k], uuid, sim_state) &&
			    tare_top_has_program(&f->ledger.devices[k]))
				tare_top_claim(&claims, f, &f->ledger.devices[k]);
	}
	return claims;
}

void tare_top_claims_free(struct tare_top_claims *claims)
{
	free(claims->items);
	*claims = (struct tare_top_claims){ 0 };
}

/* ---- each process once ---- */

struct item {
	int64_t pid;   /* as it is seen here */
	int64_t bytes; /* as NVML says; -1: it does not */
	char *name;
	const struct tare_follow *follow;
	const struct tare_device_ledger *device;
	int64_t recorded_pid; /* as it sees itself; -1: it is not recorded */
	int64_t shown;        /* what its row says */
};

struct items {
	struct item *list;
	size_t count, cap;
};

static struct item *add_item(struct items *items, struct item item)
{
	return TARE_ADD(items->list, items->count, items->cap, item);
}

/* A pid that is not here is of a process that cannot be told from one that a recording has: it is among the others. */
static void take_listed(struct items *items, const struct tare_nvml_processes *list)
{
	for (size_t i = 0; i < list->count; i++) {
		char *name = tare_top_process_name(list->items[i].pid);
		uint64_t used = list->items[i].used;

		if (name)
			add_item(items, (struct item){ .pid = list->items[i].pid,
			                               .bytes = used > INT64_MAX ? -1 : (int64_t)used,
			                               .name = name,
			                               .recorded_pid = -1 });
	}
}

static struct item *item_of(struct items *items, const struct tare_follow_process *p, bool is_simulated)
{
	for (size_t i = 0; i < items->count; i++)
		if (items->list[i].recorded_pid < 0 && tare_top_is_process((uint32_t)items->list[i].pid, p, is_simulated))
			return &items->list[i];
	return NULL;
}

/* Its generations are one process. */
static bool is_taken(const struct items *items, const struct tare_top_claim *claim, uint32_t pid)
{
	for (size_t i = 0; i < items->count; i++)
		if (items->list[i].follow == claim->follow && items->list[i].recorded_pid == pid)
			return true;
	return false;
}

static void take_recorded(struct items *items, const struct tare_top_claim *claim)
{
	for (size_t i = 0; i < claim->follow->process_nr; i++) {
		const struct tare_follow_process *p = &claim->follow->processes[i];
		struct item *item;

		if (is_taken(items, claim, p->pid) || !tare_top_ledger_has(claim->device, (int64_t)p->pid))
			continue;
		item = p->is_over ? NULL : item_of(items, p, claim->follow->sim_state != NULL);
		if (!item) {
			int64_t bytes = tare_top_ledger_sum(claim->device, (int64_t)p->pid);

			if (p->is_over && !bytes)
				continue;
			item = add_item(items, (struct item){ .pid = p->pid, .bytes = -1, .name = tare_xstrdup(p->name) });
		}
		if (!tare_top_is_process((uint32_t)item->pid, p, false)) {
			free(item->name); /* of whatever has that pid here */
			item->name = tare_xstrdup(p->name);
		}
		item->follow = claim->follow;
		item->device = claim->device;
		item->recorded_pid = p->pid;
	}
}

/* ---- their order ---- */

static enum tare_top_sort sorted_by; /* qsort() has no argument for it */

TARE_COMPARATOR(by_wish, struct item,
                TARE_FALLING_BY(sorted_by == TARE_TOP_BY_SIZE ? it->shown : 0)
                    TARE_ALPHABETIC_BY(sorted_by == TARE_TOP_BY_NAME ? it->name : "") TARE_RISING(pid))

static bool is_wanted(const struct item *item, const char *filter)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%lld", (long long)item->pid);
	return !*filter || strcasestr(item->name, filter) || strstr(pid, filter) ||
	       (item->follow && strcasestr(item->follow->label, filter));
}

/* ---- rows ---- */

static void add_process(struct tare_top_tree *tree, int gpu, const struct item *item, int64_t now_ns)
{
	struct tare_str label = { 0 }, key = { 0 };
	struct tare_top_row *row;
	int at = (int)tree->count;

	tare_str_addf(&label, "%lld %s", (long long)item->pid, item->name);
	tare_str_addf(&key, "%lld", (long long)item->pid);
	row = tare_top_add(tree, gpu, TARE_TOP_PROCESS, tare_str_text(&label), tare_str_text(&key));
	tare_str_free(&label);
	tare_str_free(&key);
	row->pid = item->pid;
	row->follow = item->follow;
	row->device = item->device;
	row->recorded_pid = item->recorded_pid;
	if (item->bytes >= 0 || item->follow)
		tare_top_set(row, item->shown, item->follow ? "ledger" : "NVML", true);
	row->course = tare_top_course_of(tree, row->key);
	if (row->is_known)
		tare_top_course_add(tare_top_course_of(tree, row->key), now_ns, row->bytes);
	tree->process_nr++;
	if (!item->follow)
		return;
	tree->recorded_nr++;
	row->steps = tare_top_ledger_steps(&item->follow->ledger, item->recorded_pid, item->device->index);
	tare_top_add_ledger(tree, at, item->device, item->recorded_pid);
	if (item->bytes >= 0) {
		row = tare_top_add(tree, at, TARE_TOP_LISTED, "as NVML lists it", "listed");
		tare_top_set(row, item->bytes, "NVML", false);
	}
	tare_top_add_lines(tree, at, item->device->lines, item->device->line_nr, item->recorded_pid);
}

static void add_left_out(struct tare_top_tree *tree, int gpu, size_t count, int64_t bytes)
{
	struct tare_str label = { 0 };
	struct tare_top_row *row;

	if (!count)
		return;
	tare_str_addf(&label, "%zu process%s that the filter leaves out", count, count == 1 ? "" : "es");
	row = tare_top_add(tree, gpu, TARE_TOP_LEFT_OUT, tare_str_text(&label), "left out");
	tare_top_set(row, bytes, "", true);
	tare_str_free(&label);
}

void tare_top_add_processes(struct tare_top_tree *tree, int gpu, const struct tare_nvml_processes *list,
                            const struct tare_top_claims *claims, const struct tare_top_wish *wish, int64_t now_ns)
{
	struct items items = { 0 };
	size_t left_out = 0;
	int64_t left_out_bytes = 0;

	take_listed(&items, list);
	for (size_t i = 0; i < claims->count; i++)
		take_recorded(&items, &claims->items[i]);
	for (size_t i = 0; i < items.count; i++) {
		struct item *item = &items.list[i];

		item->shown = item->follow       ? tare_top_ledger_sum(item->device, item->recorded_pid)
		              : item->bytes >= 0 ? item->bytes
		                                 : 0;
	}
	sorted_by = wish->sort;
	TARE_SORT(items.list, items.count, by_wish);
	for (size_t i = 0; i < items.count; i++) {
		if (is_wanted(&items.list[i], wish->filter)) {
			add_process(tree, gpu, &items.list[i], now_ns);
		} else {
			left_out++;
			left_out_bytes += items.list[i].shown;
		}
		free(items.list[i].name);
	}
	add_left_out(tree, gpu, left_out, left_out_bytes);
	free(items.list);
}

/* ---- the memory of the host ---- */

static void add_host(struct tare_top_tree *tree, int cpu, const struct tare_follow *f, const struct tare_host_ledger *h,
                     int64_t now_ns)
{
	struct tare_str label = { 0 };
	struct tare_top_row *row;
	int at = (int)tree->count;

	tare_str_addf(&label, "%lld %s", (long long)h->pid, h->name);
	row = tare_top_add(tree, cpu, TARE_TOP_PROCESS, tare_str_text(&label), tare_str_text(&label));
	tare_str_free(&label);
	row->pid = h->pid;
	row->follow = f;
	row->steps = tare_top_ledger_steps(&f->ledger, h->pid, -1);
	tare_top_set(row, h->tensors.bytes, tare_evidence_name(h->evidence), true);
	row->course = tare_top_course_of(tree, row->key);
	tare_top_course_add(tare_top_course_of(tree, row->key), now_ns, row->bytes);
	for (int i = 0; i < h->category_nr; i++) {
		const struct tare_category_sum *c = &h->categories[i];

		if (!c->bytes)
			continue;
		row = tare_top_add(tree, at, TARE_TOP_PART, tare_category_name(c->category), tare_category_name(c->category));
		tare_top_set(row, c->bytes, tare_category_evidence(c->evidence), true);
	}
	tare_top_add_lines(tree, at, h->lines, h->line_nr, h->pid);
}

void tare_top_add_cpu(struct tare_top_tree *tree, const struct tare_finder *found, const struct tare_top_wish *wish,
                      int64_t now_ns)
{
	int cpu = -1;

	for (size_t i = 0; i < found->count; i++) {
		const struct tare_follow *f = found->items[i];

		for (int k = 0; f->has_ledger && k < f->ledger.host_nr; k++) {
			const struct tare_host_ledger *h = &f->ledger.hosts[k];
			const struct item item = { .pid = h->pid, .name = (char *)(uintptr_t)h->name, .follow = f };

			if (!h->tensors.is_known || h->tensors.bytes < TARE_UNITS_LEAST || !is_wanted(&item, wish->filter))
				continue;
			if (cpu < 0) {
				cpu = (int)tree->count;
				tare_top_add(tree, -1, TARE_TOP_CPU, "CPU  tensors, whether resident or not", "cpu");
			}
			add_host(tree, cpu, f, h, now_ns);
		}
	}
	if (cpu >= 0)
		tare_top_set(&tree->rows[cpu], tare_top_parts(tree, cpu), "exact", false);
}
