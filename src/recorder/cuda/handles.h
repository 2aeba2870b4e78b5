/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_CUDA_HANDLES_H
#define TARE_RECORDER_CUDA_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/cuda_abi.h"
#include "recorder/base/peek.h"
#include "recorder/base/plib.h"

/*
 * On which device memory lies that a call names by a handle or an address, and how a handle is told
 * from others in another process.
 */

void tare_handle_add(uint64_t handle, int device);
int tare_handle_device(uint64_t handle); /* -1: not known */

/* Memory was exported or imported: what goes, and when, is no longer this process's to say alone. */
extern bool tare_handles_shared;

/*
 * What an exported handle and its import have in common: the bytes, where they say something, with
 * the highest bit set; a descriptor says nothing, and is known by its kind alone.
 */
static inline uint64_t tare_handle_identity(const void *bytes, size_t size)
{
	return tare_plib_hash(bytes, size) | UINT64_C(1) << 63;
}

/* The device on which memory is to be made, by what the program says of it; -1: on none, or not known. */
#define tare_device_of(properties) tare_device_of_location((properties) ? &(properties)->location : NULL)
static inline int tare_device_of_location(const CUmemLocation *theirs)
{
	CUmemLocation location;

	return tare_peek(&location, theirs, sizeof(location)) && location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id
	                                                                                                      : -1;
}

/* An allocation is shared, under these bytes. */
static inline uint64_t tare_handle_share(const CUipcMemHandle *handle)
{
	tare_handles_shared = true;
	return handle ? tare_handle_identity(handle, sizeof(*handle)) : 0;
}

static inline uint64_t tare_handle_export(CUmemAllocationHandleType type, const void *exported)
{
	return type == CU_MEM_HANDLE_TYPE_FABRIC && exported ? tare_handle_identity(exported, 64)
	                                                     : (uint64_t)(unsigned int)type;
}

/* functions.c: what a function handle is called and belongs to, for handles seen at their making. */
enum tare_function_kind { TARE_FUNCTION_UNKNOWN, TARE_FUNCTION_FUNCTION, TARE_FUNCTION_KERNEL };
void tare_function_add(const void *handle, enum tare_function_kind kind, uint32_t name, const void *owner);
enum tare_function_kind tare_function_find(const void *handle, uint32_t *name, const void **owner);
void tare_functions_unload(const void *owner); /* its handles may be reused: their next launch is a first */

#endif
