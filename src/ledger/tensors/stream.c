/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "streams": PyTorch's allocator keeps what is cached for each stream apart. A segment is of one stream, that
 * of the first block in it whose stream was said. A block that says another one is counted, and moves nothing.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"

/* What the flags of a block refer to. */
struct tare_on_stream tare_fold_stream_of(const struct tare_process_fold *p, const struct tare_device_fold *d,
                                          const struct tare_rec_tensor *r)
{
	const uint64_t *place;

	if (r->flags & TARE_TENSOR_ON_DEFAULT)
		return (struct tare_on_stream){ .is_known = true };
	if (!(r->flags & TARE_TENSOR_ON_STREAM) || !(place = tare_map_get(&p->thread_streams, r->tid)))
		return (struct tare_on_stream){ 0 };
	/* Of another device it would be a damaged recording. */
	return p->streams[*place].device == d->index ? p->streams[*place].on : (struct tare_on_stream){ 0 };
}

static void say(struct tare_process_fold *p, const struct tare_thread_stream *said)
{
	bool is_new;
	uint64_t *place = tare_map_put(&p->thread_streams, said->tid, &is_new);

	if (is_new) {
		*place = p->stream_nr;
		p->streams = tare_array_reserve(p->streams, &p->stream_cap, p->stream_nr + 1, sizeof(*p->streams));
		p->stream_nr++;
	}
	p->streams[*place] = *said;
}

void tare_fold_stream(struct tare_fold *f, const struct tare_device_fold *d, const struct tare_event *e)
{
	const struct tare_rec_stream *r = e->rec.stream;
	struct tare_process_fold *p = tare_fold_process(f, e->process);
	struct tare_on_stream on = { .id = r->id, .ids = r->ids, .is_known = true };

	if (!d) /* damage: it names no device */
		return;
	say(p, &(struct tare_thread_stream){ .on = on, .tid = r->tid, .device = d->index });
}

void tare_fold_segment_on(struct tare_tensors_part *tensors, struct tare_segment *s, const struct tare_on_stream *on)
{
	if (!on->is_known)
		return;
	if (!s->on.is_known) {
		s->on = *on;
	} else if (s->on.id != on->id) {
		s->other_stream_blocks++;
		tensors->other_stream_blocks++;
	}
}

/* ---- names ---- */

/* A stream of the 32 that PyTorch makes for each priority; kind 1 is the lowest, 0. */
static bool split(struct tare_stream *out, uint64_t kind, uint64_t number, uint64_t rest)
{
	if (!kind || rest)
		return false;
	out->kind = TARE_STREAM_OF_POOL;
	out->number = (uint32_t)number & 31;
	out->priority = 1 - (int)kind;
	return true;
}

struct tare_stream tare_fold_stream_named(const struct tare_on_stream *on)
{
	struct tare_stream s = { .id = on->id, .kind = TARE_STREAM_NOT_KNOWN };
	uint64_t id = on->id;

	if (!on->is_known)
		return s;
	s.kind = TARE_STREAM_OTHER;
	if (!id)
		s.kind = TARE_STREAM_DEFAULT;
	else if (on->ids == TARE_STREAM_IDS_OLD)
		split(&s, id >> 5 & 3, id, id >> 7);
	else if (on->ids == TARE_STREAM_IDS_POINTER && !(id & 7))
		s.kind = TARE_STREAM_EXTERNAL;
	else if (on->ids == TARE_STREAM_IDS_POINTER)
		split(&s, id & 7, id >> 3, id >> 8);
	else if (on->ids == TARE_STREAM_IDS_ODD && !(id & 1))
		s.kind = TARE_STREAM_EXTERNAL;
	else if (on->ids == TARE_STREAM_IDS_ODD)
		split(&s, id >> 1 & 15, id >> 5, id >> 10);
	return s;
}
