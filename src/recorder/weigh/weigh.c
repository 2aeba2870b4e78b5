/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/weigh/weigh.h"

#include <dlfcn.h>
#include <string.h>

#include "recorder/base/confined.h"
#include "recorder/cuda/real.h"
#include "recorder/base/fork.h"
#include "recorder/base/plib.h"
#include "recorder/log/degraded.h"
#include "recorder/recorder.h"
#include "recorder/elf/libdl.h"
#include "recorder/base/scratch.h"
#include "recorder/base/sys.h"
#include "recorder/unwind/unwind_stack.h"
#include "trace/clock.h"
#include "trace/format.h"
#include "witness/nvml_abi.h"

#define PEERS_MAX    128
#define DEBT_MS      10
#define READ_MOST_US 100 /* what is charged for one reading at most, see tare_weigh_spend() */
#define SHORT_US     3   /* 1,955 changes on an H200 lay in calls of 7.5 us and more */

static struct {
#define NVML_API(FIELD, SYMBOL, PARAMETERS) int(*FIELD) PARAMETERS;
	NVML_API_MAP(NVML_API)
#undef NVML_API
} nvml;

static struct {
	bool is_started;
	int nr; /* NVML devices, MIG devices behind the whole ones */
	nvml_device handles[TARE_WEIGH_DEVICES];
	uint8_t uuids[TARE_WEIGH_DEVICES][16];
	int index_of[TARE_WEIGH_DEVICES]; /* CUDA ordinal → NVML index + 1 */
	bool has_v2, is_v1;               /* is_v1: it was of no use */
	uint32_t own_pid;                 /* ours, as NVML names it; 0: not known */
	uint32_t before[PEERS_MAX];       /* pids listed before our context was made */
	uint32_t before_nr;
	uint64_t spent_ticks, charged_ticks, driver_ticks;
} weigh;
TARE_OF_PROCESS(weigh); /* the handles, too, are the parent's */

static uint64_t us_ticks;

static void add_device(nvml_device handle)
{
	char text[96];
	const char *hex;

	if (weigh.nr >= TARE_WEIGH_DEVICES || !nvml.uuid ||
	    nvml.uuid(handle, text, sizeof(text)) != 0)
		return;
	hex = tare_plib_first(text, '-'); /* "GPU-…", "MIG-…" */
	if (!hex || !tare_plib_parse_uuid(hex, weigh.uuids[weigh.nr]))
		return;
	weigh.handles[weigh.nr++] = handle;
}

static void list_devices(void)
{
	unsigned int count = 0, i, j;
	nvml_device handle, mig;

	if ((nvml.count_v2 ? nvml.count_v2(&count) : nvml.count ? nvml.count(&count) : -1) != 0)
		return;
	for (i = 0; i < count; i++)
		if ((nvml.by_index_v2 ? nvml.by_index_v2(i, &handle) : nvml.by_index(i, &handle)) ==
		    0)
			add_device(handle);
	for (i = 0; i < count && nvml.mig_max && nvml.mig_by_index; i++) {
		unsigned int most = 0;

		if ((nvml.by_index_v2 ? nvml.by_index_v2(i, &handle) : nvml.by_index(i, &handle)) !=
			    0 ||
		    nvml.mig_max(handle, &most) != 0)
			continue;
		for (j = 0; j < most; j++)
			if (nvml.mig_by_index(handle, j, &mig) == 0)
				add_device(mig);
	}
}

void tare_weigh_start(void)
{
	uint64_t ticks_per_s = tare_clock_ticks_per_s();

	/* A TSC does not say its rate; 3 GHz is near enough for this. */
	us_ticks = (ticks_per_s ? ticks_per_s : 3000000000u) / 1000000;
}

/* NVML makes system calls, and takes more stack than we do. */
static bool may_call(void)
{
	return tare_may_syscall() && tare_stack_has(TARE_STACK_FOREIGN);
}

void tare_weigh_open(void)
{
	void *library;
	int err;

	if (weigh.is_started || !tare_stack_has(TARE_STACK_FOREIGN))
		return;
	weigh.is_started = true;
	if (tare_config.no_weigh || !tare_may_syscall())
		return;
	library = tare_resolve_dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		tare_degraded(
			"NVML (libnvidia-ml.so.1) is not there: memory is weighed by cuMemGetInfo, "
			"and contexts are not weighed",
			NULL);
		return;
	}
