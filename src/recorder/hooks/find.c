/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the driver, and decides what hooks call: its functions, or those of vram/limits.c. */
#include "recorder/cuda/real.h"
#include "recorder/cuda/simulated.h"
#include "recorder/elf/elfsym.h"
#include "recorder/hooks/answer_at.h"
#include "recorder/hooks/read_back.h"
#include "recorder/recorder.h"
#include "recorder/vram/limit.h"

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
	if (!tare_elf_find_object("libcuda.so", &driver))
		return false;
	tare_start_once(); /* it says whether there is a limit */
	tare_simulated_found(&driver, tare_read_back, tare_answer_at);
	for (i = CU_API_NR - 1; i >= 0; i--) { /* cuInit last: it says that all are there */
		void *found = tare_elf_symbol(&driver, tare_api_rows[i].symbol, NULL);
		void *limit = found ? tare_limit_of((enum tare_api)i) : NULL;

		__atomic_store_n(tare_real_own(&tare_api_rows[i]), found, __ATOMIC_RELEASE);
		__atomic_store_n(tare_api_rows[i].real, limit ? limit : found, __ATOMIC_RELEASE);
	}
	return __atomic_load_n((void **)&tare_real.cuInit, __ATOMIC_ACQUIRE) != NULL;
}

bool tare_real_is_missing(void **real)
{
	tare_start_once();
	return !tare_real_resolve() || !__atomic_load_n(real, __ATOMIC_ACQUIRE);
}
