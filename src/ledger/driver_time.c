/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up the time that calls of the driver took, by account and entry point, out of a recording or out of what a
 * state kept of them.
 */
#include "ledger/driver_time.h"

#include "base/array.h"
#include "base/comparator.h"
#include "ledger/recording_state.h"
#include "ledger/run.h"
#include "trace/recording.h"

#include <stdlib.h>
#include <string.h>

/* The row of all processes. */
static struct tare_time_row *row_of(struct tare_time_rows *out, const struct tare_time_row *like)
{
	for (size_t i = 0; i < out->count; i++)
		if (out->rows[i].account == like->account && !strcmp(out->rows[i].api, like->api))
			return &out->rows[i];
	return TARE_ADD(out->rows, out->count, out->cap,
	                (struct tare_time_row){ .account = like->account,
	                                        .api = tare_arena_strdup(&out->memory, like->api),
	                                        .longest_ns = -1 });
}

static bool is_longer(const struct tare_time_row *x, const struct tare_time_row *than)
{
	if (x->longest_ns != than->longest_ns)
		return x->longest_ns > than->longest_ns;
	return x->longest_at_ns < than->longest_at_ns;
}

static void add_row(struct tare_time_rows *out, const struct tare_time_row *row)
{
	struct tare_time_row *to = row_of(out, row);

	to->calls += row->calls;
	to->total_ns += row->total_ns;
	if (!is_longer(row, to))
		return;
	to->longest_ns = row->longest_ns;
	to->longest_at_ns = row->longest_at_ns;
	to->longest_name = row->longest_name ? tare_arena_strdup(&out->memory, row->longest_name) : NULL;
}

TARE_COMPARATOR(compare, struct tare_time_row, TARE_FALLING(total_ns) TARE_ALPHABETIC(api))

/* `shift`: how much later all that was than the calls say. */
static void add_rows(struct tare_time_rows *out, const struct tare_call_times_part *calls, int64_t pid, int64_t shift)
{
	for (size_t i = 0; i < calls->count; i++) {
		struct tare_time_row row = calls->items[i].row;

		row.longest_at_ns += shift;
		if (pid < 0 || (int64_t)calls->items[i].process->pid == pid)
			add_row(out, &row);
	}
}

/* ---- what a state knows, and what came behind it ---- */

/* The i-th state, if it knows of every call before it. */
static bool load(struct tare_fold *f, struct tare_recording *recording, size_t i)
{
	struct tare_ledger_names names = tare_ledger_names_of(recording);
	struct tare_loaded_state l;
	bool is_there;

	if (!tare_loaded_state_read(&l, recording, i))
		return false;
	is_there = tare_fold_of_state(f, &l.state, &names) == 0;
	tare_str_free(&l.bytes);
	if (is_there && !f->parts->call_times.is_whole) {
		tare_fold_end(f);
		is_there = false;
	}
	return is_there;
}

/* The newest that is no later than `until`. Those of moments whose events went are older than the others. */
static bool load_newest(struct tare_fold *f, struct tare_recording *recording, int64_t until,
                        struct tare_recording_state *known)
{
	size_t nr = tare_recording_state_nr(recording);
	size_t all = nr + tare_recording_kept_nr(recording);

	for (size_t n = 0; n < all; n++) {
		size_t i = n < nr ? nr - 1 - n : nr + all - 1 - n;

		*known = tare_recording_state(recording, i);
		if (known->until_ns <= until && load(f, recording, i))
			return true;
	}
	*known = (struct tare_recording_state){ 0 };
	return false;
}

static bool is_known(const struct tare_recording *recording, const struct tare_event *e,
                     const struct tare_recording_state *known)
{
	uint32_t segment = tare_recording_segment(recording);

	return segment && segment <= known->number && e->at_ns <= known->until_ns;
}

static void add_calls(struct tare_call_times_part *calls, struct tare_recording *recording,
                      const struct tare_recording_state *known, int64_t until)
{
	static const uint16_t kinds[] = { TARE_KIND_EVENT, TARE_KIND_POOL };
	struct tare_event e;

	tare_recording_want(recording, kinds, sizeof(kinds) / sizeof(kinds[0]));
	tare_recording_skip(recording, known->number ? known : NULL);
	tare_recording_rewind(recording);
	while (tare_recording_next(recording, &e))
		if (e.end_ns <= until && !is_known(recording, &e, known))
			tare_call_times_add(calls, &e);
	tare_recording_skip(recording, NULL);
	tare_recording_want(recording, NULL, 0);
}

static void add_recording(struct tare_time_rows *out, struct tare_recording *recording,
                          const struct tare_time_opts *opts, int64_t shift)
{
	int64_t dropped = tare_recording_dropped_ns(recording);
	int64_t until = opts->until_ns == INT64_MAX ? INT64_MAX : opts->until_ns - shift;
	struct tare_recording_state known = { 0 };
	struct tare_fold f;
	/* Of a call that began before a state and ended behind it the state has all, so events tell better up to a moment. */
	bool has_state = (dropped >= 0 || until == INT64_MAX) && load_newest(&f, recording, until, &known);

	if (!has_state)
		tare_fold_of_state(&f, NULL, NULL);
	out->is_cut |= known.until_ns < dropped && known.until_ns < until;
	add_calls(&f.parts->call_times, recording, &known, until);
	add_rows(out, &f.parts->call_times, opts->pid, shift);
	tare_fold_end(&f);
}

/* ---- of several recordings, each by itself: states name processes by their numbers in theirs ---- */

static const struct tare_process *same_process(struct tare_recording *recording, const struct tare_process *p)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *q = tare_recording_process(recording, i);

		if (q->role == p->role && q->pid == p->pid && q->generation == p->generation && !strcmp(q->log, p->log))
			return q;
	}
	return NULL;
}

/* The recording that the process is in. False: it cannot be read alone. */
static bool add_folder_of(struct tare_time_rows *out, const struct tare_process *p, const struct tare_time_opts *opts)
{
	const struct tare_process *alone;
	struct tare_recording *own;

	if (tare_recording_open(&own, p->folder, NULL))
		return false;
	alone = same_process(own, p);
	if (alone)
		add_recording(out, own, opts, p->first_ns - alone->first_ns);
	tare_recording_close(own);
	return alone != NULL;
}

static bool is_first_of_folder(struct tare_recording *recording, int process)
{
	const char *folder = tare_recording_process(recording, process)->folder;

	for (int i = 0; i < process; i++)
		if (!strcmp(tare_recording_process(recording, i)->folder, folder))
			return false;
	return true;
}

static bool add_folders(struct tare_time_rows *out, struct tare_recording *recording, const struct tare_time_opts *opts)
{
	bool is_added = true;

	for (int i = 0; i < tare_recording_process_nr(recording) && is_added; i++)
		if (is_first_of_folder(recording, i))
			is_added = add_folder_of(out, tare_recording_process(recording, i), opts);
	if (!is_added)
		tare_driver_time_free(out);
	return is_added;
}

static bool is_of_several(struct tare_recording *recording)
{
	for (int i = 1; i < tare_recording_process_nr(recording); i++)
		if (is_first_of_folder(recording, i))
			return true;
	return false;
}

void tare_driver_time_of_recording(struct tare_recording *recording, const struct tare_time_opts *opts,
                                   struct tare_time_rows *out)
{
	bool is_dropped = tare_recording_dropped_ns(recording) >= 0;

	*out = (struct tare_time_rows){ 0 };
	if (!is_dropped || !is_of_several(recording) || !add_folders(out, recording, opts))
		add_recording(out, recording, opts, 0);
	TARE_SORT(out->rows, out->count, compare);
}
