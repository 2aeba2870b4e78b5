/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of a recording: the fold of all its events, or of those behind a state of a fold that lies beside it.
 */
#include "ledger/recording.h"

#include "base/arena.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "dwarf/dwarf.h"
#include "ledger/build.h"
#include "ledger/recording_state.h"
#include "ledger/state/state.h"
#include "trace/recording.h"

#include <stdlib.h>

/* ---- events behind a state ---- */

struct behind {
	struct tare_recording *recording;
	struct tare_recording_state known; /* number 0: none, all from the begin */
	bool is_contradicted;              /* a later segment has what the state should know */
	bool is_later;                     /* the last event was behind the state, and is as it was recorded */
	int64_t until_ns;                  /* events behind it are not wanted */
	size_t until_state;                /* and which state it is of; as many as there are: everything is wanted */
	uint32_t newest;                   /* segments behind that one are not looked at; 0: all are */
};

static bool next(void *arg, struct tare_event *e)
{
	return tare_recording_next(arg, e);
}

static void rewind_to_start(void *arg)
{
	tare_recording_rewind(arg);
}

static void outline(void *arg)
{
	tare_recording_outline(arg);
}

static bool run(void *arg, int64_t until_ns, struct tare_block_run *run)
{
	return tare_recording_run(arg, until_ns, run);
}

static bool phase_run(void *arg, int64_t until_ns, struct tare_phase_run *run)
{
	return tare_recording_phase_run(arg, until_ns, run);
}

static bool heap_run(void *arg, int64_t until_ns, struct tare_heap_run *run)
{
	return tare_recording_heap_run(arg, until_ns, run);
}

/* From when on a state has something of the event: from a call's begin; of records that were lost it has nothing before that is told. */
static int64_t known_from_ns(const struct tare_event *e)
{
	return e->kind == TARE_KIND_LOST ? e->at_ns : e->begin_ns - e->reading_before_ns;
}

static bool next_behind(void *arg, struct tare_event *e)
{
	struct behind *b = arg;
	int64_t until = b->known.until_ns;

	while (tare_recording_next(b->recording, e) && e->at_ns <= b->until_ns) {
		uint32_t segment = tare_recording_segment(b->recording);

		b->is_later = e->at_ns > until;
		if (b->newest && segment > b->newest)
			continue;
		if (segment && segment <= b->known.number) {
			if (e->at_ns > until)
				return true;
			continue;
		}
		/* A call that lasted until long after the state was saved. */
		if (known_from_ns(e) <= until) {
			b->is_contradicted = true;
			e->reading_before_ns = 0;
			e->begin_ns = until + 1;
			e->at_ns = e->at_ns > until ? e->at_ns : until + 1;
			e->end_ns = e->end_ns > until ? e->end_ns : until + 1;
		}
		return true;
	}
	return false;
}

/* What follows an event behind the state is behind it, too. */
static bool run_behind(void *arg, int64_t until_ns, struct tare_block_run *run)
{
	struct behind *b = arg;

	return b->is_later && tare_recording_run(b->recording, until_ns < b->until_ns ? until_ns : b->until_ns, run);
}

static bool phase_run_behind(void *arg, int64_t until_ns, struct tare_phase_run *run)
{
	struct behind *b = arg;

	return b->is_later && tare_recording_phase_run(b->recording, until_ns < b->until_ns ? until_ns : b->until_ns, run);
}

static bool heap_run_behind(void *arg, int64_t until_ns, struct tare_heap_run *run)
{
	struct behind *b = arg;

	return b->is_later && tare_recording_heap_run(b->recording, until_ns < b->until_ns ? until_ns : b->until_ns, run);
}

static void rewind_behind(void *arg)
{
	const struct behind *b = arg;

	tare_recording_skip(b->recording, b->known.number ? &b->known : NULL);
	tare_recording_rewind(b->recording);
}

static void outline_behind(void *arg)
{
	const struct behind *b = arg;

	tare_recording_skip(b->recording, b->known.number ? &b->known : NULL);
	tare_recording_outline(b->recording);
}

static struct tare_ledger_source source_of(struct behind *b)
{
	return (struct tare_ledger_source){ next_behind,      rewind_behind,  b, outline_behind, run_behind,
		                                phase_run_behind, heap_run_behind };
}

static struct behind behind_state(struct tare_recording *recording, size_t i)
{
	return (
		struct behind){ .recording = recording, .known = tare_recording_state(recording, i), .until_ns = INT64_MAX };
}

