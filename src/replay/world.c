/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator as it was before the first event of a trace. */
#include "replay/replay.h"

#include "base/comparator.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Addresses that one expandable segment may use; PyTorch reserves 9/8 of the memory of the device. */
#define RESERVED_MIN (1ull << 40)

struct tare_allocator *tare_replay_allocator(const struct tare_trace *t, const struct tare_replay_ask *ask,
                                             const struct tare_alloc_driver *driver)
{
	struct tare_allocator *a = tare_alloc_new(&ask->settings, &ask->rules, driver);

	for (size_t i = 0; i < t->stream_count; i++)
		tare_alloc_stream(a, t->streams[i]);
	for (size_t i = 1; i < t->pool_count; i++)
		tare_alloc_pool(a);
	tare_alloc_set_limit(a, ask->limit);
	return a;
}

/* Segments in the order in which they were made, as far as the file says; else in that of addresses. */
TARE_COMPARATOR_OF_POINTERS(by_serial, struct tare_trace_segment, TARE_RISING(serial) TARE_RISING(address))

/* Its number in the allocator. A reservation is made with the first of its ranges. */
static uint32_t put_segment(const struct tare_trace_device *d, struct tare_allocator *a,
                            const struct tare_trace_segment *s, uint32_t *reserved)
{
	unsigned stream = tare_alloc_stream(a, s->stream);
	const struct tare_trace_segment *r;
	uint32_t *at;

	if (!s->is_expandable)
		return tare_alloc_put_segment(a, s->address, s->size, stream, s->pool, s->is_small);
	r = tare_trace_reservation(d, s->address);
	if (!r)
		return 0;
	at = &reserved[r - d->reservations];
	if (!*at)
		*at = tare_alloc_put_reservation(a, r->address, r->size > RESERVED_MIN ? r->size : RESERVED_MIN, stream,
		                                 s->pool, s->is_small);
	tare_alloc_put_mapped(a, *at, s->address, s->size);
	return *at;
}

static uint32_t *put_segments(const struct tare_trace_device *d, struct tare_allocator *a)
{
	size_t count = d->start_segment_count;
	uint32_t *numbers = tare_xcalloc(count + 1, sizeof(*numbers));
	TARE_FREED_HERE uint32_t *reserved = tare_xcalloc(d->reservation_count + 1, sizeof(*reserved));
	const struct tare_trace_segment **sorted = tare_xcalloc(count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = &d->start_segments[i];
	TARE_SORT(sorted, count, by_serial);
	for (size_t i = 0; i < count; i++)
		numbers[sorted[i] - d->start_segments] = put_segment(d, a, sorted[i], reserved);
	free(sorted);
	return numbers;
}

void tare_replay_put_start(const struct tare_trace *t, const struct tare_trace_device *d, struct tare_allocator *a,
                           uint32_t *slots)
{
	uint32_t *numbers = put_segments(d, a);
	struct tare_trace_start **sorted = tare_trace_sorted_starts(d);

	(void)t;
	for (size_t i = 0; i < d->start_count; i++) {
		const struct tare_trace_start *s = sorted[i];
		uint32_t *slot = &slots[d->malloc_count + (size_t)(s - d->starts)];

		*slot = tare_alloc_put_block(a, numbers[s->segment], s->address, s->size, s->asked);
		if (*slot && s->is_pending) {
			tare_alloc_record_stream(a, *slot, TARE_ALLOC_ANY_STREAM);
			tare_alloc_free(a, *slot);
		}
	}
	free(sorted);
	free(numbers);
	tare_alloc_count_from_here(a);
}

void tare_replay_figures_of(const struct tare_allocator *a, struct tare_replay_figures *out)
{
	const struct tare_alloc_stats *s = tare_alloc_stats(a);

	*out = (struct tare_replay_figures){
		s->allocated,     s->reserved,     s->peak_allocated, s->peak_reserved, s->allocated_at_peak,
		s->driver_allocs, s->driver_frees, s->retries,        s->ooms,
	};
}

void tare_replay_release_pools(const struct tare_trace *t, const struct tare_trace_device *d, struct tare_allocator *a,
                               size_t from, size_t to)
{
	unsigned last = 0;

	if (t->pool_count < 2)
		return;
	for (size_t i = from; i < to; i++) {
		unsigned pool = tare_trace_pool(d, i);

		if (!tare_trace_is_release(tare_trace_kind(&d->events[i])) || !pool || pool == last)
			continue;
		tare_alloc_pool_release(a, pool);
		last = pool;
	}
}

int tare_replay_recorded(const struct tare_trace *t, const struct tare_alloc_rules *rules,
                         struct tare_alloc_settings *settings, struct tare_err *err)
{
	const struct tare_snapshot_settings *file = &tare_snapshot_facts(t->snapshot)->settings;
	int rc = 0;

	tare_alloc_settings_init(settings);
	if (file->conf)
		rc = tare_alloc_settings_parse(settings, tare_snapshot_text(t->snapshot, file->conf), rules, err);
	if (!rc && t->conf) {
		rc = tare_alloc_settings_parse(settings, t->conf, rules, err);
		memset(settings->divisions, 0, sizeof(settings->divisions)); /* blocks are rounded already */
	}
	if (rc) {
		tare_err_prefix(err, "PYTORCH_CUDA_ALLOC_CONF of the file");
		return rc;
	}
	/* Settings may have been changed while the program ran: these are those at the end. */
	if (file->is_there) {
		settings->max_split = file->max_split < 0 ? UINT64_MAX : (uint64_t)file->max_split;
		settings->gc_threshold = file->gc_threshold;
		if (file->expandable >= 0)
			settings->is_expandable = file->expandable;
	}
	for (size_t i = 0; file->has_divisions && i < TARE_ALLOC_DIVISIONS; i++)
		settings->divisions[i] = (uint32_t)file->divisions[i];
	for (size_t i = 0; !file->is_there && i < t->device_count; i++)
		settings->is_expandable |= t->devices[i].reservation_count != 0;
	return 0;
}
