/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event in 16 bytes:
 *     where  address (where memory ran out: bytes that were free): 40 bits, and 8 that stand for those above; 8 stream;
 *            4 kind; 4 flags
 *     what   size: 40 bits; 24 stack. Of a free in the end its slot: 32 bits
 */
#include "replay/trace.h"

#include "base/array.h"
#include "base/str.h"

#define LAST_ADDRESS (UINT64_MAX - (1ull << 50)) /* sums of an address and a size do not overflow */

static int high_of(struct tare_trace *t, uint64_t address, uint64_t *at, struct tare_err *err)
{
	uint64_t high = address >> 40 << 40;

	for (size_t i = t->high_count; i--;)
		if (t->highs[i] == high) {
			*at = i;
			return 0;
		}
	if (t->high_count == 256)
		return tare_err_set(err, TARE_E_CORRUPT,
		                    "its addresses are spread over more than 256 TiB, which no device has");
	*at = t->high_count;
	TARE_APPEND(t->highs, t->high_count, t->high_cap) = high;
	return 0;
}

static int stream_of(struct tare_trace *t, uint64_t handle, uint64_t *at, struct tare_err *err)
{
	for (size_t i = t->stream_count; i--;)
		if (t->streams[i] == handle) {
			*at = i;
			return 0;
		}
	if (t->stream_count == 256)
		return tare_err_set(err, TARE_E_LIMIT, "it has more than 256 streams, which Tare cannot replay");
	*at = t->stream_count;
	TARE_APPEND(t->streams, t->stream_count, t->stream_cap) = handle;
	return 0;
}

/* Of a device, where memory ran out: it stands where others have an address. */
static uint64_t bytes_free(const struct tare_snapshot_event *e)
{
	uint64_t most = (1ull << 40) - 1;

	return e->address < most ? e->address : most;
}

static int pack(struct tare_trace *t, const struct tare_snapshot_event *e, enum tare_trace_kind kind,
                struct tare_trace_event *out, struct tare_err *err)
{
	uint64_t address = kind == TARE_TRACE_OOM ? bytes_free(e) : e->address, high = 0, stream = 0;
	int rc = high_of(t, address, &high, err);

	if (!rc)
		rc = stream_of(t, e->stream, &stream, err);
	if (!rc && address > LAST_ADDRESS)
		rc = tare_err_set(err, TARE_E_CORRUPT, "an event at the end of all addresses");
	if (!rc && e->size >> 40)
		rc = tare_err_set(err, TARE_E_CORRUPT, "an event of %llu bytes, which no device has",
		                  (unsigned long long)e->size);
	out->where = (address & ((1ull << 40) - 1)) | high << 40 | stream << 48 | (uint64_t)kind << 56;
	out->what = e->size | (uint64_t)(e->stack < 1u << 24 ? e->stack : 0) << 40;
	return rc;
}

static struct tare_trace_device *device_of(struct tare_trace *t, uint32_t device)
{
	for (size_t i = 0; i < t->device_count; i++)
		if (t->devices[i].device == device)
			return &t->devices[i];
	return TARE_ADD(t->devices, t->device_count, t->device_cap, (struct tare_trace_device){ .device = device });
}

static uint32_t pool_of(struct tare_trace *t, struct tare_snapshot_pool pool)
{
	uint64_t key = (uint64_t)pool.a << 32 | (uint64_t)pool.b;
	const uint64_t *number = tare_map_get(&t->pool_numbers, key);

	if (number)
		return (uint32_t)*number;
	if (t->pool_count == UINT16_MAX)
		return 0;
	*tare_map_put(&t->pool_numbers, key, NULL) = t->pool_count;
	TARE_APPEND(t->pools, t->pool_count, t->pool_cap) = pool;
	return (uint32_t)(t->pool_count - 1);
}

static int kind_of(enum tare_snapshot_action action)
{
	switch (action) {
	case TARE_SNAPSHOT_ALLOC:
		return TARE_TRACE_MALLOC;
	case TARE_SNAPSHOT_FREE:
		return TARE_TRACE_FREE;
	case TARE_SNAPSHOT_FREE_REQUESTED:
		return TARE_TRACE_REQUESTED;
	case TARE_SNAPSHOT_FREE_COMPLETED:
		return TARE_TRACE_COMPLETED;
	case TARE_SNAPSHOT_SEGMENT_ALLOC:
		return TARE_TRACE_SEGMENT_ALLOC;
	case TARE_SNAPSHOT_SEGMENT_FREE:
		return TARE_TRACE_SEGMENT_FREE;
	case TARE_SNAPSHOT_SEGMENT_MAP:
		return TARE_TRACE_MAP;
	case TARE_SNAPSHOT_SEGMENT_UNMAP:
		return TARE_TRACE_UNMAP;
	case TARE_SNAPSHOT_OOM:
		return TARE_TRACE_OOM;
	default:
		return -1;
	}
}

/* Pools are kept only where there is another than the default pool. */
void tare_trace_set_pool(struct tare_trace_device *d, size_t event, uint32_t pool)
{
	if (!pool && event >= d->pool_cap)
		return;
	if (event >= d->pool_cap) {
		size_t had = d->pool_cap;

		d->pools = tare_array_reserve(d->pools, &d->pool_cap, event + 1, sizeof(*d->pools));
		memset(d->pools + had, 0, (d->pool_cap - had) * sizeof(*d->pools));
	}
	d->pools[event] = (uint16_t)pool;
}

