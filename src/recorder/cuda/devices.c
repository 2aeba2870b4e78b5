/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs as CUDA numbers them, and which of NVML's devices they are: by UUID, never by number. */
#include "recorder/cuda/devices.h"

#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/base/parts.h"
#include "recorder/cuda/real.h"
#include "recorder/log/emit.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"
#include "record/format.h"

static struct {
	int nr;         /* 0: not known yet */
	uint32_t epoch; /* of the log that has their records */
	int nvml_index[TARE_WEIGH_DEVICES];
} devices;
TARE_OF_PROCESS(devices);

int tare_devices_count(void)
{
	return devices.nr;
}

int tare_devices_nvml_index(int ordinal)
{
	return ordinal >= 0 && ordinal < devices.nr ? devices.nvml_index[ordinal] : -1;
}

void tare_devices_read_all(unsigned long long used[64])
{
	int i;

	for (i = 0; i < tare_weigh_nvml_count(); i++)
		used[i] = tare_weigh_used_by_index(i);
}

uint64_t tare_devices_used(int ordinal, bool *by_cuda)
{
	uint64_t since = tare_clock_ticks(), used = TARE_NOT_KNOWN;
	size_t free_bytes, total;

	*by_cuda = false;
	if (ordinal < 0 || ordinal >= TARE_WEIGH_DEVICES || !tare_weigh_may_call())
		return TARE_NOT_KNOWN;
	if (tare_weigh_index(ordinal) >= 0)
		used = tare_weigh_used_by_index(tare_weigh_index(ordinal));
	if (used != TARE_NOT_KNOWN)
		return used;
	*by_cuda = true;
	if (tare_real.cuMemGetInfo_v2 && tare_real.cuMemGetInfo_v2(&free_bytes, &total) == CUDA_SUCCESS)
		used = total - free_bytes;
	tare_weigh_spend(since);
	return used;
}

static int attribute(int ordinal, CUdevice_attribute which)
{
	int value = 0;

	if (tare_real.cuDeviceGetAttribute)
		tare_real.cuDeviceGetAttribute(&value, which, ordinal);
	return value;
}

void tare_devices_uuid(int ordinal, unsigned char uuid[16])
{
	CUuuid raw;

	memset(uuid, 0, 16);
	if ((tare_real.cuDeviceGetUuid_v2 && tare_real.cuDeviceGetUuid_v2(&raw, ordinal) == CUDA_SUCCESS) ||
	    (tare_real.cuDeviceGetUuid && tare_real.cuDeviceGetUuid(&raw, ordinal) == CUDA_SUCCESS))
		memcpy(uuid, raw.bytes, 16);
}

static uint64_t big_endian(const uint8_t *at)
{
	uint64_t value = 0;
	int i;

	for (i = 0; i < 8; i++)
		value = value << 8 | at[i];
	return value;
}

static void describe(int ordinal)
{
	struct tare_weigh_memory memory = { TARE_NOT_KNOWN, TARE_NOT_KNOWN, TARE_NOT_KNOWN, false };
	struct tare_rec_device rec;
	char name[128] = "GPU";
	uint8_t uuid[16];
	size_t total = 0;
	CUdevice device;

	memset(&rec, 0, sizeof(rec));
	if (!tare_real.cuDeviceGet || tare_real.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS)
		return;
	if (tare_real.cuDeviceGetName)
		tare_real.cuDeviceGetName(name, sizeof(name), device);
	tare_devices_uuid(device, uuid);
	rec.ordinal = ordinal;
	rec.nvml_index = devices.nvml_index[ordinal] = tare_weigh_map(ordinal, uuid);
	rec.uuid_high = big_endian(uuid);
	rec.uuid_low = big_endian(uuid + 8);
	if (tare_weigh_memory(rec.nvml_index, &memory)) {
		rec.flags |= TARE_DEVICE_NVML;
		rec.flags |= memory.is_v1 ? TARE_DEVICE_V1 : TARE_DEVICE_RESERVE_APART;
	} else if (tare_real.cuDeviceTotalMem_v2 && tare_real.cuDeviceTotalMem_v2(&total, device) == CUDA_SUCCESS) {
		memory.total = total;
	}
	if (attribute(device, CU_DEVICE_ATTRIBUTE_INTEGRATED))
		rec.flags |= TARE_DEVICE_INTEGRATED;
	if (tare_config.simulated)
		rec.flags |= TARE_DEVICE_SIMULATED;
	rec.total = memory.total;
	rec.reserved = memory.reserved;
	rec.used = memory.used;
	rec.multiprocessors = (uint32_t)attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	rec.threads_per_multiprocessor = (uint32_t)attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
	if (tare_real.cuDriverGetVersion)
		tare_real.cuDriverGetVersion(&rec.driver_version);
	tare_emit_device(&rec, name);
	tare_parts_device(ordinal);
}

void tare_devices_start(void)
{
	int i, nr = 0;

	if (likely(devices.nr > 0 && devices.epoch == tare_ring_epoch()))
		return;
	tare_weigh_open();
	if (!tare_real.cuDeviceGetCount || tare_real.cuDeviceGetCount(&nr) != CUDA_SUCCESS || nr <= 0)
		return;
	if (nr > TARE_WEIGH_DEVICES)
		nr = TARE_WEIGH_DEVICES;
	tare_emit_clock(); /* opens the log, so the epoch below is its own */
	devices.epoch = tare_ring_epoch();
	devices.nr = nr;
	for (i = 0; i < nr; i++)
		describe(i);
}

/*
 * Only more than before is believed: the driver itself may have taken down what it had by now, in an
 * exit handler of its own, and that is not what the program had at its end. Inside a driver call (exit in a signal
 * handler) NVML is left alone: it may hold a lock of ours.
 */
void tare_devices_end(void)
{
	struct tare_weigh_memory memory;
	struct tare_rec_reading rec;
	uint64_t since;
	int i;

	if (tare_thread.depth > 0 || tare_ring_command() != TARE_COMMAND_RECORD)
		return;
	for (i = 0; i < devices.nr && devices.epoch == tare_ring_epoch(); i++) {
		since = tare_clock_ticks();
		if (!tare_weigh_memory(devices.nvml_index[i], &memory) || memory.used <= tare_weigh_last_used(i))
			continue;
		memset(&rec, 0, sizeof(rec));
		rec.device = i;
		rec.source = memory.is_v1 ? TARE_SOURCE_NVML1 : TARE_SOURCE_NVML2;
		rec.used = memory.used;
		rec.reserved = memory.reserved;
		rec.total = memory.total;
		rec.peers = tare_weigh_others(i, &rec.used, &since); /* it grew behind our last call */
		tare_emit_reading_since(&rec, since);
	}
}
