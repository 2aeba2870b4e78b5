/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a recording that is kept open. Those that are read are copied and wait until they are settled (growing_log.c
 * reads them); then they are put in the order that the second pass over a whole recording has.
 */
#include "trace/growing.h"

#include "base/array.h"
#include "base/comparator.h"
#include "trace/growing_private.h"
#include "trace/hold.h"
#include "trace/near_line.h"
#include "trace/outline.h"
#include "trace/stream.h"

#include <stdlib.h>
#include <string.h>

/* What a thread has begun to write down may have a time that is somewhat before that of what it wrote last. */
#define SLACK_NS INT64_C(100000000)
/* What is not settled after so long waits for something that does not come: whoever opens the recording again sees it. */
#define STUCK_NS INT64_C(8000000000)

/* ---- memory of records ---- */

uint8_t *tare_growing_reserve(struct tare_growing *g, size_t size)
{
	struct tare_slab *s = g->slab;
	uint8_t *at;

	size = (size + TARE_CELL - 1) / TARE_CELL * TARE_CELL;
	if (!s || s->used + size > s->size) {
		size_t room = size > TARE_SLAB_BYTES ? size : TARE_SLAB_BYTES;

		s = tare_xmalloc(sizeof(*s) + room);
		*s = (struct tare_slab){ .size = room };
		if (g->slab && !g->slab->live)
			free(g->slab);
		g->slab = s;
	}
	at = s->bytes + s->used;
	s->used += size;
	s->live++;
	return at;
}

static void release(struct tare_growing *g, const struct tare_held *h)
{
	struct tare_slab *s = h->slab;

	if (--s->live)
		return;
	if (s == g->slab)
		s->used = 0;
	else
		free(s);
}

void tare_growing_hold(struct tare_growing *g, struct tare_rprocess *p, const struct tare_log_record *rec, int lane)
{
	size_t fixed = rec->info->fixed;
	uint8_t *bytes = tare_growing_reserve(g, fixed + rec->text_len);
	uint64_t stamp = rec->rec.head->stamp;

	memcpy(bytes, rec->rec.head, fixed);
	if (rec->text)
		memcpy(bytes + fixed, rec->text, rec->text_len);
	TARE_APPEND(g->waiting.items, g->waiting.nr, g->waiting.cap) =
		(struct tare_held){ .stamp = stamp,
		                    .process = p,
		                    .slab = g->slab,
		                    .head = (const struct tare_record *)(const void *)bytes,
		                    .text_len = (uint32_t)rec->text_len,
		                    .lane = (int16_t)lane,
		                    .has_text = rec->text != NULL };
	if (stamp > p->last_stamp)
		p->last_stamp = stamp;
}

/* ---- the order ---- */

/* As is_before() of recording_next.c. Of what is alike, that which was read first stands first. */
TARE_COMPARATOR(by_order, struct tare_held,
                TARE_RISING(ns) TARE_RISING(process->clock->number) TARE_RISING(stamp) TARE_RISING(lane))

/* Where the row of items that are in order as they are ends. */
static size_t run_end(const struct tare_held *items, size_t begin, size_t nr)
{
	size_t end = begin + 1;

	while (end < nr && by_order(&items[end - 1], &items[end]) <= 0)
		end++;
	return end < nr ? end : nr;
}

static void merge(const struct tare_held *a, size_t n, const struct tare_held *b, size_t m, struct tare_held *out)
{
	while (n && m) {
		if (by_order(a, b) <= 0) {
			*out++ = *a++;
			n--;
		} else {
			*out++ = *b++;
			m--;
		}
	}
	memcpy(out, a, n * sizeof(*a));
	memcpy(out + n, b, m * sizeof(*b));
}

/* Rows that are in order, one per block of a lane, are merged two by two. */
static void sort(struct tare_growing *g, struct tare_held_list *list)
{
	size_t first = 0;

	while ((first = run_end(list->items, 0, list->nr)) < list->nr) {
		size_t at = 0;

		g->merged.items = tare_array_reserve(g->merged.items, &g->merged.cap, list->nr, sizeof(*g->merged.items));
		while (at < list->nr) {
			size_t middle = run_end(list->items, at, list->nr);
			size_t end = middle < list->nr ? run_end(list->items, middle, list->nr) : list->nr;

			merge(list->items + at, middle - at, list->items + middle, end - middle, g->merged.items + at);
			at = end;
		}
		g->merged.nr = list->nr;
		{
			struct tare_held_list swapped = *list;

			*list = g->merged;
			g->merged = swapped;
		}
	}
}

