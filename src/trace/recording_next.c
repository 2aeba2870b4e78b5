/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass: all streams in one order of time, and each record with what it refers to. */
#include "trace/recording_private.h"

#include "base/array.h"

#include <string.h>

/* Two stamps of one clock are compared as they are: several ticks make one nanosecond. */
static bool is_before(const struct tare_rstream *a, const struct tare_rstream *b)
{
	uint64_t x, y;

	if (a->next_ns != b->next_ns)
		return a->next_ns < b->next_ns;
	if (a->process->clock != b->process->clock)
		return a->process->clock->number < b->process->clock->number;
	x = a->next.rec.head->stamp;
	y = b->next.rec.head->stamp;
	return x != y ? x < y : a->number < b->number;
}

static void sift_down(struct tare_recording *r, size_t i)
{
	struct tare_rstream *moved = r->heap[i];
	size_t child;

	while ((child = 2 * i + 1) < r->heap_nr) {
		if (child + 1 < r->heap_nr && is_before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!is_before(r->heap[child], moved))
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = moved;
}

static bool advance(struct tare_recording *r, struct tare_rstream *s)
{
	s->has_next = tare_reorder_next(s->reorder, &s->next);
	if (s->has_next)
		s->next_ns = tare_recording_ns(r, s->process, s->next.rec.head->stamp);
	return s->has_next;
}

static void start(struct tare_recording *r)
{
	if (!r->heap)
		r->heap = tare_xcalloc(r->stream_nr, sizeof(struct tare_rstream *));
	r->heap_nr = 0;
	for (size_t i = 0; i < r->stream_nr; i++)
		if (advance(r, r->streams[i]))
			r->heap[r->heap_nr++] = r->streams[i];
	for (size_t i = r->heap_nr / 2; i-- > 0;)
		sift_down(r, i);
	r->nothing.text = "";
	r->is_started = true;
	r->now_ns = INT64_MIN;
}

void tare_recording_rewind(struct tare_recording *r)
{
	for (size_t i = 0; i < r->stream_nr; i++)
		tare_reorder_rewind(r->streams[i]->reorder);
	r->is_started = false;
}

static const void *look_up(const struct tare_map *map, uint32_t id)
{
	uint64_t *slot = id ? tare_map_get(map, id) : NULL;

	return slot ? (const void *)(uintptr_t)*slot : NULL;
}

/* The newest generation of that pid which had begun by then. */
static const struct tare_process *about_pid(const struct tare_rprocess *from, uint32_t pid,
					    int64_t at_ns)
{
	uint64_t *newest = tare_map_get(&from->folder->newest, pid);

	for (uint64_t g = newest ? *newest : 0; g > 0; g--) {
		const struct tare_rprocess *p =
			tare_recording_find(from->folder, pid, (uint32_t)(g - 1));

		if (p && p->public.first_ns <= at_ns)
			return &p->public;
		if (!p && *newest - g > 1000)
			break; /* a damaged generation; no process has had that many */
	}
	return NULL;
}

static const struct tare_process *about(const struct tare_rprocess *from, uint32_t pid,
					uint32_t generation)
{
	const struct tare_rprocess *p = tare_recording_find(from->folder, pid, generation);

	return p ? &p->public : NULL;
}

/* Both ends of a call from the one that was stamped and how long the driver took. */
static void set_times(const struct tare_recording *r, const struct tare_rprocess *p,
		      struct tare_event *e, uint64_t ticks, bool is_begin)
{
	uint64_t stamp = e->rec.head->stamp;

	if (ticks > TARE_REORDER_LAG_MAX)
		return; /* damage */
	if (is_begin)
		e->end_ns = tare_recording_ns(r, p, stamp + ticks);
	else
		e->begin_ns = tare_recording_ns(r, p, stamp > ticks ? stamp - ticks : 0);
	if (e->begin_ns > e->at_ns)
		e->begin_ns = e->at_ns;
	if (e->end_ns < e->at_ns)
		e->end_ns = e->at_ns;
}

/* Of a reading, which is told in steps. */
static int64_t length_of(const struct tare_recording *r, const struct tare_rprocess *p,
			 uint64_t stamp, uint16_t steps)
{
	uint64_t ticks = steps & TARE_LONG_READING
				 ? (uint64_t)(steps & ~TARE_LONG_READING) * TARE_LONG_READING_STEP
				 : (uint64_t)steps * TARE_READING_STEP;

	return ticks ? tare_recording_ns(r, p, stamp + ticks) - tare_recording_ns(r, p, stamp) : 0;
}

static void refer(const struct tare_recording *r, const struct tare_rprocess *p,
		  struct tare_event *e)
{
	const union tare_rec rec = e->rec;

	switch (e->kind) {
	case TARE_KIND_EVENT:
		set_times(r, p, e, rec.event->ticks, rec.event->effect == TARE_EFFECT_DEL);
		e->reading_before_ns = length_of(r, p, rec.head->stamp, rec.event->reading_before);
		e->reading_after_ns = length_of(r, p, rec.head->stamp, rec.event->reading_after);
		e->device = tare_process_device(&p->public, rec.event->device);
		e->api = look_up(&p->strings, rec.event->api);
		e->name = look_up(&p->strings, rec.event->name);
		e->stack = look_up(&p->stacks, rec.event->stack);
		e->python = look_up(&p->line_stacks, rec.event->python);
		break;
	case TARE_KIND_POOL:
		set_times(r, p, e, rec.pool->since, false);
		e->device = tare_process_device(&p->public, rec.pool->device);
		e->api = look_up(&p->strings, rec.pool->api);
		break;
	case TARE_KIND_LOST:
		if (rec.lost->first && rec.lost->first <= rec.lost->last) {
			e->begin_ns = tare_recording_ns(r, p, rec.lost->first);
			e->end_ns = tare_recording_ns(r, p, rec.lost->last);
		}
		break;
	case TARE_KIND_DEVICE:
		e->device = tare_process_device(&p->public, rec.device->ordinal);
		break;
	case TARE_KIND_CARD:
		e->device = tare_process_device(&p->public, rec.card->device);
		break;
	case TARE_KIND_ASIDE:
		e->device = tare_process_device(&p->public, rec.aside->device);
		break;
	case TARE_KIND_REFUSALS:
		e->device = tare_process_device(&p->public, rec.refusals->device);
		e->api = look_up(&p->strings, rec.refusals->api);
		e->name = look_up(&p->strings, rec.refusals->owner);
		break;
	case TARE_KIND_TENSOR:
		e->device = tare_process_device(&p->public, rec.tensor->device);
		e->stack = look_up(&p->stacks, rec.tensor->stack);
		e->python = look_up(&p->line_stacks, rec.tensor->python);
		break;
	case TARE_KIND_STREAM:
		e->device = tare_process_device(&p->public, rec.stream->device);
		break;
	case TARE_KIND_PROBE:
		e->name = look_up(&p->strings, rec.probe->name);
		break;
	case TARE_KIND_POOL_WITNESS:
		e->device = tare_process_device(&p->public, rec.pool_witness->device);
		break;
	case TARE_KIND_OOM:
		e->device = tare_process_device(&p->public, rec.oom->device);
		e->stack = look_up(&p->stacks, rec.oom->stack);
		e->python = look_up(&p->line_stacks, rec.oom->python);
		e->api = look_up(&p->strings, rec.oom->api);
		e->name = look_up(&p->strings, rec.oom->owner);
		break;
	case TARE_KIND_READING:
		set_times(r, p, e, rec.reading->took, false);
		e->device = tare_process_device(&p->public, rec.reading->device);
		break;
	case TARE_KIND_PEER:
		e->device = tare_process_device(&p->public, rec.peer->device);
		break;
	case TARE_KIND_BLOCK_SUM:
		e->about = about(p, rec.block_sum->pid, rec.block_sum->generation);
		e->device = tare_process_device(&p->public, rec.block_sum->device);
		e->api = look_up(&p->strings, rec.block_sum->rule);
		e->name = look_up(&p->strings, rec.block_sum->owner);
		break;
	case TARE_KIND_HOST_TENSORS:
		e->about = about(p, rec.host_tensors->pid, rec.host_tensors->generation);
		break;
	case TARE_KIND_HOST:
		e->about = about(p, rec.host->pid, rec.host->generation);
		break;
	case TARE_KIND_EXIT:
		e->about = about_pid(p, rec.exit->pid, e->at_ns);
		break;
	case TARE_KIND_GRAPH_ROW:
		e->about = about(p, rec.graph_row->pid, rec.graph_row->generation);
		e->device = tare_process_device(&p->public, rec.graph_row->device);
		e->name = look_up(&p->strings, rec.graph_row->phase);
		e->stack = look_up(&p->stacks, rec.graph_row->stack);
		e->python = look_up(&p->line_stacks, rec.graph_row->python);
		break;
	case TARE_KIND_GRAPH_PART:
		e->about = about(p, rec.graph_part->pid, rec.graph_part->generation);
		e->name = look_up(&p->strings, rec.graph_part->owner);
		break;
	case TARE_KIND_CARRY:
		e->about = about(p, rec.carry->pid, rec.carry->generation);
		e->device = tare_process_device(&p->public, rec.carry->device);
		e->name = look_up(&p->strings, (uint32_t)rec.carry->owner);
		e->stack = look_up(&p->stacks, rec.carry->stack);
		e->python = look_up(&p->line_stacks, rec.carry->python);
		break;
	case TARE_KIND_RSS:
		e->api = look_up(&p->strings, rec.rss->api);
		e->stack = look_up(&p->stacks, rec.rss->stack);
		e->python = look_up(&p->line_stacks, rec.rss->python);
		break;
	case TARE_KIND_PHASE:
		e->name = look_up(&p->strings, rec.phase->name);
		e->domain = look_up(&p->strings, rec.phase->domain);
		break;
	case TARE_KIND_PHASE_SUM:
		e->about = about(p, rec.phase_sum->pid, rec.phase_sum->generation);
		e->device = tare_process_device(&p->public, rec.phase_sum->device);
		e->name = look_up(&p->strings, rec.phase_sum->name);
		e->domain = look_up(&p->strings, rec.phase_sum->domain);
		break;
	case TARE_KIND_PHASE_PART:
		e->about = about(p, rec.phase_part->pid, rec.phase_part->generation);
		e->device = tare_process_device(&p->public, rec.phase_part->device);
		break;
	case TARE_KIND_PHASE_OPEN:
		e->about = about(p, rec.phase_open->pid, rec.phase_open->generation);
		e->device = tare_process_device(&p->public, rec.phase_open->device);
		break;
	default:
		break;
	}
}

bool tare_recording_next(struct tare_recording *r, struct tare_event *e)
{
	struct tare_rstream *s;

	if (!r->is_started) {
		start(r);
	} else if (r->heap_nr > 0) {
		/* Only now: what was given last lives in the memory that this overwrites. */
		if (!advance(r, r->heap[0]))
			r->heap[0] = r->heap[--r->heap_nr];
		if (r->heap_nr > 0)
			sift_down(r, 0);
	}
	if (r->heap_nr == 0)
		return false;
	s = r->heap[0];
	/* Time never runs backwards for a consumer, and never past the end, whatever is damaged. */
	if (s->next_ns > r->now_ns)
		r->now_ns = s->next_ns < r->last_ns ? s->next_ns : r->last_ns;
	*e = r->nothing;
	e->kind = (enum tare_kind)s->next.info->kind;
	e->rec = s->next.rec;
	e->process = &s->process->public;
	e->at_ns = e->begin_ns = e->end_ns = r->now_ns;
	if (s->next.text) {
		tare_str_cut(&r->text, 0);
		tare_str_add_n(&r->text, s->next.text, s->next.text_len);
		e->text = tare_str_text(&r->text);
		e->text_len = s->next.text_len;
	}
	refer(r, s->process, e);
	return true;
}
