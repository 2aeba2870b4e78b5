/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_STORE_SEGMENT_H
#define TARE_STORE_SEGMENT_H

#include "base/err.h"
#include "base/owned.h"
#include "store/block.h"
#include "store/log_part.h"

/*
 * A segment: a file NUMBER.segment with records of a recording in compressed blocks, which is never changed once it has
 * that name.
 *
 *   header   struct tare_segment_header
 *   blocks   each a struct tare_segment_block and its bytes, which are zeros up to a multiple of 16:
 *            SCHEMA blocks, the text of schemas that logs have (record/schema_text.h);
 *            MANIFEST blocks, twice, if it stands for segments that went to keep a cap (manifest_rebuild.c);
 *            of each log that the segment has records of a LOG block (log_part.h), TABLES blocks (what other records
 *            name, in the order of the log; in later segments REPEATED ones instead), EVENTS blocks (everything else, in the order of time)
 *   footer   a block of kind FOOTER: the heads of all other blocks and where they lie, and how many records of which kind the
 *            events of each log are, so that a reader reads no block that it does not need
 *   trailer  struct tare_segment_trailer: where the footer lies
 *
 * Every block has a checksum. A damaged block costs its records; a damaged footer costs nothing but time: the blocks are
 * looked for one by one.
 */
#define TARE_SEGMENT_MAGIC   "TARESEG"
#define TARE_SEGMENT_END     "TARESEN"
#define TARE_SEGMENT_VERSION 0
#define TARE_SEGMENT_BLOCK   0x4b4c4254u /* "TBLK" */

struct tare_segment_header {
	char magic[8];
	uint32_t endian;  /* TARE_ENDIAN_MARK */
	uint32_t version; /* of the format of segments */
	uint32_t header_bytes;
	uint32_t number; /* of the segment in its recording, from 1 */
	uint64_t reserved;
	char tool[32]; /* version of Tare */
};
_Static_assert(sizeof(struct tare_segment_header) == 64, "segment header layout");

enum tare_segment_kind {
	TARE_SEGMENT_LOG = 1,
	TARE_SEGMENT_TABLES = 2,
	TARE_SEGMENT_EVENTS = 3,
	TARE_SEGMENT_FOOTER = 4,
	TARE_SEGMENT_REPEATED = 6, /* tables of a log that an earlier segment has, too */
	TARE_SEGMENT_SCHEMA = 5,   /* `log` is its sum, as in the header of a log */
	TARE_SEGMENT_MANIFEST = 7, /* of a segment that stands for others: what segments.json said */
};

struct tare_segment_block {
	uint32_t magic;
	uint32_t kind;                          /* enum tare_segment_kind */
	uint32_t log;                           /* number of the log in this segment, from 0 */
	uint32_t records;                       /* in it */
	uint64_t bytes;                         /* behind this head */
	uint64_t first, last;                   /* stamps of its records: the lowest and the highest */
	uint64_t position_first, position_last; /* and their positions in the log */
	uint64_t sum;                           /* of the bytes */
	uint64_t head_sum;                      /* of this head up to here */
};
_Static_assert(sizeof(struct tare_segment_block) == 72, "segment block layout");

struct tare_segment_trailer {
	char magic[8];
	uint64_t footer; /* where its head lies in the file */
	uint64_t sum;    /* of the trailer up to here */
	uint64_t reserved;
};

/* Writing. After an error everything but close does nothing; close tells it. */
struct tare_segment_writer;

/* Makes the file, which must not be there yet. */
int tare_segment_create(struct tare_segment_writer **out, const char *path, uint32_t number, struct tare_err *err);
void tare_segment_add_log(struct tare_segment_writer *w, uint32_t log, const struct tare_log_part *part);
void tare_segment_add_schema(struct tare_segment_writer *w, uint32_t sum, const char *text);
void tare_segment_add_manifest(struct tare_segment_writer *w, const char *text, size_t size);
void tare_segment_add(struct tare_segment_writer *w, enum tare_segment_kind kind, uint32_t log,
                      const struct tare_layouts *layouts, const struct tare_block_record *records, size_t n);
/* A block of another segment, as it lies there, for the log of this number. */
void tare_segment_copy(struct tare_segment_writer *w, const struct tare_segment_block *head, uint32_t log,
                       const struct tare_pack *bytes);
/* With its footer the file is on the disk afterwards (fsync), or there is an error and it is removed. */
int tare_segment_close(struct tare_segment_writer *w, struct tare_err *err);

/* Reading. */
struct tare_segment_entry {
	struct tare_segment_block head;
	uint64_t at; /* where its bytes lie in the file */
};

/* Events of one log and kind. */
struct tare_segment_count {
	uint32_t log, kind; /* log: its number in the segment; kind: enum tare_kind */
	uint64_t records;
};

struct tare_segment_file {
	TARE_OWNED char *path;
	uint32_t number;                               /* as the manifest has it */
	TARE_OWNED struct tare_segment_entry *entries; /* in the order of the file, the footer left out */
	size_t entry_nr, entry_cap;
	TARE_OWNED struct tare_segment_count *counts;
	size_t count_nr, count_cap;
	bool has_counts;        /* the footer tells of all kinds that there are */
	bool is_scanned;        /* the footer was damaged */
	uint64_t damaged_bytes; /* of the file, in no block: seen only by a scan, as is … */
	bool is_cut;            /* … that its end is missing */
};

/* NOT_FOUND, FORMAT, NEWER, UNSUPPORTED; damage behind the header is no error. */
int tare_segment_open(struct tare_segment_file *out, const char *path, struct tare_err *err);
TARE_FREES(tare_segment_free, tare_segment_file);

/* The bytes of a block into `to`. False: they are damaged, or cannot be read. */
bool tare_segment_read(const struct tare_segment_file *s, size_t entry, struct tare_pack *to);

/* The same of many blocks one after the other: the file of the last one stays open. {0} to begin with. */
struct tare_segment_reader {
	const struct tare_segment_file *of; /* NULL: none is open */
	int fd;
};
bool tare_segment_read_on(struct tare_segment_reader *r, const struct tare_segment_file *s, size_t entry,
                          struct tare_pack *to);
void tare_segment_reader_close(struct tare_segment_reader *r);

#endif
