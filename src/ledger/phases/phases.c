/* SPDX-License-Identifier: Apache-2.0 */
/* Phases begin and end. No bytes here. */
#include "ledger/phases/phases.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/xalloc.h"
#include "ledger/phases/phase_queue.h"
#include "ledger/phases/phase_stack.h"

#include <stdlib.h>
#include <string.h>

/* A program that never ends what it begins must not need memory for each. */
enum { OPEN_MAX = 1 << 16 };

/* ---- beginnings and ends ---- */

static void count_thread(struct tare_phases_part *phases, int known, uint32_t tid)
{
	struct tare_phase_known *k = &phases->known[known];
	bool is_new;

	if (k->last_thread == (uint64_t)tid + 1)
		return;
	k->last_thread = (uint64_t)tid + 1;
	tare_map_put(&phases->threads_seen, (uint64_t)known << 32 | tid, &is_new);
	k->threads += is_new;
}

static void count(struct tare_phases_part *phases, int known, uint32_t tid, int64_t t)
{
	struct tare_phase_known *k = &phases->known[known];

	k->repeats++;
	if (k->first_ns > t)
		k->first_ns = t;
	count_thread(phases, known, tid);
}

void tare_phase_begin(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_phase_begin *b)
{
	int frame;

	count(phases, b->known, b->tid, b->t);
	if (phases->open_nr >= OPEN_MAX) {
		phases->dropped++;
		return;
	}
	frame = tare_phase_frame(phases, f, b);
	phases->frames[frame].nth = tare_phase_count_name(phases, b->known, 1);
	tare_phase_link(phases, frame, b->outer);
	tare_phase_watch_begin(phases, f, &phases->frames[frame]);
	tare_phase_queue(phases, b->t, frame, -1);
}

/* The phase of an event, which is in a frame of its thread (-1: none). */
static struct tare_phase_begin begin_of(struct tare_phases_part *phases, struct tare_fold *f,
                                        const struct tare_event *e, bool is_range)
{
	const struct tare_rec_phase *r = e->rec.phase;
	const char *domain = e->domain ? e->domain : "";
	struct tare_phase_begin b = {
		.process = e->process->index, .outer = -1, .tid = r->tid, .id = r->id, .t = e->at_ns
	};

	if (!is_range)
		b.outer = tare_phase_around(phases, (int)*tare_phase_top(phases, b.process, b.tid) - 1, domain);
	b.known = tare_phase_known(phases, f, b.process, b.outer < 0 ? -1 : phases->frames[b.outer].known,
	                           e->name ? e->name : "", domain, r->source, r->what);
	return b;
}

/* When phases were open is asked for by those alone who show a history. */
static void tell_over(struct tare_phases_part *phases, struct tare_fold *f, int known, uint32_t tid, int64_t begin_ns,
                      int64_t t)
{
	if (f->history || f->keeps_history)
		tare_phase_change(phases, f, known, tid, TARE_PHASE_OVER, begin_ns, t, true);
}

void tare_phase_end(struct tare_phases_part *phases, struct tare_fold *f, int frame, int64_t t, bool is_unclosed)
{
	struct tare_phase_frame *x = &phases->frames[frame];
	struct tare_phase_known *k = &phases->known[x->known];

	tare_phase_unlink(phases, frame);
	x->is_ended = true;
	tell_over(phases, f, x->known, x->tid, x->begin_ns, t);
	tare_phase_resident_add(&k->resident, &x->resident);
	k->unclosed += is_unclosed;
	k->ns += t - x->begin_ns;
	if (k->last_ns < t)
		k->last_ns = t;
	tare_phase_watch_end(f, x, t);
	tare_phase_queue(phases, t, frame, x->known);
}

/* Since the recording began: what the first mark of a process ends. */
static int look_back(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_process *process)
{
	int frame =
		tare_phase_frame(phases, f,
	                     &(struct tare_phase_begin){ .known = -1, .process = process->index, .t = process->first_ns });

	for (int i = 0; i < f->device_nr; i++)
		phases->frames[frame].levels[i] = (struct tare_phase_level){ .from_start = true };
	phases->frames[frame].host = (struct tare_phase_host_level){ .from_start = true };
	phases->frames[frame].resident = tare_phase_resident_so_far(phases, process->index);
	return frame;
}

/* A mark ends what began with the one before, or with the recording. */
static void mark(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_event *e)
{
	struct tare_phase_begin b = begin_of(phases, f, e, false);
	uint64_t *since = tare_map_get(&phases->mark_of, (uint64_t)b.process);
	int frame = since ? (int)*since - 1 : look_back(phases, f, e->process);
	struct tare_phase_frame *x = &phases->frames[frame];

	count(phases, b.known, b.tid, b.t);
	phases->known[b.known].last_ns = b.t;
	x->known = b.known;
	x->nth = tare_phase_count_name(phases, b.known, 1);
	tell_over(phases, f, b.known, b.tid, b.t, b.t);
	tare_phase_watch_begin(phases, f, x);
	tare_phase_watch_end(f, x, b.t);
	x->is_ended = true;
	tare_phase_resident_add(&phases->known[b.known].resident, &x->resident);
	tare_phase_queue(phases, b.t, frame, b.known);
	frame = tare_phase_frame(phases, f, &(struct tare_phase_begin){ .known = -1, .process = b.process, .t = b.t });
	tare_phase_link(phases, frame, -1);
	tare_phase_queue(phases, b.t, frame, -1);
}

