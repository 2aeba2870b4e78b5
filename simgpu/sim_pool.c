/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream-ordered allocation. As measured: a pool takes memory of the device in steps of 32 MiB (so
 * that 100 MiB cost 128), keeps it when allocations are freed, and gives back what is beyond its
 * threshold when the program synchronises.
 */
#include <string.h>

#include "sim.h"

struct sim_pool {
	struct sim_object object;
	int device; /* -1: it is memory of the host */
	bool is_default;
	bool is_destroyed; /* and lives on until what is in use of it is freed */
	uint64_t peers;    /* bit d: device d may access it, too */
	uint64_t threshold;
	uint64_t used, used_high, reserved, reserved_high;
	/* used, rounded up as the pool stores it, and freed since the last synchronisation */
	uint64_t held;
	uint64_t freed;
	int flags[4]; /* the three reuse attributes, kept for reading back */
};

static struct sim_pool *pool_new(int device)
{
	struct sim_pool *pool = sim_object_new(SIM_POOL, NULL, sizeof(*pool));

	if (pool) {
		pool->device = device;
		pool->flags[1] = pool->flags[2] = pool->flags[3] = 1;
	}
	return pool;
}

/* NULL: it is none, or it was destroyed. */
static struct sim_pool *pool_get(CUmemoryPool handle)
{
	struct sim_pool *pool = sim_object_get(handle, SIM_POOL);

	return pool && !pool->is_destroyed ? pool : NULL;
}

static struct sim_pool *default_pool(int device)
{
	struct sim_device *about = &sim.devices[device];

	if (!about->default_pool) {
		about->default_pool = pool_new(device);
		if (about->default_pool)
			about->default_pool->is_default = true;
	}
	return about->default_pool;
}

static struct sim_pool *current_pool(int device)
{
	struct sim_device *about = &sim.devices[device];

	return about->pool ? about->pool : default_pool(device);
}

/* What was freed is not idle before the program synchronised. */
static void shrink(struct sim_pool *pool, uint64_t keep)
{
	uint64_t busy = pool->held + pool->freed, wanted;

	if (keep >= pool->reserved) /* often all there is: then rounding up would overflow */
		return;
	wanted = sim_round_up(busy > keep ? busy : keep, sim.profile.pool_step);
	if (wanted >= pool->reserved)
		return;
	if (pool->device >= 0)
		sim_give(pool->device, pool->reserved - wanted);
	pool->reserved = wanted;
}

/* Pools of a device are few; the table of objects is not meant for listing, so they are chained. */
static struct sim_pool *made[64];

static void sync_pool(struct sim_pool *pool)
{
	pool->freed = 0;
	shrink(pool, pool->is_destroyed ? 0 : pool->threshold);
}

/* A destroyed one that nothing is in use of any more. */
static bool is_over(const struct sim_pool *pool)
{
	return pool->is_destroyed && !pool->held;
}

static void delete_made(size_t i)
{
	struct sim_pool *pool = made[i];
	int device;

	made[i] = NULL;
	for (device = 0; device < SIM_DEVICES; device++)
		if (sim.devices[device].pool == pool)
			sim.devices[device].pool = NULL;
	sim_object_delete(pool);
}

/* Plain allocations freed in a stream go when it is synchronised: marked by this as their owner. */
static char freed_in_stream;
static unsigned freed_in_stream_nr;

void sim_pool_sync(int device)
{
	struct sim_range *range;
	size_t i;

	for (i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		if (made[i] && made[i]->device == device) {
			sync_pool(made[i]);
			if (is_over(made[i]))
				delete_made(i);
		}
	if (sim.devices[device].default_pool)
		sync_pool(sim.devices[device].default_pool);
	for (; freed_in_stream_nr; freed_in_stream_nr--) {
		range = sim_range_owned(&freed_in_stream);
		if (range)
			sim_heap_free(range);
	}
}

bool sim_pool_has_freed(const struct sim_range *range)
{
	return range->owner == &freed_in_stream;
}

/* ---- allocations ---- */
static CUresult grow(struct sim_pool *pool, uint64_t bytes, uint64_t span)
{
	uint64_t more = 0;
	CUresult result = CUDA_SUCCESS;

	if (pool->held + span > pool->reserved)
		more = sim_round_up(pool->held + span - pool->reserved, sim.profile.pool_step);
	if (more && pool->device >= 0)
		result = sim_take(pool->device, more);
	if (result != CUDA_SUCCESS)
		return result;
	pool->reserved += more;
	pool->held += span;
	pool->used += bytes;
	if (pool->freed > pool->reserved - pool->held)
		pool->freed = pool->reserved - pool->held;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
	return CUDA_SUCCESS;
}

static void drop(struct sim_pool *pool, uint64_t bytes, uint64_t span)
{
	pool->used -= bytes;
	pool->held -= span;
	pool->freed += span;
}

/* In a capture it is a node of the graph, whose address is known at once. */
static CUresult capture_alloc(CUdeviceptr *dptr, size_t bytes, const struct sim_pool *pool, CUstream stream)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC };
	CUresult result;

	params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	params.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	params.alloc.poolProps.location.id = pool->device;
	params.alloc.bytesize = bytes;
	result = sim_capture_add(stream, &params);
	if (result == CUDA_SUCCESS)
		*dptr = params.alloc.dptr;
	return result;
}