/* What stands for events that went is the best there is. */
static bool is_usable(const struct behind *b, size_t state)
{
	return !b->is_contradicted || (state == 0 && tare_recording_dropped_ns(b->recording) >= 0);
}

/* ---- ledgers ---- */

/* The earliest of the moments that somebody wants to know; INT64_MAX: those that a state may lie before anyway. */
static int64_t first_of(const struct tare_instant *instants, int nr)
{
	int64_t first = INT64_MAX;

	for (int i = 0; i < nr; i++)
		if (tare_instant_first_ns(&instants[i]) < first)
			first = tare_instant_first_ns(&instants[i]);
	return first;
}

static void forget(const struct tare_ledger_opts *opts, struct tare_ledger *out, int nr)
{
	for (int k = 0; k < nr; k++)
		tare_ledger_free(&out[k]);
	if (opts->history)
		tare_memory_history_free(opts->history);
}

/* False: the state cannot be used. */
static bool resume(struct tare_recording *recording, const struct tare_ledger_opts *opts, size_t i,
                   const struct tare_instant *instants, int nr, struct tare_ledger *out)
{
	struct behind b = behind_state(recording, i);
	struct tare_ledger_source source = source_of(&b);
	struct tare_ledger_names names = tare_ledger_names_of(recording);
	struct tare_loaded_state l;
	bool is_done;

	if (!tare_loaded_state_read(&l, recording, i))
		return false;
	rewind_behind(&b);
	is_done = tare_ledger_resume(&source, opts, &l.state, &names, instants, nr, out) == 0;
	if (is_done && !is_usable(&b, i)) {
		forget(opts, out, nr);
		is_done = false;
	}
	tare_recording_skip(recording, NULL);
	tare_str_free(&l.bytes);
	return is_done;
}

/* ---- a moment before the newest state, by two folds ---- */

/* All calls that began before a state have their record before this moment: segments of the state have them. */
static void set_until(struct behind *b, size_t state)
{
	size_t nr = tare_recording_state_nr(b->recording);

	b->until_state = state;
	b->until_ns = state < nr
	                  ? tare_recording_segments_end_ns(b->recording, tare_recording_state(b->recording, state).number)
	                  : INT64_MAX;
}

/* The first state behind the one that the fold began from. */
static size_t first_behind(const struct behind *b)
{
	size_t nr = tare_recording_state_nr(b->recording), begun = b->known.number ? 1 : 0;

	while (begun && begun < nr && tare_recording_state(b->recording, begun - 1).number != b->known.number)
		begun++;
	return begun;
}

static bool read_ended(void *arg, size_t i, struct tare_str *out)
{
	const struct behind *b = arg;
	size_t state = first_behind(b) + i;

	if (state >= tare_recording_state_nr(b->recording))
		return false;
	tare_recording_read_ended(b->recording, state, out);
	return true;
}

/* Each time twice as far. */
static bool reach_further(void *arg)
{
	struct behind *b = arg;
	size_t nr = tare_recording_state_nr(b->recording), begun = first_behind(b);

	if (b->until_state >= nr)
		return false;
	set_until(b, begun + 2 * (b->until_state + 1 - begun));
	rewind_behind(b);
	return true;
}

/* The newest state before `first` that is there, and whose number is not that of the newest; false: none is, and all is read. */
static bool find_before(struct tare_recording *recording, int64_t first, struct behind *b, struct tare_loaded_state *l)
{
	size_t nr = tare_recording_state_nr(recording), i = nr - 1;

	*b = (struct behind){ .recording = recording, .known.until_ns = INT64_MIN };
	*l = (struct tare_loaded_state){ 0 };
	for (size_t k = nr; k < nr + tare_recording_kept_nr(recording); k++)
		if (tare_recording_state(recording, k).until_ns == first && tare_loaded_state_read(l, recording, k)) {
			*b = behind_state(recording, k);
			b->until_ns = first; /* what came next went */
			b->until_state = nr;
			return true;
		}
	while (i-- > 0) {
		if (tare_recording_state(recording, i).until_ns > first || !tare_loaded_state_read(l, recording, i))
			continue;
		*b = behind_state(recording, i);
		set_until(b, i + 1);
		return true;
	}
	set_until(b, 0);
	return false;
}

