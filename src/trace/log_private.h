/* SPDX-License-Identifier: Apache-2.0 */
/* What log.c (opening) and log_next.c (reading) share. */
#ifndef TARE_TRACE_LOG_PRIVATE_H
#define TARE_TRACE_LOG_PRIVATE_H

#include "store/store.h"
#include "trace/chunk_files.h"
#include "trace/log.h"
#include "record/schema.h"

enum {
	LOG_RECORD_MAX = TARE_MAX_CELLS * TARE_CELL,
	LOG_WINDOW = 1 << 18,         /* read at once; a few of the longest records */
	LOG_GLANCE = 4096,            /* the same where of a block no more than its first records are looked at, … */
	LOG_GLANCE_RECORD_MAX = 1024, /* … of which one that is longer is passed over */
	LOG_LOOKS = 3,                /* at a place that may be being written */
};

/* What a lane of the ring had when the log was opened: positions from..to. */
struct tare_log_lane {
	uint32_t index;
	uint64_t from, to;
	uint8_t *bytes;
	struct tare_rec_lost lost; /* that no record of the lane tells of; records 0: none */
};

struct tare_log {
	struct tare_log_info info;
	struct tare_log_counts counts;
	char *path;
	int fd;                 /* of the .events file; -1 where there is none, or log_files.c has closed it */
	uint64_t device, inode; /* of that file, once log_files.c has it */
	int chunk_fd;           /* of one of the files behind that, as well; -1 */
	uint32_t chunk;         /* which */
	struct tare_log *newer, *older;

	struct tare_chunks chunks;   /* how it lies in its files … */
	struct tare_chunk_list list; /* … those behind the first … */
	uint64_t first_bytes;        /* … and how much that has behind its header */
	uint64_t given;              /* positions below were given to blocks, as the ring says */

	uint64_t cut_bytes;     /* after the last whole cell of the file, if the ring has no more */
	struct tare_log *whole; /* whose fd and ring this reader shares; NULL: they are its own */

	/* Segments have the log: what is read comes from there, and all that follows is unused. */
	const struct tare_stored_log *stored;
	struct tare_store *own_store; /* that was opened for this log */
	struct tare_store_cursor cursor;
	enum { STORED_HOLES, STORED_TABLES, STORED_EVENTS } stored_at;
	bool has_tables_only, has_events_only;
	bool is_order_damaged; /* stamps of its blocks overlap, and some of them are damaged */
	size_t hole;
	struct tare_log *rest;                /* what its files have behind the segments; NULL: nothing */
	bool is_in_rest;                      /* the next step is there */
	struct tare_log_counts counts_stored; /* what there was before */
	const struct tare_stored_log *behind; /* where the rest of a log begins; NULL: it is no rest */

	/* The ring: lanes as they were copied, then as blocks at positions info.file_end .. ring_end. */
	struct tare_log_lane *lanes;
	size_t lane_nr, lane_cap;
	uint64_t *cut; /* by lane: from here on only the ring counts */
	uint8_t *ring;
	uint64_t ring_end;

	/* Positions window_begin .. window_end, of the file and where it ends of the ring, lie at `window`. */
	const uint8_t *window;
	uint64_t window_begin, window_end;
	uint8_t *own_window;
	size_t window_cap;
	bool is_glance; /* LOG_GLANCE */
	struct {
		uint8_t *bytes; /* of the log whose reader shares it, too; NULL: nothing is held */
		uint64_t begin, end;
	} held; /* what is read several times, read from the files once */

	uint64_t position;  /* of the next step */
	uint64_t limit;     /* no step goes beyond; info.end but for a range */
	uint64_t *expected; /* by lane: 1 + where its next block goes on; 0: not known. NULL: this reader shares */
	struct {
		uint64_t begin, end;
	} left_out; /* of the file, ahead; end 0: nothing */
	struct {
		uint64_t end; /* of the place */
		int times;
	} again; /* what was looked at more than once, as it may have been being written */
	bool is_cut_told;
	const struct tare_schema *schema;                   /* of another version; NULL: records lie as in the structs */
	struct tare_schema *own_schema;                     /* that was made for this log */
	uint8_t said[1024] __attribute__((aligned(16)));    /* a record that is cut off in its fields */
	uint8_t scratch[1024] __attribute__((aligned(16))); /* a record as this version has it */
};

/*
 * trace/log_files.c. After keep() the descriptor is to be asked for before each use: -1 is an error. open() may
 * close those of other logs.
 */
int tare_log_file_open(const char *path);
bool tare_log_files_are_short(void); /* … could not, for want of descriptors */
void tare_log_file_keep(struct tare_log *log);
int tare_log_file(struct tare_log *log);
int tare_log_chunk_file(struct tare_log *log, uint32_t number); /* of a file behind the first */
void tare_log_file_drop(struct tare_log *log);

/* trace/log_chunk.c: which files the log has; when its ring was copied, for what left the ring meanwhile is in them. */
void tare_log_find_chunks(struct tare_log *log);
uint64_t tare_log_files_end(const struct tare_log *log); /* positions below may be in them */
/* Looks again: the same, as they are now; `are_files_new`: some may have come, or gone. */
uint64_t tare_log_files_grown(struct tare_log *log, bool are_files_new);
/* Zeros where nothing was written, or where the log was trimmed. */
void tare_log_read_files(struct tare_log *log, uint8_t *to, uint64_t size, uint64_t position);
/* From `position` on, where files have something again; info.file_end if nowhere. */
uint64_t tare_log_next_data(struct tare_log *log, uint64_t position);

/* trace/log_ring.c: copies the lanes of the ring; without a ring does nothing. */
void tare_log_load_ring(struct tare_log *log, const char *ring_path);
/* After info.file_end is known: makes log->ring of them. */
void tare_log_place_ring(struct tare_log *log);

/* trace/log_schema.c: after the header is known. Without an error log->schema says how records lie. */
int tare_log_load_schema(struct tare_log *log, struct tare_err *err);
/* Do records that come many at once lie as in this version? Without a schema all do. */
bool tare_log_has_runs(const struct tare_log *log);
int tare_log_load_stored_schema(struct tare_log *log, struct tare_err *err); /* of a log in segments */
/*
 * trace/log_next.c: from now on all that the files of a log have stays in memory, for this reader and those that share the log, if it
 * does not change any more and is at most so many bytes. Returns how many; 0: it is read from the files as before.
 */
uint64_t tare_log_hold(struct tare_log *log, uint64_t most);
/* What is known of the record of rec->position and rec->bytes that lies at `bytes`. */
void tare_log_fill(struct tare_log *log, struct tare_log_record *rec, const uint8_t *bytes);

/* trace/log_beyond.c: the earliest stamp in the files between two positions; UINT64_MAX: there is none. Where the reader is afterwards is not told. */
uint64_t tare_log_oldest_between(struct tare_log *log, uint64_t begin, uint64_t end);

/* trace/log_stored.c */
int tare_log_stored_open(struct tare_log *log, const struct tare_store *store, const struct tare_stored_log *stored,
                         bool is_unchecked, struct tare_err *err);
void tare_log_stored_rewind(struct tare_log *log);
void tare_log_stored_add_rest(struct tare_log *log); /* log->rest is open */
enum tare_log_step tare_log_stored_next(struct tare_log *log, struct tare_log_record *rec);

/* Reads up to size bytes; the number of bytes got, fewer only at the end or after an error. */
size_t tare_log_pread(int fd, void *to, size_t size, uint64_t offset);

#endif