static const uint64_t kind_mask = 15ull << 56;

int tare_trace_add(struct tare_trace *t, const struct tare_snapshot_event *event, struct tare_err *err)
{
	struct tare_trace_device *d = device_of(t, event->device);
	struct tare_trace_event packed;
	int kind = kind_of(event->action), rc;

	d->file_events++;
	if (kind < 0)
		return 0;
	rc = pack(t, event, (enum tare_trace_kind)kind, &packed, err);
	if (rc)
		return rc;
	if (kind == TARE_TRACE_COMPLETED && d->count) {
		struct tare_trace_event *last = &d->events[d->count - 1];

		t->has_completed = true;
		if (tare_trace_kind(last) == TARE_TRACE_REQUESTED && !((last->where ^ packed.where) & ~kind_mask)) {
			last->where = (last->where & ~kind_mask) | (uint64_t)TARE_TRACE_FREE << 56;
			return 0;
		}
	}
	d->malloc_count += kind == TARE_TRACE_MALLOC;
	if (event->has_pool) {
		t->has_events_of_pools = true;
		tare_trace_set_pool(d, d->count, pool_of(t, event->pool));
	}
	if (t->keep)
		tare_times_add(&d->times, event->time_us);
	TARE_APPEND(d->events, d->count, d->cap) = packed;
	return 0;
}

static int on_event(void *arg, const struct tare_snapshot_event *event, struct tare_err *err)
{
	struct tare_trace *t = arg;

	t->host_events += event->is_host;
	return event->is_host ? 0 : tare_trace_add(t, event, err);
}

static int on_annotation(void *arg, const struct tare_snapshot_annotation *a, struct tare_err *err)
{
	struct tare_trace *t = arg;

	(void)err;
	TARE_APPEND(t->annotations, t->annotation_count, t->annotation_cap) = *a;
	return 0;
}

int tare_trace_add_segment(struct tare_trace *t, const struct tare_snapshot_segment *from,
                           const struct tare_snapshot_block *blocks, size_t count, struct tare_err *err)
{
	struct tare_trace_device *d;
	struct tare_trace_segment *to;

	if (from->address > LAST_ADDRESS || from->size >> 48)
		return tare_err_set(err, TARE_E_CORRUPT, "a segment at the end of all addresses, or of more than 256 TiB");
	d = device_of(t, from->device);
	to = &TARE_APPEND(d->segments, d->segment_count, d->segment_cap);
	*to = (struct tare_trace_segment){
		.address = from->address,
		.size = from->size,
		.stream = from->stream,
		.pool = pool_of(t, from->pool),
		.is_small = from->is_small,
		.is_expandable = from->is_expandable,
		.serial = from->serial,
		.first_block = d->block_count,
		.block_count = count,
	};
	d->blocks = tare_array_reserve(d->blocks, &d->block_cap, d->block_count + count + 1, sizeof(*d->blocks));
	if (count)
		memcpy(d->blocks + d->block_count, blocks, count * sizeof(*blocks));
	d->block_count += count;
	return 0;
}

static int on_segment(void *arg, const struct tare_snapshot_segment *from, const struct tare_snapshot_block *blocks,
                      size_t count, struct tare_err *err)
{
	struct tare_trace *t = arg;

	t->host_segments += from->is_host;
	return from->is_host ? 0 : tare_trace_add_segment(t, from, blocks, count, err);
}

uint32_t tare_trace_add_line(struct tare_trace *t, const char *file, uint32_t line, const char *function)
{
	TARE_APPEND(t->lines, t->line_count, t->line_cap) = tare_str_format("%s:%u %s", file, line, function);
	return (uint32_t)t->line_count;
}

void tare_trace_begin(struct tare_trace *t)
{
	*t = (struct tare_trace){ .snapshot = tare_snapshot_new() };
	pool_of(t, (struct tare_snapshot_pool){ 0, 0 });
}

int tare_trace_end(struct tare_trace *t, int rc)
{
	for (size_t i = 0; !rc && i < t->device_count; i++) {
		struct tare_trace_device *d = &t->devices[i];

		tare_trace_find_start(t, d);
		if (t->keep)
			d->sizes = tare_xcalloc(d->malloc_count + 1, sizeof(*d->sizes));
	}
	if (rc)
		tare_trace_free(t);
	return rc;
}

int tare_trace_load_from(struct tare_trace *t, const struct tare_snapshot_source *source, enum tare_trace_keep keep,
                         struct tare_err *err)
{
	struct tare_snapshot_sink sink = { .arg = t, .segment = on_segment, .event = on_event };

	tare_trace_begin(t);
	t->keep = keep;
	if (keep)
		sink.annotation = on_annotation;
	return tare_trace_end(t, tare_snapshot_read_from(t->snapshot, source, &sink, err));
}

int tare_trace_load_bytes(struct tare_trace *t, const void *bytes, size_t size, struct tare_err *err)
{
	struct tare_snapshot_sink sink = { .arg = t, .segment = on_segment, .event = on_event };

	tare_trace_begin(t);
	return tare_trace_end(t, tare_snapshot_read_bytes(t->snapshot, bytes, size, &sink, err));
}
