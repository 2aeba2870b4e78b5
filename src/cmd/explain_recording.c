/* SPDX-License-Identifier: Apache-2.0 */
/* What tools would have shown of a recorded process: at the peak, at most, and once a second. */
#include "cmd/explain.h"

#include "base/simulated.h"
#include "base/xalloc.h"
#include "cmd/instants.h"
#include "ledger/build.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

/* The ledgers of a recording besides samples. */
enum { ASKED, PEAK, END, ASKED_NR };

/* A process, and the ledgers that say on which GPUs it is: those of other ranks, which its recording sees, too, are not its own. */
struct process {
	int64_t pid;
	const struct tare_ledger *ledgers;
	int ledger_nr;
};

enum { SECOND = 1000000000, MOST_SAMPLES = 1200, AT_ONCE = 200 };

static void set(int64_t *to, uint64_t bytes)
{
	if (bytes <= INT64_MAX)
		*to = (int64_t)bytes;
}

static void add(int64_t *to, int64_t bytes)
{
	*to = (*to == TARE_FIGURE_NOT_KNOWN ? 0 : *to) + bytes;
}

static int64_t size_of(const struct tare_host_ledger *h)
{
	return h->rss <= INT64_MAX ? (int64_t)h->rss : -1;
}

static const struct tare_host_ledger *host_of(const struct tare_ledger *l, int64_t pid)
{
	for (int i = 0; i < l->host_nr; i++)
		if (l->hosts[i].pid == pid)
			return &l->hosts[i];
	return NULL;
}

/* The row of a process on a device. What lived too short has no host. */
static const struct tare_row *row_of(const struct tare_ledger *l, int64_t pid)
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

/* The process with most on the host, else on a device; -1: none. */
static int64_t largest(const struct tare_ledger *l)
{
	const struct tare_host_ledger *best = NULL;
	const struct tare_row *row = row_of(l, -1);

	for (int i = 0; i < l->host_nr; i++)
		if (!best || size_of(&l->hosts[i]) > size_of(best))
			best = &l->hosts[i];
	return best ? best->pid : row ? row->pid : -1;
}

static bool has(const struct tare_ledger *l, int64_t pid)
{
	return pid >= 0 && (host_of(l, pid) || row_of(l, pid));
}

static void take_host(struct tare_figures *f, const struct tare_host_ledger *h)
{
	set(&f->of[TARE_FIGURE_VM_RSS], h->rss);
	set(&f->of[TARE_FIGURE_FILES], h->file);
	set(&f->of[TARE_FIGURE_PRIVATE], h->anon);
	set(&f->of[TARE_FIGURE_SHARED], h->shmem);
	set(&f->of[TARE_FIGURE_ANONYMOUS], h->anon);
	set(&f->of[TARE_FIGURE_SWAP], h->swap);
	if (h->file <= INT64_MAX && h->shmem <= INT64_MAX)
		f->of[TARE_FIGURE_VM_SHARED] = (int64_t)(h->file + h->shmem);
	if (h->rss <= INT64_MAX)
		f->of[TARE_FIGURE_GPU_MAPPED] = 0; /* in the three above: how much is not recorded */
}

/* The heap, a board or what was resident, in a recording that tare import made: no GPU. */
/* Of these only a board, whose memory tegrastats printed, has a size. */
static bool is_board(const struct tare_device_ledger *d)
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

/* A board whose GPU shares the host's memory and has no NVML has no nvidia-smi, either. */
static bool is_seen_by_nvml(const struct tare_device_ledger *d)
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

/* Of a process that is on no GPU all are shown. */
static bool is_its(const struct process *p, const struct tare_device_ledger *device)
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

