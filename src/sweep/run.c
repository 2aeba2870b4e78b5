/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a sweep. A run is written down before it begins and measured when it has ended, both in
 * one transaction each; what is in between when the power fails is run again.
 */
#include "sweep/run.h"

#include "base/now.h"
#include "base/str.h"
#include "sweep/run_private.h"
#include "witness/procfs.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- showing it ---- */

static size_t running(const struct tare_sweep_runner *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->slot_nr; i++)
		n += r->slots[i].pid != 0;
	return n;
}

void tare_sweep_show(const struct tare_sweep_runner *r, struct tare_sweep_state state)
{
	state.total = r->total;
	state.done = r->done;
	state.running = running(r);
	state.left_ns =
		r->ended ? r->spent_ns / (int64_t)r->ended * (int64_t)(r->total - r->done) / (int64_t)r->slot_nr : -1;
	if (r->watch)
		r->watch->see(r->watch->arg, &state);
}

/* ---- a run begins ---- */

static int begin(struct tare_sweep_runner *r, struct tare_sweep_slot *slot, const struct tare_sweep_job *job)
{
	struct tare_start start;
	struct tare_procfs_stat stat = { 0 };
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 }, folder = { 0 }, out = { 0 }, errors = { 0 };
	int rc;

	tare_str_addf(&name, "cell-%zu-run-%d", job->cell + 1, job->repeat);
	tare_str_addf(&folder, "%s/%s", r->dir, name.data);
	tare_str_addf(&out, "%s/stdout", name.data);
	tare_str_addf(&errors, "%s/stderr", name.data);
	rc = tare_start_prepare(&start, r->s, job->cell, folder.data, slot->gpus, r->err);
	if (!rc) {
		tare_procfs_stat(start.pid, &stat);
		rc = tare_db_do(r->db, r->err,
		                "INSERT OR REPLACE INTO runs(cell,repeat,status,started_ns,gpus,host,folder,stdout,stderr,pid,"
		                "pid_start,boot) VALUES(?,?,'running',?,?,?,?,?,?,?,?,?)",
		                "iiitttttiit", (int64_t)job->cell + 1, (int64_t)job->repeat, tare_now_ns(CLOCK_REALTIME),
		                slot->gpus, r->host, name.data, out.data, errors.data, (int64_t)start.pid,
		                (int64_t)stat.start_ticks, r->boot);
		if (rc)
			tare_start_drop(&start);
	}
	if (!rc) {
		*slot = (struct tare_sweep_slot){ .pid = start.pid,
			                              .run = tare_db_last_id(r->db),
			                              .job = *job,
			                              .started_ns = tare_now_ns(CLOCK_MONOTONIC),
			                              .folder = tare_str_steal(&folder),
			                              .name = tare_str_steal(&name),
			                              .gpus = slot->gpus };
		tare_start_go(&start);
	}
	return rc;
}

/* ---- the loop ---- */

/* Ends a run: with SIGTERM, and with SIGKILL ten seconds later; `is_hard`: with SIGKILL at once. */
static void terminate(struct tare_sweep_slot *slot, bool is_hard)
{
	if (!slot->pid || slot->is_killed)
		return;
	slot->is_killed = is_hard;
	kill(-slot->pid, is_hard ? SIGKILL : SIGTERM);
	if (!slot->terminated_ns)
		slot->terminated_ns = tare_now_ns(CLOCK_MONOTONIC);
}

static void look_at_clock(struct tare_sweep_runner *r)
{
	int64_t now = tare_now_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < r->slot_nr; i++) {
		struct tare_sweep_slot *slot = &r->slots[i];

		if (!slot->pid)
			continue;
		if (slot->terminated_ns && now - slot->terminated_ns >= r->grace_ns) {
			terminate(slot, true);
		} else if (!slot->terminated_ns && r->s->timeout_ns > 0 && now - slot->started_ns >= r->s->timeout_ns) {
			slot->is_timed_out = true;
			terminate(slot, false);
		}
	}
}

