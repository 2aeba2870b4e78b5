/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the driver's answers to a look-up become a hook. */
#include "recorder/hooks/hooks.h"

#include <string.h>

#include "recorder/base/parts.h"
#include "recorder/base/plib.h"
#include "recorder/cuda/real.h"
#include "recorder/elf/elfsym.h"
#include "recorder/log/degraded.h"
#include "recorder/recorder.h"

/* What the driver's resolver gives for exactly this row. */
static void *ask_driver(const struct tare_api_row *row)
{
	cuuint64_t flags = row->ptsz ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 1;
	CUdriverProcAddressQueryResult status;
	void *found = NULL;

	if (tare_real.cuGetProcAddress_v2)
		tare_real.cuGetProcAddress_v2(row->name, &found, row->version, flags, &status);
	else if (tare_real.cuGetProcAddress)
		tare_real.cuGetProcAddress(row->name, &found, row->version, flags);
	return found;
}

static bool is_in_driver(const void *address)
{
	struct tare_elf_object object;
	const char *base;

	if (!tare_elf_object_at(address, &object))
		return false;
	base = tare_plib_basename(object.path);
	if (tare_plib_starts(base, "libcuda"))
		return true;
	/* A tool of the program's own stands in between, and its function is what the program wants. */
	tare_degraded("offers functions of the driver itself; what it asks of the driver is not recorded", base);
	return false;
}

enum shape { NEW, DEL, WEIGH, FIRST, SYNC, NOTE, CUSTOM, ANSWER, CALL };
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) [CU_API_##symbol] = shape == ANSWER,
static const bool is_answer[CU_API_NR] = {
#include "recorder/cuda/cuda_api.def"
};
#undef CU_API

/* What only says how large the card is needs no hook where it is as large as it is. */
static bool is_wanted(int api)
{
	return tare_config.has_limit || !is_answer[api];
}

static void *swap(const char *name, void *found, bool by_version)
{
	bool is_hooked = false;
	int i;

	if (!name || !tare_config.enabled || !tare_real_resolve())
		return found;
	for (i = 0; i < CU_API_NR; i++) {
		const struct tare_api_row *row = &tare_api_rows[i];

		if (!tare_api_hooks[i] || strcmp(by_version ? row->name : row->symbol, name) != 0)
			continue;
		is_hooked = true;
		if (found == *tare_real_own(row))
			return is_wanted(i) ? tare_api_hooks[i] : found;
	}
	if (!is_hooked || !is_in_driver(found))
		return found;
	/* The resolver may hand out another address than the symbol has, for the same function. */
	for (i = 0; by_version && i < CU_API_NR; i++) {
		const struct tare_api_row *row = &tare_api_rows[i];

		if (tare_api_hooks[i] && strcmp(row->name, name) == 0 && found == ask_driver(row))
			return is_wanted(i) ? tare_api_hooks[i] : found;
	}
	tare_degraded("calls of a version of a driver function that this Tare does not know are not recorded", name);
	return found;
}

void *tare_driver_swap_version(const char *name, void *found)
{
	return swap(name, found, true);
}

void *tare_driver_swap(const char *symbol, void *found)
{
	return swap(symbol, found, false);
}

bool tare_driver_is_hooked(const char *symbol)
{
	int i;

	for (i = 0; symbol[0] == 'c' && symbol[1] == 'u' && i < CU_API_NR; i++)
		if (tare_api_hooks[i] && strcmp(tare_api_rows[i].symbol, symbol) == 0)
			return true;
	return false;
}

void *tare_driver_needed(const char *symbol, uintptr_t caller)
{
	return tare_elf_is_linked(caller, "libcuda.so.1") && tare_real_resolve() ? tare_real_symbol(symbol) : NULL;
}
