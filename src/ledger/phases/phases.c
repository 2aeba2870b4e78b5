/* SPDX-License-Identifier: Apache-2.0 */
/* Which phases are open: stacks of threads, ranges, marks. No bytes here. */
#include "ledger/phases/phases.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* A program that never ends what it begins must not need memory for each. */
enum { OPEN_MAX = 1 << 16 };

static uint64_t thread_key(int process, uint32_t tid)
{
	return (uint64_t)process << 32 | tid;
}

/* Ids are numbers that count up, or addresses. */
static uint64_t range_key(int process, uint8_t source, uint64_t id)
{
	return (id * 0x9e3779b97f4a7c15u) ^ ((uint64_t)process << 8 | source);
}

int tare_phase_frame(struct tare_phases_part *phases, struct tare_fold *f, int known, int process,
		     uint32_t tid, uint64_t id, int64_t t)
{
	struct tare_phase_frame *frame;
	struct tare_phase_level *levels;
	int i = phases->frame_free - 1;

	if (i >= 0) {
		phases->frame_free = phases->frames[i].below + 1;
		levels = phases->frames[i].levels;
	} else {
		phases->frames = tare_array_reserve(phases->frames, &phases->frame_cap,
						    phases->frame_nr + 1, sizeof(*phases->frames));
		i = (int)phases->frame_nr++;
		levels = tare_xcalloc((size_t)f->device_nr + 1, sizeof(*levels));
	}
	frame = &phases->frames[i];
	*frame = (struct tare_phase_frame){ .known = known,
					    .is_used = true,
					    .process = process,
					    .tid = tid,
					    .id = id,
					    .serial = ++phases->serial,
					    .begin_ns = t,
					    .below = -1,
					    .parent = -1,
					    .levels = levels,
					    .resident = tare_phase_resident_now(phases, process) };
	return i;
}

void tare_phase_free_frame(struct tare_phases_part *phases, int frame)
{
	struct tare_phase_frame *x = &phases->frames[frame];

	x->is_used = false;
	x->below = phases->frame_free - 1;
	phases->frame_free = frame + 1;
}

static int top_of(const struct tare_phases_part *phases, int process, uint32_t tid)
{
	uint64_t *top = tare_map_get(&phases->top_of, thread_key(process, tid));

	return top ? (int)*top - 1 : -1;
}

static void set_top(struct tare_phases_part *phases, int process, uint32_t tid, int frame)
{
	*tare_map_put(&phases->top_of, thread_key(process, tid), NULL) = (uint64_t)(frame + 1);
}

/*
 * In which open phase of the thread the next one stands. The program's own are not inside those of a
 * library (NVTX domains): NCCL leaves phases open whose ends it tells in another way.
 */
static int around(const struct tare_phases_part *phases, int process, uint32_t tid,
		  const char *domain)
{
	int i = top_of(phases, process, tid);

	while (i >= 0 && !*domain && *phases->known[phases->frames[i].known].domain)
		i = phases->frames[i].below;
	return i;
}

void tare_phases_step(const struct tare_phases_part *phases, struct tare_step *s)
{
	int frame = phases->open_nr ? around(phases, s->process, s->tid, "") : -1;

	if (frame < 0 && phases->open_nr)
		frame = top_of(phases, s->process, s->tid);
	s->phase = frame < 0 ? NULL : phases->known[phases->frames[frame].known].path;
}

void tare_phase_link(struct tare_phases_part *phases, int frame)
{
	struct tare_phase_frame *x = &phases->frames[frame];
	const struct tare_phase_known *k;

	phases->open_nr += x->known >= 0;
	if (x->known < 0) {
		*tare_map_put(&phases->mark_of, (uint64_t)x->process, NULL) = (uint64_t)frame + 1;
		return;
	}
	k = &phases->known[x->known];
	if (k->what == TARE_PHASE_BEGIN) {
		*tare_map_put(&phases->range_of, range_key(x->process, k->source, x->id), NULL) =
			(uint64_t)frame + 1;
		return;
	}
	x->below = top_of(phases, x->process, x->tid);
	x->parent = around(phases, x->process, x->tid, k->domain);
	if (x->parent >= 0)
		x->parent_serial = phases->frames[x->parent].serial;
	set_top(phases, x->process, x->tid, frame);
}

