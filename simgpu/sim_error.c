/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the driver by number, name and sentence. */
#include "sim_error.h"

#include <string.h>

#include "sim.h"

static const struct {
	int code;
	const char *name, *text;
} errors[] = {
#define CU_ERROR(code, name, text) { code, #name, text },
#include "sim_error.def"
#undef CU_ERROR
};
#define ERRORS_NR (sizeof(errors) / sizeof(errors[0]))

int sim_error_parse(const char *text)
{
	uint64_t code;
	size_t i;

	for (i = 0; i < ERRORS_NR; i++)
		if (strcmp(errors[i].name, text) == 0)
			return errors[i].code;
	return tare_profile_parse_size(text, &code) == 0 && code <= 999 ? (int)code : -1;
}

CUresult sim_body_cuGetErrorName(CUresult error, const char **pStr)
{
	size_t i;

	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	*pStr = NULL;
	for (i = 0; i < ERRORS_NR; i++)
		if (errors[i].code == error)
			*pStr = errors[i].name;
	return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_body_cuGetErrorString(CUresult error, const char **pStr)
{
	size_t i;

	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	*pStr = NULL;
	for (i = 0; i < ERRORS_NR; i++)
		if (errors[i].code == error)
			*pStr = errors[i].text;
	return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
