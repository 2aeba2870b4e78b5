/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_STORE_H
#define TARE_STORE_STORE_H

#include "base/owned.h"
#include "store/block_ends.h"
#include "store/manifest.h"
#include "store/segment.h"

/*
 * The segments of a recording, as its manifest names them: a folder has segments if it has a manifest, and what the
 * manifest does not name does not count. A log that the segments have is only there: files of it that may still lie
 * beside them were copied, and not removed yet.
 */
#define TARE_STORE_MANIFEST "segments.json"

struct tare_stored_block {
	uint32_t segment, entry;
};

/* A log, as all segments together have it. */
struct tare_stored_log {
	TARE_OWNED struct tare_log_part part; /* sums and holes are of all segments */
	TARE_OWNED struct tare_stored_block *tables, *events;
	size_t table_nr, table_cap, event_nr, event_cap;
	uint32_t first; /* the segment that has its tables: of those that are there */
};

struct tare_store {
	TARE_OWNED char *folder;
	TARE_OWNED struct tare_segment_reader *reader; /* of the blocks that cursors read */
	TARE_OWNED struct tare_segment_file *segments;
	size_t segment_nr, segment_cap;
	TARE_OWNED struct tare_stored_log *logs;
	size_t log_nr, log_cap;
	TARE_OWNED struct tare_stored_schema {
		uint32_t sum;
		TARE_OWNED char *text;
	} * schemas;
	size_t schema_nr, schema_cap;
	TARE_OWNED struct tare_manifest_state *states; /* of a fold, the older first */
	size_t state_nr;
	TARE_OWNED struct tare_manifest_state *kept; /* as the manifest has them, as what follows */
	size_t kept_nr;
	TARE_OWNED struct tare_extent_list extents;
	struct tare_manifest_dropped dropped;
	/* Where a segment, or a part of one, is not there: behind those before `before`, ahead of those from `behind` on. */
	TARE_OWNED struct tare_store_hole {
		size_t before, behind;
	} * holes;
	size_t hole_nr, hole_cap;
	TARE_OWNED char **faults; /* sentences on what is not there or damaged, other than blocks of a log */
	size_t fault_nr, fault_cap;
};

/* NOT_FOUND: the folder has no manifest; NEWER, UNSUPPORTED. Damage is no error. */
int tare_store_open(struct tare_store **out, const char *folder, struct tare_err *err);
void tare_store_close(struct tare_store *s); /* NULL is fine */
TARE_FREES(tare_store_forget, tare_store);
/* The text of the schema of that sum; NULL: there is none. */
const char *tare_store_schema(const struct tare_store *s, uint32_t sum);
const struct tare_stored_log *tare_store_find(const struct tare_store *s, const char *name);

/* What the first `segments` segments say of a log, together; false: they do not have it. The caller frees it. */
bool tare_store_part(const struct tare_store *s, const struct tare_stored_log *log, size_t segments,
                     struct tare_log_part *out);

/* Reads all blocks of a log: how many of them are damaged, which a cursor passes over, and how many records they have. */
struct tare_store_damage {
	uint64_t blocks, records;
	bool is_uncounted; /* more may be missing: of segments that are not there */
	bool is_any;       /* between these stamps, first 0: from the begin of the log */
	uint64_t first, last;
};
struct tare_store_damage tare_store_check(const struct tare_store *s, const struct tare_stored_log *log);
/* The same without reading a block: only what is known of segments that are not there. */
struct tare_store_damage tare_store_missing(const struct tare_store *s, const struct tare_stored_log *log);

/* How much older than one before it, in ticks, an event may be; what is older than `max` is damage. */
struct tare_store_order {
	uint64_t lag;
	bool has_outliers; /* stamps of a block, or of two in a row, are so far apart that it is damage */
};
struct tare_store_order tare_store_order(const struct tare_store *s, const struct tare_stored_log *log, uint64_t max);

enum { TARE_STORE_WANTED = 4 };

/* The records of a log, in their order. {0} to begin with; what is not told of lies in it. */
struct tare_store_cursor {
	const struct tare_store *store;
	const struct tare_stored_log *log;
	struct tare_layouts layouts;
	bool is_events;     /* else tables */
	bool has_positions; /* `position` and the seals are told, which takes time */
	/* Blocks of events in segments up to `number` that have no stamp later than `after` are passed over: of two states. */
	struct tare_store_known {
		uint32_t number;
		uint64_t after;
	} known[2];
	/* Blocks of events are passed over where the footer says that the log has none of these kinds there. None: all are wanted. */
	uint16_t wanted[TARE_STORE_WANTED];
	size_t wanted_nr;
	uint64_t from_position; /* blocks that have nothing of the log from there on are passed over */
	bool has_met_damage;    /* a block was damaged, and passed over */
	uint32_t segment;       /* the number of that which the last record was in */
	bool is_outline;        /* as TARE_BLOCK_OUTLINE; a new begin ends that, and … */
	bool has_columns;       /* … TARE_BLOCK_COLUMNS, for readers that read by blocks */
	size_t from, until;     /* of the blocks of events only these; until 0: all */
	size_t next, at;
	struct tare_record_block block;
	struct tare_block_ends ends;
	struct tare_pack bytes;
};

void tare_store_begin(struct tare_store_cursor *c, bool is_events, bool has_positions);
/* Good until the next call; NULL: no more, and then the cursor has no memory either. */
const struct tare_block_record *tare_store_next(struct tare_store_cursor *c);
/* All records of the next block at once. Of an outline these may be its ends only (`c->ends.block`). */
const struct tare_record_block *tare_store_next_block(struct tare_store_cursor *c);
/* Instead of these all records of that block; NULL: it is damaged. */
const struct tare_record_block *tare_store_whole_block(struct tare_store_cursor *c);
/* The first stamp of the next block. */
uint64_t tare_store_first(const struct tare_store_cursor *c);
/*
 * Within a segment the events of a log are in the order of time, and a later segment may begin before it ends: a run is as
 * many blocks as follow each other in the order of time. `c` becomes a cursor of the next run, behind the one it was of ({0}: of
 * the first), which is to be begun; false: there is none.
 */
bool tare_store_next_run(const struct tare_store *s, const struct tare_stored_log *log, uint64_t max,
                         struct tare_store_cursor *c);
void tare_store_cursor_free(struct tare_store_cursor *c);

/* For store.c and store_check.c. */
static inline const struct tare_segment_block *tare_store_head(const struct tare_store *s,
                                                               const struct tare_stored_block *block)
{
	return &s->segments[block->segment].entries[block->entry].head;
}

#endif
