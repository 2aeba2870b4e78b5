/* SPDX-License-Identifier: Apache-2.0 */
/* From a source of events to ledgers: what a fold begins with, and what is made of it. */
#include "ledger/build.h"

#include "base/comparator.h"
#include "base/xalloc.h"
#include "ledger/advice/facts.h"
#include "ledger/run.h"
#include "ledger/state/private.h"

#include <stdlib.h>
#include <string.h>

enum { WEIGH_NS = 20000, PAGE_BYTES = 2 << 20 };

TARE_COMPARATOR(by_t, struct tare_timed, TARE_RISING(t_ns))

/* At the peak of a phase each device has an instant of its own. */
static void add_timed(struct tare_fold *f, const struct tare_instant *at, struct tare_ledger *out)
{
	if (!at->is_per_device) {
		f->timed[f->timed_nr++] = (struct tare_timed){ at->t_ns, -1, out };
		return;
	}
	for (int i = 0; i < f->device_nr && i < TARE_PHASE_DEVICES; i++)
		f->timed[f->timed_nr++] = (struct tare_timed){ at->device_t_ns[i], i, out };
}

void tare_fold_begin_ledgers(struct tare_fold *f, const struct tare_instant *instants, int nr, struct tare_ledger *out)
{
	for (int i = 0; i < nr; i++)
		tare_fold_snapshot_begin(f, instants[i].text ? instants[i].text : "", &out[i]);
}

int64_t tare_instant_first_ns(const struct tare_instant *at)
{
	int64_t first = INT64_MAX;

	if (at->kind != TARE_INSTANT_TIME)
		return INT64_MAX;
	for (int k = 0; k < (at->is_per_device ? TARE_PHASE_DEVICES : 0); k++)
		first = at->device_t_ns[k] < first ? at->device_t_ns[k] : first;
	return at->is_per_device ? first : at->t_ns;
}

void tare_fold_add_instants(struct tare_fold *f, const struct tare_instant *instants, int nr, int64_t from,
                            int64_t until, struct tare_ledger *out)
{
	f->timed = tare_xcalloc((size_t)nr * (TARE_PHASE_DEVICES + 1), sizeof(*f->timed));
	for (int i = 0; i < nr; i++) {
		int64_t first = tare_instant_first_ns(&instants[i]);

		if (instants[i].kind == TARE_INSTANT_TIME && first >= from && first < until)
			add_timed(f, &instants[i], &out[i]);
	}
	TARE_SORT(f->timed, f->timed_nr, by_t);
}

/*
 * The moment at which a device is shown: one that never reached `m` is shown at its end; at a peak of
 * something else, at its own peak.
 */
static enum tare_moment moment_of(const struct tare_device_fold *d, enum tare_moment m)
{
	if (tare_moment_is_peak(m) && !d->has_moment[m])
		m = TARE_MOMENT_PEAK;
	return d->has_moment[m] ? m : TARE_MOMENT_NOW;
}

static bool is_gpu_used(const struct tare_fold *f)
{
	for (int i = 0; i < f->process_nr; i++)
		if (f->processes[i] && f->processes[i]->has_context)
			return true;
	return false;
}

/*
 * Host memory of processes is shown as it was at the devices' moment; where no process used a GPU, at the
 * host's own.
 */
static void finish_hosts(struct tare_fold *f, enum tare_moment m, bool is_any, struct tare_ledger *l)
{
	bool is_own = f->host.has_moment[m];

	if (!is_any && !tare_moment_is_peak(m)) /* as it is now */
		l->t_ns = f->last_ns;
	if (tare_moment_is_peak(m) && f->host.has_moment[TARE_MOMENT_HOST] && !is_gpu_used(f)) {
		m = TARE_MOMENT_HOST;
		is_own = true;
	}
	tare_fold_snapshot_hosts(f, is_any || is_own ? m : TARE_MOMENT_NOW, l);
	tare_fold_host_lines(f, is_any || is_own ? m : TARE_MOMENT_NOW, l);
	tare_mapped_file_rows(f, is_any || is_own ? m : TARE_MOMENT_NOW, l);
	if (is_own && (m == TARE_MOMENT_HOST || !f->device_nr))
		l->t_ns = f->host.moment_ns[m];
}

