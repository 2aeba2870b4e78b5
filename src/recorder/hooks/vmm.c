/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of virtual and of shared memory that need more than their row says. */
#include <errno.h>
#include <string.h>

#include "recorder/base/peek.h"
#include "recorder/cuda/handles.h"
#include "recorder/hooks/call.h"
#include "recorder/hooks/custom.h"
#include "recorder/weigh/weigh.h"
#include "record/clock.h"
#include "recorder/recorder.h"

CUresult tare_hook_cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                                CUmemAllocationHandleType handleType, unsigned long long flags)
{
	struct tare_call call;
	CUresult result;

	if (IS_MISSING(cuMemExportToShareableHandle))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!tare_call_begin_unweighed(&call, CU_API_cuMemExportToShareableHandle, TARE_CLASS_VMM, TARE_EFFECT_CHANGE))
		return tare_real.cuMemExportToShareableHandle(shareableHandle, handle, handleType, flags);
	result = tare_real.cuMemExportToShareableHandle(shareableHandle, handle, handleType, flags);
	call.end = tare_clock_ticks();
	if (result == CUDA_SUCCESS) {
		int device = tare_handle_device(handle);

		if (device >= 0)
			call.device = device;
		call.handle = handle;
		call.limit = tare_handle_export(handleType, shareableHandle);
		tare_handles_shared = true;
	}
	tare_call_end_at(&call, result, call.end);
	return result;
}

/* An import does not say where its memory is; its properties do. */
static int device_of_import(CUmemGenericAllocationHandle handle)
{
	CUmemAllocationProp prop;

	memset(&prop, 0, sizeof(prop));
	if (!tare_real.cuMemGetAllocationPropertiesFromHandle ||
	    tare_real.cuMemGetAllocationPropertiesFromHandle(&prop, handle) != CUDA_SUCCESS ||
	    prop.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return -1;
	return prop.location.id;
}

/* The counter that was read before the call is of another device. */
static void change_device(struct tare_call *call, int device)
{
	if (device == call->device)
		return;
	call->is_weighed = false;
	call->before = call->peers_before = TARE_NOT_KNOWN;
	call->device = device;
}

CUresult tare_hook_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                                  CUmemAllocationHandleType shHandleType)
{
	struct tare_call call;
	CUresult result;

	if (IS_MISSING(cuMemImportFromShareableHandle))
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!tare_call_begin(&call, CU_API_cuMemImportFromShareableHandle, TARE_CLASS_VMM_IMPORT, TARE_EFFECT_NEW))
		return tare_real.cuMemImportFromShareableHandle(handle, osHandle, shHandleType);
	result = tare_real.cuMemImportFromShareableHandle(handle, osHandle, shHandleType);
	call.end = tare_clock_ticks();
	if (result == CUDA_SUCCESS) {
		CUmemGenericAllocationHandle imported = TARE_ANSWER(result, handle);
		int device;

		call.saved_errno = errno;
		device = device_of_import(imported);
		errno = call.saved_errno;
		change_device(&call, device);
		call.handle = imported;
		call.limit = tare_handle_export(shHandleType, osHandle);
		tare_handle_add(imported, device);
		tare_handles_shared = true;
	}
	tare_call_end_at(&call, result, call.end);
	return result;
}

/* A device other than its own that memory is to be accessed from; -1: none. */
static int other_device(CUdeviceptr ptr, const CUmemAccessDesc *theirs, size_t count)
{
	int own = tare_handle_device(ptr), other = -1, device;
	size_t i;

	for (i = 0; own >= 0 && theirs && i < count && i < TARE_WEIGH_DEVICES; i++) {
		device = tare_device_of(&theirs[i]);
		if (device >= 0 && device != own)
			other = device;
	}
	return other;
}

/* Access from another device takes room for page tables there; from its own, nothing was ever seen. */
CUresult tare_hook_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
	struct tare_call call;
	CUresult result;
	int other;

	if (IS_MISSING(cuMemSetAccess))
		return CUDA_ERROR_NOT_INITIALIZED;
	other = other_device(ptr, desc, count);
	if (other < 0 || !tare_call_begin_on(&call, CU_API_cuMemSetAccess, TARE_CLASS_PEER, TARE_EFFECT_CHANGE, other))
		return tare_real.cuMemSetAccess(ptr, size, desc, count);
	call.parent = ptr;
	result = tare_real.cuMemSetAccess(ptr, size, desc, count);
	tare_call_end(&call, result);
	return result;
}

/* Memory of another process is where that one made it, whatever device is current here. */
static void end_open(struct tare_call *call, CUresult result, CUdeviceptr at, const CUipcMemHandle *handle)
{
	int device = -1;

	call->end = tare_clock_ticks();
	if (result == CUDA_SUCCESS) {
		call->saved_errno = errno;
		if (tare_real.cuPointerGetAttribute &&
		    tare_real.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at) == CUDA_SUCCESS &&
		    device >= 0)
			change_device(call, device);
		errno = call->saved_errno;
		call->handle = at;
		call->limit = tare_handle_share(handle);
		tare_handle_add(at, call->device);
	}
	tare_call_end_at(call, result, call->end);
}

#define OPEN(symbol)                                                                                                   \
	CUresult tare_hook_##symbol(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)                         \
	{                                                                                                                  \
		struct tare_call call;                                                                                         \
		CUresult result;                                                                                               \
                                                                                                                       \
		if (IS_MISSING(symbol))                                                                                        \
			return CUDA_ERROR_NOT_INITIALIZED;                                                                         \
		if (!tare_call_begin(&call, CU_API_##symbol, TARE_CLASS_IPC, TARE_EFFECT_NEW))                                 \
			return tare_real.symbol(pdptr, handle, Flags);                                                             \
		result = tare_real.symbol(pdptr, handle, Flags);                                                               \
		end_open(&call, result, TARE_ANSWER(result, pdptr), &handle);                                                  \
		return result;                                                                                                 \
	}
OPEN(cuIpcOpenMemHandle)
OPEN(cuIpcOpenMemHandle_v2)
