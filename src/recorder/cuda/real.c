/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the driver's own functions, each when it is called first. */
#include "recorder/cuda/real.h"

#include "recorder/elf/elfsym.h"

struct tare_real tare_real, tare_driver;

#define CU_API(symbol_, name_, version_, ptsz_, shape, class, params, args, sets)                                      \
	[CU_API_##symbol_] = { #symbol_, #name_, version_, ptsz_, (void **)&tare_real.symbol_ },
const struct tare_api_row tare_api_rows[CU_API_NR] = {
#include "recorder/cuda/cuda_api.def"
};
#undef CU_API

void *tare_real_symbol(const char *symbol)
{
	struct tare_elf_object driver;

	return tare_elf_find_object("libcuda.so", &driver) ? tare_elf_symbol(&driver, symbol, NULL) : NULL;
}

/* Where the driver's own function of a row is kept. */
void **tare_real_own(const struct tare_api_row *row)
{
	return (void **)((char *)&tare_driver + ((char *)row->real - (char *)&tare_real));
}
