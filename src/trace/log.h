/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_LOG_H
#define TARE_TRACE_LOG_H

#include "base/err.h"
#include "record/chunk.h"
#include "record/decode.h"
#include "trace/event.h"

#include <stdint.h>

struct tare_log;
struct tare_schema;
struct tare_store;
struct tare_store_cursor;

/*
 * One log, read by position: P-G.events, the chunks behind it and, where it still lies there, P-G.ring. What is there when
 * the log is opened is what is read, so a log that is being written can be read as well.
 *
 * Nothing in a log is believed: a record counts if its seal fits its position. What does not is
 * skipped cell by cell, reported as a gap, and counted. Only read(2) is used: a mapped file that is
 * cut while it is read would be a SIGBUS.
 */

struct tare_log_info {
	const char *path;               /* of the .events file, even where only the ring is there */
	struct tare_file_header header; /* texts made printable and NUL-terminated */
	bool has_file, has_ring;
	bool is_header_damaged;
	bool is_ring_damaged; /* head and tail of a lane contradicted each other */
	bool is_finished;     /* the ring says that the process ended its log in order */
	uint64_t begin;       /* positions below were cut off */
	uint64_t file_end;    /* positions below are in the files */
	uint64_t end;         /* positions from file_end to here are in the ring */

	/* Of what lies behind segments: */
	uint64_t stored_until; /* no record that segments have has a later stamp; 0: they have none */
	uint64_t
		beyond_from; /* of SETTLED: no record that its files have from `end` on has an earlier one; UINT64_MAX: they have none */

	/* What follows is of a log that segments have; the flags above are as its files were. */
	bool is_stored;       /* all of it, or what lies before tare_log_rest() */
	uint64_t first_stamp; /* of its records that belong in the order of time; 0: there are none */
	uint64_t last_stamp;
	bool is_cut_short; /* `end` is where the reach ends: the log has more */
	uint64_t lag;      /* how much older than one before it one of its records may be, in ticks */
	uint64_t damaged_blocks, damaged_records;
	bool is_damaged;        /* records are missing, between these stamps; first 0: from the begin … */
	bool is_damage_counted; /* … damaged_records of them, and no more */
	uint64_t damaged_first, damaged_last;
};

/* Of one pass; complete when tare_log_next() has answered END. */
struct tare_log_counts {
	uint64_t records;  /* of every kind, unknown ones included */
	uint64_t unknown;  /* of a kind this version does not know */
	uint64_t repaired; /* with a length that could not be: cut where the next record begins */
	uint64_t gaps;     /* places without a record: unfinished, damaged, or cut off */
	uint64_t gap_bytes;
	uint64_t lost; /* sum of LOST records */
};

enum tare_log_step { TARE_LOG_END, TARE_LOG_RECORD, TARE_LOG_GAP };

enum tare_log_gap {
	TARE_GAP_UNFINISHED, /* a record that was begun and not finished, or damage */
	TARE_GAP_EMPTY,      /* only zeros: never written */
	TARE_GAP_CUT,        /* the log ends inside a record */
	TARE_GAP_MISSING,    /* a lane goes on later than it ended, here */
};
const char *tare_log_gap_name(enum tare_log_gap gap); /* "unfinished or damaged" */

/* Pointers are good until the next step. */
struct tare_log_record {
	uint64_t position, bytes; /* of the record, or of the gap */
	enum tare_log_gap gap;    /* of a gap; the rest is of a record */
	bool is_in_ring;          /* found only there */
	bool is_stored;           /* found in a segment … */
	uint32_t segment;         /* … of this number; 0: not known, or in none */
	bool is_repaired;
	const struct tare_kind_info *info; /* NULL: of a kind this version does not know */
	const struct tare_kind_info *said; /* how it lies in the log; NULL: that does not say either */
	const uint8_t *raw;                /* `bytes` of it, as it lies there */
	union tare_rec rec;                /* the whole struct: fields that the record lacks are 0 */
	const char *text;                  /* TEXT tail: not NUL-terminated; else NULL */
	size_t text_len;
	const uint64_t *pcs; /* PCS tail, or NULL */
	uint32_t depth;
};

