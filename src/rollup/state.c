/* SPDX-License-Identifier: Apache-2.0 */
#include "rollup/state.h"

#include "base/disk.h"
#include "ledger/recording.h"
#include "store/manifest.h"
#include "store/manifest_extents.h"
#include "store/state_file.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	SHARE = 10,
	/* Of fewer bytes of segments a fold takes some hundredths of a second: no state is worth its own fold. */
	LEAST = 256 << 10
};

/* A call that lasts longer may contradict the state, which then is not used. */
#define MARGIN_NS       1000000000
#define SHORT_MARGIN_NS 100000000

static uint64_t size_of(char *path)
{
	uint64_t size = tare_disk_file(path);

	free(path);
	return size;
}

/* Segments behind the newest state, and how many bytes they have. */
struct fresh {
	size_t count;
	uint64_t bytes;
};

static struct fresh find_fresh(const struct tare_manifest *m, const char *folder)
{
	uint32_t known = m->state_nr ? m->states[m->state_nr - 1].number : 0;
	struct fresh fresh = { 0 };

	for (size_t i = 0; i < m->nr; i++) {
		if (m->numbers[i] <= known || m->numbers[i] == m->dropped.rest)
			continue;
		fresh.count++;
		fresh.bytes += size_of(tare_manifest_path(folder, m->numbers[i]));
	}
	return fresh;
}

static bool is_power_of_two(size_t n)
{
	return n && (n & (n - 1)) == 0;
}

/*
 * How large a state is, is known when it is made. One that comes out too large is tried again when there are twice as many
 * segments, so the work stays in proportion to what is recorded. `made`: of the fresh ones, those that came just now.
 */
static bool is_worth_trying(const struct tare_manifest *m, const char *folder,
			    const struct fresh *fresh, size_t made, unsigned share)
{
	uint64_t last =
		m->state_nr ? size_of(tare_manifest_state_path(folder,
							       m->states[m->state_nr - 1].number))
			    : 0;
	size_t count = fresh->count;

	if (!share)
		return fresh->count > 0;
	for (; made > 1 && !is_power_of_two(count); made--)
		count--;
	return is_power_of_two(count) && last * share <= fresh->bytes;
}

/* Nobody is told of them any more, also where segments.json is lost; `fresh` has taken the place of its namesake. */
static void remove_states(const char *folder, const struct tare_manifest *m, size_t holds,
			  uint32_t fresh)
{
	for (size_t i = holds; i < m->state_nr; i++) {
		char *path = tare_manifest_state_path(folder, m->states[i].number);

		if (m->states[i].number != fresh)
			unlink(path);
		free(path);
	}
}

/* `holds`: so many of the states that are there are still right. */
static int save(const char *folder, struct tare_manifest *m, size_t holds,
		const struct fresh *fresh, int64_t until_ns, const struct tare_ledger_saved *saved,
		unsigned share, struct tare_rolled_up *out, struct tare_err *err)
{
	bool is_outdated = holds < m->state_nr;
	int64_t from_ns = holds ? m->states[holds - 1].until_ns : INT64_MIN;
	uint32_t number = m->numbers[m->nr - 1];
	char *path = tare_manifest_state_path(folder, number);
	struct tare_str told = { 0 };
	int rc;

	tare_manifest_tell_extents(&told, from_ns, &saved->extents);
	rc = tare_state_write(path, number, until_ns,
			      &(struct tare_state_bytes){ saved->state.data, saved->state.len,
							  told.data, told.len, saved->ended.data,
							  saved->ended.len },
			      &out->state_bytes, err);
	remove_states(folder, m, holds, rc ? 0 : number);
	tare_manifest_cut_states(m, from_ns);
	if (!rc && out->state_bytes * share > fresh->bytes) {
		unlink(path);
		rc = is_outdated ? tare_manifest_write(m, folder, err) : 0;
	} else if (!rc) {
		tare_manifest_add_saved(m, number, until_ns, &saved->extents);
		rc = tare_manifest_write(m, folder, err);
		out->has_state = !rc;
		out->until_ns = until_ns;
	}
	tare_str_free(&told);
	free(path);
	return rc;
}

/* Where the folder is nearly full, a state is worth any price: it lets older segments go. */
static bool is_pressed(const char *folder, const struct tare_rollup_options *o)
{
	return o->cap && tare_disk_most(folder) > o->cap - o->cap / 4;
}

static int64_t moment_of(const struct tare_recording *recording,
			 const struct tare_rollup_options *o, bool is_short)
{
	int64_t last = tare_recording_last_ns(recording), until;

	if (o->is_final)
		return last;
	until = last - (is_short ? SHORT_MARGIN_NS : MARGIN_NS);
	return until < tare_recording_settled_ns(recording) ? until
							    : tare_recording_settled_ns(recording);
}

static int try(const char *folder, struct tare_manifest *m, const struct fresh *fresh,
	       const struct tare_rollup_options *o, unsigned share, struct tare_rolled_up *out,
	       struct tare_err *err)
{
	struct tare_log_reach reach = { .scope = TARE_LOG_SEGMENTS, .is_unchecked = true };
	int64_t newest = m->state_nr ? m->states[m->state_nr - 1].until_ns : 0, until;
	struct tare_recording *recording;
	struct tare_ledger_saved saved = { 0 };
	int rc = tare_recording_open_scope(&recording, folder, &reach, err);

	if (rc)
		return rc;
	until = moment_of(recording, o, !share);
	if (until > newest) {
		size_t holds = tare_ledger_save_recording(recording, until, &saved);

		rc = save(folder, m, holds, fresh, until, &saved, share, out, err);
	}
	tare_ledger_saved_free(&saved);
	tare_recording_close(recording);
	return rc;
}

int tare_rollup_state(const char *folder, const struct tare_rollup_options *o,
		      struct tare_rolled_up *out, struct tare_err *err)
{
	struct tare_manifest m = { 0 };
	unsigned share = is_pressed(folder, o) ? 0 : o->state_share ? o->state_share : SHARE;
	uint64_t least = o->state_share ? 0 : LEAST;
	struct fresh fresh;
	int rc = tare_manifest_read(&m, folder, err);

	if (rc)
		return rc == TARE_E_NOT_FOUND ? 0 : rc;
	fresh = find_fresh(&m, folder);
	if (!m.fault && (!share || fresh.bytes >= least) &&
	    is_worth_trying(&m, folder, &fresh, out->compacted.segments, share))
		rc = try(folder, &m, &fresh, o, share, out, err);
	tare_manifest_free(&m);
	return rc;
}
