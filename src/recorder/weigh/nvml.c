/* SPDX-License-Identifier: Apache-2.0 */
/* NVML in this process: its functions, its devices, and what they have in use. */
#include "recorder/weigh/nvml.h"

#include <dlfcn.h>
#include <string.h>

#include "recorder/base/confined.h"
#include "recorder/base/fork.h"
#include "recorder/base/plib.h"
#include "recorder/elf/libdl.h"
#include "recorder/log/degraded.h"
#include "recorder/recorder.h"
#include "recorder/unwind/unwind_stack.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"
#include "record/format.h"

struct tare_nvml tare_nvml;

static struct {
	bool is_started;
	int nr; /* NVML devices, MIG devices behind the whole ones */
	nvml_device handles[TARE_WEIGH_DEVICES];
	uint8_t uuids[TARE_WEIGH_DEVICES][16];
	int index_of[TARE_WEIGH_DEVICES]; /* CUDA ordinal → NVML index + 1 */
	bool has_v2, is_v1;               /* is_v1: it was of no use */
} own;
TARE_OF_PROCESS(own); /* the handles, too, are the parent's */

static void add_device(nvml_device handle)
{
	char text[96];
	const char *hex;

	if (own.nr >= TARE_WEIGH_DEVICES || !tare_nvml.uuid || tare_nvml.uuid(handle, text, sizeof(text)) != 0)
		return;
	hex = tare_plib_first(text, '-'); /* "GPU-…", "MIG-…" */
	if (!hex || !tare_plib_parse_uuid(hex, own.uuids[own.nr]))
		return;
	own.handles[own.nr++] = handle;
}

static void list_devices(void)
{
	unsigned int count = 0, i, j;
	nvml_device handle, mig;

	if ((tare_nvml.count_v2 ? tare_nvml.count_v2(&count) : tare_nvml.count ? tare_nvml.count(&count) : -1) != 0)
		return;
	for (i = 0; i < count; i++)
		if ((tare_nvml.by_index_v2 ? tare_nvml.by_index_v2(i, &handle) : tare_nvml.by_index(i, &handle)) == 0)
			add_device(handle);
	for (i = 0; i < count && tare_nvml.mig_max && tare_nvml.mig_by_index; i++) {
		unsigned int most = 0;

		if ((tare_nvml.by_index_v2 ? tare_nvml.by_index_v2(i, &handle) : tare_nvml.by_index(i, &handle)) != 0 ||
		    tare_nvml.mig_max(handle, &most) != 0)
			continue;
		for (j = 0; j < most; j++)
			if (tare_nvml.mig_by_index(handle, j, &mig) == 0)
				add_device(mig);
	}
}

void tare_weigh_open(void)
{
	void *library;
	int err;

	if (own.is_started || !tare_stack_has(TARE_STACK_FOREIGN))
		return;
	own.is_started = true;
	if (tare_config.no_weigh || !tare_may_syscall())
		return;
	library = tare_resolve_dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		tare_degraded("NVML (libnvidia-ml.so.1) is not there: memory is weighed by cuMemGetInfo, "
		              "and contexts are not weighed",
		              NULL);
		return;
	}
#define NVML_API(FIELD, SYMBOL, PARAMETERS) *(void **)&tare_nvml.FIELD = tare_resolve_dlsym(library, #SYMBOL);
	NVML_API_MAP(NVML_API)
#undef NVML_API
	err = tare_nvml.init_v2 ? tare_nvml.init_v2() : tare_nvml.init ? tare_nvml.init() : -1;
	if (err != 0) {
		tare_degraded("NVML cannot be initialised here: memory is weighed by cuMemGetInfo, and "
		              "contexts are not weighed",
		              NULL);
		return;
	}
	own.has_v2 = tare_nvml.memory_v2 != NULL;
	list_devices();
}

int tare_weigh_nvml_count(void)
{
	return own.nr;
}

int tare_weigh_map(int ordinal, const uint8_t uuid[16])
{
	int i;

	if (ordinal < 0 || ordinal >= TARE_WEIGH_DEVICES)
		return -1;
	for (i = 0; i < own.nr; i++) {
		if (memcmp(own.uuids[i], uuid, 16) != 0)
			continue;
		own.index_of[ordinal] = i + 1;
		return i;
	}
	return -1;
}

bool tare_weigh_memory(int index, struct tare_weigh_memory *out)
{
	struct nvml_memory_v2 v2 = { .version = NVML_MEMORY_V2 };
	struct nvml_memory_v1 v1;

	if (index < 0 || index >= own.nr || !tare_weigh_may_call())
		return false;
	if (own.has_v2 && tare_nvml.memory_v2(own.handles[index], &v2) == 0 && v2.total != 0) {
		*out = (struct tare_weigh_memory){ v2.total, v2.reserved, nvml_used_of_programs(&v2), false };
		return true;
	}
	if (!tare_nvml.memory || tare_nvml.memory(own.handles[index], &v1) != 0 || v1.total == 0)
		return false;
	own.is_v1 = true;
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
	return own.is_v1;
}

int tare_weigh_index(int ordinal)
{
	return ordinal >= 0 && ordinal < TARE_WEIGH_DEVICES ? own.index_of[ordinal] - 1 : -1;
}

bool tare_nvml_handle(int ordinal, nvml_device *out)
{
	int index = tare_weigh_index(ordinal);

	if (index < 0)
		return false;
	*out = own.handles[index];
	return true;
}
