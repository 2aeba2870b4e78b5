/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_UNIT_MAKE_LOG_H
#define TARE_TESTS_UNIT_MAKE_LOG_H

#include "record/encode.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Logs made by hand, in memory: add records, then damage them, then write them to a file. The clock
 * is monotonic-ns and starts at 1 s, unless a test changes the header.
 */
struct make_log {
	struct tare_file_header header;
	uint8_t *bytes; /* positions 0 .. size */
	size_t size, cap;
	uint64_t stamp; /* of the next record; goes up by one for each */
	struct {
		size_t position, size;
	} * records;
	int record_nr, record_cap;
};

void make_log_init(struct make_log *m, uint32_t pid, uint32_t generation);
void make_log_free(struct make_log *m);

/* Adds a record; its stamp is m->stamp++ unless it is set. Returns its position. */
size_t make_log_add(struct make_log *m, const void *rec, size_t fixed, const void *tail, size_t tail_size);
#define MAKE(M, NAME, KEY, ...)                                                                                        \
	make_log_add(M, &(struct tare_rec_##NAME){ .head = { .kind = TARE_KIND_##KEY }, __VA_ARGS__ },                     \
	             sizeof(struct tare_rec_##NAME), NULL, 0)
#define MAKE_TEXT(M, NAME, KEY, TEXT, ...)                                                                             \
	make_log_add(M,                                                                                                    \
	             &(struct tare_rec_##NAME){                                                                            \
					 .head = { .kind = TARE_KIND_##KEY }, .bytes = (uint32_t)strlen(TEXT), __VA_ARGS__ },              \
	             sizeof(struct tare_rec_##NAME), TEXT, strlen(TEXT))

/* GPU 0, with a UUID. */
void make_log_gpu(struct make_log *m);
/* A call that lasted `ns` from `at` ns behind the first stamp on, and took or gave back a block: cuMemAlloc_v2 is string 2, cuMemFree_v2 3. */
void make_log_call(struct make_log *m, uint64_t at, uint64_t ns, uint64_t handle, uint64_t size, bool is_end);

/* One record of every kind in record.def, every field with a value of its own. */
void make_log_every_kind(struct make_log *m);

/* A small training program, as the recorder would have written it. */
void make_log_program(struct make_log *m);

/* The first `size` bytes of the file (header included); SIZE_MAX: all. */
void make_log_write(const struct make_log *m, const char *path, size_t size);

/* All of it in the files that m->header.chunk_bytes says, of which `path` is the first. */
void make_log_write_chunks(const struct make_log *m, const char *path);

/*
 * The file, with this schema; the records of m lie as that says. The sum in the header is that of the text, unless
 * m->header has one that is not of this version.
 */
void make_log_write_schema(const struct make_log *m, const char *path, const char *text);

enum { MAKE_LANE_BYTES = TARE_LANE_BYTES_MIN };

/*
 * A ring whose only lane has all of m, as far as it fits, and of which tail .. m->size is not in the log. Nothing of
 * the log is in blocks, unless make_log_write_block() made it.
 */
void make_log_write_ring(const struct make_log *m, const char *path, uint64_t tail, bool is_finished);

/* The log as one block of lane 0, positions 0 .. drained, of which the file has the first `size` bytes. */
void make_log_write_block(const struct make_log *m, const char *path, uint64_t drained, size_t size);

/* A fresh folder below $TMPDIR or /tmp, removed when the process exits. */
const char *make_dir(void);
/* "DIR/name", good until the fourth next call. */
const char *make_path(const char *dir, const char *name);

#endif
