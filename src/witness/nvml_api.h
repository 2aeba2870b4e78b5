/* SPDX-License-Identifier: Apache-2.0 */
/* What nvml.c and nvml_process.c share. Private to them. */
#ifndef TARE_WITNESS_NVML_API_H
#define TARE_WITNESS_NVML_API_H

#include "witness/nvml.h"
#include "record/nvml_abi.h"

struct nvml_api {
#define NVML_API(FIELD, SYMBOL, PARAMETERS) int(*FIELD) PARAMETERS;
	NVML_API_MAP(NVML_API)
#undef NVML_API
	const char *(*error_string)(int result);
};

struct tare_nvml {
	void *library;
	char *path;
	struct nvml_api api;
	struct tare_nvml_info info;
	struct tare_nvml_device *devices;
	nvml_device *handles; /* one per device */
	int device_nr;
};

/* A result that means "not known here" rather than "something broke". */
static inline bool nvml_is_not_known(int result)
{
	return result == NVML_NOT_SUPPORTED || result == NVML_NO_PERMISSION || result == NVML_NOT_FOUND ||
	       result == NVML_FUNCTION_NOT_FOUND || result == NVML_ARGUMENT_VERSION_MISMATCH;
}

/* Fills err with what went wrong in `call` and returns its code. */
int tare_nvml_fail(const struct tare_nvml *nvml, int result, const char *call, struct tare_err *err);

#endif
