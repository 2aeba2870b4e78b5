/* SPDX-License-Identifier: Apache-2.0 */
/* What was gathered, as metrics. */
#include "serve/gather.h"

#include "base/text.h"

#include "record/format.h" /* TARE_NOT_KNOWN */

#include <string.h>

/* The numbers of a process as texts, for as long as its labels are used. */
struct numbers {
	char gpu[TARE_SERVE_NUMBER], pid[TARE_SERVE_NUMBER], rank[TARE_SERVE_NUMBER];
};

struct tell {
	const struct tare_gather *g;
	struct tare_metrics *m;
};

/* ---- GPUs ---- */

static const struct tare_follow *first_follow(const struct tare_top_tree *tree, size_t gpu)
{
	for (size_t i = gpu + 1; i < tree->count && tree->rows[i].level; i++)
		if (tree->rows[i].follow)
			return tree->rows[i].follow;
	return NULL;
}

/*
 * UUIDs of GPUs are unique in the world, but each simulated machine has the same, and old recordings may have none: then the name of a
 * recording tells them apart.
 */
static void add_uuid(const struct tell *t, size_t gpu, struct tare_str *out)
{
	const struct tare_top_row *r = &t->g->tree.rows[gpu];
	const struct tare_follow *f = first_follow(&t->g->tree, gpu);

	tare_str_add(out, r->uuid && *r->uuid != '/' ? r->uuid : "");
	if (f && !strcmp(r->source, "recording") && (r->is_simulated || !out->len))
		tare_str_addf(out, "@%s", tare_serve_table_name(&t->g->table, f));
}

static const char *label_of(const struct tare_top_row *r)
{
	const char *blanks = strstr(r->label, "  ");

	return blanks ? blanks + 2 : r->label;
}

static void tell_gpu(const struct tell *t, const struct tare_top_row *r, struct tare_metric_labels labels)
{
	if (r->is_known)
		tare_metrics_add(t->m, TARE_METRIC_GPU_USED, &labels, r->bytes);
	if (r->total >= 0)
		tare_metrics_add(t->m, TARE_METRIC_GPU_TOTAL, &labels, r->total);
	labels.UUID = r->uuid;
	labels.modelName = label_of(r);
	labels.Hostname = strcmp(r->source, "NVML") ? "" : t->g->machine.host;
	labels.simulated = r->is_simulated ? "yes" : "no";
	labels.source = strcmp(r->source, "NVML") ? "recording" : "nvml";
	tare_metrics_add(t->m, TARE_METRIC_GPU_INFO, &labels, 1);
}

static void tell_process(const struct tell *t, const struct tare_top_row *r, enum tare_metric metric,
                         struct tare_metric_labels labels)
{
	struct tare_serve_sums sums = { 0 };

	if (r->device) {
		tare_serve_sums_add(&sums, r->device, r->recorded_pid);
		tare_serve_sums_tell(&sums, t->m, metric, labels);
	} else if (r->is_known) {
		labels.row = "not_recorded";
		tare_metrics_add(t->m, metric, &labels, r->bytes);
	}
	if (r->steps)
		tare_metrics_add(t->m, TARE_METRIC_STEPS, &labels, (int64_t)r->steps);
}

static struct tare_metric_labels labels_of(const struct tell *t, const struct tare_top_row *r,
                                           struct tare_metric_labels labels, struct numbers *n)
{
	labels.pid = tare_serve_number(n->pid, r->pid);
	if (r->follow) {
		labels.recording = tare_serve_table_name(&t->g->table, r->follow);
		labels.rank = tare_serve_number(n->rank, tare_serve_rank(&r->follow->ledger, r->recorded_pid));
	}
	return labels;
}

/* Growth is told by the pids of the recording: that of the row is the one as it is seen here. */
static void tell_growth(const struct tell *t, const struct tare_follow *f, int64_t pid, int device,
                        struct tare_metric_labels labels)
{
	for (int i = 0; i < f->ledger.growth_nr; i++) {
		const struct tare_growth *g = &f->ledger.growths[i];

		if (g->pid != pid || g->device != device)
			continue;
		labels.row = tare_serve_row_of(g);
		tare_metrics_add(t->m, TARE_METRIC_GROWTH, &labels, g->bytes);
		tare_metrics_add(t->m, TARE_METRIC_GROWTH_SECOND, &labels, g->per_second);
		if (g->has_steps)
			tare_metrics_add(t->m, TARE_METRIC_GROWTH_STEP, &labels, g->per_step);
	}
}