/* Makes the ledger of a moment. Returns if any device, or the host, reached that moment. */
static bool finish_moment(struct tare_fold *f, enum tare_moment m, struct tare_ledger *l)
{
	bool is_any = false;

	for (int i = 0; i < f->device_nr; i++) {
		const struct tare_device_fold *d = f->devices[i];
		enum tare_moment own;
		int64_t t;

		if (!d)
			continue;
		own = moment_of(d, m);
		is_any |= d->has_moment[m];
		t = own == TARE_MOMENT_NOW ? d->last_ns : d->moment_ns[own];
		tare_fold_snapshot(f, d, own, t, l);
		if (l->t_ns < t)
			l->t_ns = t;
	}
	if (tare_moment_is_peak(m))
		l->t_ns = -1;
	finish_hosts(f, m, is_any, l);
	return is_any || f->host.has_moment[m];
}

/* What is open when the recording ends, ends there. */
static void end_all(struct tare_fold *f)
{
	tare_phases_end(&f->parts->phases, f, -1, f->last_ns);
	tare_parts_phases(f);
}

static void finish_notes(const struct tare_fold *f, const struct tare_instant *at, bool is_there, struct tare_ledger *l)
{
	l->degraded = tare_arena_alloc(l->memory, (f->note_nr + 1) * sizeof(*l->degraded));
	for (size_t i = 0; i < f->note_nr; i++)
		l->degraded[l->degraded_nr++] = tare_arena_strdup(l->memory, f->notes[i]);
	if (!is_there && at->moment == TARE_MOMENT_TENSORS)
		l->degraded[l->degraded_nr++] = "peak:tensors: no tensor of a GPU was recorded; this is the peak";
	if (!is_there && at->moment == TARE_MOMENT_HOST)
		l->degraded[l->degraded_nr++] = "peak:host: no tensor of the CPU was recorded; this is the peak";
}

static void finish_details(struct tare_fold *f, struct tare_ledger *l)
{
	for (int k = 0; k < l->training_nr; k++)
		tare_tensor_most(f, &l->trainings[k], l->memory);
	tare_tensors_growth(f, l);
	tare_modules_of_growth(f, l->growths, l->growth_nr, l->memory);
}

static void finish(struct tare_fold *f, const struct tare_instant *instants, int nr, struct tare_ledger *out)
{
	tare_parts_finish(f);
	tare_fold_notes(f);
	for (int i = 0; i < nr; i++) {
		struct tare_ledger *l = &out[i];
		bool is_there = true;
		int64_t t;

		l->t_ns = instants[i].kind == TARE_INSTANT_TIME ? instants[i].t_ns : 0;
		if (instants[i].kind == TARE_INSTANT_MOMENT)
			is_there = finish_moment(f, instants[i].moment, l);
		l->opened_gpu = f->opened_gpu;
		finish_notes(f, &instants[i], is_there, l);
		t = tare_fold_doubt_ns_of(&instants[i], l);
		tare_parts_doubt(f, t, l);
		tare_fold_snapshot_end(f, &instants[i], l);
		tare_parts_rows(f, l);
		tare_ledger_advise_retained(l);
		if (!f->is_brief)
			finish_details(f, l);
	}
}

static const struct tare_ledger_opts defaults = { 0 };

static void set_up(struct tare_fold *f, const struct tare_ledger_source *source, const struct tare_ledger_opts *opts)
{
	*f = (struct tare_fold){
		.source = source, .object_free = -1, .max_begin_all = INT64_MIN, .worked_ns = INT64_MIN, .first_ns = INT64_MAX
	};
	f->page = opts->page_bytes ? (int64_t)opts->page_bytes : PAGE_BYTES;
	f->weigh = opts->weigh_ns ? opts->weigh_ns : WEIGH_NS;
	f->lines = opts->lines;
	f->without_heap_lines = opts->without_heap_lines;
	f->without_tensors = opts->without_tensors;
	f->without_stacks = opts->without_stacks;
	f->line_names = opts->line_names;
	f->is_brief = opts->is_brief;
	f->history = opts->history;
	f->kept = opts->kept;
	f->history_by_category = opts->history_by_category;
	f->lines_of_heap = opts->lines_of_heap;
	f->block_courses = opts->block_courses;
	f->step_curves = opts->step_curves;
	f->parts = tare_parts_new();
	f->watches = opts->watches;
	f->watch_nr = opts->watch_nr;
}

