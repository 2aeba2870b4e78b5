/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a process that runs one probe, and takes its messages. */
#include "calibrate/worker.h"

#include "calibrate/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- in the child ---- */
static const struct {
	const char *name;
	void (*run)(struct tare_bench *bench);
} probes[TARE_PROBES] = {
#define TARE_PROBE(NAME, WHAT) [TARE_PROBE_##NAME] = { #NAME, tare_probe_##NAME },
#include "calibrate/probe.def"
};

/* Lazy loading is what is measured, nothing is kept on disk, and the driver's words are nobody's. */
static void set_environment(const struct tare_worker_job *job)
{
	setenv("CUDA_MODULE_LOADING", "LAZY", 1);
	setenv("CUDA_CACHE_DISABLE", "1", 1);
	if (job->sim_profile)
		setenv("TARE_SIM_PROFILE", job->sim_profile, 1);
	if (job->sim_state)
		setenv("TARE_SIM_DIR", job->sim_state, 1);
}

static void fail(struct tare_bench *bench)
{
	struct tare_message message = { .kind = TARE_MESSAGE_FAILED };

	memcpy(message.why, bench->failure, sizeof(message.why));
	tare_bench_send(bench, &message);
	_exit(0);
}

static void start(struct tare_bench *bench, const struct tare_worker_job *job)
{
	struct tare_message message = { .kind = TARE_MESSAGE_STARTED };

	set_environment(job);
	bench->ordinal = job->device;
	bench->known = job->known;
	memcpy(bench->is_known, job->is_known, sizeof(bench->is_known));
	bench->first_init = job->first_init;
	if (!tare_bench_start(bench, job->driver, job->nvml))
		fail(bench);
	message.value = bench->init;
	snprintf(message.text, sizeof(message.text), "%s", bench->uuid);
	snprintf(message.why, sizeof(message.why), "%s",
	         bench->scale.by_cuda ? "cuMemGetInfo (NVML does not tell the memory in use here)" : "NVML");
	tare_bench_send(bench, &message);
}

static void run_probe(struct tare_bench *bench, int probe)
{
	struct tare_message message = { .kind = TARE_MESSAGE_BEGIN, .probe = probe };
	struct tare_bench before = *bench;

	tare_bench_send(bench, &message);
	bench->failure[0] = 0;
	tare_scale_settle(&bench->scale);
	tare_scale_watch(&bench->scale, TARE_SCALE_GATE_NS);
	probes[probe].run(bench);
	tare_scale_watch(&bench->scale, TARE_SCALE_GATE_NS);
	message.kind = TARE_MESSAGE_END;
	if (bench->scale.is_noisy) {
		message.kind = TARE_MESSAGE_NOISE;
		bench->had_noise = true;
		bench->known = before.known;
		memcpy(bench->is_known, before.is_known, sizeof(bench->is_known));
	}
	memcpy(message.why, bench->failure, sizeof(message.why));
	tare_bench_send(bench, &message);
}

static void run(const struct tare_worker_job *job, int first, int in, int out)
{
	struct tare_bench bench = { .out = out };
	struct tare_message done = { .kind = TARE_MESSAGE_DONE };
	char byte;

	start(&bench, job);
	if (first < TARE_PROBES && (!TARE_DO(&bench, cuDevicePrimaryCtxRetain, &bench.base, bench.device) ||
	                            !TARE_DO(&bench, cuCtxSetCurrent, bench.base)))
		fail(&bench);
	for (; first < TARE_PROBES; first++)
		if (job->is_wanted[first])
			run_probe(&bench, first);
	tare_bench_send(&bench, &done);
	while (read(in, &byte, 1) < 0 && errno == EINTR)
		continue;
	/* What the process has goes back with it: no call that could hang. */
	_exit(0);
}

/* ---- in tare ---- */
static int spawn(struct tare_probe_worker *worker, const struct tare_worker_job *job, int first, struct tare_err *err)
{
	int up[2], down[2];
	pid_t parent = getpid();

	if (pipe2(up, O_CLOEXEC))
		return tare_err_set_errno(err, errno, "calibrate: no pipe");
	if (pipe2(down, O_CLOEXEC)) {
		close(up[0]);
		close(up[1]);
		return tare_err_set_errno(err, errno, "calibrate: no pipe");
	}
	fflush(NULL);
	worker->pid = fork();
	if (worker->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		close(up[0]);
		close(down[1]);
		run(job, first, down[0], up[1]);
	}
	close(up[1]);
	close(down[0]);
	worker->from = up[0];
	worker->to = down[1];
	if (worker->pid > 0)
		return 0;
	close(up[0]);
	close(down[1]);
	return tare_err_set_errno(err, errno,
	                          "calibrate: no process can be started to ask the driver in; raise the limit (ulimit -u)");
}

int tare_worker_hold(struct tare_probe_worker *worker, const struct tare_worker_job *job, struct tare_err *err)
{
	return spawn(worker, job, TARE_PROBES, err);
}

int tare_worker_probe(struct tare_probe_worker *worker, const struct tare_worker_job *job, int first,
                      struct tare_err *err)
{
	return spawn(worker, job, first, err);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static void describe(struct tare_probe_worker *worker, bool is_late, int ms, char *how, size_t size)
{
	int status = 0;

	if (is_late)
		kill(worker->pid, SIGKILL);
	if (waitpid(worker->pid, &status, 0) == worker->pid)
		worker->pid = 0;
	if (is_late)
		snprintf(how, size, "the driver did not answer for %d s", ms / 1000);
	else if (WIFSIGNALED(status))
		snprintf(how, size, "the driver crashed (%s)", strsignal(WTERMSIG(status)));
	else
		snprintf(how, size, "the driver ended the process (exit code %d)", WEXITSTATUS(status));
}

bool tare_worker_next(struct tare_probe_worker *worker, struct tare_message *message, int ms, char *how, size_t size)
{
	struct pollfd wait = { .fd = worker->from, .events = POLLIN };
	int64_t until = now_ms() + ms;
	int ready;

	do {
		int64_t left = until - now_ms();

		ready = poll(&wait, 1, left > 0 ? (int)left : 0);
	} while (ready < 0 && errno == EINTR);
	if (ready > 0 && read(worker->from, message, sizeof(*message)) == (ssize_t)sizeof(*message))
		return true;
	describe(worker, ready == 0, ms, how, size);
	return false;
}

void tare_worker_finish(struct tare_probe_worker *worker)
{
	struct pollfd wait = { .fd = worker->from };

	close(worker->to);
	if (worker->pid > 0) {
		/* The worker has nothing left to do but end; where the driver hangs in that, it is killed. */
		poll(&wait, 1, 2000);
		kill(worker->pid, SIGKILL);
		waitpid(worker->pid, NULL, 0);
	}
	close(worker->from);
	*worker = (struct tare_probe_worker){ 0 };
}
