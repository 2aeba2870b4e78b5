/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a recording that ended once, and keeps what is served of it. */
#include "serve/ended.h"

#include "base/xalloc.h"
#include "ledger/build.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct tare_serve_state tare_serve_state_of(const struct tare_ledger *ledger)
{
	struct tare_serve_state s = { 0 };

	for (int i = 0; i < ledger->loss_nr; i++) {
		if (ledger->losses[i].is_of_tare)
			continue;
		s.losses++;
		s.lost += (int64_t)ledger->losses[i].records;
	}
	for (int i = 0; i < ledger->oom_nr; i++)
		s.ooms += (int64_t)ledger->ooms[i].count;
	for (int i = 0; i < ledger->device_nr; i++)
		s.is_simulated = s.is_simulated || ledger->devices[i].simulated;
	return s;
}

void tare_serve_state_tell(const struct tare_serve_state *s, struct tare_metrics *m, struct tare_metric_labels labels)
{
	tare_metrics_add(m, TARE_METRIC_LOST, &labels, s->lost);
	tare_metrics_add(m, TARE_METRIC_LOSSES, &labels, s->losses);
	tare_metrics_add(m, TARE_METRIC_OOM, &labels, s->ooms);
}

/* ---- reading ---- */

static bool has_process(const struct tare_serve_ended_device *d, int64_t pid)
{
	for (size_t i = 0; i < d->process_nr; i++)
		if (d->processes[i].pid == pid)
			return true;
	return false;
}

static void add_process(struct tare_serve_ended_device *to, const struct tare_ledger *ledger,
                        const struct tare_device_ledger *d, int64_t pid)
{
	struct tare_serve_ended_process *p = &to->processes[to->process_nr];

	*p = (struct tare_serve_ended_process){ .pid = pid, .rank = pid < 0 ? -1 : tare_serve_rank(ledger, pid) };
	tare_serve_sums_add(&p->sums, d, pid);
	to->process_nr++;
}

static void take_device(struct tare_serve_ended_device *to, const struct tare_ledger *ledger,
                        const struct tare_device_ledger *d)
{
	*to = (struct tare_serve_ended_device){ .index = d->index,
		                                    .used = d->used > INT64_MAX ? -1 : (int64_t)d->used,
		                                    .unexplained = d->unexplained };
	memcpy(to->uuid, d->uuid, sizeof(to->uuid));
	to->processes = tare_xcalloc((size_t)d->row_nr + 1, sizeof(*to->processes));
	add_process(to, ledger, d, -1);
	for (int i = 0; i < d->row_nr; i++)
		if (d->rows[i].pid >= 0 && !has_process(to, d->rows[i].pid))
			add_process(to, ledger, d, d->rows[i].pid);
	to->processes = tare_xrealloc(to->processes, to->process_nr, sizeof(*to->processes));
}

static void take_host(struct tare_serve_ended *ended, const struct tare_recording *recording)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const char *host = tare_recording_process(recording, i)->host;

		if (*host && !ended->state.host[0])
			strncpy(ended->state.host, host, sizeof(ended->state.host) - 1);
	}
}

void tare_serve_ended_read(struct tare_serve_ended *ended, const char *path)
{
	static const struct tare_instant peak = { .moment = TARE_MOMENT_PEAK, .text = "peak" };
	static const struct tare_ledger_opts opts = { .without_tensors = true };
	struct tare_recording *recording;
	struct tare_ledger ledger;
	struct timespec now;

	tare_serve_ended_free(ended);
	clock_gettime(CLOCK_REALTIME, &now);
	ended->realtime_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if (tare_recording_open(&recording, path, &ended->failure))
		return;
	tare_ledger_of_recording(recording, &opts, &peak, 1, &ledger);
	ended->state = tare_serve_state_of(&ledger);
	take_host(ended, recording);
	ended->devices = tare_xcalloc((size_t)ledger.device_nr + 1, sizeof(*ended->devices));
	for (int i = 0; i < ledger.device_nr; i++)
		if (tare_device_ledger_is_gpu(&ledger.devices[i]))
			take_device(&ended->devices[ended->device_nr++], &ledger, &ledger.devices[i]);
	tare_ledger_free(&ledger);
	tare_recording_close(recording);
}

void tare_serve_ended_free(struct tare_serve_ended *ended)
{
	for (size_t i = 0; i < ended->device_nr; i++)
		free(ended->devices[i].processes);
	free(ended->devices);
	*ended = (struct tare_serve_ended){ 0 };
}

/* ---- telling ---- */

static void tell_device(const struct tare_serve_ended_device *d, struct tare_metrics *m,
                        struct tare_metric_labels labels)
{
	char gpu[TARE_SERVE_NUMBER], pid[TARE_SERVE_NUMBER], rank[TARE_SERVE_NUMBER];

	labels.gpu = tare_serve_number(gpu, d->index);
	labels.uuid = d->uuid;
	if (d->used >= 0)
		tare_metrics_add(m, TARE_METRIC_PEAK_USED, &labels, d->used);
	for (size_t i = 0; i < d->process_nr; i++) {
		labels.pid = tare_serve_number(pid, d->processes[i].pid);
		labels.rank = tare_serve_number(rank, d->processes[i].rank);
		tare_serve_sums_tell(&d->processes[i].sums, m, TARE_METRIC_PEAK, labels);
	}
	labels.pid = labels.rank = NULL;
	labels.row = "unexplained";
	if (d->used >= 0)
		tare_metrics_add(m, TARE_METRIC_PEAK, &labels, d->unexplained);
}

void tare_serve_ended_tell(const struct tare_serve_ended *ended, struct tare_metrics *m,
                           struct tare_metric_labels labels)
{
	for (size_t i = 0; i < ended->device_nr; i++)
		tell_device(&ended->devices[i], m, labels);
	tare_serve_state_tell(&ended->state, m, labels);
}