/* The last stamp that is settled, by process: times only grow with stamps. */
static void find_settled_stamps(struct tare_growing *g)
{
	for (size_t i = 0; i < g->recording->process_nr; i++) {
		struct tare_rprocess *p = g->recording->processes[i];

		p->settled_stamp = tare_recording_stamp(g->recording, &p->public, g->settled_ns + 1) - 1;
	}
}

/* What waited and is settled now, with its time. */
static void pick_settled(struct tare_growing *g, struct tare_held_list *fresh)
{
	const struct tare_rprocess *process = NULL;
	struct tare_near_line line = { 0 };
	size_t kept = 0;

	fresh->nr = 0;
	fresh->items = tare_array_reserve(fresh->items, &fresh->cap, g->waiting.nr + 1, sizeof(*fresh->items));
	for (size_t i = 0; i < g->waiting.nr; i++) {
		const struct tare_held *h = &g->waiting.items[i];
		struct tare_held *to = &fresh->items[fresh->nr];

		if (h->stamp > h->process->settled_stamp) {
			g->waiting.items[kept++] = *h;
			continue;
		}
		*to = *h;
		fresh->nr++;
		if (h->process == process && tare_near_line_has(&line, h->stamp)) {
			to->ns = tare_near_line_ns(&line, h->stamp);
			continue;
		}
		to->ns = tare_recording_ns(g->recording, h->process, h->stamp);
		line = tare_near_line(h->process, h->stamp, to->ns);
		process = h->process;
	}
	g->waiting.nr = kept;
}

/* Which of them are needless to who looks ahead, as take_outline() of stream.c; the first of all is always given. */
static void find_needless(struct tare_held_list *list)
{
	const struct tare_rprocess *process = NULL;
	struct tare_held *first = NULL;
	bool comes[TARE_PLACE_NR];

	for (size_t i = list->nr; i-- > 0;) {
		struct tare_held *h = &list->items[i];
		int place = tare_outline_place(h->head);

		if (place < 0 || h->process != process)
			memset(comes, 0, sizeof(comes));
		process = place < 0 ? NULL : h->process;
		if (place < 0)
			continue;
		h->is_needless = comes[place];
		comes[place] = true;
		first = tare_outline_begins(place) ? h : first;
	}
	if (first)
		first->is_needless = false;
}

/* What waited and is settled now goes behind what is in order. */
static void settle(struct tare_growing *g, int64_t settled_ns)
{
	struct tare_held_list *fresh = &g->fresh;

	if (settled_ns <= g->settled_ns)
		return;
	g->settled_ns = settled_ns;
	find_settled_stamps(g);
	pick_settled(g, fresh);
	sort(g, fresh);
	find_needless(fresh);
	for (size_t i = 0; i < g->taken; i++)
		release(g, &g->ordered.items[i]);
	g->ordered.nr -= g->taken;
	g->looked -= g->taken;
	if (g->ordered.nr)
		memmove(g->ordered.items, g->ordered.items + g->taken, g->ordered.nr * sizeof(*g->ordered.items));
	g->taken = 0;
	g->ordered.items =
		tare_array_reserve(g->ordered.items, &g->ordered.cap, g->ordered.nr + fresh->nr + 1, sizeof(*g->ordered.items));
	if (fresh->nr)
		memcpy(g->ordered.items + g->ordered.nr, fresh->items, fresh->nr * sizeof(*fresh->items));
	g->ordered.nr += fresh->nr;
}

/* ---- from a whole recording ---- */

int64_t tare_growing_begin_ns(const struct tare_recording *r)
{
	int64_t settled = tare_recording_settled_ns(r), last = tare_recording_last_ns(r) - SLACK_NS;

	if (r->folder_nr != 1 || r->is_one_log || !r->is_open || tare_recording_unread_nr(r))
		return INT64_MIN;
	for (size_t i = 0; i < r->process_nr; i++) {
		const struct tare_process *p = &r->processes[i]->public;

		if (p->is_damaged || p->lost || p->unfinished || p->machine != r->processes[0]->public.machine)
			return INT64_MIN;
	}
	settled = settled < last ? settled : last;
	return settled > 0 ? settled : INT64_MIN;
}

