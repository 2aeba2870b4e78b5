/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated CUDA runtime: what a device is, and what results are called. */
#include <string.h>

#include "simgpu/libs/cudart.h"

/* struct cudaDeviceProp of the major version that this library is; the layout of CUDA 11 is there in 12, too. */
struct layout {
	size_t size;
	int column; /* of cudart_prop.def */
};
static const struct layout layout_13 = { 1008, 0 }, layout_12 = { 1032, 1 }, layout_11 = { 728, 2 };

static const struct {
	int attribute, offset[3], bytes;
} fields[] = {
#define PROP(field, attribute, in_13, in_12, in_11, bytes) { attribute, { in_13, in_12, in_11 }, bytes },
#include "simgpu/libs/cudart_prop.def"
};

static const struct {
	int number;
	const char *name, *text;
} errors[] = {
#define ERROR(number, name, text) { number, #name, text },
#include "simgpu/libs/cudart_error.def"
};

int cudart_attribute(int device, int attribute)
{
	int value = 0;

	SIM_DRIVER("cuDeviceGetAttribute", &value, attribute, device);
	return value;
}

static int tell(char *prop, int device, const struct layout *layout)
{
	enum { NAME_BYTES = 256, UUID_AT = 256, TOTAL_AT = 288 };
	int failed = cudart_init(), count = 0;
	size_t i;

	if (failed)
		return failed;
	if (!prop)
		return cudart_result(CUDART_INVALID_VALUE);
	if (SIM_DRIVER("cuDeviceGetCount", &count) || device < 0 || device >= count)
		return cudart_result(CUDART_INVALID_DEVICE);
	memset(prop, 0, layout->size);
	SIM_DRIVER("cuDeviceGetName", prop, NAME_BYTES, device);
	SIM_DRIVER("cuDeviceGetUuid", prop + UUID_AT, device);
	SIM_DRIVER("cuDeviceTotalMem_v2", prop + TOTAL_AT, device);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		int at = fields[i].offset[layout->column];
		int value = cudart_attribute(device, fields[i].attribute);
		size_t wide = (unsigned int)value;

		if (at >= 0 && fields[i].bytes == sizeof(wide))
			memcpy(prop + at, &wide, sizeof(wide));
		else if (at >= 0)
			memcpy(prop + at, &value, sizeof(value));
	}
	return 0;
}

CUDART(cudaGetDeviceProperties, void *prop, int device)
{
	SIM_CALLED("");
	return tell(prop, device, SIM_VERSION >= 13 ? &layout_13 : &layout_11);
}

CUDART(cudaGetDeviceProperties_v2, void *prop, int device)
{
	SIM_CALLED("");
	return tell(prop, device, SIM_VERSION >= 13 ? &layout_13 : &layout_12);
}

/* The device that is most like what the program wants: all are alike. */
CUDART(cudaChooseDevice, int *device, const void *prop)
{
	int failed = cudart_init();

	(void)prop;
	if (!failed && device)
		*device = 0;
	return failed;
}

CUDART(cudaDriverGetVersion, int *version)
{
	if (!version)
		return cudart_result(CUDART_INVALID_VALUE);
	*version = 0;
	SIM_DRIVER("cuDriverGetVersion", version); /* 0: there is no driver */
	return 0;
}

CUDART(cudaRuntimeGetVersion, int *version)
{
	if (!version)
		return cudart_result(CUDART_INVALID_VALUE);
	*version = SIM_VERSION == 11 ? 11080 : SIM_VERSION == 12 ? 12080 : 13000;
	return 0;
}

SIM_EXPORT const char *cudaGetErrorName(int result);
const char *cudaGetErrorName(int result)
{
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == result)
			return errors[i].name;
	return "unrecognized error code";
}

SIM_EXPORT const char *cudaGetErrorString(int result);
const char *cudaGetErrorString(int result)
{
	const char *text = NULL;
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == result && errors[i].text)
			return errors[i].text;
	if (!SIM_DRIVER("cuGetErrorString", result, &text) && text)
		return text;
	return cudaGetErrorName(result);
}