/*
 * `path`: P-G.events or P-G.ring, which need not be there if segments beside them have the log. NOT_FOUND, FORMAT, NEWER,
 * EMPTY, TRUNCATED, UNSUPPORTED, …
 */
int tare_log_open(struct tare_log **out, const char *path, struct tare_err *err);
/* Which part of a log is read. */
enum tare_log_scope {
	TARE_LOG_WHOLE,
	TARE_LOG_SEGMENTS, /* what segments have */
	TARE_LOG_REST,     /* all that segments do not have */
	TARE_LOG_SETTLED,  /* what the .events file has behind the segments and will not change any more */
};
struct tare_log_reach {
	enum tare_log_scope scope;
	/* Of SETTLED: the position below which nobody writes `path` any more. */
	uint64_t (*below)(void *arg, const char *path, bool has_ring);
	void *arg;
	uint64_t most; /* of SETTLED: of each log so many bytes, to the end of a block; 0: all */
	/* Blocks of segments are not read to see whether they are damaged: nobody is told, and it takes no longer the more there are. */
	bool is_unchecked;
};
/*
 * The same of `store`, which must live longer and may be NULL: then it is not looked for either. NOT_FOUND: there is nothing
 * in that scope.
 */
int tare_log_open_in(struct tare_log **out, const struct tare_store *store, const struct tare_log_reach *reach,
                     const char *path, struct tare_err *err);
void tare_log_close(struct tare_log *log); /* NULL is fine */

const struct tare_log_info *tare_log_info(const struct tare_log *log);
/* How its records lie; NULL: as those of this version do. */
const struct tare_schema *tare_log_schema(const struct tare_log *log);
const struct tare_log_counts *tare_log_counts(const struct tare_log *log);

/* In which file a position lies, and where there. */
struct tare_chunk_part tare_log_place(const struct tare_log_info *info, uint64_t position);
/* Do the files of the log at `path` have something at that position or behind it? */
bool tare_log_has_from(const struct tare_log_info *info, const char *path, uint64_t position);

enum tare_log_step tare_log_next(struct tare_log *log, struct tare_log_record *rec);

/*
 * Of a log that segments have, the next steps are places without a record, then tables (records that belong in no order
 * of time, and those of tare_log_is_table()), in the order of the log, then the end; without this call all other records
 * follow, in the order of time. Of another log all records come, as ever.
 */
void tare_log_read_tables(struct tare_log *log);
/* A kind that the first pass of a reader needs. Segments have it among their tables, whatever else it is. */
bool tare_log_is_table(uint16_t kind);

/*
 * Of a log whose segments are only its begin: what came later, which lies in its files. NULL: there is nothing. It lives
 * as long as the log. tare_log_next() gives the segments' records, then those of the rest.
 */
struct tare_log *tare_log_rest(struct tare_log *log);

/*
 * Another reader of the same log, of what its files have; the log must live longer. It reads what tare_log_set_range() names, and is as cheap as
 * that is short.
 */
struct tare_log *tare_log_share(struct tare_log *log);
void tare_log_set_range(struct tare_log *log, uint64_t begin, uint64_t end);
/* Of a log that segments have: all that belongs in the order of time, in that order, positions not told. */
void tare_log_read_events(struct tare_log *log);

/*
 * A log that segments have, and whose records lie as the structs of this version, can be read by blocks: `run` becomes the
 * next of its runs (tare_store_next_run()), {0} the first. False: there is none more, or it cannot.
 */
bool tare_log_next_run(const struct tare_log *log, struct tare_store_cursor *run);

/* The next step is the first again, from `position` on if that is more than info.begin. */
void tare_log_rewind(struct tare_log *log, uint64_t position);

/*
 * log_trim.c: trims the log FOLDER/P-G.events: frees the room on the disk of all positions below `position`, which segments have by
 * then. Whole chunks are removed, a hole is made in the next chunk, and P-G.events is cut behind its schema once nothing else
 * of it is needed. Any process may trim a log while the log is written, as often as it likes, once everything below `position`
 * was written: a drainer that is late writes the same bytes again, and the next call trims them again. Returns 0, or the first
 * error as a negative errno after everything else was done; -EBADMSG: the header is damaged, and nothing was trimmed.
 */
int tare_log_trim(const char *log, uint64_t position);

#endif
