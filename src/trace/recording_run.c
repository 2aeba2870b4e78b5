/* SPDX-License-Identifier: Apache-2.0 */
/* Many blocks of tensors, or of the heap, or phases, at once: what tare_recording_next() does for each record is done for all of them together. */
#include "record/bound.h"
#include "trace/recording_private.h"
#include "trace/stream.h"

/* A record of a run as an event. */
static void refer_to(const struct tare_recording *r, const struct tare_rprocess *p, const struct tare_record *head,
                     int64_t at_ns, struct tare_event *e)
{
	*e = r->nothing;
	e->kind = (enum tare_kind)head->kind;
	e->rec.head = head;
	e->process = &p->public;
	e->at_ns = e->begin_ns = e->end_ns = at_ns;
	tare_recording_refer(r, p, e);
}

void tare_recording_refer_to_block(const struct tare_block_run *run, size_t i, struct tare_event *e)
{
	tare_tensor_columns_get(&run->columns, i, run->record);
	refer_to(run->recording, run->process, &run->record->head, run->times[i], e);
}

void tare_recording_refer_to_phase(const struct tare_phase_run *run, size_t i, struct tare_event *e)
{
	refer_to(run->recording, run->process, &tare_phase_run_at(run, i)->head, run->times[i], e);
}

void tare_recording_refer_to_heap(const struct tare_heap_run *run, size_t i, struct tare_event *e)
{
	refer_to(run->recording, run->process, run->records[i], run->times[i], e);
}

/* Time never runs backwards for a consumer, and never past the end, as of single events. */
static void bound_times(struct tare_recording *r, int64_t *times, size_t n, bool are_in_order)
{
	if (are_in_order && times[0] >= r->now_ns && times[n - 1] <= r->last_ns) {
		r->now_ns = times[n - 1];
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (times[i] > r->now_ns)
			r->now_ns = times[i] < r->last_ns ? times[i] : r->last_ns;
		times[i] = r->now_ns;
	}
}

/* The stream that the last event came from; NULL: what follows it has to be asked for one by one. */
static struct tare_rstream *stream_of_run(const struct tare_recording *r, int64_t until_ns)
{
	struct tare_rstream *s = r->heap_nr ? r->heap[0] : NULL;

	return s && s->has_next && !s->is_waiting && until_ns >= r->now_ns ? s : NULL;
}

/* Records of a run are before that. One behind the end has the time of the end. */
static int64_t before_of(const struct tare_recording *r, int64_t until_ns)
{
	int64_t before = until_ns < r->last_ns ? until_ns + 1 : INT64_MAX;

	return before < r->others_ns ? before : r->others_ns;
}

bool tare_recording_run(struct tare_recording *r, int64_t until_ns, struct tare_block_run *run)
{
	struct tare_rstream *s = stream_of_run(r, until_ns);
	int64_t *times;

	run->n = s ? tare_stream_run(s, before_of(r, until_ns), &run->columns, &times) : 0;
	if (!run->n)
		return false;
	bound_times(r, times, run->n, s->are_times_in_order);
	tare_bound_columns(&run->columns, run->n);
	run->times = times;
	run->refer = tare_recording_refer_to_block;
	run->recording = r;
	run->process = s->process;
	run->record = &s->referred;
	return true;
}

bool tare_recording_phase_run(struct tare_recording *r, int64_t until_ns, struct tare_phase_run *run)
{
	struct tare_rstream *s = stream_of_run(r, until_ns);
	int64_t *times;

	run->n = s ? tare_stream_phase_run(s, before_of(r, until_ns), &run->records, &times) : 0;
	if (!run->n)
		return false;
	bound_times(r, times, run->n, s->are_times_in_order);
	run->times = times;
	run->refer = tare_recording_refer_to_phase;
	run->recording = r;
	run->process = s->process;
	return true;
}

bool tare_recording_heap_run(struct tare_recording *r, int64_t until_ns, struct tare_heap_run *run)
{
	struct tare_rstream *s = stream_of_run(r, until_ns);
	int64_t *times;

	run->n = s ? tare_stream_heap_run(s, before_of(r, until_ns), &run->records, &times) : 0;
	if (!run->n)
		return false;
	bound_times(r, times, run->n, s->are_times_in_order);
	for (size_t i = 0; i < run->n; i++)
		tare_bound_record(run->records[i]->kind, (void *)(uintptr_t)run->records[i]);
	run->times = times;
	run->refer = tare_recording_refer_to_heap;
	run->recording = r;
	run->process = s->process;
	return true;
}
