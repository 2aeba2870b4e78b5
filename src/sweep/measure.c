/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what the recording of a run says into the file of the sweep. */
#include "sweep/measure.h"

#include "ledger/build.h"
#include "ledger/driver_time.h"
#include "sweep/sums.h"
#include "trace/recording.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static int write_sums(struct tare_db *db, int64_t run, const struct tare_device_ledger *d, const struct tare_sums *sums,
                      struct tare_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < sums->count && !rc; i++) {
		const struct tare_sum *s = &sums->rows[i];

		rc = tare_db_do(db, err, "INSERT INTO accounts VALUES(?,?,?,?,?,?,?,?,?)", "iittiiuti", run, (int64_t)d->index,
		                tare_accounts[s->account].key, s->part, s->bytes, (int64_t)s->elastic, s->count,
		                tare_evidence_name(s->evidence), (int64_t)s->driver_ns);
	}
	return rc;
}

static int write_refusals(struct tare_db *db, int64_t run, const struct tare_device_ledger *d, struct tare_err *err)
{
	int rc = 0;

	for (int i = 0; i < d->refusal_nr && !rc; i++) {
		const struct tare_refusal *r = &d->refusals[i];

		rc = tare_db_do(db, err, "INSERT INTO refusals VALUES(?,?,?,?,?,?,?,?)", "iittuuui", run, (int64_t)d->index,
		                r->api, r->owner, r->count, r->largest, r->missing, r->first_ns);
	}
	return rc;
}

/*
 * `own`: the device when the run's processes had most of it in use; `d`: the device when most of it was in use
 * by all.
 */
static int write_device(struct tare_db *db, int64_t run, const struct tare_device_ledger *d,
                        const struct tare_device_ledger *own, struct tare_measure *out, struct tare_err *err)
{
	struct tare_sums sums;
	uint64_t refused = 0;
	int rc;

	tare_sums_build(&sums, own);
	for (int i = 0; i < d->refusal_nr; i++)
		refused += d->refusals[i].count;
	rc = tare_db_do(db, err, "INSERT INTO devices VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", "iittuuuuiiiiiiiuu", run,
	                (int64_t)d->index, d->name, d->uuid[0] ? d->uuid : NULL, d->total, d->reserved, d->used_start,
	                d->peak_used, d->peak_t_ns, sums.own, sums.own - sums.elastic, sums.elastic, sums.other,
	                own->unexplained, (int64_t)d->simulated,
	                d->card.is_there ? d->card.total - d->card.reserved : TARE_DB_UNKNOWN, refused);
	if (!rc)
		rc = write_sums(db, run, own, &sums, err);
	if (!rc)
		rc = write_refusals(db, run, d, err);
	if (sums.own > out->peak) {
		out->peak = sums.own;
		out->elastic = sums.elastic;
		out->need = sums.own - sums.elastic;
		out->unexplained = own->unexplained;
	}
	tare_sums_free(&sums);
	return rc;
}

static int64_t own_of(const struct tare_device_ledger *d)
{
	struct tare_sums sums;
	int64_t own;

	tare_sums_build(&sums, d);
	own = sums.own;
	tare_sums_free(&sums);
	return own;
}

/*
 * Others on the GPU, such as a program before this run that has not given its memory back yet, can have had
 * most in use when the run had little.
 */
static int write_devices(struct tare_db *db, int64_t run, struct tare_recording *recording,
                         const struct tare_ledger *ledger, struct tare_measure *out, struct tare_err *err)
{
	int rc = 0;

	for (int i = 0; i < ledger->device_nr && !rc; i++) {
		const struct tare_device_ledger *d = &ledger->devices[i];
		const struct tare_instant own_peak = {
			.kind = TARE_INSTANT_TIME,
			.text = "",
			.t_ns = d->own_peak_t_ns,
		};
		const struct tare_device_ledger *at = NULL;
		TARE_FREED_BY(tare_ledger_free) struct tare_ledger own = { 0 };

		if (d->own_peak >= own_of(d) && d->own_peak_t_ns != d->peak_t_ns)
			tare_ledger_of_recording(recording, NULL, &own_peak, 1, &own);
		for (int k = 0; k < own.device_nr; k++)
			if (own.devices[k].index == d->index)
				at = &own.devices[k];
		rc = write_device(db, run, d, at ? at : d, out, err);
	}
	return rc;
}

