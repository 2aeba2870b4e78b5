/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks cuDNN for the workspaces of many convolutions. A question takes cuDNN 3 ms of the CPU, so several processes
 * ask, each for every n-th convolution. They write the answers into memory that all share: a process that crashes or
 * hangs costs the convolution that it was asking for, and a new process goes on with the next one.
 */
#include "calibrate/libraries.h"

#include "base/comparator.h"
#include "base/now.h"
#include "base/self_path.h"
#include "base/xalloc.h"
#include "calibrate/cudnn.h"
#include "calibrate/driver.h"
#include "calibrate/find_cudnn.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PROCESSES = 64, PAYS = 500, PATIENCE_S = 60, TRIES = 8 };
enum { REFUSED = -1, NOT_ASKED = -2, LOST = -3 };

/* What is known after a process has started cuDNN. */
struct said {
	bool is_open;
	char why[500], cudnn[1024], card[64];
	uint64_t version, capability, processors;
};

struct asking {
	const struct tare_libraries_options *options;
	struct sim_conv *convs;
	uint64_t *hashes;
	size_t count;
	size_t shared_bytes;
	/* Shared with the processes: */
	struct said *said;
	size_t *next; /* of each process: the convolution that it asks for */
	int64_t *bytes;
};

/* ---- in a process that asks ---- */
static bool open_driver(struct said *said, const struct tare_libraries_options *o)
{
	char folder[PATH_MAX] = "", path[PATH_MAX + 32];
	CUcontext context = NULL;
	CUdevice device = 0;
	int major = 0, minor = 0, processors = 0;

	if (o->sim) {
		setenv("TARE_SIM_PROFILE", o->sim, 1);
		tare_self_path(TARE_SELF_SIM_DIR, folder, sizeof(folder));
	}
	snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
	if (!tare_driver_load(o->sim ? path : NULL, said->why, sizeof(said->why)))
		return false;
	if (!tare_cu.cuInit || tare_cu.cuInit(0) || tare_cu.cuDeviceGet(&device, o->device) ||
	    tare_cu.cuDeviceGetName(said->card, sizeof(said->card), device) ||
	    tare_cu.cuDevicePrimaryCtxRetain(&context, device) || tare_cu.cuCtxSetCurrent(context)) {
		snprintf(said->why, sizeof(said->why), "the driver gives no context on GPU %d; tare doctor says why",
		         o->device);
		return false;
	}
	tare_cu.cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
	tare_cu.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	tare_cu.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
	said->capability = (uint64_t)(10 * major + minor);
	said->processors = (uint64_t)processors;
	return true;
}

static bool open_cudnn(struct said *said, const struct tare_libraries_options *o, struct tare_cudnn *dnn)
{
	if (!tare_find_cudnn(o->cudnn, o->sim, said->cudnn, sizeof(said->cudnn)) ||
	    !tare_cudnn_open(dnn, said->cudnn, said->why, sizeof(said->why)))
		return false;
	said->version = dnn->version();
	return true;
}

/* `step` processes ask, this one from convolution `next[which]` on. */
static void ask(struct asking *a, int which, size_t step)
{
	struct said said = { 0 };
	struct tare_cudnn dnn;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	said.is_open = open_driver(&said, a->options) && open_cudnn(&said, a->options, &dnn);
	/* All that start say the same. */
	if (said.is_open || !a->said->is_open)
		*a->said = said;
	if (!said.is_open)
		_exit(1);
	for (size_t i = a->next[which]; i < a->count; i += step) {
		__atomic_store_n(&a->next[which], i, __ATOMIC_RELEASE);
		a->bytes[i] = tare_cudnn_workspace(&dnn, &a->convs[i]);
	}
	__atomic_store_n(&a->next[which], a->count, __ATOMIC_RELEASE);
	/* What the process has goes back with it: no call that could hang. */
	_exit(0);
}

