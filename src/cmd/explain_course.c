/* SPDX-License-Identifier: Apache-2.0 */
/* The most that tools would have shown of a recorded process: ever, and once a second. */
#include "cmd/explain_ledger.h"

#include "base/xalloc.h"
#include "ledger/build.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000000000, MOST_SAMPLES = 1200, AT_ONCE = 200 };

static void keep_most(int64_t most[TARE_TOOL_NR], const struct tare_figures *f)
{
	for (int i = 0; i < TARE_TOOL_NR; i++) {
		int64_t bytes = tare_figures_sum(f, tare_tools[i].shows);

		if (bytes > most[i]) /* what is not known is less than anything */
			most[i] = bytes;
	}
}

/* Once a second, from the first one on; what lasts longer than MOST_SAMPLES is not sampled. */
static void sample(struct tare_explain *x, struct tare_recording *recording, const struct tare_explain_process *p)
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
			if (tare_explain_take(&f, &ledgers[i], p))
				keep_most(x->sampled, &f);
			tare_ledger_free(&ledgers[i]);
		}
	}
	free(ledgers);
}

/* The most that the kernel itself and the counter of the device have seen. */
static void take_maxima(struct tare_explain *x, const struct tare_ledger *l, const struct tare_explain_process *p)
{
	const struct tare_host_ledger *h = tare_explain_host(l, p->pid);
	struct tare_figures f;

	tare_figures_clear(&f);
	if (h)
		tare_figure_set(&f.of[TARE_FIGURE_VM_RSS], h->peak_rss);
	for (int i = 0; i < l->device_nr; i++)
		if (tare_explain_is_board(&l->devices[i]))
			tare_figure_set(&f.of[TARE_FIGURE_RAM_USED], l->devices[i].peak_used);
		else if (tare_device_ledger_is_gpu(&l->devices[i]) && tare_explain_is_seen_by_nvml(&l->devices[i]) &&
		         l->devices[i].peak_used <= INT64_MAX && tare_explain_is_its(p, &l->devices[i]))
			tare_figure_add(&f.of[TARE_FIGURE_GPU_USED], (int64_t)l->devices[i].peak_used);
	keep_most(x->most, &f);
}

void tare_explain_course(struct tare_explain *x, struct tare_recording *recording, const struct tare_explain_process *p,
                         const struct tare_ledger *end)
{
	struct tare_figures f;

	x->has_course = x->is_recorded = true;
	for (int i = 0; i < TARE_TOOL_NR; i++)
		x->most[i] = x->sampled[i] = TARE_FIGURE_NOT_KNOWN;
	sample(x, recording, p);
	memcpy(x->most, x->sampled, sizeof(x->most));
	for (int i = 0; i < p->ledger_nr; i++)
		if (tare_explain_take(&f, &p->ledgers[i], p))
			keep_most(x->most, &f);
	take_maxima(x, end, p);
}
