/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions of the interpreter that a scan calls. */
#include "recorder/torch/scan_api.h"

#include <stddef.h>

#include "recorder/elf/elfsym.h"

/* Found by one thread; found again when something was unloaded, for it may have been the interpreter. */
static struct {
	uint32_t lock;
	bool is_found;
	uint64_t unloads;
	struct tare_scan_api api;
} the;

static bool find(struct tare_scan_api *py)
{
	struct tare_elf_object object;
	bool is_whole = true;

	py->python = tare_python_interpreter();
	if (!py->python || !tare_elf_object_at((const void *)(uintptr_t)py->python->own_state, &object))
		return false;
#define TARE_SCAN_API(result, name, params)                                                                            \
	*(void **)&py->name = tare_elf_symbol(&object, #name, NULL);                                                       \
	is_whole &= py->name != NULL;
	TARE_SCAN_API_MAP(TARE_SCAN_API)
#undef TARE_SCAN_API
#define TARE_SCAN_API(result, name, params) *(void **)&py->name = tare_elf_symbol(&object, #name, NULL);
	TARE_SCAN_API_MAYBE_MAP(TARE_SCAN_API)
#undef TARE_SCAN_API
	return is_whole;
}

const struct tare_scan_api *tare_scan_api(void)
{
	uint64_t unloads = tare_objects_epoch().unloads;
	const struct tare_scan_api *api;

	if (__atomic_exchange_n(&the.lock, 1, __ATOMIC_ACQUIRE))
		return NULL; /* another thread looks: there will be another time */
	if (!the.is_found || the.unloads != unloads || the.api.python != tare_python_interpreter()) {
		the.unloads = unloads;
		the.is_found = find(&the.api);
	}
	api = the.is_found ? &the.api : NULL;
	__atomic_store_n(&the.lock, 0, __ATOMIC_RELEASE);
	return api;
}