#define NVML_API(FIELD, SYMBOL, PARAMETERS)                                                        \
	*(void **)&nvml.FIELD = tare_resolve_dlsym(library, #SYMBOL);
	NVML_API_MAP(NVML_API)
#undef NVML_API
	err = nvml.init_v2 ? nvml.init_v2() : nvml.init ? nvml.init() : -1;
	if (err != 0) {
		tare_degraded(
			"NVML cannot be initialised here: memory is weighed by cuMemGetInfo, and "
			"contexts are not weighed",
			NULL);
		return;
	}
	weigh.has_v2 = nvml.memory_v2 != NULL;
	list_devices();
}

int tare_weigh_nvml_count(void)
{
	return weigh.nr;
}

int tare_weigh_map(int ordinal, const uint8_t uuid[16])
{
	int i;

	if (ordinal < 0 || ordinal >= TARE_WEIGH_DEVICES)
		return -1;
	for (i = 0; i < weigh.nr; i++) {
		if (memcmp(weigh.uuids[i], uuid, 16) != 0)
			continue;
		weigh.index_of[ordinal] = i + 1;
		return i;
	}
	return -1;
}

/*
 * A program starts with many calls that matter and little time behind it, so what is needed may
 * borrow a little from the time to come; checks have half of what is allowed and borrow nothing, and
 * what is merely welcome has a quarter.
 */
bool tare_weigh_allowed(enum tare_weigh_need need)
{
	uint64_t elapsed = tare_clock_ticks() - tare_fork_now.born;
	uint64_t charged = __atomic_load_n(&weigh.charged_ticks, __ATOMIC_RELAXED);
	uint64_t allowed =
		elapsed / TARE_WEIGH_SHARE +
		__atomic_load_n(&weigh.driver_ticks, __ATOMIC_RELAXED) / TARE_WEIGH_DRIVER_SHARE;

	if (tare_config.no_weigh || !may_call())
		return false;
	if (tare_config.simulated || need == TARE_WEIGH_ALWAYS)
		return true; /* a simulated call takes no time that a share could be taken of */
	if (need == TARE_WEIGH_NEEDED)
		allowed += 1000 * DEBT_MS * us_ticks;
	else
		allowed /= need == TARE_WEIGH_USEFUL ? 2 : 4;
	return charged <= allowed;
}

void tare_weigh_driver_took(uint64_t ticks)
{
	__atomic_fetch_add(&weigh.driver_ticks, ticks, __ATOMIC_RELAXED);
}

bool tare_weigh_is_short(uint64_t ticks)
{
	return ticks < SHORT_US * us_ticks && !tare_config.simulated;
}

static uint64_t last_used[TARE_WEIGH_DEVICES];
TARE_OF_PROCESS(last_used);

uint64_t tare_weigh_last_used(int device)
{
	return __atomic_load_n(&last_used[device], __ATOMIC_RELAXED);
}

void tare_weigh_saw(int device, uint64_t used)
{
	__atomic_store_n(&last_used[device], used, __ATOMIC_RELAXED);
}

void tare_weigh_account(uint64_t *spent_ticks, uint64_t *run_ticks)
{
	*spent_ticks = __atomic_load_n(&weigh.spent_ticks, __ATOMIC_RELAXED);
	*run_ticks = tare_clock_ticks() - tare_fork_now.born;
}

/*
 * A reading that took long waited for a lock of the driver that another process holds, as the program's
 * own call would have done a moment later: the program lost little by that.
 */
void tare_weigh_spend(uint64_t since)
{
	uint64_t ticks = tare_clock_ticks() - since, most = READ_MOST_US * us_ticks;

	__atomic_fetch_add(&weigh.spent_ticks, ticks, __ATOMIC_RELAXED);
	__atomic_fetch_add(&weigh.charged_ticks, ticks < most ? ticks : most, __ATOMIC_RELAXED);
}

bool tare_weigh_memory(int index, struct tare_weigh_memory *out)
{
	struct nvml_memory_v2 v2 = { .version = NVML_MEMORY_V2 };
	struct nvml_memory_v1 v1;

	if (index < 0 || index >= weigh.nr || !may_call())
		return false;
	if (weigh.has_v2 && nvml.memory_v2(weigh.handles[index], &v2) == 0 && v2.total != 0) {
		*out = (struct tare_weigh_memory){ v2.total, v2.reserved, v2.used, false };
		/* Some drivers count the reserve as used in v2 as well; whose sum holds tells. */
		if (v2.total == v2.free + v2.used && v2.reserved && v2.used >= v2.reserved)
			out->used -= v2.reserved;
		return true;
	}
	if (!nvml.memory || nvml.memory(weigh.handles[index], &v1) != 0 || v1.total == 0)
		return false;
	weigh.is_v1 = true;
	*out = (struct tare_weigh_memory){ v1.total, TARE_NOT_KNOWN, v1.used, true };
	return true;
}