/* False: it cannot be done in this way. */
static bool resume_twice(struct tare_recording *recording, const struct tare_ledger_opts *opts,
                         const struct tare_instant *instants, int nr, struct tare_ledger *out)
{
	size_t newest = tare_recording_state_nr(recording) - 1;
	struct behind then, last = behind_state(recording, newest);
	struct tare_ledger_source source_then = source_of(&then), source_last = source_of(&last);
	struct tare_ledger_names names = tare_ledger_names_of(recording);
	struct tare_loaded_state l_then, l_last;
	bool is_done = false, has_state;

	if (!tare_loaded_state_read(&l_last, recording, newest))
		return false;
	has_state = find_before(recording, first_of(instants, nr), &then, &l_then);
	if (has_state || tare_recording_dropped_ns(recording) < 0) {
		struct tare_ledger_span spans[] = {
			{ &source_then, has_state ? &l_then.state : NULL, reach_further, read_ended },
			{ &source_last, &l_last.state, NULL, NULL },
		};

		is_done = tare_ledger_resume_twice(&spans[0], &spans[1], opts, &names, instants, nr, out) == 0;
	}
	if (is_done && (last.is_contradicted || then.is_contradicted)) {
		forget(opts, out, nr);
		is_done = false;
	}
	tare_recording_skip(recording, NULL);
	tare_str_free(&l_then.bytes);
	tare_str_free(&l_last.bytes);
	return is_done;
}

/* Somebody wants to know what a state does not keep. */
static bool needs_all(const struct tare_ledger_opts *opts)
{
	return opts->watch_nr > 0 || opts->history_by_category || opts->lines_of_heap || opts->step_curves;
}

/* In a span whose events went, a state is all there is of a moment. */
static bool is_before_newest(const struct tare_recording *recording, int64_t t)
{
	size_t nr = tare_recording_state_nr(recording);

	return nr && t < tare_recording_state(recording, nr - 1).until_ns;
}

static bool resume_any(struct tare_recording *recording, const struct tare_ledger_opts *opts,
                       const struct tare_instant *instants, int nr, struct tare_ledger *out)
{
	int64_t first = first_of(instants, nr);
	bool has_all = tare_recording_dropped_ns(recording) < 0;

	if (has_all && needs_all(opts))
		return false;
	if (!needs_all(opts) && is_before_newest(recording, first) && resume_twice(recording, opts, instants, nr, out))
		return true;
	for (size_t i = tare_recording_state_nr(recording); i-- > 0;)
		if ((i == 0 || !needs_all(opts)) && tare_recording_state(recording, i).until_ns < first &&
		    resume(recording, opts, i, instants, nr, out))
			return true;
	return false;
}

/* No state was used, and without one what is left of the events is not all: "A, B: what …". */
static const char *note_on_dropped(const struct tare_recording *recording, struct tare_str *text)
{
	if (tare_recording_folder_nr(recording) > 1) {
		tare_recording_name_dropped(recording, text);
		tare_str_add(text,
		             ": the oldest events went to keep these under their caps, so what is said of their processes, and "
		             "of GPUs that they used, is not right, whichever the moment: read each recording alone");
	} else {
		tare_str_addf(text,
		              "what was recorded before %.1f s went to keep the recording under its cap, and is "
		              "not in these sums: the state that stood for it is damaged",
		              (double)tare_recording_dropped_ns(recording) / 1e9);
	}
	return text->data;
}

void tare_recording_add_remarks(const struct tare_recording *recording, struct tare_ledger *out)
{
	int nr = tare_recording_remark_nr(recording);
	const char *const *failures;
	size_t failure_nr = tare_dwarf_failures(&failures);

	out->notes = tare_arena_alloc(out->memory, ((size_t)nr + failure_nr + 1) * sizeof(*out->notes));
	for (size_t i = 0; i < failure_nr; i++)
		out->notes[out->note_nr++] = tare_arena_strdup(out->memory, failures[i]);
	for (int i = 0; i < nr; i++)
		out->notes[out->note_nr++] = tare_arena_strdup(out->memory, tare_recording_remark(recording, i));
}

/* The caller frees the devices. */
static struct tare_ledger_kept kept_of(const struct tare_recording *recording)
{
	int nr = tare_recording_device_nr(recording);
	const struct tare_device **devices = tare_xcalloc((size_t)nr + 1, sizeof(*devices));

	for (int i = 0; i < nr; i++)
		devices[i] = tare_recording_device(recording, i);
	return (struct tare_ledger_kept){ tare_recording_dropped_ns(recording), tare_recording_extents(recording), devices,
		                              nr };
}

static const struct tare_process **processes_of(const struct tare_recording *recording)
{
	int nr = tare_recording_process_nr(recording);
	const struct tare_process **processes = tare_xcalloc((size_t)nr + 1, sizeof(*processes));

	for (int i = 0; i < nr; i++)
		processes[i] = tare_recording_process(recording, i);
	return processes;
}

