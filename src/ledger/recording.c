/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of a recording: the fold of all its events, or of those behind a state of a fold that lies beside it.
 */
#include "ledger/recording.h"

#include "base/str.h"
#include "base/xalloc.h"
#include "ledger/build.h"
#include "ledger/state/state.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

/* ---- events behind a state ---- */

struct behind {
	struct tare_recording *recording;
	struct tare_recording_state known;
	bool is_contradicted; /* a later segment has what the state should know */
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

static bool next_behind(void *arg, struct tare_event *e)
{
	struct behind *b = arg;
	int64_t until = b->known.until_ns;

	while (tare_recording_next(b->recording, e)) {
		uint32_t segment = tare_recording_segment(b->recording);

		if (segment && segment <= b->known.number) {
			if (e->at_ns > until)
				return true;
			continue;
		}
		/* A call that lasted until long after the state was saved. */
		if (e->begin_ns - e->reading_before_ns <= until) {
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

static void rewind_behind(void *arg)
{
	tare_recording_rewind(((struct behind *)arg)->recording);
}

static void outline_behind(void *arg)
{
	tare_recording_outline(((struct behind *)arg)->recording);
}

/* ---- what a state names ---- */

static const struct tare_process *process_at(void *arg, int index)
{
	return tare_recording_process(arg, index);
}

static const struct tare_device *device_at(void *arg, int index)
{
	return tare_recording_device(arg, index);
}

static const struct tare_line_stack *python_of(void *arg, const struct tare_process *p, uint32_t id)
{
	(void)arg;
	return tare_recording_line_stack(p, id);
}

static const struct tare_stack *stack_of(void *arg, const struct tare_process *p, uint32_t id)
{
	(void)arg;
	return tare_recording_stack(p, id);
}

static struct tare_ledger_names names_of(struct tare_recording *recording)
{
	return (struct tare_ledger_names){ recording,
					   tare_recording_process_nr(recording),
					   tare_recording_device_nr(recording),
					   process_at,
					   device_at,
					   python_of,
					   stack_of };
}

/* A state names processes and devices by their numbers, so those it knew must have the same numbers now. */
static void add_identity(struct tare_str *out, const struct tare_recording *recording)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *p = tare_recording_process(recording, i);

		tare_str_addf(out, "%d %u-%u\n", (int)p->role, p->pid, p->generation);
	}
	tare_str_add_char(out, '\0');
	for (int i = 0; i < tare_recording_device_nr(recording); i++) {
		const struct tare_device *d = tare_recording_device(recording, i);

		tare_str_addf(out, "%s %d %s\n", d->uuid, d->nvml_index, d->name);
	}
	tare_str_add_char(out, '\0');
}

/* What is behind the identity, if it is that of this recording, which may have more by now; else NULL. */
static const char *behind_identity(const struct tare_str *saved, const char *now)
{
	const char *at = saved->data, *end = saved->data + saved->len;

	for (int i = 0; i < 2; i++) {
		size_t n = strnlen(at, (size_t)(end - at));

		if (at + n == end || strncmp(at, now, n) != 0)
			return NULL;
		at += n + 1;
		now += strlen(now) + 1;
	}
	return at;
}

struct loaded {
	struct tare_str bytes;
	struct tare_ledger_state state;
};

static bool load(struct loaded *l, const struct tare_recording *recording, size_t i)
{
	struct tare_str identity = { 0 };
	const char *at = NULL;

	*l = (struct loaded){ 0 };
	add_identity(&identity, recording);
	if (tare_recording_read_state(recording, i, &l->bytes))
		at = behind_identity(&l->bytes, identity.data);
	tare_str_free(&identity);
	if (!at) {
		tare_str_free(&l->bytes);
		return false;
	}
	l->state = (struct tare_ledger_state){ at, l->bytes.len - (size_t)(at - l->bytes.data),
					       tare_recording_state(recording, i).until_ns };
	return true;
}

/* ---- ledgers ---- */

/* The earliest of the moments that somebody wants to know; INT64_MAX: those that a state may lie before anyway. */
static int64_t first_of(const struct tare_instant *instants, int nr)
{
	int64_t first = INT64_MAX;

	for (int i = 0; i < nr; i++) {
		const struct tare_instant *at = &instants[i];

		if (at->kind != TARE_INSTANT_TIME)
			continue;
		for (int k = 0; k < (at->is_per_device ? TARE_PHASE_DEVICES : 0); k++)
			first = at->device_t_ns[k] < first ? at->device_t_ns[k] : first;
		first = !at->is_per_device && at->t_ns < first ? at->t_ns : first;
	}
	return first;
}

/* False: the state cannot be used. */
static bool resume(struct tare_recording *recording, const struct tare_ledger_opts *opts, size_t i,
		   const struct tare_instant *instants, int nr, struct tare_ledger *out)
{
	struct behind b = { recording, tare_recording_state(recording, i), false };
	struct tare_ledger_source source = { next_behind, rewind_behind, &b, outline_behind };
	struct tare_ledger_names names = names_of(recording);
	struct loaded l;
	bool is_done;

	if (!load(&l, recording, i))
		return false;
	tare_recording_skip(recording, &b.known);
	tare_recording_rewind(recording);
	is_done = tare_ledger_resume(&source, opts, &l.state, &names, instants, nr, out) == 0;
	/* What stands for events that went is the best there is. */
	if (is_done && b.is_contradicted && (i > 0 || tare_recording_dropped_ns(recording) < 0)) {
		for (int k = 0; k < nr; k++)
			tare_ledger_free(&out[k]);
		if (opts->history)
			tare_memory_history_free(opts->history);
		is_done = false;
	}
	tare_recording_skip(recording, NULL);
	tare_str_free(&l.bytes);
	return is_done;
}

/* Somebody wants to know what a state does not keep. */
static bool needs_all(const struct tare_ledger_opts *opts)
{
	return opts->watch_nr > 0 || opts->history_by_category;
}

static bool resume_any(struct tare_recording *recording, const struct tare_ledger_opts *opts,
		       const struct tare_instant *instants, int nr, struct tare_ledger *out)
{
	int64_t first = first_of(instants, nr);
	bool has_all = tare_recording_dropped_ns(recording) < 0;

	if (has_all && needs_all(opts))
		return false;
	for (size_t i = tare_recording_state_nr(recording); i-- > 0;)
		if ((i == 0 || !needs_all(opts)) &&
		    tare_recording_state(recording, i).until_ns < first &&
		    resume(recording, opts, i, instants, nr, out))
			return true;
	return false;
}

/* No state could be used, and without one what is left of the events is not all. */
static const char *note_on_dropped(const struct tare_recording *recording, struct tare_str *text)
{
	tare_str_addf(
		text,
		"what was recorded before %.1f s went to keep the recording under its cap, and is not in "
		"these sums: read it alone, not with others; if it is, the state that stood for it is damaged",
		(double)tare_recording_dropped_ns(recording) / 1e9);
	return text->data;
}

void tare_ledger_of_recording(struct tare_recording *recording, const struct tare_ledger_opts *opts,
			      const struct tare_instant *instants, int instant_nr,
			      struct tare_ledger *out)
{
	struct tare_ledger_source source = {
		.next = next, .rewind = rewind_to_start, .arg = recording, .outline = outline
	};
	struct tare_ledger_opts own = opts ? *opts : (struct tare_ledger_opts){ 0 };
	int notes = tare_recording_note_nr(recording);
	const char **all = tare_xcalloc((size_t)(notes + own.note_nr + 1), sizeof(*all));
	struct tare_str text = { 0 };

	for (int i = 0; i < notes; i++)
		all[i] = tare_recording_note(recording, i);
	for (int i = 0; i < own.note_nr; i++)
		all[notes + i] = own.notes[i];
	own.notes = all;
	own.note_nr += notes;
	own.lines = tare_recording_phases(recording);
	if (!resume_any(recording, &own, instants, instant_nr, out)) {
		if (tare_recording_dropped_ns(recording) >= 0)
			all[own.note_nr++] = note_on_dropped(recording, &text);
		tare_recording_rewind(recording);
		tare_ledger_build(&source, &own, instants, instant_nr, out);
	}
	tare_str_free(&text);
	free(all);
}

/* ---- a state to be kept ---- */

/* From the state before, or from the begin. False: from that state it is not possible. */
static bool save_from(struct tare_recording *recording, const struct tare_ledger_opts *opts,
		      size_t from, int64_t until_ns, struct tare_str *out)
{
	struct behind b = { recording, tare_recording_state(recording, from), false };
	struct tare_ledger_source source = { next_behind, rewind_behind, &b, outline_behind };
	struct tare_ledger_names names = names_of(recording);
	struct loaded l;
	bool is_saved;

	if (!load(&l, recording, from))
		return false;
	tare_recording_skip(recording, &b.known);
	tare_recording_rewind(recording);
	is_saved = tare_ledger_save(&source, opts, &l.state, &names, until_ns, out) == 0 &&
		   (!b.is_contradicted || (from == 0 && tare_recording_dropped_ns(recording) >= 0));
	tare_recording_skip(recording, NULL);
	tare_str_free(&l.bytes);
	return is_saved;
}

void tare_ledger_save_recording(struct tare_recording *recording, int64_t until_ns,
				struct tare_str *out)
{
	struct tare_ledger_source source = { next, rewind_to_start, recording, outline };
	struct tare_ledger_opts opts = { .lines = tare_recording_phases(recording) };
	struct tare_ledger_names names = names_of(recording);
	size_t begin;

	add_identity(out, recording);
	begin = out->len;
	for (size_t i = tare_recording_state_nr(recording); i-- > 0;) {
		if (tare_recording_state(recording, i).until_ns >= until_ns)
			continue;
		if (save_from(recording, &opts, i, until_ns, out))
			return;
		tare_str_cut(out, begin);
	}
	tare_recording_rewind(recording);
	tare_ledger_save(&source, &opts, NULL, &names, until_ns, out);
}