/* ---- in tare ---- */
struct process {
	pid_t pid;
	size_t seen;     /* where it was … */
	int64_t seen_ns; /* … at that time */
	int left;        /* how often another may go on for it */
};

static void start(struct asking *a, struct process *process, int which, size_t step)
{
	fflush(NULL);
	process->seen = a->next[which];
	process->seen_ns = tare_now_ns(CLOCK_MONOTONIC);
	process->pid = fork();
	if (process->pid == 0)
		ask(a, which, step);
}

static bool has_hung(const struct asking *a, struct process *process, int which)
{
	size_t at = __atomic_load_n(&a->next[which], __ATOMIC_ACQUIRE);

	if (at != process->seen) {
		process->seen = at;
		process->seen_ns = tare_now_ns(CLOCK_MONOTONIC);
	}
	return tare_now_ns(CLOCK_MONOTONIC) - process->seen_ns > PATIENCE_S * INT64_C(1000000000);
}

/* False: it runs. */
static bool has_ended(struct asking *a, struct process *process, int which, char how[200])
{
	int status = 0;

	if (waitpid(process->pid, &status, WNOHANG) == process->pid) {
		if (WIFSIGNALED(status))
			snprintf(how, 200, "cuDNN crashed (%s)", strsignal(WTERMSIG(status)));
		else if (WEXITSTATUS(status))
			snprintf(how, 200, "cuDNN ended the process (exit code %d)", WEXITSTATUS(status));
		return true;
	}
	if (!has_hung(a, process, which))
		return false;
	kill(process->pid, SIGKILL);
	waitpid(process->pid, &status, 0);
	snprintf(how, 200, "cuDNN did not answer for %d s", PATIENCE_S);
	return true;
}

/* A process that ended early: the convolution that it asked for is lost, and another process goes on behind it. */
static bool go_on(struct asking *a, struct process *process, int which, size_t step)
{
	size_t at = a->next[which];

	if (at >= a->count || !a->said->is_open || !process->left--)
		return false;
	if (a->bytes[at] == NOT_ASKED)
		a->bytes[at] = LOST;
	a->next[which] = at + step;
	if (a->next[which] >= a->count)
		return false;
	start(a, process, which, step);
	return true;
}

static void ask_all(struct asking *a, int processes, char how[200])
{
	struct process all[MOST_PROCESSES];
	const struct timespec pause = { 0, 10000000 };
	int running = processes;

	for (int i = 0; i < processes; i++) {
		a->next[i] = (size_t)i;
		all[i].left = TRIES;
		start(a, &all[i], i, (size_t)processes);
		running -= all[i].pid < 0;
	}
	while (running) {
		for (int i = 0; i < processes; i++) {
			if (all[i].pid <= 0 || !has_ended(a, &all[i], i, how))
				continue;
			if (!go_on(a, &all[i], i, (size_t)processes) || all[i].pid < 0) {
				all[i].pid = 0;
				running--;
			}
		}
		nanosleep(&pause, NULL);
	}
}

/* ---- the convolutions ---- */
struct known {
	uint64_t hash;
	struct sim_conv conv;
};

TARE_COMPARATOR(by_hash, struct known, TARE_RISING(hash))

/* Each convolution once, in the order of the table. */
static void read_keys(struct asking *a, const struct tare_str *keys, struct tare_libraries *out)
{
	char *text = tare_xstrdup(tare_str_text(keys)), *state, *line;
	struct known *all = NULL;
	size_t count = 0, room = 0;

	for (line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		if (*line == '#')
			continue;
		if (count == room) {
			room = room ? 2 * room : 1024;
			all = tare_xrealloc(all, room, sizeof(*all));
		}
		if (sim_conv_parse(line, &all[count].conv) && sim_conv_hash(&all[count].conv, &all[count].hash))
			count++;
		else
			out->not_understood++;
	}
	free(text);
	TARE_SORT(all, count, by_hash);
	a->convs = tare_xcalloc(count + 1, sizeof(*a->convs));
	a->hashes = tare_xcalloc(count + 1, sizeof(*a->hashes));
	for (size_t i = 0; i < count; i++) {
		if (i && all[i].hash == all[i - 1].hash)
			continue;
		a->convs[a->count] = all[i].conv;
		a->hashes[a->count++] = all[i].hash;
	}
	free(all);
}