struct tare_recording_opts tare_recording_opts_of(const struct tare_recording *recording,
                                                  const struct tare_ledger_opts *opts)
{
	struct tare_recording_opts own = { .opts = opts ? *opts : (struct tare_ledger_opts){ 0 } };
	int notes = tare_recording_note_nr(recording);

	own.processes = processes_of(recording);
	own.notes = tare_xcalloc((size_t)(notes + own.opts.note_nr + 1), sizeof(*own.notes));
	for (int i = 0; i < notes; i++)
		own.notes[i] = tare_recording_note(recording, i);
	for (int i = 0; i < own.opts.note_nr; i++)
		own.notes[notes + i] = own.opts.notes[i];
	own.opts.processes = own.processes;
	own.opts.process_nr = tare_recording_process_nr(recording);
	own.opts.notes = own.notes;
	own.opts.note_nr += notes;
	own.opts.lines = tare_recording_phases(recording);
	return own;
}

void tare_ledger_of_recording(struct tare_recording *recording, const struct tare_ledger_opts *opts,
                              const struct tare_instant *instants, int instant_nr, struct tare_ledger *out)
{
	struct tare_ledger_source source = { .next = next,
		                                 .rewind = rewind_to_start,
		                                 .arg = recording,
		                                 .outline = outline,
		                                 .run = run,
		                                 .phase_run = phase_run,
		                                 .heap_run = heap_run };
	struct tare_recording_opts own = tare_recording_opts_of(recording, opts);
	struct tare_ledger_kept kept = { 0 };
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (!resume_any(recording, &own.opts, instants, instant_nr, out)) {
		if (tare_recording_dropped_ns(recording) >= 0) {
			own.notes[own.opts.note_nr++] = note_on_dropped(recording, &text);
			kept = kept_of(recording);
			own.opts.kept = &kept;
		}
		tare_recording_rewind(recording);
		tare_ledger_build(&source, &own.opts, instants, instant_nr, out);
	}
	for (int i = 0; i < instant_nr; i++)
		tare_recording_add_remarks(recording, &out[i]);
	free((void *)kept.devices);
	tare_recording_opts_free(&own);
}

/* ---- a state to be kept ---- */

/* From the state before (NULL: from the begin), as far as segments up to `number` have events. False: from that state it is not possible. */
static bool save_from(struct behind *b, const struct tare_ledger_opts *opts, const struct tare_ledger_state *from,
                      uint32_t number, int64_t until_ns, struct tare_ledger_saved *out)
{
	struct tare_ledger_source source = source_of(b);
	struct tare_ledger_names names = tare_ledger_names_of(b->recording);
	bool is_saved;

	b->newest = number;
	b->until_ns = number == TARE_SEGMENTS_AND_LOGS ? tare_recording_settled_ns(b->recording)
	                                               : tare_recording_segments_end_ns(b->recording, number);
	rewind_behind(b);
	is_saved = tare_ledger_save(&source, opts, from, &names, until_ns, out) == 0;
	tare_recording_skip(b->recording, NULL);
	return is_saved;
}

size_t tare_ledger_save_recording(struct tare_recording *recording, uint32_t number, int64_t until_ns,
                                  struct tare_ledger_saved *out)
{
	struct tare_ledger_opts opts = { .lines = tare_recording_phases(recording) };
	bool has_all = tare_recording_dropped_ns(recording) < 0;
	struct behind from_begin = { .recording = recording, .known.until_ns = INT64_MIN };
	struct tare_ledger_kept kept;
	size_t begin;

	tare_ledger_add_identity(&out->state, recording);
	begin = out->state.len;
	for (size_t i = tare_recording_state_nr(recording); i-- > 0;) {
		struct behind b = behind_state(recording, i);
		struct tare_loaded_state l;
		bool is_saved;

		if (b.known.until_ns >= until_ns || !tare_loaded_state_read(&l, recording, i))
			continue;
		is_saved = save_from(&b, &opts, &l.state, number, until_ns, out) && is_usable(&b, i);
		tare_str_free(&l.bytes);
		if (is_saved)
			return i + 1;
		tare_ledger_saved_cut(out, begin);
	}
	kept = kept_of(recording);
	opts.kept = has_all ? NULL : &kept;
	save_from(&from_begin, &opts, NULL, number, until_ns, out);
	free((void *)kept.devices);
	return has_all ? 0 : tare_recording_state_nr(recording);
}
