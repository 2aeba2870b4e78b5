/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's own functions, typed, one per row of cuda_api.def.
 */
#ifndef TARE_RECORDER_CUDA_REAL_H
#define TARE_RECORDER_CUDA_REAL_H

#include <stdbool.h>
#include <stdint.h>

#include "record/cuda_abi.h"

#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) CU_API_##symbol,
enum tare_api {
#include "recorder/cuda/cuda_api.def"
	CU_API_NR
};
#undef CU_API

/* What libcuda.so.1 has under this name and version; NULL: not found yet, or this driver has none. */
struct tare_real {
#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets) CUresult(*symbol) params;
#include "recorder/cuda/cuda_api.def"
#undef CU_API
};
/* What a hook calls: the driver's, or with --vram a function that keeps within the card (vram/limit.h). */
extern struct tare_real tare_real;
/* The driver's own. */
extern struct tare_real tare_driver;

struct tare_api_row {
	const char *symbol, *name;
	int version;
	bool ptsz;
	void **real; /* into tare_real */
};
extern const struct tare_api_row tare_api_rows[CU_API_NR];
/* Where the driver's own function of a row is kept: in tare_driver. */
void **tare_real_own(const struct tare_api_row *row);

/* Any function of the driver, of the table or not. NULL: there is none, or no driver. */
void *tare_real_symbol(const char *symbol);

/* Finds every real function once libcuda.so.1 is loaded. False: it is not. */
bool tare_real_resolve(void);

/*
 * What a hook does when its real function is not known: find the driver, then say whether it is
 * there now.
 */
bool tare_real_is_missing(void **real);
#define IS_MISSING(symbol) (unlikely(!tare_real.symbol) && tare_real_is_missing((void **)&tare_real.symbol))

#endif
