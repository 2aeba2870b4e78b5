/* SPDX-License-Identifier: Apache-2.0 */
/* What other processes have in use, by NVML's lists. */
#include "recorder/base/fork.h"
#include "recorder/base/scratch.h"
#include "recorder/base/sys.h"
#include "recorder/weigh/nvml.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"
#include "record/format.h"

#define PEERS_MAX   128
#define PEERS_TRIES 3

static struct {
	uint32_t pid;               /* ours, as NVML names it; 0: not known */
	bool is_before_context;     /* our first one is about to be made */
	uint32_t before[PEERS_MAX]; /* pids listed before our context was made */
	uint32_t before_nr;
} own;
TARE_OF_PROCESS(own);

/* Lists of NVML's, too large for a stack. */
struct lists {
	struct nvml_process_v1 all[2 * PEERS_MAX], graphics[PEERS_MAX];
	struct nvml_process_v2 wide[PEERS_MAX];
};

/* One of them, in either layout, as pid and bytes. Negative: this driver does not tell. */
static int read_list(int (*v3)(nvml_device, unsigned int *, void *), int (*v2)(nvml_device, unsigned int *, void *),
                     int (*v1)(nvml_device, unsigned int *, void *), nvml_device handle, struct nvml_process_v2 *wide,
                     struct nvml_process_v1 *out)
{
	unsigned int count = PEERS_MAX, i;

	if (v3 || v2) {
		if ((v3 ? v3 : v2)(handle, &count, wide) != 0)
			return -1;
		for (i = 0; i < count; i++)
			out[i] = (struct nvml_process_v1){ wide[i].pid, wide[i].used };
		return (int)count;
	}
	if (!v1 || v1(handle, &count, out) != 0)
		return -1;
	return (int)count;
}

/*
 * Compute and graphics processes into `all`; one that is in both lists counts once, with its larger
 * figure. Returns how many.
 */
static int read_processes(int ordinal, struct lists *lists)
{
	struct nvml_process_v1 *out = lists->all, *graphics = lists->graphics;
	nvml_device handle;
	int n, m, i, j;

	if (!tare_nvml_handle(ordinal, &handle) || !tare_weigh_may_call())
		return -1;
	n = read_list(tare_nvml.compute_v3, tare_nvml.compute_v2, tare_nvml.compute_v1, handle, lists->wide, out);
	if (n < 0)
		return -1;
	m = read_list(tare_nvml.graphics_v3, tare_nvml.graphics_v2, tare_nvml.graphics_v1, handle, lists->wide, graphics);
	for (i = 0; i < m; i++) {
		for (j = 0; j < n && out[j].pid != graphics[i].pid; j++)
			continue;
		if (j == n)
			out[n++] = graphics[i];
		else if (graphics[i].used != NVML_NOT_AVAILABLE && graphics[i].used > out[j].used)
			out[j].used = graphics[i].used;
	}
	return n;
}

/* Before our first context NVML does not list us, unless by our own pid. */
static uint64_t sum_of_others(const struct nvml_process_v1 *list, int n)
{
	uint32_t pid = own.pid ? own.pid : tare_sys_getpid();
	uint64_t sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		if (list[i].pid == pid)
			continue;
		if (list[i].used == NVML_NOT_AVAILABLE)
			return TARE_NOT_KNOWN;
		sum += list[i].used;
	}
	return n < 0 ? TARE_NOT_KNOWN : sum;
}

uint64_t tare_weigh_others(int ordinal, uint64_t *used, uint64_t *since)
{
	struct lists *lists;
	uint64_t began, peers = TARE_NOT_KNOWN, now;
	int i;

	if (!own.pid && !own.is_before_context)
		return TARE_NOT_KNOWN; /* which of them we are is not known */
	lists = tare_scratch_take(sizeof(*lists));
	for (i = 0; lists && i < PEERS_TRIES; i++) {
		began = tare_clock_ticks();
		peers = sum_of_others(lists->all, read_processes(ordinal, lists));
		tare_weigh_spend(began);
		if (peers == TARE_NOT_KNOWN)
			break;
		began = tare_clock_ticks();
		now = tare_weigh_used_by_index(tare_weigh_index(ordinal));
		*since = began;
		if (now == *used || now == TARE_NOT_KNOWN)
			break;
		*used = now;
		peers = TARE_NOT_KNOWN;
	}
	tare_scratch_give(lists, sizeof(*lists));
	return peers;
}

static void learn_own_pid(const struct nvml_process_v1 *list, int n, bool before)
{
	uint32_t pid = tare_sys_getpid(), found = 0, j;
	int i, fresh = 0;

	if (before)
		own.before_nr = 0;
	for (i = 0; i < n; i++) {
		if (before && own.before_nr < PEERS_MAX) {
			own.before[own.before_nr++] = list[i].pid;
			continue;
		}
		for (j = 0; j < own.before_nr && own.before[j] != list[i].pid; j++)
			continue;
		if (list[i].pid == pid)
			own.pid = pid;
		if (j == own.before_nr) {
			found = list[i].pid;
			fresh++;
		}
	}
	if (!before && !own.pid && fresh == 1)
		own.pid = found;
}

/*
 * In a container NVML lists us under the pid that the host knows. The pid that appears with our
 * first context is ours; if it is not plain which one that is, what others have stays unknown.
 */
void tare_weigh_learn_own_pid(int ordinal, bool before)
{
	uint64_t since = tare_clock_ticks();
	struct lists *lists;

	own.is_before_context = before && !own.pid;
	if (own.pid)
		return;
	lists = tare_scratch_take(sizeof(*lists));
	if (lists)
		learn_own_pid(lists->all, read_processes(ordinal, lists), before);
	tare_scratch_give(lists, sizeof(*lists));
	tare_weigh_spend(since);
}
