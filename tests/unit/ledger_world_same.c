/* SPDX-License-Identifier: Apache-2.0 */
/* Is a ledger from a state and the rest the ledger of the whole recording? */
#include "ledger_world.h"
#include "test.h"

#include <string.h>

static const struct tare_ledger_line *line_like(const struct tare_device_ledger *d, const struct tare_ledger_line *like)
{
	for (int i = 0; i < d->line_nr; i++)
		if (d->lines[i].pid == like->pid && !strcmp(d->lines[i].label, like->label))
			return &d->lines[i];
	return NULL;
}

/* What tensors are for a fold may have to tell before it is known, so those rows are left out; -1: no more. */
static int row_after(const struct tare_device_ledger *d, int i)
{
	for (i++; i < d->row_nr; i++)
		if (!d->rows[i].is_category)
			return i;
	return -1;
}

static void check_same_rows(const struct tare_device_ledger *a, const struct tare_device_ledger *b)
{
	int i, k;

	CHECK_INT((int64_t)b->used, (int64_t)a->used);
	CHECK_INT((int64_t)b->used_start, (int64_t)a->used_start);
	CHECK_INT((int64_t)b->peak_used, (int64_t)a->peak_used);
	/* A peak that blocks alone made fuller may lie so near the cut that it is told a little earlier. */
	CHECK(a->peak_t_ns - b->peak_t_ns >= 0 && a->peak_t_ns - b->peak_t_ns <= 50000);
	CHECK_INT(b->unexplained, a->unexplained);
	CHECK_INT(b->used_by, a->used_by);
	for (i = row_after(a, -1), k = row_after(b, -1); i >= 0 && k >= 0; i = row_after(a, i), k = row_after(b, k)) {
		const struct tare_row *x = &a->rows[i], *y = &b->rows[k];

		CHECK_STR(y->path, x->path);
		CHECK_STR(y->label, x->label);
		CHECK_INT(y->bytes, x->bytes);
		CHECK_INT(y->low, x->low);
		CHECK_INT(y->high, x->high);
		CHECK_INT(y->count, x->count);
		CHECK_INT(y->driver_ns, x->driver_ns);
	}
	CHECK(i < 0 && k < 0);
	for (i = 0; i < a->line_nr; i++) {
		const struct tare_ledger_line *x = &a->lines[i], *y = line_like(b, x);

		if (!y)
			test_fail(__FILE__, __LINE__, "the line %s is gone", x->label);
		CHECK_STR(y->stack, x->stack);
		CHECK_INT(y->bytes, x->bytes);
		CHECK_INT(y->low, x->low);
		CHECK_INT(y->high, x->high);
		CHECK_INT(y->count, x->count);
		CHECK_INT(y->driver_ns, x->driver_ns);
		CHECK_INT(y->unexplained, x->unexplained);
		CHECK_INT(y->host_anon, x->host_anon);
		CHECK_INT(y->host_file, x->host_file);
		CHECK_INT(y->tensors.bytes, x->tensors.bytes);
		CHECK_INT(y->tensors.count, x->tensors.count);
		CHECK_INT(y->tensors.ever_bytes, x->tensors.ever_bytes);
		CHECK_INT(y->tensors.ever, x->tensors.ever);
	}
	CHECK_INT(b->line_nr, a->line_nr);
}

static void check_same_phase_device(const struct tare_phase_on_device *a, const struct tare_phase_on_device *b)
{
	CHECK_INT(b->index, a->index);
	CHECK_INT(b->repeats, a->repeats);
	CHECK_INT(b->used_before, a->used_before);
	CHECK_INT(b->used_after, a->used_after);
	CHECK_INT(b->change, a->change);
	CHECK_INT(b->change_min, a->change_min);
	CHECK_INT(b->change_max, a->change_max);
	CHECK_INT(b->own, a->own);
	CHECK_INT(b->own_min, a->own_min);
	CHECK_INT(b->own_max, a->own_max);
	CHECK_INT(b->peak, a->peak);
	CHECK_INT(b->peak_t_ns, a->peak_t_ns);
	CHECK_INT(b->part_nr, a->part_nr);
	for (int i = 0; i < a->part_nr && i < b->part_nr; i++) {
		CHECK_INT(b->parts[i].account, a->parts[i].account);
		CHECK_INT(b->parts[i].bytes, a->parts[i].bytes);
	}
}

static void check_same_phases(const struct tare_ledger *a, const struct tare_ledger *b)
{
	CHECK_INT(b->phase_nr, a->phase_nr);
	for (int i = 0; i < a->phase_nr && i < b->phase_nr; i++) {
		const struct tare_phase_row *x = &a->phases[i], *y = &b->phases[i];

		CHECK_STR(y->path, x->path);
		CHECK_INT(y->kind, x->kind);
		CHECK_INT(y->repeats, x->repeats);
		CHECK_INT(y->unclosed, x->unclosed);
		CHECK_INT(y->first_t_ns, x->first_t_ns);
		CHECK_INT(y->last_t_ns, x->last_t_ns);
		CHECK_INT(y->ns, x->ns);
		CHECK_INT(y->device_nr, x->device_nr);
		for (int d = 0; d < x->device_nr && d < y->device_nr; d++)
			check_same_phase_device(&x->devices[d], &y->devices[d]);
	}
}

