/* SPDX-License-Identifier: Apache-2.0 */
/* Many blocks of tensors at once: what tare_recording_next() does for each record is done for all of them together. */
#include "trace/bound.h"
#include "trace/recording_private.h"
#include "trace/stream.h"

static void refer_to(const struct tare_block_run *run, size_t i, struct tare_event *e)
{
	const struct tare_recording *r = run->recording;
	const struct tare_rprocess *p = run->process;

	*e = r->nothing;
	e->kind = TARE_KIND_TENSOR;
	e->rec.tensor = &run->records[i];
	e->process = &p->public;
	e->at_ns = e->begin_ns = e->end_ns = run->times[i];
	tare_recording_refer(r, p, e);
}

/* Time never runs backwards for a consumer, and never past the end, as of single events. */
static void bound_times(struct tare_recording *r, int64_t *times, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (times[i] > r->now_ns)
			r->now_ns = times[i] < r->last_ns ? times[i] : r->last_ns;
		times[i] = r->now_ns;
	}
}

static void bound_sizes(struct tare_rec_tensor *records, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (records[i].bytes > TARE_BOUND_BYTES || records[i].bytes < -TARE_BOUND_BYTES)
			tare_bound_sizes(TARE_KIND_TENSOR, &records[i]);
}

bool tare_recording_run(struct tare_recording *r, int64_t until_ns, struct tare_block_run *run)
{
	struct tare_rstream *s = r->heap_nr ? r->heap[0] : NULL;
	struct tare_rec_tensor *records;
	int64_t before, *times;

	/* A record behind the end has the time of the end. */
	if (!s || !s->has_next || s->is_waiting || until_ns < r->now_ns)
		return false;
	before = until_ns < r->last_ns ? until_ns + 1 : INT64_MAX;
	run->n =
		tare_stream_run(s, before < r->others_ns ? before : r->others_ns, &records, &times);
	bound_times(r, times, run->n);
	bound_sizes(records, run->n);
	run->records = records;
	run->times = times;
	run->refer = refer_to;
	run->recording = r;
	run->process = s->process;
	return run->n > 0;
}