static void unlink_frame(struct tare_phases_part *phases, int frame)
{
	struct tare_phase_frame *x = &phases->frames[frame];
	const struct tare_phase_known *k = &phases->known[x->known];
	int at;

	phases->open_nr--;
	if (k->what == TARE_PHASE_BEGIN) {
		tare_map_remove(&phases->range_of, range_key(x->process, k->source, x->id), NULL);
		return;
	}
	at = top_of(phases, x->process, x->tid);
	if (at == frame) {
		set_top(phases, x->process, x->tid, x->below);
		return;
	}
	while (at >= 0 && phases->frames[at].below != frame)
		at = phases->frames[at].below;
	if (at >= 0)
		phases->frames[at].below = x->below;
}

/* ---- what somebody asked for by name ---- */

bool tare_phase_is_watched(const struct tare_phases_part *phases, const struct tare_fold *f,
			   int known, int watch)
{
	const struct tare_phase_known *k = &phases->known[known];

	return !strcmp(f->watches[watch].name, k->name) || !strcmp(f->watches[watch].name, k->path);
}

static void watch_begin(struct tare_phases_part *phases, struct tare_fold *f,
			struct tare_phase_frame *x)
{
	for (int i = 0; i < f->watch_nr; i++) {
		struct tare_phase_watch *w = &f->watches[i];

		if (!tare_phase_is_watched(phases, f, x->known, i) || ++w->seen != w->nth)
			continue;
		w->is_found = true;
		w->begin_ns = x->begin_ns;
		w->serial = x->serial;
		x->is_watched = true;
	}
}

void tare_phases_count_watched(const struct tare_phases_part *phases, struct tare_fold *f)
{
	for (int i = 0; i < f->watch_nr; i++)
		for (size_t k = 0; k < phases->known_nr; k++)
			if (tare_phase_is_watched(phases, f, (int)k, i))
				f->watches[i].seen += phases->known[k].repeats;
}

static void watch_end(struct tare_fold *f, const struct tare_phase_frame *x, int64_t t)
{
	for (int i = 0; x->is_watched && i < f->watch_nr; i++)
		if (f->watches[i].serial == x->serial)
			f->watches[i].end_ns = t;
}

/* ---- beginnings and ends ---- */

static void count_thread(struct tare_phases_part *phases, int known, uint32_t tid)
{
	bool is_new;

	tare_map_put(&phases->threads_seen, (uint64_t)known << 32 | tid, &is_new);
	phases->known[known].threads += is_new;
}

static void begin(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_event *e,
		  bool is_range)
{
	const struct tare_rec_phase *r = e->rec.phase;
	const char *domain = e->domain ? e->domain : "";
	int process = e->process->index, outer = -1, known, frame;

	if (!is_range)
		outer = around(phases, process, r->tid, domain);
	known = tare_phase_known(phases, f, process, outer < 0 ? -1 : phases->frames[outer].known,
				 e->name ? e->name : "", domain, r->source, r->what);
	phases->known[known].repeats++;
	if (phases->known[known].first_ns > e->at_ns)
		phases->known[known].first_ns = e->at_ns;
	count_thread(phases, known, r->tid);
	if (phases->open_nr >= OPEN_MAX) {
		phases->dropped++;
		return;
	}
	frame = tare_phase_frame(phases, f, known, process, r->tid, r->id, e->at_ns);
	phases->frames[frame].nth = tare_phase_count_name(phases, known, 1);
	tare_phase_link(phases, frame);
	watch_begin(phases, f, &phases->frames[frame]);
	tare_phase_queue(phases, f, e->at_ns, frame, -1);
}

struct tare_phase_change *tare_phase_change(struct tare_phases_part *phases, struct tare_fold *f,
					    int known, uint32_t tid, int device, int64_t begin_ns,
					    int64_t t, bool is_end)
{
	const struct tare_phase_known *k = &phases->known[known];
	struct tare_phase_changes *c = &f->phase_changes;

	c->items = tare_array_reserve(c->items, &c->cap, c->count + 1, sizeof(*c->items));
	c->items[c->count++] = (struct tare_phase_change){ .process = k->process,
							   .device = device,
							   .tid = tid,
							   .known = (uint64_t)known,
							   .name = k->name,
							   .is_end = is_end,
							   .is_mark = k->what == TARE_PHASE_MARK,
							   .begin_ns = begin_ns,
							   .t = t };
	return &c->items[c->count - 1];
}

static void end_frame(struct tare_phases_part *phases, struct tare_fold *f, int frame, int64_t t,
		      bool is_unclosed)
{
	struct tare_phase_frame *x = &phases->frames[frame];
	struct tare_phase_known *k = &phases->known[x->known];

	unlink_frame(phases, frame);
	x->is_ended = true;
	tare_phase_change(phases, f, x->known, x->tid, TARE_PHASE_OVER, x->begin_ns, t, true);
	tare_phase_resident_add(&k->resident, &x->resident);
	k->unclosed += is_unclosed;
	k->ns += t - x->begin_ns;
	if (k->last_ns < t)
		k->last_ns = t;
	watch_end(f, x, t);
	tare_phase_queue(phases, f, t, frame, x->known);
}