static CUresult alloc(CUdeviceptr *dptr, size_t bytes, struct sim_pool *pool, CUstream stream)
{
	uint64_t charged = sim_round_up(bytes, sim.profile.suballoc_align);
	uint64_t span = sim_round_up(bytes, sim.profile.page), start, offset = 0;
	struct sim_context *context;
	struct sim_range *range;
	CUresult result = sim_current(&context);

	if (result == CUDA_SUCCESS)
		result = sim_stream_check(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!dptr || !bytes || span < bytes || !pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_stream_graph(stream))
		return capture_alloc(dptr, bytes, pool, stream);
	result = grow(pool, bytes, charged);
	if (result != CUDA_SUCCESS)
		return result;
	start = sim_backing_map(span, &offset);
	range = start ? sim_range_add(SIM_RANGE_POOL, start, bytes) : NULL;
	if (!range) {
		if (start)
			sim_backing_unmap(start, span, offset);
		drop(pool, bytes, charged);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	range->owner = pool;
	range->device = pool->device < 0 ? context->device : pool->device;
	range->span = span;
	range->offset = offset;
	range->charged = charged;
	*dptr = start;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
	struct sim_context *context;
	CUresult result = sim_current(&context);

	return result == CUDA_SUCCESS ? alloc(dptr, bytesize, current_pool(context->device), hStream) : result;
}

CUresult sim_body_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
	return alloc(dptr, bytesize, pool_get(pool), hStream);
}

void sim_pool_free(struct sim_range *range)
{
	drop(range->owner, range->size, range->charged);
	sim_backing_unmap(range->start, range->span, range->offset);
	sim_range_remove(range);
}

CUresult sim_body_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_MEM_FREE };
	struct sim_range *range = sim_range_exactly(dptr);
	CUresult result = sim_stream_check(hStream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!dptr)
		return CUDA_SUCCESS;
	if (sim_stream_graph(hStream)) { /* takes only what was allocated by a graph */
		params.free.dptr = dptr;
		return sim_capture_add(hStream, &params);
	}
	if (range && range->kind == SIM_RANGE_GRAPH)
		return sim_graph_memory_free(range);
	if (!range ||
	    (range->kind != SIM_RANGE_POOL && range->kind != SIM_RANGE_HEAP && range->kind != SIM_RANGE_POOL_IMPORT))
		return CUDA_ERROR_INVALID_VALUE;
	if (range->kind == SIM_RANGE_POOL_IMPORT) {
		sim_ipc_close(range);
		return CUDA_SUCCESS;
	}
	if (range->kind == SIM_RANGE_POOL) {
		sim_pool_free(range);
		return CUDA_SUCCESS;
	}
	if (sim_pool_has_freed(range))
		return CUDA_ERROR_INVALID_VALUE;
	range->owner = &freed_in_stream;
	freed_in_stream_nr++;
	return CUDA_SUCCESS;
}

