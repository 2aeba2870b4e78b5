/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers which device a handle is of, where a process has several devices: a table of fixed size, read without a
 * lock.
 */
#include "recorder/cuda/handles.h"

#include "recorder/base/fork.h"
#include "recorder/cuda/devices.h"

#define SLOTS  32768u /* a power of two; what does not fit is looked for on the current device */
#define PROBES 16u

static struct {
	uint64_t handle;
	int device;
} handles[SLOTS];
TARE_OF_PROCESS(handles);
bool tare_handles_shared;
TARE_OF_PROCESS(tare_handles_shared);

static uint32_t slot_of(uint64_t handle)
{
	return (uint32_t)((handle * 0x9e3779b97f4a7c15u) >> 40);
}

void tare_handle_add(uint64_t handle, int device)
{
	uint32_t i;

	if (!handle || tare_devices_count() < 2)
		return;
	for (i = 0; i < PROBES; i++) {
		uint32_t at = (slot_of(handle) + i) & (SLOTS - 1);
		uint64_t old = __atomic_load_n(&handles[at].handle, __ATOMIC_ACQUIRE);

		if (old && old != handle)
			continue;
		handles[at].device = device;
		__atomic_store_n(&handles[at].handle, handle, __ATOMIC_RELEASE);
		return;
	}
}

int tare_handle_device(uint64_t handle)
{
	uint32_t i;

	if (!handle)
		return -1; /* as an empty slot has */
	if (tare_devices_count() == 1)
		return 0;
	for (i = 0; i < PROBES; i++) {
		uint32_t at = (slot_of(handle) + i) & (SLOTS - 1);

		if (__atomic_load_n(&handles[at].handle, __ATOMIC_ACQUIRE) == handle)
			return handles[at].device;
	}
	return -1;
}