void tare_phase_take(struct tare_phases_part *phases, struct tare_fold *f, const struct tare_event *e)
{
	enum tare_phase_what what = (enum tare_phase_what)e->rec.phase->what;
	struct tare_phase_begin b;
	int frame;

	switch (what) {
	case TARE_PHASE_PUSH:
	case TARE_PHASE_BEGIN:
		b = begin_of(phases, f, e, what == TARE_PHASE_BEGIN);
		tare_phase_begin(phases, f, &b);
		return;
	case TARE_PHASE_POP:
	case TARE_PHASE_END:
		frame = tare_phase_find_open(phases, e);
		if (frame >= 0)
			tare_phase_end(phases, f, frame, e->at_ns, false);
		else
			phases->stray++;
		return;
	case TARE_PHASE_MARK:
		mark(phases, f, e);
		return;
	}
}

void tare_phases_settle(struct tare_phases_part *phases, struct tare_fold *f)
{
	tare_phases_host_catch_up(phases, f);
	tare_phase_forget_taken(phases, f);
}

struct open {
	int frame;
	uint64_t serial;
};

TARE_COMPARATOR(inner_first, struct open, TARE_FALLING(serial))

/* What stands in another ends before it. */
static void end_open(struct tare_phases_part *phases, struct tare_fold *f, int process, int64_t t)
{
	TARE_FREED_HERE struct open *open = tare_xcalloc(phases->frame_nr + 1, sizeof(*open));
	size_t nr = 0;

	for (size_t i = 0; i < phases->frame_nr; i++) {
		const struct tare_phase_frame *x = &phases->frames[i];

		if (x->is_used && !x->is_ended && x->known >= 0 && (process < 0 || x->process == process))
			open[nr++] = (struct open){ (int)i, x->serial };
	}
	TARE_SORT(open, nr, inner_first);
	for (size_t i = 0; i < nr; i++)
		tare_phase_end(phases, f, open[i].frame, t, true);
}

void tare_phases_end(struct tare_phases_part *phases, struct tare_fold *f, int process, int64_t t)
{
	end_open(phases, f, process, t);
	tare_phases_settle(phases, f);
	for (int i = 0; process < 0 && i < f->device_nr; i++)
		if (f->devices[i])
			tare_phases_advance(phases, f, f->devices[i], INT64_MAX);
	if (process < 0)
		tare_phases_host(phases, f, INT64_MAX);
}

void tare_phases_note_strays(struct tare_phases_part *phases, struct tare_fold *f)
{
	if (phases->dropped)
		tare_fold_note(f,
		               "%llu phases began while %d were open, and were only counted; does the "
		               "program end those that it begins?",
		               (unsigned long long)phases->dropped, OPEN_MAX);
	if (phases->stray)
		tare_fold_note(f, "%llu phase%s ended that had not begun; they were ignored", (unsigned long long)phases->stray,
		               phases->stray == 1 ? "" : "s");
}

static bool has_line(const struct tare_phases_part *phases, const char *line, size_t len)
{
	for (size_t i = 0; i < phases->known_nr; i++) {
		const struct tare_phase_known *k = &phases->known[i];

		if (k->source == TARE_PHASE_BY_LINE && !strncmp(k->name, line, len) && !k->name[len])
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
			tare_fold_note(f,
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

void tare_phases_begin(struct tare_phases_part *phases, const struct tare_fold *f)
{
	int had = phases->device_nr;

	phases->devices = tare_array_widen(phases->devices, (size_t)had, (size_t)f->device_nr, sizeof(*phases->devices));
	phases->device_nr = f->device_nr;
	tare_phase_resident_widen(phases, f);
	tare_phase_begin_queue(phases);
	for (int i = 0; i < phases->device_nr; i++)
		if (f->devices[i])
			tare_phase_begin_peaks(&phases->devices[i], f->devices[i]);
	for (size_t i = 0; i < phases->frame_nr; i++)
		tare_phase_set_kind(phases, &phases->frames[i]);
}

void tare_phases_event(struct tare_phases_part *phases, struct tare_fold *f, struct tare_device_fold *d,
                       const struct tare_event *e)
{
	(void)d;
	if (e->kind == TARE_KIND_HOST) {
		tare_phase_resident_read(phases, e);
		return;
	}
	tare_phase_take(phases, f, e);
	tare_phases_settle(phases, f);
}

/* As many frames are open as were begun and have not ended; no device is ahead of the boundaries. */
const char *tare_phases_check(const struct tare_phases_part *phases, const struct tare_fold *f)
{
	size_t open = 0;

	(void)f;
	for (size_t i = 0; i < phases->frame_nr; i++)
		open += phases->frames[i].is_used && !phases->frames[i].is_ended && phases->frames[i].known >= 0;
	if (open != phases->open_nr)
		return "more phases are open than began and did not end, or fewer";
	for (int i = 0; i < phases->device_nr; i++) {
		if (phases->devices[i].next > phases->queue_base + phases->queue_nr)
			return "a device has seen phases begin that did not";
		if (!tare_phase_peaks_are_whole(&phases->devices[i]))
			return "a device has the peaks of more phases than are open there, or of fewer";
	}
	if (phases->host.next > phases->queue_base + phases->queue_nr)
		return "the CPU has seen phases begin that did not";
	return NULL;
}
