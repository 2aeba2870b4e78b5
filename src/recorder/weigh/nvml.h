/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share of NVML. */
#ifndef TARE_RECORDER_WEIGH_NVML_H
#define TARE_RECORDER_WEIGH_NVML_H

#include <stdbool.h>

#include "record/nvml_abi.h"

/* NULL where this NVML has none. */
extern struct tare_nvml {
#define NVML_API(FIELD, SYMBOL, PARAMETERS) int(*FIELD) PARAMETERS;
	NVML_API_MAP(NVML_API)
#undef NVML_API
} tare_nvml;

/* NVML's handle of a CUDA device. False: it does not know it. */
bool tare_nvml_handle(int ordinal, nvml_device *out);

#endif