/* Those of the caller stand first, also before those that a state has. */
static void add_notes(struct tare_fold *f, const struct tare_ledger_opts *opts)
{
	const char **kept = f->notes;
	size_t nr = f->note_nr;

	f->notes = NULL;
	f->note_nr = f->note_cap = 0;
	for (int i = 0; i < opts->note_nr; i++)
		tare_fold_note(f, "%s", opts->notes[i]);
	for (size_t i = 0; i < nr; i++)
		tare_fold_note(f, "%s", kept[i]);
	free(kept);
}

static bool has_span(const struct tare_ledger_kept *kept, int device)
{
	for (size_t i = 0; kept->extents && i < kept->extents->nr; i++)
		if (!kept->extents->items[i].what && kept->extents->items[i].device == device)
			return true;
	return false;
}

/* Also where no event is left at all, there was this time, and these devices. */
static void add_kept(struct tare_fold *f)
{
	if (f->seen_ns < f->kept->dropped_ns)
		f->seen_ns = f->kept->dropped_ns;
	for (int i = 0; i < f->kept->device_nr; i++)
		if (has_span(f->kept, f->kept->devices[i]->index))
			tare_fold_device(f, f->kept->devices[i]);
}

/* Also a process of which no event is left was there, and what is missing is missed. */
static void add_damaged(struct tare_fold *f, const struct tare_ledger_opts *opts)
{
	for (int i = 0; i < opts->process_nr; i++)
		if (opts->processes[i]->is_damaged)
			tare_fold_process(f, opts->processes[i]);
}

static void look_ahead(struct tare_fold *f, const struct tare_ledger_opts *opts)
{
	add_notes(f, opts);
	tare_fold_look_ahead(f);
	add_damaged(f, opts);
	if (f->kept)
		add_kept(f);
	tare_parts_begin(f);
}

static void fold_begin(struct tare_fold *f, const struct tare_ledger_source *source,
                       const struct tare_ledger_opts *opts)
{
	opts = opts ? opts : &defaults;
	set_up(f, source, opts);
	look_ahead(f, opts);
}

void tare_fold_run_to_end(struct tare_fold *f)
{
	tare_fold_run(f);
	f->is_over = true;
	end_all(f);
}

void tare_fold_finish_ledgers(struct tare_fold *f, const struct tare_instant *instants, int nr, struct tare_ledger *out)
{
	finish(f, instants, nr, out);
	tare_tensor_kinds_finish(f);
	tare_block_courses_finish(f);
	tare_history_close(&f->parts->history, f);
}

static void build(struct tare_fold *f, const struct tare_instant *instants, int instant_nr, struct tare_ledger *out)
{
	tare_tensor_kinds_begin(f);
	tare_block_courses_begin(f);
	tare_fold_begin_ledgers(f, instants, instant_nr, out);
	tare_fold_add_instants(f, instants, instant_nr, INT64_MIN, INT64_MAX, out);
	tare_fold_run_to_end(f);
	tare_fold_finish_ledgers(f, instants, instant_nr, out);
}

void tare_ledger_build(const struct tare_ledger_source *source, const struct tare_ledger_opts *opts,
                       const struct tare_instant *instants, int instant_nr, struct tare_ledger *out)
{
	struct tare_fold f;

	fold_begin(&f, source, opts);
	build(&f, instants, instant_nr, out);
	tare_fold_end(&f);
}

/* ---- from a state, and to one ---- */

static int load(struct tare_fold *f, const struct tare_ledger_state *from, const struct tare_ledger_names *names)
{
	if (from && !tare_fold_state_load(f, names, from)) {
		tare_fold_end(f);
		return TARE_E_FORMAT;
	}
	f->is_from_state = from != NULL;
	if (from)
		tare_phases_count_watched(&f->parts->phases, f);
	return 0;
}

int tare_fold_of_state(struct tare_fold *f, const struct tare_ledger_state *from, const struct tare_ledger_names *names)
{
	set_up(f, NULL, &defaults);
	return load(f, from, names);
}

