/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "paused": while a recording is paused only ends of objects are recorded. What the device gains or
 * loses beyond those, up to the first reading behind the pause, was measured and is nobody's in
 * particular: one row of the device.
 */
#include "ledger/pauses/pauses.h"

#include "base/array.h"
#include "base/units.h"

#include <string.h>

static struct tare_paused *state_of(struct tare_pauses_part *p, const char *folder)
{
	for (size_t i = 0; i < p->paused_nr; i++)
		if (!strcmp(p->paused[i].folder, folder))
			return &p->paused[i];
	return TARE_ADD(p->paused, p->paused_nr, p->paused_cap, (struct tare_paused){ .folder = folder, .since = -1 });
}

static bool is_any_paused(const struct tare_pauses_part *p)
{
	for (size_t i = 0; i < p->paused_nr; i++)
		if (p->paused[i].since >= 0)
			return true;
	return false;
}

/* Or is, at or before t? */
bool tare_pauses_misses(const struct tare_pauses_part *p, int64_t t)
{
	for (size_t i = 0; i < p->paused_nr; i++)
		if (p->paused[i].since >= 0 && !p->paused[i].is_stopped && p->paused[i].since <= t)
			return true;
	for (size_t i = 0; i < p->count; i++)
		if (!p->items[i].is_stop && p->items[i].from_ns <= t)
			return true;
	return false;
}

static void add_pause(struct tare_pauses_part *p, struct tare_fold *f, int64_t from, int64_t to, bool is_stop)
{
	TARE_APPEND(p->items, p->count, p->cap) = (struct tare_pause_ledger){ from, to, is_stop };
	f->pause_nr = p->count;
}

/* The state that a record changes; NULL: it changes none. */
static struct tare_paused *changed_by(struct tare_pauses_part *p, const struct tare_event *e)
{
	const struct tare_rec_control *r = e->rec.control;
	struct tare_paused *of;

	if (r->what == TARE_ACT_SNAPSHOT)
		return NULL;
	of = state_of(p, e->process->folder ? e->process->folder : "");
	return r->number > of->number ? of : NULL; /* two at once: what was done first is told last */
}

bool tare_pauses_halts(struct tare_pauses_part *p, const struct tare_event *e)
{
	return e->rec.control->what != TARE_ACT_RESUME && changed_by(p, e);
}

bool tare_pauses_control(struct tare_pauses_part *p, struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_control *r = e->rec.control;
	struct tare_paused *of = changed_by(p, e);

	if (!of)
		return false;
	of->number = r->number;
	if (r->what == TARE_ACT_RESUME) {
		if (of->since >= 0)
			add_pause(p, f, of->since, e->at_ns, false);
		of->since = -1;
	} else {
		if (of->since < 0)
			of->since = e->at_ns;
		of->is_stopped = r->what == TARE_ACT_STOP;
	}
	f->is_paused = is_any_paused(p);
	return r->what == TARE_ACT_STOP;
}

/* Pauses that never ended. */
void tare_pauses_finish(struct tare_pauses_part *p, struct tare_fold *f)
{
	for (size_t i = 0; i < p->paused_nr; i++)
		if (p->paused[i].since >= 0)
			add_pause(p, f, p->paused[i].since, -1, p->paused[i].is_stopped);
}

/* Does any process have blocks of a framework's pool on a GPU? */
static bool has_pools(const struct tare_fold *f)
{
	for (size_t i = 0; i < f->bucket_nr; i++)
		if (f->buckets[i].account == TARE_BUCKET_TENSOR)
			return true;
	return false;
}

/* Where what came in a pause is, or is not. */
static const char *what_is_known(const struct tare_fold *f)
{
	bool is_device = false;

	for (int i = 0; i < f->device_nr; i++)
		is_device |= f->devices[i] != NULL;
	if (is_device && has_pools(f))
		return "what a GPU gained then is in the row \"while recording was paused\"; tensors "
			   "that were made then, and are still there, are not known: on a GPU they look "
			   "cached";
	if (!is_device)
		return "tensors on the CPU that were made then are not known";
	return f->host.most ? "what a GPU gained then is in the row \"while recording was paused\", and "
	                      "tensors on the CPU that were made then are not known"
	                    : "what changed then is in the row \"while recording was paused\"";
}

void tare_pauses_notes(const struct tare_pauses_part *p, struct tare_fold *f)
{
	enum { SHOWN = 3 };
	char from[TARE_UNITS_TEXT_MAX], to[TARE_UNITS_TEXT_MAX];

	for (size_t i = 0; i < p->count && i < SHOWN; i++) {
		const struct tare_pause_ledger *own = &p->items[i];

		tare_units_duration(from, own->from_ns);
		if (own->is_stop)
			tare_fold_note(f, "recording was stopped at %s: what came then is not in this report", from);
		else if (own->to_ns < 0)
			tare_fold_note(f, "recording was paused at %s and not resumed: %s", from, what_is_known(f));
		else
			tare_fold_note(f, "recording was paused from %s to %s: %s", from, tare_units_duration(to, own->to_ns),
			               what_is_known(f));
	}
	if (p->count > SHOWN)
		tare_fold_note(f, "recording was paused %zu more times", p->count - SHOWN);
}

/* Tensors that were made in a pause are in no figure. */
void tare_pauses_doubt(const struct tare_pauses_part *p, const struct tare_fold *f, int64_t t, struct tare_ledger *out)
{
	(void)f;
	for (int k = 0; tare_pauses_misses(p, t) && k < out->host_nr; k++) {
		struct tare_host_ledger *h = &out->hosts[k];

		h->tensors.is_partial = true;
		if (h->evidence < TARE_EVIDENCE_INFERRED)
			h->evidence = TARE_EVIDENCE_INFERRED;
		for (int i = 0; i < h->line_nr; i++)
			if (h->lines[i].evidence < TARE_EVIDENCE_INFERRED)
				h->lines[i].evidence = TARE_EVIDENCE_INFERRED;
	}
}

void tare_pauses_rows(const struct tare_pauses_part *p, const struct tare_fold *f, struct tare_ledger *out)
{
	(void)f;
	out->pause_nr = (int)p->count;
	out->pauses = tare_arena_alloc(out->memory, p->count * sizeof(*out->pauses) + 1);
	for (size_t i = 0; i < p->count; i++)
		out->pauses[i] = p->items[i];
}

/* What was paused then stays so, and snapshots keep their times. */
const char *tare_pauses_check(const struct tare_pauses_part *p, const struct tare_fold *f)
{
	if (f->is_paused != is_any_paused(p))
		return "recording is paused for the books and not by its records, or the other way round";
	return f->pause_nr == p->count ? NULL : "pauses were counted that are none";
}