/* ---- pools ---- */
CUresult sim_body_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
	bool is_of_device;
	size_t i;

	if (!pool || !poolProps || poolProps->allocType != 1)
		return CUDA_ERROR_INVALID_VALUE;
	is_of_device = poolProps->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
	if (is_of_device ? !sim_is_device(poolProps->location.id)
	                 : poolProps->location.type < CU_MEM_LOCATION_TYPE_HOST ||
	                       poolProps->location.type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
		return CUDA_ERROR_INVALID_DEVICE;
	for (i = 0; i < sizeof(made) / sizeof(made[0]) && made[i];)
		i++;
	if (i == sizeof(made) / sizeof(made[0]))
		return CUDA_ERROR_OUT_OF_MEMORY;
	made[i] = pool_new(is_of_device ? poolProps->location.id : -1);
	*pool = (CUmemoryPool)made[i];
	return made[i] ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The ranges of a pool are found by their owner. */
static void free_all(struct sim_pool *pool)
{
	struct sim_range *range;

	while ((range = sim_range_owned(pool)))
		sim_pool_free(range);
	pool->freed = 0;
	shrink(pool, 0);
}

CUresult sim_body_cuMemPoolDestroy(CUmemoryPool handle)
{
	struct sim_pool *pool = pool_get(handle);
	size_t i;

	if (!pool || pool->is_default)
		return CUDA_ERROR_INVALID_VALUE;
	pool->is_destroyed = true;
	for (i = 0; i < SIM_DEVICES; i++)
		if (sim.devices[i].pool == pool)
			sim.devices[i].pool = NULL;
	if (pool->held)
		return CUDA_SUCCESS;
	pool->freed = 0;
	shrink(pool, 0);
	for (i = 0; made[i] != pool;)
		i++;
	delete_made(i);
	return CUDA_SUCCESS;
}

/* All pools of the device, for its primary context is gone. */
void sim_pool_reset(int device)
{
	size_t i;

	for (i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		if (made[i] && made[i]->device == device) {
			free_all(made[i]);
			delete_made(i);
		}
	if (sim.devices[device].default_pool)
		free_all(sim.devices[device].default_pool);
}

CUresult sim_body_cuMemPoolTrimTo(CUmemoryPool handle, size_t minBytesToKeep)
{
	struct sim_pool *pool = pool_get(handle);

	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	shrink(pool, minBytesToKeep);
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void *value)
{
	struct sim_pool *pool = pool_get(handle);

	if (!pool || !value || attr < 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (attr < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		memcpy(&pool->flags[attr], value, sizeof(int));
	else if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		memcpy(&pool->threshold, value, sizeof(pool->threshold));
	else if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
		pool->reserved_high = pool->reserved;
	else if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
		pool->used_high = pool->used;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void *value)
{
	struct sim_pool *pool = pool_get(handle);
	uint64_t number;

	CUresult result = sim_stream_unsafe();

	if (result != CUDA_SUCCESS)
		return result;
	if (!pool || !value || attr < 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (attr < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
		memcpy(value, &pool->flags[attr], sizeof(int));
		return CUDA_SUCCESS;
	}
	/* What a pool has reserved is told since CUDA 11.3. */
	if (attr > CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && sim.script.driver_version && sim.script.driver_version < 11030)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attr) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		number = pool->threshold;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		number = pool->reserved;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		number = pool->reserved_high;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		number = pool->used;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		number = pool->used_high;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	memcpy(value, &number, sizeof(number));
	return CUDA_SUCCESS;
}

/* The pool's own device always has access. */
CUresult sim_body_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
	struct sim_pool *known = pool_get(pool);
	size_t i;

	if (!known || !map || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++) {
		if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || (map[i].flags && map[i].flags != 3) ||
		    (map[i].location.id == known->device && !map[i].flags))
			return CUDA_ERROR_INVALID_VALUE;
		if (!sim_is_device(map[i].location.id))
			return CUDA_ERROR_INVALID_DEVICE;
	}
	for (i = 0; i < count; i++) {
		uint64_t bit = 1ull << map[i].location.id;

		known->peers = map[i].flags ? known->peers | bit : known->peers & ~bit;
	}
	return CUDA_SUCCESS;
}

CUresult sim_body_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location)
{
	struct sim_pool *pool = pool_get(memPool);
	bool has_access;

	if (!flags || !pool || !location)
		return CUDA_ERROR_INVALID_VALUE;
	has_access = location->id == pool->device || (sim_is_device(location->id) && pool->peers >> location->id & 1);
	*flags = has_access ? 3 : 0;
	return CUDA_SUCCESS;
}

CUresult sim_body_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
	if (!pool_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool_out = (CUmemoryPool)default_pool(dev);
	return *pool_out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_body_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = (CUmemoryPool)current_pool(dev);
	return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_body_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
	if (!sim_is_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!pool_get(pool))
		return CUDA_ERROR_INVALID_VALUE;
	sim.devices[dev].pool = (struct sim_pool *)pool;
	return CUDA_SUCCESS;
}

/* The same by location, of which only devices have pools to choose. */
CUresult sim_body_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
	if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_body_cuDeviceSetMemPool(location->id, pool);
}

CUresult sim_body_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
	if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_body_cuDeviceGetMemPool(pool, location->id);
}

bool sim_pool_is(CUmemoryPool handle)
{
	return pool_get(handle);
}
