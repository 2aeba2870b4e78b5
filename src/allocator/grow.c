/* SPDX-License-Identifier: Apache-2.0 */
/* Memory from the driver, and what is tried when the driver has none. */
#include "allocator/state.h"

static uint32_t plain_segment(struct tare_allocator *a, unsigned pool, unsigned stream, uint64_t segment_size)
{
	struct tare_cache_segment segment = { .size = segment_size, .pool = (uint16_t)pool, .stream = (uint16_t)stream };

	if (!a->driver.alloc(a->driver.arg, segment_size, &segment.base))
		return 0;
	tare_alloc_reserved(a, segment_size);
	return tare_cache_segment_new(a, &segment, 0);
}

/* One attempt. The limit is compared with what a plain segment would take, also where it is not plain. */
static uint32_t attempt(struct tare_allocator *a, unsigned pool, unsigned stream, uint64_t size)
{
	uint64_t segment_size = tare_alloc_segment_size(&a->settings, size);

	if (a->stats.reserved > a->limit || segment_size > a->limit - a->stats.reserved)
		return 0;
	if (tare_cache_pool_is_expandable(a, &a->pools[pool]))
		return tare_alloc_expand(a, pool, stream, size);
	return plain_segment(a, pool, stream, segment_size);
}

uint32_t tare_alloc_grow(struct tare_allocator *a, unsigned pool, unsigned stream, uint64_t size)
{
	unsigned at = 2 * pool + (size > TARE_ALLOC_SMALL_MAX);
	uint32_t id;

	tare_alloc_collect(a);
	id = attempt(a, at, stream, size);
	if (!id && tare_alloc_release_enough(a, &a->pools[at], stream, size))
		id = attempt(a, at, stream, size);
	if (!id) {
		tare_alloc_release_all(a);
		a->stats.retries++;
		id = attempt(a, at, stream, size);
	}
	return id;
}
