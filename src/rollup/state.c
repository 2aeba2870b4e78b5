/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the state of the fold of a recording into a file, where enough records came since the state before. */
#include "rollup/rollup.h"

#include "base/disk.h"
#include "base/number.h"
#include "base/xalloc.h"
#include "ledger/recording.h"
#include "rollup/moment.h"
#include "store/manifest.h"
#include "store/state_file.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	SHARE = 10,
	/* Of fewer bytes of segments a fold takes some hundredths of a second: no state is worth its own fold. */
	LEAST = 256 << 10
};

#define SHORT_MARGIN_NS 100000000
/* A moment has a state at the latest when so much came after it: the clocks are read once a second, and three readings settle what a stamp is. */
#define SETTLED_NS 4000000000

static uint64_t size_of(char *path)
{
	uint64_t size = tare_disk_file(path);

	free(path);
	return size;
}

/* Segments behind the newest state, the older first. */
struct fresh {
	uint32_t *numbers;
	uint64_t *bytes; /* of each */
	size_t nr;
};

static struct fresh find_fresh(const struct tare_manifest *m, const char *folder)
{
	uint32_t known = m->state_nr ? m->states[m->state_nr - 1].number : 0;
	struct fresh fresh = { .numbers = tare_xcalloc(m->nr + 1, sizeof(*fresh.numbers)),
		                   .bytes = tare_xcalloc(m->nr + 1, sizeof(*fresh.bytes)) };

	for (size_t i = 0; i < m->nr; i++) {
		if (m->numbers[i] <= known || m->numbers[i] == m->dropped.rest)
			continue;
		fresh.numbers[fresh.nr] = m->numbers[i];
		fresh.bytes[fresh.nr++] = size_of(tare_manifest_path(folder, m->numbers[i]));
	}
	return fresh;
}

static void free_fresh(struct fresh *fresh)
{
	free(fresh->numbers);
	free(fresh->bytes);
}

/* The states of a recording while more of them are made. */
struct maker {
	const char *folder;
	const struct tare_rollup_options *o;
	const struct tare_settled *settled; /* NULL: nobody writes the logs */
	unsigned share;
	struct tare_manifest manifest;
	struct tare_recording *recording; /* NULL: it has to be opened, again where a state was made */
	bool is_saved;                    /* the state that was tried last */
	struct tare_rolled_up *out;
	struct tare_err *err;
};

/* Nobody is told of them any more, also where segments.json is lost; `fresh` has taken the place of its namesake. */
static void remove_states(const char *folder, const struct tare_manifest *m, size_t holds, uint32_t fresh)
{
	for (size_t i = holds; i < m->state_nr; i++) {
		TARE_FREED_HERE char *path = tare_manifest_state_path(folder, m->states[i].number);

		if (m->states[i].number != fresh)
			unlink(path);
	}
}

/* `holds`: so many of the states that are there are still right. `bytes`: of the segments that the new one speaks for. */
static int save(struct maker *c, size_t holds, uint32_t number, uint64_t bytes, int64_t until_ns,
                const struct tare_ledger_saved *saved)
{
	struct tare_manifest *m = &c->manifest;
	bool is_outdated = holds < m->state_nr;
	int64_t from_ns = holds ? m->states[holds - 1].until_ns : INT64_MIN;
	TARE_FREED_HERE char *path = tare_manifest_state_path(c->folder, number);
	struct tare_rolled_up *out = c->out;
	TARE_FREED_BY(tare_str_free) struct tare_str told = { 0 };
	int rc;

	tare_manifest_tell_extents(&told, from_ns, &saved->extents);
	rc = tare_state_write(path, number, until_ns,
	                      &(struct tare_state_bytes){ saved->state.data, saved->state.len, told.data, told.len,
	                                                  saved->ended.data, saved->ended.len },
	                      &out->state_bytes, c->err);
	remove_states(c->folder, m, holds, rc ? 0 : number);
	tare_manifest_cut_states(m, from_ns);
	c->is_saved = !rc && out->state_bytes * c->share <= bytes;
	if (c->is_saved)
		tare_manifest_add_saved(m, number, until_ns, &saved->extents);
	else if (!rc)
		unlink(path);
	if (!rc && (c->is_saved || is_outdated))
		rc = tare_manifest_write(m, c->folder, c->err);
	if (c->is_saved && !rc) {
		out->has_state = true;
		out->until_ns = until_ns;
	}
	return rc;
}

/*
 * Where the folder is nearly full, a state is worth any price: it lets older segments go. Where somebody waits for the rollup it is
 * worth that only if some have to go now.
 */
static bool is_pressed(const char *folder, const struct tare_rollup_options *o)
{
	return o->cap && tare_disk_most(folder) > o->cap - (o->skips_state ? 0 : o->cap / 4);
}

static int open_recording(struct maker *c)
{
	struct tare_log_reach reach = { .scope = TARE_LOG_SEGMENTS, .is_unchecked = true };

	return c->recording ? 0 : tare_recording_open_scope(&c->recording, c->folder, &reach, c->err);
}

/*
 * For which moment a state may speak that knows segments up to `number`; 0: a later one is there already, or none can be. It is a
 * second before the last record, so that few calls last longer, and as near to the begin of later segments as most calls allow.
 */