/* All but the device's order of events: what is shown of every graph. */
static void check_same_graphs(const struct tare_ledger *a, const struct tare_ledger *b)
{
	CHECK_INT(b->graph_nr, a->graph_nr);
	for (int i = 0; i < a->graph_nr; i++) {
		struct tare_graph x = a->graphs[i], y = b->graphs[i];

		CHECK_STR(y.source ? y.source : "", x.source ? x.source : "");
		CHECK_INT(y.part_nr, x.part_nr);
		for (int k = 0; k < x.part_nr; k++) {
			CHECK_STR(y.parts[k].label ? y.parts[k].label : "", x.parts[k].label ? x.parts[k].label : "");
			CHECK_INT(y.parts[k].bytes, x.parts[k].bytes);
		}
		x.source = y.source = x.phase = y.phase = NULL;
		x.parts = y.parts = NULL;
		if (memcmp(&x, &y, sizeof(x)) != 0)
			test_fail(__FILE__, __LINE__, "graph %d is not the same", (int)x.number);
	}
	CHECK_INT(b->saving_nr, a->saving_nr);
	for (int i = 0; i < a->saving_nr; i++) {
		CHECK_INT(b->savings[i].kind, a->savings[i].kind);
		CHECK_INT(b->savings[i].count, a->savings[i].count);
		CHECK_INT(b->savings[i].have, a->savings[i].have);
		CHECK_INT(b->savings[i].need, a->savings[i].need);
	}
}

static void check_same_ooms(const struct tare_ledger *a, const struct tare_ledger *b)
{
	CHECK_INT(b->oom_nr, a->oom_nr);
	for (int i = 0; i < a->oom_nr && i < b->oom_nr; i++) {
		const struct tare_oom *x = &a->ooms[i], *y = &b->ooms[i];

		CHECK_STR(y->api ? y->api : "", x->api ? x->api : "");
		CHECK_STR(y->owner ? y->owner : "", x->owner ? x->owner : "");
		CHECK_STR(y->source ? y->source : "", x->source ? x->source : "");
		CHECK_INT(y->number, x->number);
		CHECK_INT(y->device, x->device);
		CHECK_INT(y->t_ns, x->t_ns);
		CHECK_INT(y->pid, x->pid);
		CHECK_INT(y->generation, x->generation);
		CHECK_INT(y->is_torch, x->is_torch);
		CHECK_INT((int64_t)y->count, (int64_t)x->count);
		CHECK_INT((int64_t)y->asked, (int64_t)x->asked);
		CHECK_INT((int64_t)y->segment, (int64_t)x->segment);
		CHECK_INT((int64_t)y->allocated, (int64_t)x->allocated);
		CHECK_INT((int64_t)y->reserved, (int64_t)x->reserved);
		CHECK_INT((int64_t)y->free, (int64_t)x->free);
		CHECK_INT(y->elastic, x->elastic);
		CHECK_INT(y->stuck, x->stuck);
		CHECK_INT(y->held, x->held);
		CHECK_INT(y->others, x->others);
		CHECK_INT(y->verdict, x->verdict);
	}
}

void world_check_same(const struct tare_ledger *a, const struct tare_ledger *b)
{
	check_same_ooms(a, b);
	check_same_phases(a, b);
	CHECK_INT(b->device_nr, a->device_nr);
	for (int i = 0; i < a->device_nr; i++)
		check_same_rows(&a->devices[i], &b->devices[i]);
	CHECK_INT(b->host_nr, a->host_nr);
	for (int i = 0; i < a->host_nr; i++) {
		CHECK_INT((int64_t)b->hosts[i].rss, (int64_t)a->hosts[i].rss);
		CHECK_INT((int64_t)b->hosts[i].tables, (int64_t)a->hosts[i].tables);
		CHECK_INT((int64_t)b->hosts[i].peak_rss, (int64_t)a->hosts[i].peak_rss);
		CHECK_INT((int64_t)b->hosts[i].peak_file, (int64_t)a->hosts[i].peak_file);
		CHECK_INT((int64_t)b->hosts[i].pinned, (int64_t)a->hosts[i].pinned);
		CHECK_INT((int64_t)b->hosts[i].registered, (int64_t)a->hosts[i].registered);
		CHECK_INT(b->hosts[i].tensors.is_known, a->hosts[i].tensors.is_known);
		CHECK_INT(b->hosts[i].tensors.bytes, a->hosts[i].tensors.bytes);
		CHECK_INT(b->hosts[i].tensors.count, a->hosts[i].tensors.count);
		CHECK_INT(b->hosts[i].tensors.mapped, a->hosts[i].tensors.mapped);
		CHECK_INT(b->hosts[i].tensors.mapped_count, a->hosts[i].tensors.mapped_count);
		CHECK_INT(b->hosts[i].tensors.most, a->hosts[i].tensors.most);
	}
	CHECK_INT(b->opened_gpu, a->opened_gpu);
	check_same_graphs(a, b);
}

/* What lines have is what processes have. */
void world_check_host_lines(const struct tare_ledger *l)
{
	for (int i = 0; i < l->host_nr; i++) {
		const struct tare_host_ledger *h = &l->hosts[i];
		int64_t bytes = 0, count = 0;

		for (int k = 0; k < h->line_nr; k++) {
			bytes += h->lines[k].tensors.bytes;
			count += (int64_t)h->lines[k].tensors.count;
			CHECK_INT(h->lines[k].pid, h->pid);
			CHECK(h->lines[k].label);
		}
		CHECK_INT(bytes, h->tensors.bytes);
		CHECK_INT(count, h->tensors.count);
	}
}