/* Most are of no domain, "". */
static bool is_same_domain(const char *a, const char *b)
{
	return *a == *b && (!*a || !strcmp(a, b));
}

/* Each source, and each domain of NVTX, has stacks of its own: its pop ends its own innermost one. */
static int find_open(struct tare_phases_part *phases, const struct tare_event *e)
{
	const struct tare_rec_phase *r = e->rec.phase;
	const char *domain = e->domain ? e->domain : "";
	int i;

	if (r->what == TARE_PHASE_END) {
		uint64_t *range = tare_map_get(&phases->range_of,
					       range_key(e->process->index, r->source, r->id));

		return range ? (int)*range - 1 : -1;
	}
	for (i = top_of(phases, e->process->index, r->tid); i >= 0; i = phases->frames[i].below) {
		const struct tare_phase_known *k = &phases->known[phases->frames[i].known];

		if (k->source == r->source &&
		    (is_same_domain(k->domain, domain) || phases->is_full))
			break;
	}
	return i;
}

/* Since the recording began: what the first mark of a process ends. */
static int look_back(struct tare_phases_part *phases, struct tare_fold *f,
		     const struct tare_process *process)
{
	int frame = tare_phase_frame(phases, f, -1, process->index, 0, 0, process->first_ns);

	for (int i = 0; i < f->device_nr; i++)
		phases->frames[frame].levels[i] = (struct tare_phase_level){ .from_start = true };
	phases->frames[frame].host.from_start = true;
	phases->frames[frame].resident = tare_phase_resident_so_far(phases, process->index);
	return frame;
}

/* A mark ends what began with the one before, or with the recording. */
static void mark(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_phase *r = e->rec.phase;
	const char *domain = e->domain ? e->domain : "";
	int process = e->process->index, known, frame;
	int outer = around(phases, process, r->tid, domain);
	uint64_t *since = tare_map_get(&phases->mark_of, (uint64_t)process);

	known = tare_phase_known(phases, f, process, outer < 0 ? -1 : phases->frames[outer].known,
				 e->name ? e->name : "", domain, r->source, r->what);
	phases->known[known].repeats++;
	phases->known[known].last_ns = e->at_ns;
	if (phases->known[known].first_ns > e->at_ns)
		phases->known[known].first_ns = e->at_ns;
	count_thread(phases, known, r->tid);
	frame = since ? (int)*since - 1 : look_back(phases, f, e->process);
	phases->frames[frame].known = known;
	phases->frames[frame].nth = tare_phase_count_name(phases, known, 1);
	tare_phase_change(phases, f, known, e->rec.phase->tid, TARE_PHASE_OVER, e->at_ns, e->at_ns,
			  true);
	watch_begin(phases, f, &phases->frames[frame]);
	watch_end(f, &phases->frames[frame], e->at_ns);
	phases->frames[frame].is_ended = true;
	tare_phase_resident_add(&phases->known[known].resident, &phases->frames[frame].resident);
	tare_phase_queue(phases, f, e->at_ns, frame, known);
	frame = tare_phase_frame(phases, f, -1, process, 0, 0, e->at_ns);
	tare_phase_link(phases, frame);
	tare_phase_queue(phases, f, e->at_ns, frame, -1);
}

static void take(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_event *e)
{
	int frame;

	switch ((enum tare_phase_what)e->rec.phase->what) {
	case TARE_PHASE_PUSH:
		begin(phases, f, e, false);
		return;
	case TARE_PHASE_BEGIN:
		begin(phases, f, e, true);
		return;
	case TARE_PHASE_POP:
	case TARE_PHASE_END:
		frame = find_open(phases, e);
		if (frame >= 0)
			end_frame(phases, f, frame, e->at_ns, false);
		else
			phases->stray++;
		return;
	case TARE_PHASE_MARK:
		mark(phases, f, e);
		return;
	}
}

void tare_phases_end(struct tare_phases_part *phases, struct tare_fold *f, int process, int64_t t)
{
	for (size_t i = phases->frame_nr; i-- > 0;) {
		struct tare_phase_frame *x = &phases->frames[i];

		if (x->is_used && !x->is_ended && x->known >= 0 &&
		    (process < 0 || x->process == process))
			end_frame(phases, f, (int)i, t, true);
	}
	for (int i = 0; process < 0 && i < f->device_nr; i++)
		if (f->devices[i])
			tare_phases_advance(phases, f, f->devices[i], INT64_MAX);
	if (process < 0)
		tare_phases_host(phases, f, INT64_MAX);
}