static int begin_from(struct tare_fold *f, const struct tare_ledger_source *source, const struct tare_ledger_opts *opts,
                      const struct tare_ledger_state *from, const struct tare_ledger_names *names, bool keeps_history)
{
	int rc;

	opts = opts ? opts : &defaults;
	set_up(f, source, opts);
	f->keeps_history = keeps_history;
	rc = load(f, from, names);
	if (!rc)
		look_ahead(f, opts);
	return rc;
}

int tare_fold_begin_from(struct tare_fold *f, const struct tare_ledger_span *span, const struct tare_ledger_opts *opts,
                         const struct tare_ledger_names *names)
{
	return begin_from(f, span->source, opts, span->from, names, false);
}

int tare_fold_begin_before(struct tare_fold *f, const struct tare_ledger_span *span,
                           const struct tare_ledger_opts *opts, const struct tare_ledger_names *names,
                           struct tare_fold *later)
{
	struct tare_ledger_opts own = opts ? *opts : defaults;
	int rc;

	own.history = NULL;
	own.note_nr = 0;
	set_up(f, span->source, &own);
	rc = load(f, span->from, names);
	if (rc)
		return rc;
	f->later = later;
	f->parts->tensors.later = &later->parts->tensors;
	tare_fold_look_ahead(f);
	tare_fold_learn(f, later);
	tare_parts_begin(f);
	tare_losses_learn(&f->parts->losses, &later->parts->losses);
	return 0;
}

int tare_ledger_resume(const struct tare_ledger_source *source, const struct tare_ledger_opts *opts,
                       const struct tare_ledger_state *from, const struct tare_ledger_names *names,
                       const struct tare_instant *instants, int instant_nr, struct tare_ledger *out)
{
	struct tare_fold f;
	int rc = begin_from(&f, source, opts, from, names, false);

	if (rc)
		return rc;
	build(&f, instants, instant_nr, out);
	tare_fold_end(&f);
	return 0;
}

static bool next_of_none(void *arg, struct tare_event *e)
{
	(void)arg;
	(void)e;
	return false;
}

static void rewind_none(void *arg)
{
	(void)arg;
}

void tare_fold_show(struct tare_fold *of, const struct tare_ledger_opts *opts, const struct tare_ledger_names *names,
                    const struct tare_instant *instants, int instant_nr, struct tare_ledger *out)
{
	static const struct tare_ledger_source none = { .next = next_of_none, .rewind = rewind_none };
	struct tare_fold f;

	set_up(&f, &none, opts);
	tare_fold_state_copy(&f, of, names);
	f.is_from_state = true;
	tare_phases_count_watched(&f.parts->phases, &f);
	look_ahead(&f, opts);
	build(&f, instants, instant_nr, out);
	tare_fold_end(&f);
}

int tare_ledger_save(const struct tare_ledger_source *source, const struct tare_ledger_opts *opts,
                     const struct tare_ledger_state *from, const struct tare_ledger_names *names, int64_t until_ns,
                     struct tare_ledger_saved *out)
{
	int64_t from_ns = from ? from->until_ns : INT64_MIN;
	struct tare_fold f;
	int rc = begin_from(&f, source, opts, from, names, true);

	if (rc)
		return rc;
	if (from)
		tare_ended_begin(&f.parts->tensors, f.block_serial);
	tare_fold_run_until(&f, until_ns);
	tare_extents_list(&f.parts->extents, &f, from_ns, until_ns, &out->extents);
	tare_oom_list(&f.parts->oom, from_ns, until_ns, &out->extents);
	tare_fold_state_save(&f, names, until_ns, &out->state);
	tare_ended_save(&f.parts->tensors, &out->ended);
	tare_fold_end(&f);
	return 0;
}

void tare_ledger_saved_cut(struct tare_ledger_saved *saved, size_t state_bytes)
{
	tare_str_cut(&saved->state, state_bytes);
	tare_extent_list_free(&saved->extents);
	tare_str_free(&saved->ended);
}

void tare_ledger_saved_free(struct tare_ledger_saved *saved)
{
	tare_ledger_saved_cut(saved, 0);
	tare_str_free(&saved->state);
}