static void hold_rest(struct tare_growing *g, int64_t from_ns)
{
	const struct tare_process *process;
	const struct tare_log *log;
	struct tare_log_record rec;

	tare_recording_pass_over(g->recording,
	                         &(struct tare_recording_state){ tare_recording_newest_segment(g->recording), from_ns });
	tare_recording_rewind(g->recording);
	while (tare_recording_next_record(g->recording, &process, &log, &rec))
		if (tare_recording_time_ns(g->recording, process, rec.rec.head->stamp) > from_ns)
			tare_growing_hold(g, (struct tare_rprocess *)(uintptr_t)process, &rec, 0);
}

/*
 * Nobody reads them again, and what is left of them closes the logs. So files may be removed again: the program's cap must hold, also where
 * somebody looks for hours.
 */
static void close_streams(struct tare_recording *r)
{
	tare_hold_end(r->folders[0]->hold);
	r->folders[0]->hold = -1;
	for (size_t i = 0; i < r->stream_nr; i++) {
		struct tare_rstream *s = r->streams[i];

		tare_stream_free(s);
		s->reorder = NULL;
		free(s->ranges);
		s->ranges = NULL;
		s->range_nr = s->range_cap = 0;
	}
	r->heap_nr = 0;
}

struct tare_growing *tare_growing_new(struct tare_recording *recording, int64_t from_ns)
{
	struct tare_growing *g = tare_xcalloc(1, sizeof(*g));

	g->recording = recording;
	g->settled_ns = g->now_ns = g->looked_ns = from_ns;
	g->last_ns = tare_recording_last_ns(recording);
	tare_growing_open_logs(g); /* before streams read them: the first pass left them where they end */
	find_settled_stamps(g);
	hold_rest(g, from_ns);
	close_streams(recording);
	return g;
}

void tare_growing_free(struct tare_growing *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->ordered.nr; i++)
		release(g, &g->ordered.items[i]);
	for (size_t i = 0; i < g->waiting.nr; i++)
		release(g, &g->waiting.items[i]);
	tare_growing_forget(g);
	free(g);
}

/* ---- as it grows ---- */

/* Of each process, as one that opened the recording now would find it, and of all. */
static void find_last(struct tare_growing *g)
{
	for (size_t i = 0; i < g->recording->process_nr; i++) {
		struct tare_rprocess *p = g->recording->processes[i];
		int64_t ns = p->last_stamp ? tare_recording_ns(g->recording, p, p->last_stamp) : INT64_MIN;

		p->public.last_ns = ns > p->public.last_ns ? ns : p->public.last_ns;
		g->last_ns = ns > g->last_ns ? ns : g->last_ns;
	}
}

bool tare_growing_read(struct tare_growing *g)
{
	int64_t settled, complete;
	size_t before = g->waiting.nr;

	if (!tare_growing_read_logs(g, &complete))
		return false;
	for (size_t i = before; i < g->waiting.nr; i++)
		if (g->waiting.items[i].stamp <= g->waiting.items[i].process->settled_stamp)
			return false; /* it is later than anything is, as a rule */
	find_last(g);
	settled = tare_recording_settled_ns(g->recording);
	complete -= SLACK_NS;
	settle(g, settled < complete ? settled : complete);
	return g->last_ns - g->settled_ns < STUCK_NS;
}

int64_t tare_growing_settled_ns(const struct tare_growing *g)
{
	return g->settled_ns;
}

int64_t tare_growing_last_ns(const struct tare_growing *g)
{
	return g->last_ns;
}

static void make(struct tare_growing *g, const struct tare_held *h, int64_t *now_ns, struct tare_event *e)
{
	const struct tare_kind_info *info = tare_decode_kind(h->head->kind);
	const char *text = (const char *)h->head + info->fixed;
	struct tare_log_record rec = {
		.info = info, .rec.head = h->head, .text = h->has_text ? text : NULL, .text_len = h->text_len
	};

	*now_ns = h->ns > *now_ns ? h->ns : *now_ns;
	tare_recording_make_event(g->recording, h->process, &rec, *now_ns, e);
}

bool tare_growing_look(struct tare_growing *g, struct tare_event *e)
{
	while (g->looked < g->ordered.nr && g->ordered.items[g->looked].is_needless)
		g->looked++;
	if (g->looked >= g->ordered.nr)
		return false;
	make(g, &g->ordered.items[g->looked++], &g->looked_ns, e);
	return true;
}

bool tare_growing_take(struct tare_growing *g, int64_t until_ns, struct tare_event *e)
{
	if (g->taken >= g->looked || g->ordered.items[g->taken].ns > until_ns)
		return false;
	make(g, &g->ordered.items[g->taken++], &g->now_ns, e);
	return true;
}
