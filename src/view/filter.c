/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the ledger as one process sees it. */
#include "view/ledger_view.h"

#include "base/xalloc.h"

#include <stdlib.h>

/* A list becomes a copy of its items of a process; of `also`, which is nobody's, they stay, too. */
#define KEEP(items, nr, of_pid, also)                                                                                  \
	do {                                                                                                               \
		__typeof__(items) kept = tare_xcalloc((size_t)(nr) + 1, sizeof(*kept));                                        \
		int kept_nr = 0;                                                                                               \
                                                                                                                       \
		for (int k = 0; k < (nr); k++)                                                                                 \
			if ((items)[k].pid == (of_pid) || (items)[k].pid == (also))                                                \
				kept[kept_nr++] = (items)[k];                                                                          \
		(items) = kept;                                                                                                \
		(nr) = kept_nr;                                                                                                \
	} while (0)
#define KEEP_OWN(items, nr, of_pid) KEEP(items, nr, of_pid, of_pid)

static bool is_foreign(const struct tare_row *row, int64_t pid)
{
	return row->account == TARE_ACCOUNT_PROCESS && row->pid != pid;
}

/* The label of the row of a foreign process. pre: the rows are not filtered yet. */
static const char *label_of_process(const struct tare_device_ledger *d, int64_t pid)
{
	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].account == TARE_ACCOUNT_PROCESS && d->rows[i].pid == pid)
			return d->rows[i].label;
	return "another process";
}

/* Lines of a foreign process are one, under its name. pre: the rows are not filtered yet. */
static void filter_lines(struct tare_device_ledger *d, int64_t pid)
{
	struct tare_ledger_line *to = tare_xcalloc((size_t)d->line_nr + 1, sizeof(*to));

	for (int i = 0; i < d->line_nr; i++) {
		to[i] = d->lines[i];
		if (to[i].pid < 0 || to[i].pid == pid)
			continue;
		to[i].label = to[i].stack = label_of_process(d, to[i].pid);
		to[i].short_label = to[i].short_stack = to[i].label;
		to[i].file = to[i].function = NULL;
		to[i].frame_nr = 0;
	}
	d->lines = to;
}

/* Copies the rows of a device; what lies below a foreign process is left out. */
static void filter_device(struct tare_device_ledger *d, int64_t pid)
{
	const struct tare_row *from = d->rows;
	struct tare_row *to = tare_xcalloc((size_t)d->row_nr + 1, sizeof(*to));
	int *place = tare_xcalloc((size_t)d->row_nr + 1, sizeof(*place)); /* -1: left out */
	int n = 0;

	for (int i = 0; i < d->row_nr; i++) {
		int parent = from[i].parent;
		bool is_below = parent >= 0 && (place[parent] < 0 || is_foreign(&from[parent], pid));

		place[i] = is_below ? -1 : n;
		if (is_below)
			continue;
		to[n] = from[i];
		to[n].parent = parent >= 0 ? place[parent] : -1;
		to[n].leaf = from[i].leaf || is_foreign(&from[i], pid);
		n++;
	}
	free(place);
	filter_lines(d, pid);
	d->rows = to;
	d->row_nr = n;
}

void tare_filter_process(const struct tare_ledger *in, int64_t pid, struct tare_ledger *out)
{
	*out = *in;
	out->devices = tare_xcalloc((size_t)in->device_nr + 1, sizeof(*out->devices));
	for (int i = 0; i < in->device_nr; i++) {
		struct tare_device_ledger *d = &out->devices[i];

		*d = in->devices[i];
		filter_device(d, pid);
		KEEP(d->findings, d->finding_nr, pid, -1);
		KEEP_OWN(d->segments, d->segment_nr, pid);
		KEEP_OWN(d->self_reports, d->self_report_nr, pid);
		KEEP_OWN(d->tensors.items, d->tensors.count, pid);
	}
	KEEP_OWN(out->hosts, out->host_nr, pid);
	KEEP_OWN(out->graphs, out->graph_nr, pid);
	if (out->graph_nr < in->graph_nr) /* what could be saved is told only where all graphs are its own */
		out->saving_nr = 0;
	KEEP_OWN(out->ooms, out->oom_nr, pid);
	KEEP_OWN(out->read_backs, out->read_back_nr, pid);
	KEEP_OWN(out->trainings, out->training_nr, pid);
	KEEP_OWN(out->growths, out->growth_nr, pid);
	KEEP_OWN(out->losses, out->loss_nr, pid);
}

void tare_filter_free(struct tare_ledger *out)
{
	for (int i = 0; i < out->device_nr; i++) {
		free(out->devices[i].rows);
		free(out->devices[i].findings);
		free(out->devices[i].lines);
		free(out->devices[i].segments);
		free(out->devices[i].self_reports);
		free(out->devices[i].tensors.items);
	}
	free(out->devices);
	free(out->hosts);
	free(out->graphs);
	free(out->ooms);
	free(out->read_backs);
	free(out->trainings);
	free(out->growths);
	free(out->losses);
	*out = (struct tare_ledger){ 0 };
}