uint64_t tare_weigh_used_by_index(int index)
{
	uint64_t since = tare_clock_ticks();
	struct tare_weigh_memory memory;
	bool is_known = tare_weigh_memory(index, &memory);

	tare_weigh_spend(since);
	return is_known ? memory.used : TARE_NOT_KNOWN;
}

bool tare_weigh_is_v1(void)
{
	return weigh.is_v1;
}

uint64_t tare_weigh_used(int ordinal, bool *by_cuda)
{
	uint64_t since = tare_clock_ticks(), used = TARE_NOT_KNOWN;
	size_t free_bytes, total;

	*by_cuda = false;
	if (ordinal < 0 || ordinal >= TARE_WEIGH_DEVICES || !may_call())
		return TARE_NOT_KNOWN;
	if (weigh.index_of[ordinal])
		used = tare_weigh_used_by_index(weigh.index_of[ordinal] - 1);
	if (used != TARE_NOT_KNOWN)
		return used;
	*by_cuda = true;
	if (tare_real.cuMemGetInfo_v2 &&
	    tare_real.cuMemGetInfo_v2(&free_bytes, &total) == CUDA_SUCCESS)
		used = total - free_bytes;
	tare_weigh_spend(since);
	return used;
}

/* Lists of NVML's, too large for a stack. */
struct lists {
	struct nvml_process_v1 all[2 * PEERS_MAX], graphics[PEERS_MAX];
	struct nvml_process_v2 wide[PEERS_MAX];
};

/* One of them, in either layout, as pid and bytes. Negative: this driver does not tell. */
static int read_list(int (*v3)(nvml_device, unsigned int *, void *),
		     int (*v2)(nvml_device, unsigned int *, void *),
		     int (*v1)(nvml_device, unsigned int *, void *), nvml_device handle,
		     struct nvml_process_v2 *wide, struct nvml_process_v1 *out)
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

	if (ordinal < 0 || ordinal >= TARE_WEIGH_DEVICES || !weigh.index_of[ordinal] || !may_call())
		return -1;
	handle = weigh.handles[weigh.index_of[ordinal] - 1];
	n = read_list(nvml.compute_v3, nvml.compute_v2, nvml.compute_v1, handle, lists->wide, out);
	if (n < 0)
		return -1;
	m = read_list(nvml.graphics_v3, nvml.graphics_v2, nvml.graphics_v1, handle, lists->wide,
		      graphics);
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

uint64_t tare_weigh_peers(int ordinal)
{
	struct lists *lists = tare_scratch_take(sizeof(*lists));
	uint64_t since = tare_clock_ticks(), sum = 0;
	uint32_t own = weigh.own_pid;
	int n, i;

	n = own && lists ? read_processes(ordinal, lists) : -1;
	for (i = 0; i < n; i++) {
		if (lists->all[i].pid == own)
			continue;
		if (lists->all[i].used == NVML_NOT_AVAILABLE)
			n = -1;
		else
			sum += lists->all[i].used;
	}
	tare_scratch_give(lists, sizeof(*lists));
	tare_weigh_spend(since);
	return n < 0 ? TARE_NOT_KNOWN : sum;
}

static void learn_own_pid(const struct nvml_process_v1 *list, int n, bool before)
{
	uint32_t pid = tare_sys_getpid(), found = 0, j;
	int i, fresh = 0;

	if (before)
		weigh.before_nr = 0;
	for (i = 0; i < n; i++) {
		if (before && weigh.before_nr < PEERS_MAX) {
			weigh.before[weigh.before_nr++] = list[i].pid;
			continue;
		}
		for (j = 0; j < weigh.before_nr && weigh.before[j] != list[i].pid; j++)
			continue;
		if (list[i].pid == pid)
			weigh.own_pid = pid;
		if (j == weigh.before_nr) {
			found = list[i].pid;
			fresh++;
		}
	}
	if (!before && !weigh.own_pid && fresh == 1)
		weigh.own_pid = found;
}

/*
 * In a container NVML lists us under the pid that the host knows. The pid that appears with our
 * first context is ours; if it is not plain which one that is, peers stay unknown.
 */
void tare_weigh_learn_own_pid(int ordinal, bool before)
{
	uint64_t since = tare_clock_ticks();
	struct lists *lists;

	if (weigh.own_pid)
		return;
	lists = tare_scratch_take(sizeof(*lists));
	if (lists)
		learn_own_pid(lists->all, read_processes(ordinal, lists), before);
	tare_scratch_give(lists, sizeof(*lists));
	tare_weigh_spend(since);
}
