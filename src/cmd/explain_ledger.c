/* SPDX-License-Identifier: Apache-2.0 */
/* What the ledger of an instant says of a process, as figures of which other tools show sums. */
#include "cmd/explain_ledger.h"

const struct tare_host_ledger *tare_explain_host(const struct tare_ledger *l, int64_t pid)
{
	for (int i = 0; i < l->host_nr; i++)
		if (l->hosts[i].pid == pid)
			return &l->hosts[i];
	return NULL;
}

const struct tare_row *tare_explain_device_row(const struct tare_ledger *l, int64_t pid)
{
	const struct tare_row *best = NULL;

	for (int d = 0; d < l->device_nr; d++)
		for (int i = 0; i < l->devices[d].row_nr; i++) {
			const struct tare_row *r = &l->devices[d].rows[i];

			if (r->account == TARE_ACCOUNT_PROCESS && (pid < 0 || r->pid == pid) && (!best || r->bytes > best->bytes))
				best = r;
		}
	return best;
}

bool tare_explain_has(const struct tare_ledger *l, int64_t pid)
{
	return pid >= 0 && (tare_explain_host(l, pid) || tare_explain_device_row(l, pid));
}

static void take_host(struct tare_figures *f, const struct tare_host_ledger *h)
{
	tare_figure_set(&f->of[TARE_FIGURE_VM_RSS], h->rss);
	tare_figure_set(&f->of[TARE_FIGURE_FILES], h->file);
	tare_figure_set(&f->of[TARE_FIGURE_PRIVATE], h->anon);
	tare_figure_set(&f->of[TARE_FIGURE_SHARED], h->shmem);
	tare_figure_set(&f->of[TARE_FIGURE_ANONYMOUS], h->anon);
	tare_figure_set(&f->of[TARE_FIGURE_SWAP], h->swap);
	if (h->file <= INT64_MAX && h->shmem <= INT64_MAX)
		f->of[TARE_FIGURE_VM_SHARED] = (int64_t)(h->file + h->shmem);
	if (h->rss <= INT64_MAX)
		f->of[TARE_FIGURE_GPU_MAPPED] = 0; /* in the three above: how much is not recorded */
}

/* The heap, a board or what was resident, in a recording that tare import made, is no GPU; of these only a board has a size. */
bool tare_explain_is_board(const struct tare_device_ledger *d)
{
	return !tare_device_ledger_is_gpu(d) && d->total <= INT64_MAX;
}

/* massif counts all three, and writes a 0 where it was not told to look at stacks; heaptrack only the heap. */
static void take_heap(struct tare_figures *f, const struct tare_device_ledger *d, int64_t pid)
{
	int64_t bytes[TARE_ACCOUNT_NR] = { 0 };
	bool is_heap = false, is_massif = false;

	for (int i = 0; i < d->row_nr; i++) {
		const struct tare_row *r = &d->rows[i];

		if (r->pid != pid || !tare_row_is_end(r))
			continue;
		is_heap |= r->account == TARE_ACCOUNT_HEAP;
		is_massif |= r->account == TARE_ACCOUNT_HEAP_EXTRA;
		bytes[r->account] += r->bytes;
	}
	if (is_heap || is_massif)
		f->of[TARE_FIGURE_HEAP] = bytes[TARE_ACCOUNT_HEAP];
	if (is_massif) {
		f->of[TARE_FIGURE_HEAP_EXTRA] = bytes[TARE_ACCOUNT_HEAP_EXTRA];
		f->of[TARE_FIGURE_STACKS] = bytes[TARE_ACCOUNT_STACKS];
	}
}

bool tare_explain_is_seen_by_nvml(const struct tare_device_ledger *d)
{
	return d->nvml || !d->integrated;
}

/* Does it have more there than the driver's start? */
static bool holds(const struct tare_device_ledger *d, int64_t pid)
{
	for (int i = 0; i < d->row_nr; i++) {
		const struct tare_row *r = &d->rows[i];

		if (r->pid == pid && tare_row_is_end(r) && r->bytes > 0 && r->account != TARE_ACCOUNT_OTHER &&
		    r->account != TARE_ACCOUNT_DRIVER)
			return true;
	}
	return false;
}

bool tare_explain_is_its(const struct tare_explain_process *p, const struct tare_device_ledger *device)
{
	bool is_on_any = false;

	for (int i = 0; i < p->ledger_nr; i++)
		for (int k = 0; k < p->ledgers[i].device_nr; k++) {
			const struct tare_device_ledger *d = &p->ledgers[i].devices[k];

			if (!tare_device_ledger_is_gpu(d) || !holds(d, p->pid))
				continue;
			if (d->index == device->index)
				return true;
			is_on_any = true;
		}
	return !is_on_any;
}

static void take_device(struct tare_figures *f, const struct tare_device_ledger *d,
                        const struct tare_explain_process *p)
{
	int64_t pid = p->pid;

	if (tare_explain_is_board(d))
		tare_figure_set(&f->of[TARE_FIGURE_RAM_USED], d->used);
	if (!tare_device_ledger_is_gpu(d)) {
		take_heap(f, d, pid);
		return;
	}
	if (tare_explain_is_seen_by_nvml(d))
		tare_figure_add(&f->of[TARE_FIGURE_GPU_PROCESS], 0);
	for (int i = 0; i < d->row_nr && tare_explain_is_seen_by_nvml(d); i++)
		if (tare_row_is_end(&d->rows[i]) && d->rows[i].pid == pid && d->rows[i].account != TARE_ACCOUNT_OTHER)
			tare_figure_add(&f->of[TARE_FIGURE_GPU_PROCESS], d->rows[i].bytes);
	for (int i = 0; i < d->segment_nr; i++)
		if (d->segments[i].pid == pid) {
			tare_figure_add(&f->of[TARE_FIGURE_TORCH_RESERVED], d->segments[i].bytes);
			tare_figure_add(&f->of[TARE_FIGURE_TORCH_LIVE], d->segments[i].live);
		}
	if (d->used > INT64_MAX || !tare_explain_is_its(p, d))
		return;
	if (tare_explain_is_seen_by_nvml(d))
		tare_figure_add(&f->of[TARE_FIGURE_GPU_USED], (int64_t)d->used);
	if (d->total <= INT64_MAX)
		tare_figure_add(&f->of[TARE_FIGURE_GPU_FREE],
		                (int64_t)(d->total - d->used) - (d->reserved <= INT64_MAX ? (int64_t)d->reserved : 0));
}

bool tare_explain_take(struct tare_figures *f, const struct tare_ledger *l, const struct tare_explain_process *p)
{
	const struct tare_host_ledger *h = tare_explain_host(l, p->pid);
	bool is_imported = l->device_nr && !tare_device_ledger_is_gpu(&l->devices[0]);

	tare_figures_clear(f);
	if (h && is_imported)
		tare_figure_set(&f->of[TARE_FIGURE_VM_RSS], h->rss); /* of what, it does not say */
	else if (h)
		take_host(f, h);
	for (int i = 0; i < l->device_nr; i++)
		take_device(f, &l->devices[i], p);
	return tare_explain_has(l, p->pid);
}