/* Rows below a process: only what NVML lists of it is told besides. */
static void tell_below(const struct tell *t, size_t process, struct tare_metric_labels labels)
{
	const struct tare_top_tree *tree = &t->g->tree;

	for (size_t i = process + 1; i < tree->count && tree->rows[i].level > 1; i++)
		if (tree->rows[i].kind == TARE_TOP_LISTED)
			tare_metrics_add(t->m, TARE_METRIC_GPU_LISTED, &labels, tree->rows[i].bytes);
}

static void tell_row(const struct tell *t, size_t i, struct tare_metric_labels labels)
{
	const struct tare_top_row *r = &t->g->tree.rows[i];
	struct tare_metric_labels own;
	struct numbers n;

	if (r->kind == TARE_TOP_PROCESS) {
		own = labels_of(t, r, labels, &n);
		tell_process(t, r, TARE_METRIC_GPU_MEMORY, own);
		tell_below(t, i, own);
		if (r->device)
			tell_growth(t, r->follow, r->recorded_pid, r->device->index, own);
	} else if (r->kind == TARE_TOP_UNEXPLAINED) {
		labels.row = "unexplained";
		tare_metrics_add(t->m, TARE_METRIC_GPU_MEMORY, &labels, r->bytes);
	} else if (r->kind == TARE_TOP_RESERVED) {
		tare_metrics_add(t->m, TARE_METRIC_GPU_RESERVED, &labels, r->bytes);
	} else if (r->kind == TARE_TOP_FREE) {
		tare_metrics_add(t->m, TARE_METRIC_GPU_FREE, &labels, r->bytes);
	}
}

/* The heap of programs is a device without a number. */
static void tell_heap(const struct tell *t, size_t at)
{
	const struct tare_top_tree *tree = &t->g->tree;

	for (size_t i = at + 1; i < tree->count && tree->rows[i].level; i++) {
		const struct tare_top_row *r = &tree->rows[i];
		struct numbers n;

		if (r->kind == TARE_TOP_PROCESS && r->device)
			tell_process(t, r, TARE_METRIC_HEAP, labels_of(t, r, (struct tare_metric_labels){ 0 }, &n));
	}
}

static void tell_gpus(const struct tell *t)
{
	const struct tare_top_tree *tree = &t->g->tree;

	for (size_t at = 0; at < tree->count; at++) {
		struct tare_metric_labels labels = { 0 };
		struct tare_str uuid = { 0 };
		struct numbers n;

		if (tree->rows[at].kind == TARE_TOP_GPU && tree->rows[at].gpu < 0)
			tell_heap(t, at);
		if (tree->rows[at].kind != TARE_TOP_GPU || tree->rows[at].gpu < 0)
			continue;
		add_uuid(t, at, &uuid);
		labels.gpu = tare_serve_number(n.gpu, tree->rows[at].gpu);
		labels.uuid = tare_str_text(&uuid);
		tell_gpu(t, &tree->rows[at], labels);
		for (size_t i = at + 1; i < tree->count && tree->rows[i].level; i++)
			if (tree->rows[i].level == 1)
				tell_row(t, i, labels);
		tare_str_free(&uuid);
	}
}

/* ---- processes and their memory on the host ---- */

static void tell_known(const struct tell *t, enum tare_metric metric, const struct tare_metric_labels *labels,
                       uint64_t bytes)
{
	if (bytes <= INT64_MAX)
		tare_metrics_add(t->m, metric, labels, (int64_t)bytes);
}

static void tell_host_tensors(const struct tell *t, const struct tare_host_ledger *h, struct tare_metric_labels labels)
{
	int64_t rest = h->tensors.bytes;

	if (!h->tensors.is_known)
		return;
	for (int i = 0; i < h->category_nr; i++) {
		labels.category = tare_category_key(h->categories[i].category);
		if (h->categories[i].bytes)
			tare_metrics_add(t->m, TARE_METRIC_HOST_TENSORS, &labels, h->categories[i].bytes);
		rest -= h->categories[i].bytes;
	}
	labels.category = NULL;
	if (rest || !h->category_nr)
		tare_metrics_add(t->m, TARE_METRIC_HOST_TENSORS, &labels, rest);
}

static void tell_host(const struct tell *t, const struct tare_follow *f, const struct tare_host_ledger *h,
                      struct tare_metric_labels labels)
{
	const struct {
		const char *row;
		uint64_t bytes;
	} resident[] = { { "anon", h->anon }, { "file", h->file }, { "shmem", h->shmem } };
	struct tare_metric_labels own = labels;

	for (size_t i = 0; i < sizeof(resident) / sizeof(resident[0]); i++) {
		own.row = resident[i].row;
		tell_known(t, TARE_METRIC_RESIDENT, &own, resident[i].bytes);
	}
	tell_known(t, TARE_METRIC_PROPORTIONAL, &labels, h->pss);
	tell_known(t, TARE_METRIC_SWAP, &labels, h->swap);
	if (h->pinned)
		tell_known(t, TARE_METRIC_PINNED, &labels, h->pinned);
	if (h->registered)
		tell_known(t, TARE_METRIC_REGISTERED, &labels, h->registered);
	tell_host_tensors(t, h, labels);
	tell_growth(t, f, h->pid, -1, labels);
}

