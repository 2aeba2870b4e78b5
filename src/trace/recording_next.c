/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass: all streams in one order of time, and each record with what it refers to. */
#include "trace/recording_private.h"

#include "base/array.h"
#include "base/progress.h"
#include "record/bound.h"
#include "trace/stream.h"

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

/* The first of the heap has moved on. */
static void settle_heap(struct tare_recording *r)
{
	r->others_ns = INT64_MAX;
	if (!r->heap_nr)
		return;
	sift_down(r, 0);
	for (size_t i = 1; i < r->heap_nr && i <= 2; i++)
		if (r->others_ns > r->heap[i]->next_ns)
			r->others_ns = r->heap[i]->next_ns;
}

static void start(struct tare_recording *r)
{
	if (!r->heap)
		r->heap = tare_xcalloc(r->stream_nr, sizeof(struct tare_rstream *));
	r->heap_nr = 0;
	r->others_ns = INT64_MIN;
	for (size_t i = 0; i < r->stream_nr; i++)
		if (tare_stream_first(r, r->streams[i]))
			r->heap[r->heap_nr++] = r->streams[i];
	for (size_t i = r->heap_nr / 2; i-- > 0;)
		sift_down(r, i);
	settle_heap(r);
	r->nothing.text = "";
	r->is_started = true;
	r->now_ns = INT64_MIN;
}

static void rewind_streams(struct tare_recording *r, bool is_outline)
{
	for (size_t i = 0; i < r->stream_nr; i++)
		tare_stream_rewind(r->streams[i], is_outline);
	r->is_started = false;
}

void tare_recording_rewind(struct tare_recording *r)
{
	rewind_streams(r, false);
}

void tare_recording_outline(struct tare_recording *r)
{
	rewind_streams(r, true);
}

/* The newest generation of that pid which had begun by then. */
static const struct tare_process *about_pid(const struct tare_rprocess *from, uint32_t pid, int64_t at_ns)
{
	uint64_t *newest = tare_map_get(&from->folder->newest, pid);

	for (uint64_t g = newest ? *newest : 0; g > 0; g--) {
		const struct tare_rprocess *p = tare_recording_find(from->folder, pid, (uint32_t)(g - 1));

		if (p && p->public.first_ns <= at_ns)
			return &p->public;
		if (!p && *newest - g > 1000)
			break; /* a damaged generation; no process has had that many */
	}
	return NULL;
}

static const struct tare_process *about(const struct tare_rprocess *from, uint32_t pid, uint32_t generation)
{
	const struct tare_rprocess *p = tare_recording_find(from->folder, pid, generation);

	return p ? &p->public : NULL;
}

