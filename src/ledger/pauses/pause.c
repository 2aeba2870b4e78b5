/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "paused": while a recording is paused only ends of objects are recorded. What the device gains or
 * loses beyond those, up to the first reading behind the pause, was measured and is nobody's in
 * particular: one row of the device.
 */
#include "ledger/fold.h"

#include "base/array.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

static struct tare_paused *state_of(struct tare_fold *f, const char *folder)
{
	for (size_t i = 0; i < f->paused_nr; i++)
		if (!strcmp(f->paused[i].folder, folder))
			return &f->paused[i];
	f->paused =
		tare_array_reserve(f->paused, &f->paused_cap, f->paused_nr + 1, sizeof(*f->paused));
	f->paused[f->paused_nr] = (struct tare_paused){ .folder = folder, .since = -1 };
	return &f->paused[f->paused_nr++];
}

static bool is_any_paused(const struct tare_fold *f)
{
	for (size_t i = 0; i < f->paused_nr; i++)
		if (f->paused[i].since >= 0)
			return true;
	return false;
}

bool tare_fold_was_paused(const struct tare_fold *f, int64_t t)
{
	for (size_t i = 0; i < f->paused_nr; i++)
		if (f->paused[i].since >= 0 && !f->paused[i].is_stopped && f->paused[i].since <= t)
			return true;
	for (size_t i = 0; i < f->pause_nr; i++)
		if (!f->pauses[i].is_stop && f->pauses[i].from_ns <= t)
			return true;
	return false;
}

static void add_pause(struct tare_fold *f, int64_t from, int64_t to, bool is_stop)
{
	f->pauses =
		tare_array_reserve(f->pauses, &f->pause_cap, f->pause_nr + 1, sizeof(*f->pauses));
	f->pauses[f->pause_nr++] = (struct tare_pause_ledger){ from, to, is_stop };
}

static void remember(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_control *r = e->rec.control;

	f->controls = tare_array_reserve(f->controls, &f->control_cap, f->control_nr + 1,
					 sizeof(*f->controls));
	f->controls[f->control_nr++] = (struct tare_control_seen){
		.process = e->process,
		.what = r->what,
		.number = r->number,
		.pid = r->pid,
		.name = tare_arena_strdup(&f->arena, e->text ? e->text : ""),
		.t = e->at_ns,
	};
}

/* The state that a record changes; NULL: it changes none. */
static struct tare_paused *changed_by(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_control *r = e->rec.control;
	struct tare_paused *p;

	if (r->what == TARE_ACT_SNAPSHOT)
		return NULL;
	p = state_of(f, e->process->folder ? e->process->folder : "");
	return r->number > p->number ? p : NULL; /* two at once: what was done first is told last */
}

bool tare_pause_begins(struct tare_fold *f, const struct tare_event *e)
{
	return e->rec.control->what != TARE_ACT_RESUME && changed_by(f, e);
}

bool tare_pause_take(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_control *r = e->rec.control;
	struct tare_paused *p = changed_by(f, e);

	remember(f, e);
	if (!p)
		return false;
	p->number = r->number;
	if (r->what == TARE_ACT_RESUME) {
		if (p->since >= 0)
			add_pause(f, p->since, e->at_ns, false);
		p->since = -1;
		f->is_paused = is_any_paused(f);
		return false;
	}
	if (p->since < 0)
		p->since = e->at_ns;
	f->is_paused = true;
	p->is_stopped = r->what == TARE_ACT_STOP;
	return p->is_stopped;
}

/* Those that never ended. */
void tare_fold_control_finish(struct tare_fold *f)
{
	for (size_t i = 0; i < f->paused_nr; i++)
		if (f->paused[i].since >= 0)
			add_pause(f, f->paused[i].since, -1, f->paused[i].is_stopped);
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
	return f->host.most
		       ? "what a GPU gained then is in the row \"while recording was paused\", and "
			 "tensors on the CPU that were made then are not known"
		       : "what changed then is in the row \"while recording was paused\"";
}

void tare_fold_notes_of_pauses(struct tare_fold *f)
{
	enum { SHOWN = 3 };
	char from[TARE_UNITS_TEXT_MAX], to[TARE_UNITS_TEXT_MAX];

	for (size_t i = 0; i < f->pause_nr && i < SHOWN; i++) {
		const struct tare_pause_ledger *p = &f->pauses[i];

		tare_units_duration(from, p->from_ns);
		if (p->is_stop)
			tare_fold_note(
				f,
				"recording was stopped at %s: what came then is not in this report",
				from);
		else if (p->to_ns < 0)
			tare_fold_note(f, "recording was paused at %s and not resumed: %s", from,
				       what_is_known(f));
		else
			tare_fold_note(f, "recording was paused from %s to %s: %s", from,
				       tare_units_duration(to, p->to_ns), what_is_known(f));
	}
	if (f->pause_nr > SHOWN)
		tare_fold_note(f, "recording was paused %zu more times", f->pause_nr - SHOWN);
}

/* Tensors that were made in a pause are in no figure. */
static void doubt(const struct tare_fold *f, struct tare_host_ledger *h, int64_t t)
{
	if (!tare_fold_was_paused(f, t))
		return;
	h->tensors.is_partial = true;
	if (h->evidence < TARE_EVIDENCE_INFERRED)
		h->evidence = TARE_EVIDENCE_INFERRED;
	for (int i = 0; i < h->line_nr; i++)
		if (h->lines[i].evidence < TARE_EVIDENCE_INFERRED)
			h->lines[i].evidence = TARE_EVIDENCE_INFERRED;
}

void tare_fold_snapshot_pauses(const struct tare_fold *f, int64_t t, struct tare_ledger *out)
{
	out->pause_nr = (int)f->pause_nr;
	out->pauses = tare_arena_alloc(out->memory, f->pause_nr * sizeof(*out->pauses) + 1);
	for (size_t i = 0; i < f->pause_nr; i++)
		out->pauses[i] = f->pauses[i];
	for (int i = 0; i < out->host_nr; i++)
		doubt(f, &out->hosts[i], t);
}