void tare_phases_note_strays(struct tare_phases_part *phases, struct tare_fold *f)
{
	if (phases->dropped)
		tare_fold_note(
			f,
			"%llu phases began while %d were open, and were only counted; does the "
			"program end those that it begins?",
			(unsigned long long)phases->dropped, OPEN_MAX);
	if (phases->stray)
		tare_fold_note(f, "%llu phase%s ended that had not begun; they were ignored",
			       (unsigned long long)phases->stray, phases->stray == 1 ? "" : "s");
}

static bool has_line(const struct tare_phases_part *phases, const char *line, size_t len)
{
	for (size_t i = 0; i < phases->known_nr; i++) {
		const struct tare_phase_known *k = &phases->known[i];

		if (k->source == TARE_PHASE_BY_LINE && !strncmp(k->name, line, len) &&
		    !k->name[len])
			return true;
	}
	return false;
}

/* Asked for by --phase and never seen: a typing error, as a rule. */
static void note_lines(struct tare_phases_part *phases, struct tare_fold *f)
{
	for (const char *at = f->lines; at && *at;) {
		size_t len = strcspn(at, "\n");

		if (!has_line(phases, at, len))
			tare_fold_note(
				f,
				"--phase %.*s: no recorded Python program came to that line "
				"after its first tensor or its first call of the driver; give "
				"a line that has code and runs, and the name of its file or "
				"the end of its path",
				(int)len, at);
		at += len + (at[len] == '\n');
	}
}

void tare_phases_notes(struct tare_phases_part *phases, struct tare_fold *f)
{
	uint64_t unclosed = 0;

	note_lines(phases, f);
	for (size_t i = 0; i < phases->known_nr; i++)
		unclosed += phases->known[i].unclosed;
	if (unclosed)
		tare_fold_note(f,
			       "%llu phase%s did not end before the program or the recording did; "
			       "their numbers are those of that moment",
			       (unsigned long long)unclosed, unclosed == 1 ? "" : "s");
}

void tare_phases_free(struct tare_phases_part *phases)
{
	for (size_t i = 0; i < phases->known_nr; i++)
		free(phases->known[i].totals);
	for (size_t i = 0; i < phases->frame_nr; i++)
		free(phases->frames[i].levels);
	for (int i = 0; i < phases->device_nr; i++)
		free(phases->devices[i].open);
	free(phases->devices);
	free(phases->residents);
	free(phases->host.open);
	free(phases->known);
	free(phases->frames);
	free(phases->queue);
	tare_strmap_free(&phases->known_of);
	tare_strmap_free(&phases->named);
	tare_map_free(&phases->threads_seen);
	tare_map_free(&phases->top_of);
	tare_map_free(&phases->range_of);
	tare_map_free(&phases->mark_of);
	tare_map_free(&phases->number_of);
	tare_map_free(&phases->open_of);
}

void tare_phases_begin(struct tare_phases_part *phases, const struct tare_fold *f)
{
	int had = phases->device_nr;

	phases->devices = tare_array_widen(phases->devices, (size_t)had, (size_t)f->device_nr,
					   sizeof(*phases->devices));
	phases->device_nr = f->device_nr;
	tare_phase_resident_widen(phases, f);
	for (int i = had; i < phases->device_nr; i++)
		phases->devices[i].next = phases->queue_base;
}

void tare_phases_event(struct tare_phases_part *phases, struct tare_fold *f,
		       struct tare_device_fold *d, const struct tare_event *e)
{
	(void)d;
	if (e->kind == TARE_KIND_HOST)
		tare_phase_resident_read(phases, e);
	else
		take(phases, f, e);
}

/* As many frames are open as were begun and have not ended; no device is ahead of the boundaries. */
const char *tare_phases_check(const struct tare_phases_part *phases, const struct tare_fold *f)
{
	size_t open = 0;

	(void)f;
	for (size_t i = 0; i < phases->frame_nr; i++)
		open += phases->frames[i].is_used && !phases->frames[i].is_ended &&
			phases->frames[i].known >= 0;
	if (open != phases->open_nr)
		return "more phases are open than began and did not end, or fewer";
	for (int i = 0; i < phases->device_nr; i++)
		if (phases->devices[i].next > phases->queue_base + phases->queue_nr)
			return "a device has seen phases begin that did not";
	if (phases->host.next > phases->queue_base + phases->queue_nr)
		return "the CPU has seen phases begin that did not";
	return NULL;
}
