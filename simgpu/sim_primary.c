/* SPDX-License-Identifier: Apache-2.0 */
/* The primary context of a device, which all libraries of a process share by retaining it. */
#include "sim.h"

static CUresult primary_begin(struct sim_device *device, CUdevice dev)
{
	if (!device->primary)
		return sim_context_new(dev, device->primary_flags, &device->primary);
	/* The handle stays the same for the life of the process. */
	if (sim_take(dev, sim.profile.context) != CUDA_SUCCESS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	device->primary->flags = device->primary_flags;
	sim_context_begin(device->primary);
	return CUDA_SUCCESS;
}

static void primary_end(struct sim_device *device, CUdevice dev)
{
	if (!device->primary || !device->primary->is_alive)
		return;
	sim_context_end(device->primary);
	sim_pool_reset(dev);
}

CUresult sim_body_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	struct sim_device *device = &sim.devices[dev];
	CUresult result;

	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!device->primary || !device->primary->is_alive) {
		result = primary_begin(device, dev);
		if (result != CUDA_SUCCESS)
			return result;
		device->primary->is_primary = true;
	}
	device->primary_refs++;
	*pctx = (CUcontext)device->primary;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!sim.devices[dev].primary_refs)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (--sim.devices[dev].primary_refs == 0)
		primary_end(&sim.devices[dev], dev);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevicePrimaryCtxRelease(CUdevice dev)
{
	return sim_body_cuDevicePrimaryCtxRelease_v2(dev);
}

/* The references stay: whoever retained it has still to release it. */
CUresult sim_body_cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	primary_end(&sim.devices[dev], dev);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevicePrimaryCtxReset(CUdevice dev)
{
	return sim_body_cuDevicePrimaryCtxReset_v2(dev);
}

CUresult sim_body_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = sim.devices[dev].primary_flags;
	*active = sim.devices[dev].primary && sim.devices[dev].primary->is_alive;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	sim.devices[dev].primary_flags = flags;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
	return sim_body_cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}