static void take_device(struct tare_figures *f, const struct tare_device_ledger *d, const struct process *p)
{
	int64_t pid = p->pid;

	if (is_board(d))
		set(&f->of[TARE_FIGURE_RAM_USED], d->used);
	if (!tare_device_ledger_is_gpu(d)) {
		take_heap(f, d, pid);
		return;
	}
	if (is_seen_by_nvml(d))
		add(&f->of[TARE_FIGURE_GPU_PROCESS], 0);
	for (int i = 0; i < d->row_nr && is_seen_by_nvml(d); i++)
		if (tare_row_is_end(&d->rows[i]) && d->rows[i].pid == pid && d->rows[i].account != TARE_ACCOUNT_OTHER)
			add(&f->of[TARE_FIGURE_GPU_PROCESS], d->rows[i].bytes);
	for (int i = 0; i < d->segment_nr; i++)
		if (d->segments[i].pid == pid) {
			add(&f->of[TARE_FIGURE_TORCH_RESERVED], d->segments[i].bytes);
			add(&f->of[TARE_FIGURE_TORCH_LIVE], d->segments[i].live);
		}
	if (d->used > INT64_MAX || !is_its(p, d))
		return;
	if (is_seen_by_nvml(d))
		add(&f->of[TARE_FIGURE_GPU_USED], (int64_t)d->used);
	if (d->total <= INT64_MAX)
		add(&f->of[TARE_FIGURE_GPU_FREE],
		    (int64_t)(d->total - d->used) - (d->reserved <= INT64_MAX ? (int64_t)d->reserved : 0));
}

/* False where the process was not there. */
static bool take(struct tare_figures *f, const struct tare_ledger *l, const struct process *p)
{
	const struct tare_host_ledger *h = host_of(l, p->pid);
	bool is_imported = l->device_nr && !tare_device_ledger_is_gpu(&l->devices[0]);

	tare_figures_clear(f);
	if (h && is_imported)
		set(&f->of[TARE_FIGURE_VM_RSS], h->rss); /* of what, it does not say */
	else if (h)
		take_host(f, h);
	for (int i = 0; i < l->device_nr; i++)
		take_device(f, &l->devices[i], p);
	return has(l, p->pid);
}

static void keep_most(int64_t most[TARE_TOOL_NR], const struct tare_figures *f)
{
	for (int i = 0; i < TARE_TOOL_NR; i++) {
		int64_t bytes = tare_figures_sum(f, tare_tools[i].shows);

		if (bytes > most[i]) /* what is not known is less than anything */
			most[i] = bytes;
	}
}

/* Once a second, from the first one on; what lasts longer than MOST_SAMPLES is not sampled. */
static void sample(struct tare_explain *x, struct tare_recording *recording, const struct process *p)
{
	struct tare_ledger_opts opts = { .without_tensors = true };
	int64_t count = tare_recording_last_ns(recording) / SECOND + 1;
	struct tare_instant at[AT_ONCE];
	struct tare_ledger *ledgers;
	struct tare_figures f;

	if (count > MOST_SAMPLES)
		return;
	ledgers = tare_xcalloc(AT_ONCE, sizeof(*ledgers));
	for (int64_t from = 0; from < count; from += AT_ONCE) {
		int n = (int)(count - from < AT_ONCE ? count - from : AT_ONCE);

		for (int i = 0; i < n; i++)
			at[i] = (struct tare_instant){ .kind = TARE_INSTANT_TIME, .t_ns = (from + i) * SECOND, .text = "sample" };
		tare_recording_rewind(recording);
		tare_ledger_of_recording(recording, &opts, at, n, ledgers);
		for (int i = 0; i < n; i++) {
			if (take(&f, &ledgers[i], p))
				keep_most(x->sampled, &f);
			tare_ledger_free(&ledgers[i]);
		}
	}
	free(ledgers);
}

static bool is_any_gpu(const struct tare_ledger *l)
{
	for (int i = 0; i < l->device_nr; i++)
		if (tare_device_ledger_is_gpu(&l->devices[i]))
			return true;
	return false;
}

