/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions by handle: the name they were asked for by, and the module or library they belong to. A
 * fixed table, read without a lock.
 */
#include "recorder/cuda/handles.h"

#include "recorder/cuda/first.h"

#define SLOTS  32768u /* a power of two; functions beyond it stay nameless */
#define PROBES 16u

static struct {
	const void *handle, *owner;
	uint32_t name;
	uint32_t kind;
} functions[SLOTS];

static uint32_t slot_of(const void *handle)
{
	return (uint32_t)(((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 40);
}

void tare_function_add(const void *handle, enum tare_function_kind kind, uint32_t name, const void *owner)
{
	uint32_t i;

	for (i = 0; i < PROBES; i++) {
		uint32_t at = (slot_of(handle) + i) & (SLOTS - 1);
		const void *old = __atomic_load_n(&functions[at].handle, __ATOMIC_ACQUIRE);

		if (old && old != handle)
			continue;
		functions[at].name = name;
		functions[at].owner = owner;
		functions[at].kind = kind;
		__atomic_store_n(&functions[at].handle, handle, __ATOMIC_RELEASE);
		return;
	}
}

enum tare_function_kind tare_function_find(const void *handle, uint32_t *name, const void **owner)
{
	uint32_t i;

	*name = 0;
	*owner = NULL;
	for (i = 0; i < PROBES; i++) {
		uint32_t at = (slot_of(handle) + i) & (SLOTS - 1);
		const void *old = __atomic_load_n(&functions[at].handle, __ATOMIC_ACQUIRE);

		if (!old)
			break;
		if (old != handle)
			continue;
		*name = functions[at].name;
		*owner = functions[at].owner;
		return (enum tare_function_kind)functions[at].kind;
	}
	return TARE_FUNCTION_UNKNOWN;
}

void tare_functions_unload(const void *owner)
{
	uint32_t i;

	for (i = 0; i < SLOTS; i++)
		if (__atomic_load_n(&functions[i].handle, __ATOMIC_ACQUIRE) && functions[i].owner == owner) {
			tare_first_forget(functions[i].handle);
			functions[i].kind = TARE_FUNCTION_UNKNOWN; /* the slot keeps its handle: probing goes on */
			functions[i].name = 0;
		}
}