static int write_calls(struct tare_db *db, int64_t run, struct tare_recording *recording, struct tare_measure *out,
                       struct tare_err *err)
{
	const struct tare_time_opts opts = { .pid = -1, .until_ns = INT64_MAX };
	struct tare_time_rows rows;
	int rc = 0;

	tare_driver_time_of_recording(recording, &opts, &rows);
	for (size_t i = 0; i < rows.count && !rc; i++) {
		out->driver_ns += rows.rows[i].total_ns;
		out->driver_calls += (int64_t)rows.rows[i].calls;
		rc = tare_db_do(db, err, "INSERT INTO calls VALUES(?,?,?,?,?)", "ittui", run,
		                tare_accounts[rows.rows[i].account].key, rows.rows[i].api, rows.rows[i].calls,
		                rows.rows[i].total_ns);
	}
	tare_driver_time_free(&rows);
	return rc;
}

static int write_hosts(struct tare_db *db, int64_t run, const struct tare_ledger *l, struct tare_err *err)
{
	int rc = 0;

	for (int i = 0; i < l->host_nr && !rc; i++) {
		const struct tare_host_ledger *h = &l->hosts[i];

		rc = tare_db_do(db, err, "INSERT INTO hosts VALUES(?,?,?,?,?,?)", "iituuu", run, h->pid, h->name, h->rss,
		                h->peak_rss, h->pinned);
	}
	return rc;
}

static void add_note(struct tare_measure *out, const char *text)
{
	size_t len = strlen(out->note);

	if (!strstr(out->note, text))
		snprintf(out->note + len, sizeof(out->note) - len, "%s%s", len ? "; " : "", text);
}

static void look_at_processes(struct tare_recording *recording, struct tare_measure *out)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *p = tare_recording_process(recording, i);

		if (p->role != TARE_ROLE_PROGRAM)
			continue;
		out->processes++;
		if (p->is_status_known && WIFSIGNALED((int)p->status) && WTERMSIG((int)p->status) == SIGKILL &&
		    p->oom_kills > 0)
			out->is_oom_killed = true;
	}
}

static int write_all(struct tare_db *db, int64_t run, struct tare_recording *recording, struct tare_measure *out,
                     struct tare_err *err)
{
	static const struct tare_instant peak = { .moment = TARE_MOMENT_PEAK, .text = "peak" };
	struct tare_ledger ledger;
	int rc = 0;

	tare_ledger_of_recording(recording, NULL, &peak, 1, &ledger);
	rc = write_devices(db, run, recording, &ledger, out, err);
	if (!rc && !ledger.opened_gpu)
		rc = tare_sweep_write_cpu(db, run, recording, out, err);
	if (!rc)
		rc = write_hosts(db, run, &ledger, err);
	if (!rc)
		rc = tare_sweep_write_phases(db, run, recording, &ledger, err);
	for (int i = 0; i < ledger.degraded_nr; i++)
		add_note(out, ledger.degraded[i]);
	tare_ledger_free(&ledger);
	if (!rc)
		rc = write_calls(db, run, recording, out, err);
	return rc;
}

int tare_measure_run(struct tare_db *db, int64_t run, const char *const *recordings, size_t recording_nr,
                     struct tare_measure *out, struct tare_err *err)
{
	struct tare_recording *recording;
	struct tare_err why = { 0 };
	int rc;

	*out = (struct tare_measure){ .peak = -1, .pressure = { .first_ns = -1, .out_api = "" } };
	if (!recording_nr || tare_recording_open_any(&recording, recordings, recording_nr, &why) != 0) {
		add_note(out, recording_nr ? why.text : "there is no recording");
		return 0;
	}
	look_at_processes(recording, out);
	if (out->processes)
		rc = write_all(db, run, recording, out, err);
	else
		rc = 0, add_note(out, "nothing called the NVIDIA driver or made tensors with PyTorch");
	tare_pressure_of_recording(recording, &out->pressure);
	out->pressure.out_api = "";
	tare_recording_close(recording);
	return rc;
}
