/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/cuda/real.h"

#include <string.h>

#include "recorder/elfsym.h"
#include "recorder/plib.h"
#include "recorder/recorder.h"
#include "recorder/vram/limit.h"

struct tare_real tare_real, tare_driver;

static bool find_driver(struct tare_elf_object *driver)
{
	return tare_elf_find_object("libcuda.so", driver);
}

void *tare_real_symbol(const char *symbol)
{
	struct tare_elf_object driver;

	return find_driver(&driver) ? tare_elf_symbol(&driver, symbol, NULL) : NULL;
}

/* Where the driver's own function of a row is kept. */
static void **own_of(const struct tare_api_row *row)
{
	return (void **)((char *)&tare_driver + ((char *)row->real - (char *)&tare_real));
}

/*
 * By name from the driver's own symbol table: the dynamic linker would give us back to ourselves.
 * Every pointer is written once, and to the same value by whichever thread.
 */
bool tare_real_resolve(void)
{
	struct tare_elf_object driver;
	int i;

	if (__atomic_load_n((void **)&tare_real.cuInit, __ATOMIC_ACQUIRE))
		return true;
	if (!find_driver(&driver))
		return false;
	tare_start_once();                     /* it says whether there is a limit */
	for (i = CU_API_NR - 1; i >= 0; i--) { /* cuInit last: it says that all are there */
		void *found = tare_elf_symbol(&driver, tare_api_rows[i].symbol, NULL);
		void *limit = found ? tare_limit_of((enum tare_api)i) : NULL;

		__atomic_store_n(own_of(&tare_api_rows[i]), found, __ATOMIC_RELEASE);
		__atomic_store_n(tare_api_rows[i].real, limit ? limit : found, __ATOMIC_RELEASE);
	}
	return __atomic_load_n((void **)&tare_real.cuInit, __ATOMIC_ACQUIRE) != NULL;
}

bool tare_real_is_missing(void **real)
{
	tare_start_once();
	return !tare_real_resolve() || !__atomic_load_n(real, __ATOMIC_ACQUIRE);
}

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
	tare_degraded(
		"offers functions of the driver itself; what it asks of the driver is not recorded",
		base);
	return false;
}

enum shape { NEW, DEL, WEIGH, FIRST, SYNC, NOTE, CUSTOM, ANSWER, CALL };
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                      \
	[CU_API_##symbol] = shape == ANSWER,
static const bool is_answer[CU_API_NR] = {
#include "recorder/cuda/cuda_api.def"
};
#undef CU_API

/* What only says how large the card is needs no hook where it is as large as it is. */
static bool is_wanted(int api)
{
	return tare_vram_is_on || !is_answer[api];
}

void *tare_real_swap(const char *name, void *found, bool by_version)
{
	bool is_hooked = false;
	int i;

	if (!name || !tare_config.enabled || !tare_real_resolve())
		return found;
	for (i = 0; i < CU_API_NR; i++) {
		const struct tare_api_row *row = &tare_api_rows[i];

		if (!row->hook || strcmp(by_version ? row->name : row->symbol, name) != 0)
			continue;
		is_hooked = true;
		if (found == *own_of(row))
			return is_wanted(i) ? row->hook : found;
	}
	if (!is_hooked || !is_in_driver(found))
		return found;
	/* The resolver may hand out another address than the symbol has, for the same function. */
	for (i = 0; by_version && i < CU_API_NR; i++) {
		const struct tare_api_row *row = &tare_api_rows[i];

		if (row->hook && strcmp(row->name, name) == 0 && found == ask_driver(row))
			return is_wanted(i) ? row->hook : found;
	}
	tare_degraded(
		"calls of a version of a driver function that this Tare does not know are not recorded",
		name);
	return found;
}
