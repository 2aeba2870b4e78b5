/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what a run that opened no GPU had on the CPU. */
#include "sweep/measure.h"

#include "ledger/build.h"
#include "trace/recording.h"
#include "witness/cgroup.h"

#include <string.h>
#include <unistd.h>

/* What the tensors of all processes come to, at the moment with most of them. */
struct sums {
	int64_t bytes[TARE_CATEGORY_NR], count[TARE_CATEGORY_NR];
	enum tare_evidence evidence[TARE_CATEGORY_NR];
	int64_t unsorted, shared, shared_count, own;
	bool is_any;
};

static void add_up(struct sums *s, const struct tare_ledger *l)
{
	for (int i = 0; i < l->host_nr; i++) {
		const struct tare_host_ledger *h = &l->hosts[i];
		int64_t rest = h->tensors.bytes;

		s->is_any |= h->tensors.is_known;
		for (int k = 0; k < h->category_nr; k++) {
			const struct tare_category_sum *c = &h->categories[k];

			s->bytes[c->category] += c->bytes;
			s->count[c->category] += (int64_t)c->count;
			if (s->evidence[c->category] < c->evidence)
				s->evidence[c->category] = c->evidence;
			rest -= c->bytes;
		}
		s->unsorted += rest;
		s->own += h->tensors.bytes;
	}
	s->shared = l->shared.bytes;
	s->shared_count = l->shared.count;
	s->own += s->shared;
}

static int write_account(struct tare_db *db, int64_t run, const char *account, const char *part, int64_t bytes,
                         int64_t count, enum tare_evidence evidence, struct tare_err *err)
{
	if (!bytes)
		return 0;
	return tare_db_do(db, err, "INSERT INTO accounts VALUES(?,?,?,?,?,?,?,?,?)", "iittiiiti", run,
	                  (int64_t)TARE_SWEEP_CPU, account, part, bytes, (int64_t)0, count, tare_evidence_name(evidence),
	                  (int64_t)0);
}

static int write_accounts(struct tare_db *db, int64_t run, const struct sums *s, struct tare_err *err)
{
	int rc = write_account(db, run, "mapped", "", s->shared, s->shared_count, TARE_EVIDENCE_EXACT, err);

	if (!rc)
		rc = write_account(db, run, "tensors", "", s->unsorted, 0, TARE_EVIDENCE_EXACT, err);
	for (int c = 0; c < TARE_CATEGORY_NR && !rc; c++)
		rc = write_account(db, run, "tensors", tare_category_name((enum tare_category)c), s->bytes[c], s->count[c],
		                   s->evidence[c], err);
	return rc;
}

/* ---- what was resident ---- */

static const struct tare_process *process_of(struct tare_recording *recording, const struct tare_host_ledger *h)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *p = tare_recording_process(recording, i);

		if (p->role == TARE_ROLE_PROGRAM && p->pid == h->pid && p->generation == h->generation)
			return p;
	}
	return NULL;
}

/*
 * The processes that lived when `at` began, each with its most. Pages of files and shared memory are counted once:
 * most processes of a program have the same ones.
 */
static int64_t resident_with(struct tare_recording *recording, const struct tare_ledger *end,
                             const struct tare_process *at)
{
	uint64_t sum = 0, same = 0;

	for (int i = 0; i < end->host_nr; i++) {
		const struct tare_host_ledger *h = &end->hosts[i];
		const struct tare_process *p = process_of(recording, h);
		uint64_t common;

		if (!p || h->peak_rss == TARE_NOT_KNOWN || p->first_ns > at->first_ns || p->last_ns < at->first_ns)
			continue;
		common = h->peak_file < h->peak_rss ? h->peak_file : h->peak_rss;
		sum += h->peak_rss - common;
		same = common > same ? common : same;
	}
	return (int64_t)(sum + same);
}

/* The most of any moment at which a process began, so of all moments; -1: nobody read it. */
static int64_t most_resident(struct tare_recording *recording, const struct tare_ledger *end)
{
	int64_t most = 0;

	for (int i = 0; i < end->host_nr; i++) {
		const struct tare_process *p = process_of(recording, &end->hosts[i]);
		int64_t sum = p ? resident_with(recording, end, p) : 0;

		most = sum > most ? sum : most;
	}
	return most > 0 ? most : -1;
}

/* What programs may have of this machine; TARE_DB_UNKNOWN where the run was on another one. */
static uint64_t room(struct tare_recording *recording)
{
	char here[256] = "";
	uint64_t bytes;

	gethostname(here, sizeof(here) - 1);
	for (int i = 0; i < tare_recording_process_nr(recording); i++)
		if (strcmp(tare_recording_process(recording, i)->host, here) != 0)
			return TARE_DB_UNKNOWN;
	return tare_cgroup_room("", &bytes) == 0 ? bytes : TARE_DB_UNKNOWN;
}

int tare_sweep_write_cpu(struct tare_db *db, int64_t run, struct tare_recording *recording, struct tare_measure *out,
                         struct tare_err *err)
{
	static const struct tare_instant instants[] = {
		{ .moment = TARE_MOMENT_HOST, .text = "peak:host" },
		{ .moment = TARE_MOMENT_END, .text = "end" },
	};
	struct tare_ledger l[2] = { 0 };
	struct sums s = { 0 };
	int64_t resident;
	int rc = 0;

	tare_ledger_of_recording(recording, NULL, instants, 2, l);
	add_up(&s, &l[0]);
	resident = most_resident(recording, &l[1]);
	if (s.is_any || resident >= 0)
		rc = tare_db_do(db, err, "INSERT INTO devices VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", "iittuuuuiiiiiiiuu",
		                run, (int64_t)TARE_SWEEP_CPU, "CPU", (const char *)NULL, room(recording), TARE_DB_UNKNOWN,
		                TARE_DB_UNKNOWN, resident < 0 ? TARE_DB_UNKNOWN : (uint64_t)resident, l[0].t_ns, s.own, s.own,
		                (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0, TARE_DB_UNKNOWN, (uint64_t)0);
	if (!rc)
		rc = write_accounts(db, run, &s, err);
	if (s.is_any) {
		out->peak = out->need = s.own;
		out->elastic = out->unexplained = 0;
	}
	tare_ledger_free(&l[0]);
	tare_ledger_free(&l[1]);
	return rc;
}

static int write_phase_account(struct tare_db *db, int64_t run, int64_t phase, const char *account, const char *part,
                               int64_t bytes, struct tare_err *err)
{
	if (!bytes)
		return 0;
	return tare_db_do(db, err, "INSERT INTO phase_accounts VALUES(?,?,?,?,?,?,?)", "iiittii", run, phase,
	                  (int64_t)TARE_SWEEP_CPU, account, part, bytes, (int64_t)0);
}

int tare_sweep_write_cpu_phase(struct tare_db *db, int64_t run, int64_t phase, const struct tare_ledger *at,
                               struct tare_err *err)
{
	struct sums s = { 0 };
	int rc;

	add_up(&s, at);
	rc = write_phase_account(db, run, phase, "mapped", "", s.shared, err);
	if (!rc)
		rc = write_phase_account(db, run, phase, "tensors", "", s.unsorted, err);
	for (int c = 0; c < TARE_CATEGORY_NR && !rc; c++)
		rc = write_phase_account(db, run, phase, "tensors", tare_category_name((enum tare_category)c), s.bytes[c], err);
	return rc;
}
