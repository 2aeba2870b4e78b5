/* SPDX-License-Identifier: Apache-2.0 */
/* States of a fold beside the segments, and what a fold that goes on from one asks of a recording. */
#include "trace/log_private.h"
#include "trace/recording_private.h"
#include "trace/stream.h"

#include "store/state_file.h"

#include <stdlib.h>

/* The segments of a recording that is read alone. */
static const struct tare_store *store_of(const struct tare_recording *r)
{
	const struct tare_rfolder *folder = r->folder_nr == 1 ? r->folders[0] : NULL;

	if (!folder || r->is_one_log)
		return NULL;
	if (folder->spool_store)
		return folder->store ? NULL : folder->spool_store;
	return folder->store;
}

size_t tare_recording_state_nr(const struct tare_recording *r)
{
	const struct tare_store *store = store_of(r);

	return (store ? store->state_nr : 0) + (r->lent.number != 0);
}

void tare_recording_lend_state(struct tare_recording *r, const struct tare_recording_state *state, const void *bytes,
                               size_t size)
{
	const struct tare_store *store = store_of(r);

	if (!store || (store->state_nr && store->states[store->state_nr - 1].until_ns >= state->until_ns))
		return;
	r->lent = *state;
	r->lent_bytes = bytes;
	r->lent_size = size;
}

size_t tare_recording_kept_nr(const struct tare_recording *r)
{
	const struct tare_store *store = store_of(r);

	return store ? store->kept_nr : 0;
}

const struct tare_extent_list *tare_recording_extents(const struct tare_recording *r)
{
	const struct tare_store *store = store_of(r);

	return store ? &store->extents : NULL;
}

static bool is_lent(const struct tare_recording *r, size_t i)
{
	return r->lent.number && i == store_of(r)->state_nr;
}

/* Of one that is not lent. */
static const struct tare_manifest_state *state_at(const struct tare_recording *r, size_t i)
{
	const struct tare_store *store = store_of(r);

	return i < store->state_nr ? &store->states[i] : &store->kept[i - tare_recording_state_nr(r)];
}

static void look_at(const struct tare_store *store, int64_t *until)
{
	if (store && store->dropped.rest && store->dropped.until_ns > *until)
		*until = store->dropped.until_ns;
}

/* The folder counts from its own begin. -1: nothing of it went. */
static int64_t dropped_of(const struct tare_recording *r, const struct tare_rfolder *folder)
{
	int64_t until = -1;

	look_at(folder->store, &until);
	look_at(folder->spool_store, &until);
	if (until < 0 || r->folder_nr == 1)
		return until;
	until += tare_recording_begin_ns(r, folder) - r->zero_ns;
	return until > 0 ? until : 0;
}

int64_t tare_recording_dropped_ns(const struct tare_recording *r)
{
	int64_t latest = -1;

	for (size_t i = 0; i < r->folder_nr; i++) {
		int64_t until = dropped_of(r, r->folders[i]);

		latest = until > latest ? until : latest;
	}
	return latest;
}

size_t tare_recording_folder_nr(const struct tare_recording *r)
{
	return r->folder_nr;
}

int64_t tare_recording_folder_dropped_ns(const struct tare_recording *r, size_t i, const char **path)
{
	*path = r->folders[i]->path;
	return dropped_of(r, r->folders[i]);
}

void tare_recording_name_dropped(const struct tare_recording *r, struct tare_str *out)
{
	const char *separator = "";

	for (size_t i = 0; i < tare_recording_folder_nr(r); i++) {
		const char *path;
		int64_t until = tare_recording_folder_dropped_ns(r, i, &path);

		if (until < 0)
			continue;
		tare_str_addf(out, "%s%s (before %.1f s)", separator, path, (double)until / 1e9);
		separator = ", ";
	}
}

struct tare_recording_state tare_recording_state(const struct tare_recording *r, size_t i)
{
	if (is_lent(r, i))
		return r->lent;
	return (struct tare_recording_state){ state_at(r, i)->number, state_at(r, i)->until_ns };
}

/*
 * A state has sums as the rules of the Tare that made it have them, and other rules would go on from there. So where the events are
 * there still, a state of another version is not taken.
 */
bool tare_recording_read_state(const struct tare_recording *r, size_t i, struct tare_str *out)
{
	struct tare_recording_state s = tare_recording_state(r, i);
	TARE_FREED_BY(tare_pack_free) struct tare_pack bytes = { 0 };
	bool is_ours = false;
	char *path;
	int rc;

	if (is_lent(r, i)) {
		tare_str_add_n(out, r->lent_bytes, r->lent_size);
		return true;
	}
	path = tare_manifest_state_path(store_of(r)->folder, s.number);
	rc = tare_state_read(path, s.number, s.until_ns, &bytes, &is_ours, NULL);
	if (!rc && (is_ours || tare_recording_dropped_ns(r) >= 0))
		tare_str_add_n(out, (const char *)bytes.data, bytes.len);
	else
		rc = rc ? rc : TARE_E_FORMAT;
	free(path);
	return !rc;
}

void tare_recording_read_ended(const struct tare_recording *r, size_t i, struct tare_str *out)
{
	uint32_t number = tare_recording_state(r, i).number;
	TARE_FREED_BY(tare_pack_free) struct tare_pack bytes = { 0 };
	char *path;

	tare_str_cut(out, 0);
	if (is_lent(r, i))
		return;
	path = tare_manifest_state_path(store_of(r)->folder, number);
	if (!tare_state_read_ended(path, number, &bytes))
		tare_str_add_n(out, (const char *)bytes.data, bytes.len);
	free(path);
}