/* Both ends of a call from the one that was stamped and how long the driver took. */
static void set_times(const struct tare_recording *r, const struct tare_rprocess *p, struct tare_event *e,
                      uint64_t ticks, bool is_begin)
{
	uint64_t stamp = e->rec.head->stamp;

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
static int64_t length_of(const struct tare_recording *r, const struct tare_rprocess *p, uint64_t stamp, uint16_t steps)
{
	uint64_t ticks = steps & TARE_LONG_READING ? (uint64_t)(steps & ~TARE_LONG_READING) * TARE_LONG_READING_STEP
	                                           : (uint64_t)steps * TARE_READING_STEP;

	return ticks ? tare_recording_ns(r, p, stamp + ticks) - tare_recording_ns(r, p, stamp) : 0;
}

/* What a record is of: whose log it stands in, and what is filled in beside it. */
struct referring {
	const struct tare_recording *r;
	const struct tare_rprocess *p;
	struct tare_event *e;
	uint32_t pid; /* of the field before `generation` */
};

/*
 * Fills in what one field of a record refers to. Of each call below the role is a constant, so that of this only
 * what its role asks for is left.
 */
static inline __attribute__((always_inline)) void refer_to(struct referring *to, enum tare_field_role role,
                                                           uint64_t value)
{
	const struct tare_rprocess *p = to->p;
	struct tare_event *e = to->e;
	uint64_t stamp = e->rec.head->stamp;

	switch (role) {
	case TARE_FIELD_API:
		e->api = tare_recording_look_up(&p->strings, (uint32_t)value);
		break;
	case TARE_FIELD_NAME:
		e->name = tare_recording_look_up(&p->strings, (uint32_t)value);
		break;
	case TARE_FIELD_DOMAIN:
		e->domain = tare_recording_look_up(&p->strings, (uint32_t)value);
		break;
	case TARE_FIELD_STACK:
		e->stack = tare_recording_look_up(&p->stacks, (uint32_t)value);
		break;
	case TARE_FIELD_PYTHON:
		e->python = tare_recording_look_up(&p->line_stacks, (uint32_t)value);
		break;
	case TARE_FIELD_ORDINAL:
	case TARE_FIELD_DEVICE:
		e->device = tare_process_device(&p->public, (int)value);
		break;
	case TARE_FIELD_PID:
		to->pid = (uint32_t)value;
		break;
	case TARE_FIELD_GENERATION:
		e->about = about(p, to->pid, (uint32_t)value);
		break;
	case TARE_FIELD_LAST_PID:
		e->about = about_pid(p, (uint32_t)value, e->at_ns);
		break;
	case TARE_FIELD_LASTED:
		set_times(to->r, p, e, value, e->kind == TARE_KIND_EVENT && e->rec.event->effect == TARE_EFFECT_DEL);
		break;
	case TARE_FIELD_FIRST:
		e->begin_ns = value ? tare_recording_ns(to->r, p, value) : e->at_ns;
		break;
	case TARE_FIELD_LAST:
		e->end_ns = value ? tare_recording_ns(to->r, p, value) : e->at_ns;
		if (e->end_ns < e->begin_ns) /* damage */
			e->begin_ns = e->end_ns = e->at_ns;
		break;
	case TARE_FIELD_READING_BEFORE:
		e->reading_before_ns = length_of(to->r, p, stamp, (uint16_t)value);
		break;
	case TARE_FIELD_READING_AFTER:
		e->reading_after_ns = length_of(to->r, p, stamp, (uint16_t)value);
		break;
	default:
		break;
	}
}

void tare_recording_refer(const struct tare_recording *r, const struct tare_rprocess *p, struct tare_event *e)
{
	struct referring to = { r, p, e, 0 };

	switch (e->kind) {
#define TARE_FIELD_WORD(words)  TARE_FIELD_WORD
#define TARE_FIELD_FLAGS(words) TARE_FIELD_FLAGS
#define F(type, field, role)    refer_to(&to, TARE_FIELD_##role, (uint64_t)rec->field);
#define TARE_RECORD(id, key, name, cls, fields, tail)                                                                  \
	case TARE_KIND_##key: {                                                                                            \
		const struct tare_rec_##name *rec = e->rec.name;                                                               \
                                                                                                                       \
		(void)rec;                                                                                                     \
		fields;                                                                                                        \
		break;                                                                                                         \
	}
#include "record/record.def"
#undef TARE_FIELD_FLAGS
#undef TARE_FIELD_WORD
	}
}

static void move_on(struct tare_recording *r)
{
	if (!tare_stream_next(r, r->heap[0])) {
		r->heap[0] = r->heap[--r->heap_nr];
		settle_heap(r);
	} else if (r->heap[0]->next_ns >= r->others_ns) {
		settle_heap(r);
	}
}

/* The stream whose record is next; NULL: there is none. */
static struct tare_rstream *step(struct tare_recording *r)
{
	if (!r->is_started)
		start(r);
	else if (r->heap_nr > 0)
		move_on(r); /* only now: what was given last lives in the memory that this overwrites */
	while (r->heap_nr > 0 && r->heap[0]->is_waiting)
		move_on(r);
	if (tare_progress_is_due())
		tare_progress_at(r->now_ns, r->last_ns);
	return r->heap_nr ? r->heap[0] : NULL;
}

bool tare_recording_next_record(struct tare_recording *r, const struct tare_process **process,
                                const struct tare_log **log, struct tare_log_record *rec)
{
	struct tare_rstream *s = step(r);

	if (!s)
		return false;
	*process = &s->process->public;
	*log = s->log;
	tare_stream_complete(s);
	*rec = s->next;
	return true;
}

void tare_recording_make_event(struct tare_recording *r, const struct tare_rprocess *p,
                               const struct tare_log_record *rec, int64_t at_ns, struct tare_event *e)
{
	/* The memory is that of a reader of the log, which reads it from the file again if it needs it again. */
	tare_bound_record(rec->info->kind, (void *)(uintptr_t)rec->rec.head);
	*e = r->nothing;
	e->kind = (enum tare_kind)rec->info->kind;
	e->rec = rec->rec;
	e->process = &p->public;
	e->at_ns = e->begin_ns = e->end_ns = at_ns;
	if (rec->text) {
		tare_str_cut(&r->text, 0);
		tare_str_add_n(&r->text, rec->text, rec->text_len);
		e->text = tare_str_text(&r->text);
		e->text_len = rec->text_len;
	}
	tare_recording_refer(r, p, e);
}

bool tare_recording_next(struct tare_recording *r, struct tare_event *e)
{
	struct tare_rstream *s = step(r);

	if (!s)
		return false;
	/* Time never runs backwards for a consumer, and never past the end, whatever is damaged. */
	if (s->next_ns > r->now_ns)
		r->now_ns = s->next_ns < r->last_ns ? s->next_ns : r->last_ns;
	tare_recording_make_event(r, s->process, &s->next, r->now_ns, e);
	return true;
}
