/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was made into a segment is taken out of its log at once, also what nobody who keeps the recording open has read of it yet. Records have in
 * segments the positions that they had in the log, so reading goes on there, and behind the segments in the files again.
 */
#include "trace/growing_private.h"

#include <sys/stat.h>

/* Since this was asked last of that log. The manifest is replaced, not written. */
static bool has_new_segments(const struct tare_growing *g, struct tare_growing_log *l)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };
	struct stat st;
	bool is_new;

	tare_str_addf(&path, "%s/%s", g->folder, TARE_STORE_MANIFEST);
	is_new = stat(path.data, &st) == 0 && (st.st_ino != l->manifest.inode || st.st_mtim.tv_sec != l->manifest.s ||
	                                       st.st_mtim.tv_nsec != l->manifest.ns);
	if (is_new)
		l->manifest = (struct tare_growing_manifest){ st.st_ino, st.st_mtim.tv_sec, st.st_mtim.tv_nsec };
	return is_new;
}

/*
 * What was read lies before a position of the log, but for what was still in the ring when the recording was opened: of such a lane it is not
 * known which of the records that segments have were read.
 */
static bool is_read_by_position(const struct tare_growing_log *l)
{
	for (uint32_t i = 0; l->lanes && i < TARE_LANES_MAX; i++) {
		uint64_t walked = l->lanes[i].walked;

		if (l->block_end && i == l->lane)
			walked = l->block_position + (l->position - l->block_begin);
		if (walked < l->lanes[i].position)
			return false;
	}
	return true;
}

/* All that the log had there is in segments, and in none that went. */
static bool has_all(const struct tare_growing *g, const struct tare_growing_log *l, const struct tare_store *store,
                    const struct tare_stored_log *stored)
{
	return stored && stored->part.is_begun && stored->part.end > l->position && !store->fault_nr &&
	       (!store->dropped.rest || store->dropped.until_ns < g->settled_ns);
}

static bool take_records(struct tare_growing *g, struct tare_growing_log *l, struct tare_log *segments)
{
	struct tare_log_record rec;
	enum tare_log_step step;
	bool is_taken = true;

	segments->cursor.from_position = l->position;
	while (is_taken && (step = tare_log_next(segments, &rec)) != TARE_LOG_END)
		if (rec.position >= l->position)
			is_taken = step == TARE_LOG_RECORD && tare_growing_take_record(g, l, &rec) == TARE_GROWING_READ;
	return is_taken && !segments->cursor.has_met_damage;
}

/* Behind the segments. */
static void go_behind(struct tare_growing_log *l, const struct tare_log_part *part)
{
	l->position = part->end;
	l->waits = 0;
	for (size_t i = 0; l->lanes && i < part->lane_nr; i++) {
		const struct tare_log_lane_end *end = &part->lane_ends[i];

		if (end->lane < TARE_LANES_MAX)
			l->lanes[end->lane].position = l->lanes[end->lane].walked = end->position;
	}
}

static enum tare_growing_outcome read_store(struct tare_growing *g, struct tare_growing_log *l,
                                            const struct tare_store *store)
{
	static const struct tare_log_reach reach = { .scope = TARE_LOG_SEGMENTS, .is_unchecked = true };
	enum tare_growing_outcome outcome = TARE_GROWING_WAIT;
	struct tare_log *segments;

	if (tare_log_open_in(&segments, store, &reach, l->files->path, NULL) != 0)
		return outcome;
	if (has_all(g, l, store, segments->stored)) {
		l->block_end = 0; /* they are of no block there */
		outcome = take_records(g, l, segments) ? TARE_GROWING_READ : TARE_GROWING_AGAIN;
	}
	if (outcome == TARE_GROWING_READ)
		go_behind(l, &segments->stored->part);
	tare_log_close(segments);
	return outcome;
}

enum tare_growing_outcome tare_growing_read_segments(struct tare_growing *g, struct tare_growing_log *l)
{
	enum tare_growing_outcome outcome;
	struct tare_store *store;

	if (!has_new_segments(g, l) || !is_read_by_position(l) || tare_store_open(&store, g->folder, NULL) != 0)
		return TARE_GROWING_WAIT;
	outcome = read_store(g, l, store);
	tare_store_close(store);
	return outcome;
}
