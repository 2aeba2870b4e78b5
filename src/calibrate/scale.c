/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what is used on the device, by NVML or by the driver, once it no longer changes. */
#include "calibrate/scale.h"

#include "base/now.h"
#include "calibrate/driver.h"
#include "witness/nvml.h"

#define WATCH_MOST_NS INT64_C(30000000)

void tare_scale_open(struct tare_scale *scale, const char *path)
{
	struct tare_err err;

	*scale = (struct tare_scale){ .device = -1 };
	if (tare_nvml_open(path, &scale->nvml, &err))
		scale->nvml = NULL;
}

void tare_scale_find(struct tare_scale *scale, const char *uuid)
{
	struct tare_nvml_memory memory;

	scale->device = scale->nvml ? tare_nvml_find(scale->nvml, uuid) : -1;
	if (scale->device >= 0 && (tare_nvml_memory(scale->nvml, scale->device, &memory, NULL) || !memory.version))
		scale->device = -1;
	scale->by_cuda = scale->device < 0;
	scale->has_last = false;
}

uint64_t tare_scale_read(struct tare_scale *scale)
{
	struct tare_nvml_memory memory;
	size_t free, total;

	if (scale->device >= 0)
		return tare_nvml_memory(scale->nvml, scale->device, &memory, NULL) ? TARE_NOT_KNOWN : memory.used;
	if (!scale->by_cuda || !tare_cu.cuMemGetInfo_v2 || tare_cu.cuMemGetInfo_v2(&free, &total) != CUDA_SUCCESS)
		return TARE_NOT_KNOWN;
	return total - free;
}

uint64_t tare_scale_check(struct tare_scale *scale)
{
	uint64_t now = tare_scale_read(scale), again = tare_scale_read(scale);

	if (now != again || (scale->has_last && now != scale->last))
		scale->is_noisy = true;
	scale->last = again;
	scale->has_last = again != TARE_NOT_KNOWN;
	return again;
}

void tare_scale_watch(struct tare_scale *scale, int64_t ns)
{
	int64_t end = tare_now_ns(CLOCK_MONOTONIC) + (ns < WATCH_MOST_NS ? ns : WATCH_MOST_NS);
	uint64_t first = tare_scale_read(scale);

	while (tare_now_ns(CLOCK_MONOTONIC) < end && !scale->is_noisy)
		scale->is_noisy = tare_scale_read(scale) != first;
}

void tare_scale_settle(struct tare_scale *scale)
{
	scale->is_noisy = scale->has_last = false;
}
