/* SPDX-License-Identifier: Apache-2.0 */
/* What tools would have shown of a recorded process, and the rows that this is made of. */
#include "cmd/explain_ledger.h"

#include "base/simulated.h"
#include "cmd/report.h"
#include "ledger/build.h"
#include "trace/recording.h"

#include <string.h>

/* The ledgers of a recording besides samples. */
enum { ASKED, PEAK, END, ASKED_NR };

static int64_t size_of(const struct tare_host_ledger *h)
{
	return h->rss <= INT64_MAX ? (int64_t)h->rss : -1;
}

/* The process with most on the host, else on a device; -1: none. */
static int64_t largest(const struct tare_ledger *l)
{
	const struct tare_host_ledger *best = NULL;
	const struct tare_row *row = tare_explain_device_row(l, -1);

	for (int i = 0; i < l->host_nr; i++)
		if (!best || size_of(&l->hosts[i]) > size_of(best))
			best = &l->hosts[i];
	return best ? best->pid : row ? row->pid : -1;
}

static bool is_any_gpu(const struct tare_ledger *l)
{
	for (int i = 0; i < l->device_nr; i++)
		if (tare_device_ledger_is_gpu(&l->devices[i]))
			return true;
	return false;
}

/* Rows of the process by account, on GPUs or of what is none: its heap, a board. Returns what others have there. */
static int64_t add_accounts(struct tare_explain *x, const struct tare_ledger *l, const struct tare_explain_process *p,
                            bool is_of_gpu)
{
	int64_t accounts[TARE_ACCOUNT_NR] = { 0 }, others = 0;
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

	for (int d = 0; d < l->device_nr; d++)
		for (int i = 0; i < l->devices[d].row_nr; i++) {
			const struct tare_row *r = &l->devices[d].rows[i];

			if (!tare_row_is_end(r) || tare_device_ledger_is_gpu(&l->devices[d]) != is_of_gpu)
				continue;
			if (r->pid != p->pid || r->account == TARE_ACCOUNT_OTHER)
				others += !is_of_gpu || tare_explain_is_its(p, &l->devices[d]) ? r->bytes : 0;
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
	return others;
}

/* Parts of the device's memory by account, and of the host's by what the kernel calls them. */
static void add_rows(struct tare_explain *x, const struct tare_ledger *l, const struct tare_explain_process *p)
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
	const struct tare_host_ledger *h = tare_explain_host(l, pid);
	const struct tare_row *row = tare_explain_device_row(l, pid);
	TARE_FREED_BY(tare_str_free) struct tare_str title = { 0 };

	if (row)
		tare_str_add(&title, row->label);
	else
		tare_str_addf(&title, "%s (pid %lld)", h && h->name ? h->name : "process", (long long)pid);
	tare_str_addf(&title, " · at %s%s", strcmp(when, "peak") != 0 ? "" : "the ", when);
	x->is_simulated = is_any_simulated(l);
	if (x->is_simulated)
		tare_str_add(&title, " · on " TARE_SIMULATED_WORDS);
	return tare_arena_strdup(&x->arena, tare_str_text(&title));
}

bool tare_explain_ledger(struct tare_explain *x, const struct tare_ledger *ledger, int64_t pid)
{
	const struct tare_explain_process p = { pid, ledger, 1 };

	if (!tare_explain_take(&x->figures, ledger, &p))
		return false;
	x->is_recorded = true;
	x->title = title_of(x, ledger, pid, ledger->at);
	add_rows(x, ledger, &p);
	return true;
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
		known = tare_explain_has(&ledgers[i], pid) ? &ledgers[i] : NULL;
	if (known) {
		const struct tare_explain_process p = { pid, ledgers, ASKED_NR };

		tare_explain_take(&x->figures, &ledgers[ASKED], &p);
		x->title = title_of(x, known, pid, when);
		add_rows(x, &ledgers[ASKED], &p);
		tare_explain_course(x, recording, &p, &ledgers[END]);
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