/* Rows of the process by account, on GPUs or of what is none: its heap, a board. Returns what others have there. */
static int64_t add_accounts(struct tare_explain *x, const struct tare_ledger *l, const struct process *p,
                            bool is_of_gpu)
{
	int64_t accounts[TARE_ACCOUNT_NR] = { 0 }, others = 0;
	struct tare_str path = { 0 };

	for (int d = 0; d < l->device_nr; d++)
		for (int i = 0; i < l->devices[d].row_nr; i++) {
			const struct tare_row *r = &l->devices[d].rows[i];

			if (!tare_row_is_end(r) || tare_device_ledger_is_gpu(&l->devices[d]) != is_of_gpu)
				continue;
			if (r->pid != p->pid || r->account == TARE_ACCOUNT_OTHER)
				others += !is_of_gpu || is_its(p, &l->devices[d]) ? r->bytes : 0;
			else if ((unsigned)r->account < TARE_ACCOUNT_NR)
				accounts[r->account] += r->bytes;
		}
	for (int i = 0; i < TARE_ACCOUNT_NR; i++) {
		if (!accounts[i])
			continue;
		tare_str_cut(&path, 0);
		tare_str_addf(&path, "%s%s", is_of_gpu ? "GPU/" : "", tare_accounts[i].label);
		tare_explain_add(x, tare_str_text(&path), accounts[i]);
	}
	tare_str_free(&path);
	return others;
}

/* Parts of the device's memory by account, and of the host's by what the kernel calls them. */
static void add_rows(struct tare_explain *x, const struct tare_ledger *l, const struct process *p)
{
	int64_t others = add_accounts(x, l, p, true);

	if (others && is_any_gpu(l)) {
		tare_explain_add(x, "GPU/other processes", others);
		x->rows[x->count - 1].is_of_others = true;
	}
	add_accounts(x, l, p, false);
	if (x->figures.of[TARE_FIGURE_TORCH_RESERVED] != TARE_FIGURE_NOT_KNOWN) {
		tare_explain_add(x, "PyTorch's pool that is not live",
		                 x->figures.of[TARE_FIGURE_TORCH_RESERVED] - x->figures.of[TARE_FIGURE_TORCH_LIVE]);
		if (x->figures.of[TARE_FIGURE_GPU_PROCESS] != TARE_FIGURE_NOT_KNOWN)
			tare_explain_add(x, "GPU memory beside PyTorch's pool",
			                 x->figures.of[TARE_FIGURE_GPU_PROCESS] - x->figures.of[TARE_FIGURE_TORCH_RESERVED]);
	}
	for (enum tare_figure i = TARE_FIGURE_FILES; i <= TARE_FIGURE_SHARED; i++)
		if (x->figures.of[i] != TARE_FIGURE_NOT_KNOWN)
			tare_explain_add(x, tare_figure_names[i], x->figures.of[i]);
	if (x->figures.of[TARE_FIGURE_SWAP] != TARE_FIGURE_NOT_KNOWN)
		tare_explain_add(x, "swap of the process", x->figures.of[TARE_FIGURE_SWAP]);
}

/* The most that the kernel itself and the counter of the device have seen. */
static void take_maxima(struct tare_explain *x, const struct tare_ledger *l, const struct process *p)
{
	const struct tare_host_ledger *h = host_of(l, p->pid);
	struct tare_figures f;

	tare_figures_clear(&f);
	if (h)
		set(&f.of[TARE_FIGURE_VM_RSS], h->peak_rss);
	for (int i = 0; i < l->device_nr; i++)
		if (is_board(&l->devices[i]))
			set(&f.of[TARE_FIGURE_RAM_USED], l->devices[i].peak_used);
		else if (tare_device_ledger_is_gpu(&l->devices[i]) && is_seen_by_nvml(&l->devices[i]) &&
		         l->devices[i].peak_used <= INT64_MAX && is_its(p, &l->devices[i]))
			add(&f.of[TARE_FIGURE_GPU_USED], (int64_t)l->devices[i].peak_used);
	keep_most(x->most, &f);
}

static bool is_any_simulated(const struct tare_ledger *l)
{
	for (int i = 0; i < l->device_nr; i++)
		if (l->devices[i].simulated)
			return true;
	return false;
}

