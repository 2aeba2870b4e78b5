/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the ledger as one process sees it. */
#include "view/filter.h"

#include "base/xalloc.h"

#include <stdlib.h>

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

static void filter_segments(struct tare_device_ledger *d, int64_t pid)
{
	struct tare_pool_segment *to = tare_xcalloc((size_t)d->segment_nr + 1, sizeof(*to));
	int n = 0;

	for (int i = 0; i < d->segment_nr; i++)
		if (d->segments[i].pid == pid)
			to[n++] = d->segments[i];
	d->segments = to;
	d->segment_nr = n;
}

static void filter_self_reports(struct tare_device_ledger *d, int64_t pid)
{
	struct tare_pool_self_report *to = tare_xcalloc((size_t)d->self_report_nr + 1, sizeof(*to));
	int n = 0;

	for (int i = 0; i < d->self_report_nr; i++)
		if (d->self_reports[i].pid == pid)
			to[n++] = d->self_reports[i];
	d->self_reports = to;
	d->self_report_nr = n;
}

static void filter_tensors(struct tare_tensor_rows *rows, int64_t pid)
{
	struct tare_tensor_row *to = tare_xcalloc((size_t)rows->count + 1, sizeof(*to));
	int n = 0;

	for (int i = 0; i < rows->count; i++)
		if (rows->items[i].pid == pid)
			to[n++] = rows->items[i];
	*rows = (struct tare_tensor_rows){ to, n };
}

/* The findings that are about this process, or about no process in particular. */
static void filter_findings(struct tare_device_ledger *d, int64_t pid)
{
	const struct tare_finding *from = d->findings;
	struct tare_finding *to = tare_xcalloc((size_t)d->finding_nr + 1, sizeof(*to));
	int n = 0;

	for (int i = 0; i < d->finding_nr; i++)
		if (from[i].pid < 0 || from[i].pid == pid)
			to[n++] = from[i];
	d->findings = to;
	d->finding_nr = n;
}

/* Its graphs. What could be saved is told only where all graphs are its own. */
static void filter_graphs(const struct tare_ledger *in, int64_t pid, struct tare_ledger *out)
{
	out->graphs = tare_xcalloc((size_t)in->graph_nr + 1, sizeof(*out->graphs));
	out->graph_nr = 0;
	for (int i = 0; i < in->graph_nr; i++)
		if (in->graphs[i].pid == pid)
			out->graphs[out->graph_nr++] = in->graphs[i];
	if (out->graph_nr < in->graph_nr)
		out->saving_nr = 0;
}

static void filter_ooms(const struct tare_ledger *in, int64_t pid, struct tare_ledger *out)
{
	out->ooms = tare_xcalloc((size_t)in->oom_nr + 1, sizeof(*out->ooms));
	out->oom_nr = 0;
	for (int i = 0; i < in->oom_nr; i++)
		if (in->ooms[i].pid == pid)
			out->ooms[out->oom_nr++] = in->ooms[i];
}

static void filter_read_backs(const struct tare_ledger *in, int64_t pid, struct tare_ledger *out)
{
	out->read_backs = tare_xcalloc((size_t)in->read_back_nr + 1, sizeof(*out->read_backs));
	out->read_back_nr = 0;
	for (int i = 0; i < in->read_back_nr; i++)
		if (in->read_backs[i].pid == pid)
			out->read_backs[out->read_back_nr++] = in->read_backs[i];
}

static void filter_trainings(const struct tare_ledger *in, int64_t pid, struct tare_ledger *out)
{
	out->trainings = tare_xcalloc((size_t)in->training_nr + 1, sizeof(*out->trainings));
	out->training_nr = 0;
	for (int i = 0; i < in->training_nr; i++)
		if (in->trainings[i].pid == pid)
			out->trainings[out->training_nr++] = in->trainings[i];
}

static void filter_growths(const struct tare_ledger *in, int64_t pid, struct tare_ledger *out)
{
	out->growths = tare_xcalloc((size_t)in->growth_nr + 1, sizeof(*out->growths));
	out->growth_nr = 0;
	for (int i = 0; i < in->growth_nr; i++)
		if (in->growths[i].pid == pid)
			out->growths[out->growth_nr++] = in->growths[i];
}

static void filter_losses(const struct tare_ledger *in, int64_t pid, struct tare_ledger *out)
{
	out->losses = tare_xcalloc((size_t)in->loss_nr + 1, sizeof(*out->losses));
	out->loss_nr = 0;
	for (int i = 0; i < in->loss_nr; i++)
		if (in->losses[i].pid == pid)
			out->losses[out->loss_nr++] = in->losses[i];
}

void tare_filter_process(const struct tare_ledger *in, int64_t pid, struct tare_ledger *out)
{
	*out = *in;
	out->devices = tare_xcalloc((size_t)in->device_nr + 1, sizeof(*out->devices));
	for (int i = 0; i < in->device_nr; i++) {
		out->devices[i] = in->devices[i];
		filter_device(&out->devices[i], pid);
		filter_findings(&out->devices[i], pid);
		filter_segments(&out->devices[i], pid);
		filter_self_reports(&out->devices[i], pid);
		filter_tensors(&out->devices[i].tensors, pid);
	}
	out->hosts = tare_xcalloc((size_t)in->host_nr + 1, sizeof(*out->hosts));
	out->host_nr = 0;
	for (int i = 0; i < in->host_nr; i++)
		if (in->hosts[i].pid == pid)
			out->hosts[out->host_nr++] = in->hosts[i];
	filter_graphs(in, pid, out);
	filter_ooms(in, pid, out);
	filter_read_backs(in, pid, out);
	filter_trainings(in, pid, out);
	filter_growths(in, pid, out);
	filter_losses(in, pid, out);
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