/* What is shared begins with zeros; nothing was asked yet. */
static int share(struct asking *a, struct tare_err *err)
{
	char *place;

	a->shared_bytes = sizeof(*a->said) + MOST_PROCESSES * sizeof(*a->next) + a->count * sizeof(*a->bytes);
	place = mmap(NULL, a->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED)
		return tare_err_set_errno(err, errno, "calibrate: no memory for %zu convolutions", a->count);
	a->said = (struct said *)(void *)place;
	a->next = (size_t *)(void *)(place + sizeof(*a->said));
	a->bytes = (int64_t *)(void *)(a->next + MOST_PROCESSES);
	for (size_t i = 0; i < a->count; i++)
		a->bytes[i] = NOT_ASKED;
	return 0;
}

static void take(const struct asking *a, struct tare_libraries *out)
{
	struct sim_conv_table *table = &out->table;

	memcpy(table->card, a->said->card, sizeof(table->card));
	memcpy(out->cudnn, a->said->cudnn, sizeof(out->cudnn));
	table->cudnn = a->said->version;
	table->capability = a->said->capability;
	table->processors = a->said->processors;
	table->hashes = tare_xcalloc(a->count + 1, sizeof(*table->hashes));
	table->bytes = tare_xcalloc(a->count + 1, sizeof(*table->bytes));
	out->asked = a->count;
	for (size_t i = 0; i < a->count; i++) {
		out->refused += a->bytes[i] == REFUSED;
		out->lost += a->bytes[i] == NOT_ASKED || a->bytes[i] == LOST;
		if (a->bytes[i] < 0)
			continue;
		table->hashes[table->count] = a->hashes[i];
		table->bytes[table->count++] = a->bytes[i];
	}
}

static int process_count(const struct asking *a)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t paying = a->count / PAYS + 1;
	int count = a->options->processes ? a->options->processes : cores > 16 ? 16 : (int)cores;

	if (!a->options->processes && (size_t)count > paying)
		count = (int)paying;
	return count < 1 ? 1 : count > MOST_PROCESSES ? MOST_PROCESSES : count;
}

int tare_libraries_record(const struct tare_libraries_options *options, const struct tare_str *keys,
                          struct tare_libraries *out, struct tare_err *err)
{
	struct asking a = { .options = options };
	int64_t begin = tare_now_ns(CLOCK_MONOTONIC);
	int rc;

	memset(out, 0, sizeof(*out));
	read_keys(&a, keys, out);
	rc = a.count ? share(&a, err)
	             : tare_err_set(err, TARE_E_FORMAT,
	                            "no line is a convolution, such as \"fwd 0:64,3,7,7/147,49,7,1 "
	                            "0:8,3,224,224/150528,50176,224,1 0:8,64,112,112/802816,12544,112,1 "
	                            "3,3 2,2 1,1 0\"");
	if (rc == 0) {
		ask_all(&a, process_count(&a), out->how);
		if (a.said->is_open)
			take(&a, out);
		else
			rc = tare_err_set(err, TARE_E_NOT_FOUND, "calibrate: %s",
			                  *a.said->why ? a.said->why
			                  : *out->how  ? out->how
			                               : "the driver did not start");
		munmap(a.said, a.shared_bytes);
	}
	out->ns = tare_now_ns(CLOCK_MONOTONIC) - begin;
	free(a.convs);
	free(a.hashes);
	return rc;
}

void tare_libraries_free(struct tare_libraries *libraries)
{
	sim_conv_table_end(&libraries->table);
}