/* Which of the two that a cursor knows. */
enum { OF_SKIP, OF_PASS_OVER };

static void set_known(struct tare_recording *r, int which, const struct tare_recording_state *known)
{
	for (size_t i = 0; i < r->stream_nr; i++) {
		struct tare_rstream *s = r->streams[i];
		struct tare_store_cursor *cursor = s->is_run ? &s->run : &s->log->cursor;

		if (!s->log->stored)
			continue;
		cursor->known[which].number = known ? known->number : 0;
		cursor->known[which].after = known ? tare_recording_stamp(r, &s->process->public, known->until_ns + 1) - 1 : 0;
	}
}

void tare_recording_skip(struct tare_recording *r, const struct tare_recording_state *known)
{
	set_known(r, OF_SKIP, known);
}

void tare_recording_want(struct tare_recording *r, const uint16_t *kinds, size_t nr)
{
	for (size_t i = 0; i < r->stream_nr; i++) {
		struct tare_rstream *s = r->streams[i];
		struct tare_store_cursor *cursor = s->is_run ? &s->run : &s->log->cursor;

		if (!s->log->stored || nr > TARE_STORE_WANTED)
			continue;
		for (size_t k = 0; k < nr; k++)
			cursor->wanted[k] = kinds[k];
		cursor->wanted_nr = nr;
	}
}

void tare_recording_pass_over(struct tare_recording *r, const struct tare_recording_state *known)
{
	set_known(r, OF_PASS_OVER, known);
	for (size_t i = 0; i < r->stream_nr; i++) {
		const struct tare_process *p = &r->streams[i]->process->public;

		tare_stream_pass_over(r->streams[i], known ? tare_recording_stamp(r, p, known->until_ns) : 0);
	}
}

uint32_t tare_recording_newest_segment(const struct tare_recording *r)
{
	const struct tare_store *store = store_of(r);
	uint32_t newest = 0;

	for (size_t i = 0; store && i < store->segment_nr; i++)
		if (newest < store->segments[i].number)
			newest = store->segments[i].number;
	return newest;
}

uint32_t tare_recording_segment(const struct tare_recording *r)
{
	const struct tare_rstream *s = r->heap_nr ? r->heap[0] : NULL;

	if (!s)
		return 0;
	return s->segment;
}

/* The segments up to `number`, or those behind it: the first or the last event that any of them has. */
static int64_t bound_of_segments(const struct tare_recording *r, uint32_t number, bool is_behind)
{
	int64_t bound = is_behind ? INT64_MAX : INT64_MIN;

	for (size_t i = 0; i < r->stream_nr; i++) {
		const struct tare_store *store = r->streams[i]->log->cursor.store;
		const struct tare_stored_log *log = r->streams[i]->log->stored;

		for (size_t k = 0; log && k < log->event_nr; k++) {
			const struct tare_segment_file *segment = &store->segments[log->events[k].segment];
			const struct tare_segment_block *head = &segment->entries[log->events[k].entry].head;
			int64_t ns;

			if ((segment->number > number) != is_behind)
				continue;
			ns = tare_recording_ns(r, r->streams[i]->process, is_behind ? head->first : head->last);
			bound = (ns < bound) == is_behind ? ns : bound;
		}
	}
	return bound;
}

int64_t tare_recording_segments_end_ns(const struct tare_recording *r, uint32_t number)
{
	return bound_of_segments(r, number, false);
}

int64_t tare_recording_segments_begin_ns(const struct tare_recording *r, uint32_t number)
{
	return bound_of_segments(r, number, true);
}

int64_t tare_recording_settled_ns(const struct tare_recording *r)
{
	int64_t settled = INT64_MAX;

	for (size_t i = 0; i < r->clock_nr; i++) {
		const struct tare_clockmap *c = r->clocks[i];
		int64_t ns;

		if (c->clock == TARE_CLOCK_MONOTONIC_NS)
			continue;
		/* The last reading may be replaced by a later one, and what lies between it and the one before with it. */
		if (c->pair_nr < 3)
			return INT64_MIN;
		ns = (int64_t)c->pairs[c->pair_nr - 3].monotonic_ns - r->zero_ns;
		settled = ns < settled ? ns : settled;
	}
	return settled;
}

const struct tare_stack *tare_recording_stack(const struct tare_process *process, uint32_t id)
{
	return tare_recording_look_up(&((const struct tare_rprocess *)process)->stacks, id);
}

const struct tare_stack *tare_process_next_stack(const struct tare_process *process, size_t *at)
{
	const struct tare_rprocess *p = (const struct tare_rprocess *)process;
	const struct tare_map_slot *slot = tare_map_next(&p->stacks, at);

	return slot ? (const void *)(uintptr_t)slot->value : NULL;
}

const struct tare_line_stack *tare_process_next_line_stack(const struct tare_process *process, size_t *at)
{
	const struct tare_rprocess *p = (const struct tare_rprocess *)process;
	const struct tare_map_slot *slot = tare_map_next(&p->line_stacks, at);

	return slot ? (const void *)(uintptr_t)slot->value : NULL;
}

const struct tare_line_stack *tare_recording_line_stack(const struct tare_process *process, uint32_t id)
{
	return tare_recording_look_up(&((const struct tare_rprocess *)process)->line_stacks, id);
}