/* "python3 train.py" → "python3": words of the command line are whatever their user writes. */
static void tell_programs(const struct tell *t, const struct tare_follow *f, struct tare_metric_labels labels)
{
	struct numbers n;

	for (size_t i = 0; i < f->process_nr; i++) {
		struct tare_str program = { 0 };
		const char *name = f->processes[i].name;

		if (f->processes[i].is_over)
			continue;
		tare_str_add_n(&program, name, strcspn(name, " "));
		labels.program = tare_text_last_part(tare_str_text(&program));
		labels.pid = tare_serve_number(n.pid, f->processes[i].pid);
		labels.rank = tare_serve_number(n.rank, f->has_ledger ? tare_serve_rank(&f->ledger, f->processes[i].pid) : -1);
		tare_metrics_add(t->m, TARE_METRIC_PROCESS_INFO, &labels, 1);
		tare_str_free(&program);
	}
}

static bool is_over(const struct tare_follow *f, int64_t pid)
{
	for (size_t i = 0; i < f->process_nr; i++)
		if (f->processes[i].pid == pid && !f->processes[i].is_over)
			return false;
	return true;
}

/* ---- recordings ---- */

static void tell_live(const struct tell *t, const struct tare_follow *f, struct tare_metric_labels labels)
{
	struct tare_serve_state state = tare_serve_state_of(&f->ledger);
	struct numbers n;

	tell_programs(t, f, labels);
	tare_serve_state_tell(&state, t->m, labels);
	for (int i = 0; i < f->ledger.device_nr; i++) {
		const struct tare_device_ledger *d = &f->ledger.devices[i];
		struct tare_metric_labels own = labels;

		own.gpu = tare_serve_number(n.gpu, d->index);
		own.uuid = d->uuid;
		if (tare_device_ledger_is_gpu(d))
			tell_known(t, TARE_METRIC_PEAK_USED, &own, d->peak_used);
	}
	for (int i = 0; i < f->ledger.host_nr; i++) {
		const struct tare_host_ledger *h = &f->ledger.hosts[i];
		struct tare_metric_labels own = labels;

		own.pid = tare_serve_number(n.pid, h->pid);
		own.rank = tare_serve_number(n.rank, tare_serve_rank(&f->ledger, h->pid));
		if (!is_over(f, h->pid))
			tell_host(t, f, h, own);
	}
}

/* When a live one was read, on the clock of the world. */
static int64_t read_at(const struct tare_gather *g, const struct tare_follow *f)
{
	return g->realtime_ns - (g->turn_ns - f->read_ns);
}

static void tell_recording(const struct tell *t, const struct tare_serve_entry *e)
{
	const struct tare_follow *f = e->follow;
	struct tare_metric_labels labels = { .recording = e->name }, info = labels;

	info.state = tare_serve_entry_state(e);
	info.host = f ? f->host : e->ended.state.host;
	info.simulated = (f ? f->sim_profile != NULL : e->ended.state.is_simulated) ? "yes" : "no";
	tare_metrics_add(t->m, TARE_METRIC_RECORDING_INFO, &info, 1);
	if (f && f->has_ledger) {
		tare_metrics_add_time(t->m, TARE_METRIC_READ_TIME, &labels, read_at(t->g, f));
		tell_live(t, f, labels);
	} else if (!f && e->is_read && !e->ended.failure.code) {
		tare_metrics_add_time(t->m, TARE_METRIC_READ_TIME, &labels, e->ended.realtime_ns);
		tare_serve_ended_tell(&e->ended, t->m, labels);
	}
}

void tare_gather_tell(const struct tare_gather *g, struct tare_str *out)
{
	struct tare_metrics metrics = { 0 };
	const struct tell t = { g, &metrics };
	const struct tare_metric_labels none = { .version = TARE_VERSION };

	tare_metrics_add(&metrics, TARE_METRIC_BUILD_INFO, &none, 1);
	tell_gpus(&t);
	for (size_t i = 0; i < g->table.count; i++)
		tell_recording(&t, g->table.entries[i]);
	tare_metrics_add_time(&metrics, TARE_METRIC_GATHER, &none, g->cost_ns);
	tare_metrics_add(&metrics, TARE_METRIC_LEFT_OUT, &none, (int64_t)g->table.left_out);
	tare_metrics_write(&metrics, out);
	tare_metrics_free(&metrics);
}