static int64_t moment_of(const struct maker *c, uint32_t number)
{
	const struct tare_manifest *m = &c->manifest;
	bool is_newest = number == m->numbers[m->nr - 1];
	int64_t newest = m->state_nr ? m->states[m->state_nr - 1].until_ns : 0;
	int64_t last = tare_recording_last_ns(c->recording), until;

	until = tare_least(last - (c->share ? TARE_ROLLUP_MARGIN_NS : SHORT_MARGIN_NS),
	                   tare_recording_settled_ns(c->recording));
	until = tare_least(until, tare_rollup_told_until(c->recording, c->settled, c->out->compacted.is_cut_short));
	if (is_newest && c->o->is_final)
		until = last;
	else if (!is_newest)
		until = tare_least(until, tare_recording_segments_begin_ns(c->recording, number) - SHORT_MARGIN_NS);
	return until > newest ? until : 0;
}

/* A state of all events up to `until`, as segments up to `number`, of so many bytes, have them. */
static int try(struct maker *c, uint32_t number, int64_t until, uint64_t bytes)
{
	TARE_FREED_BY(tare_ledger_saved_free) struct tare_ledger_saved saved = { 0 };
	size_t holds = tare_ledger_save_recording(c->recording, number, until, &saved);
	int rc = save(c, holds, number, bytes, until, &saved);

	tare_recording_close(c->recording);
	c->recording = NULL;
	return rc;
}

static bool is_power_of_two(size_t n)
{
	return n && (n & (n - 1)) == 0;
}

static uint64_t sum_of(const struct fresh *fresh)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < fresh->nr; i++)
		bytes += fresh->bytes[i];
	return bytes;
}

/* Of fewer bytes of segments a state would be too large, as far as the last one tells, or is not worth its fold. */
static uint64_t needed_of(const struct maker *c)
{
	const struct tare_manifest *m = &c->manifest;
	uint64_t last = 0, least = c->o->state_share ? 0 : LEAST;

	if (m->state_nr)
		last = size_of(tare_manifest_state_path(c->folder, m->states[m->state_nr - 1].number));
	return last * c->share > least ? last * c->share : least;
}

/* So many of the fresh segments could have had a state when those that came just now were not there yet. */
static size_t count_old(const struct maker *c, const struct fresh *fresh, size_t made)
{
	size_t old = fresh->nr > made ? fresh->nr - made : 0;
	int64_t end = old ? tare_recording_segments_end_ns(c->recording, fresh->numbers[old - 1]) : 0;

	while (old && tare_recording_segments_end_ns(c->recording, fresh->numbers[old - 1]) > end - SETTLED_NS)
		old--;
	return old;
}

/*
 * How large a state is, is known when it is made. One that comes out too large is tried again when there are twice as many
 * segments, so the work stays in proportion to what is recorded. Of segments that came at once, there are as many states as if each
 * had come alone.
 */
static int try_each(struct maker *c, const struct fresh *fresh, size_t made)
{
	uint64_t bytes = 0, needed = needed_of(c);
	size_t count = 0;
	int rc = 0;
	size_t old;

	if (sum_of(fresh) >= needed)
		rc = open_recording(c);
	if (!c->recording)
		return rc;
	old = count_old(c, fresh, made);

	for (size_t i = 0; i < fresh->nr && !rc; i++) {
		int64_t until = moment_of(c, fresh->numbers[i]);

		bytes += fresh->bytes[i];
		if (!until || !is_power_of_two(++count) || i < old || bytes < needed)
			continue;
		c->is_saved = false;
		rc = try(c, fresh->numbers[i], until, bytes);
		if (c->is_saved) {
			needed = needed_of(c);
			bytes = count = 0;
		}
		rc = rc ? rc : open_recording(c);
	}
	return rc;
}

/* One of all segments, at any price. */
static int try_newest(struct maker *c, const struct fresh *fresh)
{
	uint32_t number = fresh->nr ? fresh->numbers[fresh->nr - 1] : 0;
	int rc = number ? open_recording(c) : 0;
	int64_t until = c->recording ? moment_of(c, number) : 0;

	return until ? try(c, number, until, UINT64_MAX) : rc;
}

int tare_rollup_state(const char *folder, const struct tare_rollup_options *o, const struct tare_settled *settled,
                      struct tare_rolled_up *out, struct tare_err *err)
{
	struct maker c = { .folder = folder, .o = o, .settled = settled, .out = out, .err = err };
	struct fresh fresh;
	int rc = tare_manifest_read(&c.manifest, folder, err);

	if (rc)
		return rc == TARE_E_NOT_FOUND ? 0 : rc;
	c.share = is_pressed(folder, o) ? 0 : o->state_share ? o->state_share : SHARE;
	fresh = find_fresh(&c.manifest, folder);
	if (!c.manifest.fault && !c.share)
		rc = try_newest(&c, &fresh);
	else if (!c.manifest.fault && !o->skips_state)
		rc = try_each(&c, &fresh, out->compacted.segments);
	tare_recording_close(c.recording);
	tare_manifest_free(&c.manifest);
	free_fresh(&fresh);
	return rc;
}