/* "train.py (pid 431) · at the peak" */
static const char *title_of(struct tare_explain *x, const struct tare_ledger *l, int64_t pid, const char *when)
{
	const struct tare_host_ledger *h = host_of(l, pid);
	const struct tare_row *row = row_of(l, pid);
	struct tare_str title = { 0 };
	const char *kept;

	if (row)
		tare_str_add(&title, row->label);
	else
		tare_str_addf(&title, "%s (pid %lld)", h && h->name ? h->name : "process", (long long)pid);
	tare_str_addf(&title, " · at %s%s", strcmp(when, "peak") != 0 ? "" : "the ", when);
	x->is_simulated = is_any_simulated(l);
	if (x->is_simulated)
		tare_str_add(&title, " · on " TARE_SIMULATED_WORDS);
	kept = tare_arena_strdup(&x->arena, tare_str_text(&title));
	tare_str_free(&title);
	return kept;
}

bool tare_explain_ledger(struct tare_explain *x, const struct tare_ledger *ledger, int64_t pid)
{
	const struct process p = { pid, ledger, 1 };

	if (!take(&x->figures, ledger, &p))
		return false;
	x->is_recorded = true;
	x->title = title_of(x, ledger, pid, ledger->at);
	add_rows(x, ledger, &p);
	return true;
}

static void take_course(struct tare_explain *x, struct tare_recording *recording, const struct process *p)
{
	struct tare_figures f;

	x->has_course = x->is_recorded = true;
	for (int i = 0; i < TARE_TOOL_NR; i++)
		x->most[i] = x->sampled[i] = TARE_FIGURE_NOT_KNOWN;
	sample(x, recording, p);
	memcpy(x->most, x->sampled, sizeof(x->most));
	for (int i = 0; i < p->ledger_nr; i++)
		if (take(&f, &p->ledgers[i], p))
			keep_most(x->most, &f);
	take_maxima(x, &p->ledgers[END], p);
}

static int explain(struct tare_explain *x, struct tare_recording *recording, int64_t pid, const char *when,
                   struct tare_err *err)
{
	struct tare_instant at[ASKED_NR];
	struct tare_ledger ledgers[ASKED_NR];
	const struct tare_ledger *known = NULL;
	int64_t asked = pid;
	int rc = tare_instant_parse(when, &at[ASKED], err);

	if (!rc)
		rc = tare_instant_parse("end", &at[END], err);
	if (!rc)
		rc = tare_instant_parse("peak", &at[PEAK], err);
	if (!rc)
		rc = tare_instants_settle(recording, at, ASKED_NR, err);
	if (rc)
		return rc;
	tare_ledger_of_recording(recording, NULL, at, ASKED_NR, ledgers);
	for (int i = 0; i < ASKED_NR && pid < 0; i++)
		pid = largest(&ledgers[i]);
	for (int i = 0; i < ASKED_NR && !known; i++)
		known = has(&ledgers[i], pid) ? &ledgers[i] : NULL;
	if (known) {
		const struct process p = { pid, ledgers, ASKED_NR };

		take(&x->figures, &ledgers[ASKED], &p);
		x->title = title_of(x, known, pid, when);
		add_rows(x, &ledgers[ASKED], &p);
		take_course(x, recording, &p);
	} else {
		rc = tare_err_set(err, TARE_E_NOT_FOUND, "the recording has no process%s; tare info lists those it has",
		                  asked < 0 ? "" : " of that id");
	}
	for (int i = 0; i < ASKED_NR; i++)
		tare_ledger_free(&ledgers[i]);
	return rc;
}

int tare_explain_recording(struct tare_explain *x, const char *path, int64_t pid, const char *at, struct tare_err *err)
{
	struct tare_recording *recording;
	int rc = tare_recording_open(&recording, path, err);

	if (rc)
		return rc;
	rc = explain(x, recording, pid, at, err);
	if (rc)
		tare_err_prefix(err, "%s", path);
	tare_recording_close(recording);
	return rc;
}