/* The time until the next deadline, in ms; -1: there is no deadline. */
static int time_to_wait(const struct tare_sweep_runner *r)
{
	int64_t now = tare_now_ns(CLOCK_MONOTONIC), next = INT64_MAX;

	for (size_t i = 0; i < r->slot_nr; i++) {
		const struct tare_sweep_slot *slot = &r->slots[i];

		if (slot->pid && slot->terminated_ns && next > slot->terminated_ns + r->grace_ns)
			next = slot->terminated_ns + r->grace_ns;
		else if (slot->pid && !slot->terminated_ns && r->s->timeout_ns > 0 &&
		         next > slot->started_ns + r->s->timeout_ns)
			next = slot->started_ns + r->s->timeout_ns;
	}
	if (r->watch && r->watch->every_ms && next > now + r->watch->every_ms * (TARE_SECOND / 1000))
		return r->watch->every_ms;
	if (next == INT64_MAX)
		return -1;
	return next <= now ? 0 : (int)((next - now) / 1000000 + 1);
}

static void take_signals(struct tare_sweep_runner *r)
{
	struct signalfd_siginfo info;

	while (read(r->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		for (size_t i = 0; i < r->slot_nr; i++)
			terminate(&r->slots[i], r->stop != 0);
		r->stop = (int)info.ssi_signo;
	}
}

static int reap(struct tare_sweep_runner *r)
{
	int rc = 0, status;

	for (size_t i = 0; i < r->slot_nr && !rc; i++)
		if (r->slots[i].pid && waitpid(r->slots[i].pid, &status, WNOHANG) == r->slots[i].pid)
			rc = tare_sweep_finish(r, &r->slots[i], status);
	return rc;
}

static int fill_slots(struct tare_sweep_runner *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->slot_nr && !rc && !r->stop; i++)
		if (!r->slots[i].pid && r->next < r->job_nr)
			rc = begin(r, &r->slots[i], &r->jobs[r->next++]);
	return rc;
}

static int turn(struct tare_sweep_runner *r)
{
	struct pollfd fd = { .fd = r->signals, .events = POLLIN };
	int rc = fill_slots(r);

	if (rc || !running(r))
		return rc;
	poll(&fd, 1, time_to_wait(r));
	take_signals(r);
	look_at_clock(r);
	rc = reap(r);
	if (!rc && r->watch && r->watch->every_ms)
		tare_sweep_show(r, (struct tare_sweep_state){ .peak = -1 });
	return rc;
}

/* If the sweep itself fails, no run may be left on the GPU. */
static void end_all(struct tare_sweep_runner *r)
{
	for (size_t i = 0; i < r->slot_nr; i++) {
		struct tare_sweep_slot *slot = &r->slots[i];

		if (slot->pid) {
			terminate(slot, true);
			waitpid(slot->pid, NULL, 0);
		}
		free(slot->folder);
		free(slot->name);
		free(slot->gpus);
	}
}

int tare_sweep_run(struct tare_db *db, const struct tare_sweep *s, bool is_simulated,
                   const struct tare_sweep_watch *watch, struct tare_sweep_end *end, struct tare_err *err)
{
	struct tare_sweep_runner r = { .db = db, .s = s, .watch = watch, .err = err, .lock = -1, .signals = -1 };
	sigset_t mask, old;
	int rc;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &old);
	r.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	rc = tare_sweep_prepare(&r, is_simulated);
	while (!rc && (r.next < r.job_nr || running(&r)) && !(r.stop && !running(&r)))
		rc = turn(&r);
	end_all(&r);
	*end = (struct tare_sweep_end){ .signal = r.stop, .done = r.done, .total = r.total };
	tare_gpus_free(&r.gpus);
	free(r.slots);
	free(r.jobs);
	free(r.dir);
	if (r.lock >= 0)
		close(r.lock);
	if (r.signals >= 0)
		close(r.signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return rc;
}
