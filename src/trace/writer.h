/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_WRITER_H
#define TARE_TRACE_WRITER_H

#include "base/err.h"
#include "record/format.h"

/*
 * Appends records to a log that has no ring: tare.events. Records are gathered
 * and written together. A full disk loses records, which are counted and told by a LOST record as
 * soon as there is room again; what was gathered before is kept and written then.
 *
 *     struct tare_rec_exit rec = { .head = { .kind = TARE_KIND_EXIT, .stamp = now }, .pid = pid };
 *
 *     tare_writer_add(w, &rec, sizeof(rec), NULL, 0);
 */
struct tare_writer;

/* Makes the file, mode 0600, and writes the header, which says whether others follow (chunk.h). EXISTS, DENIED, NO_SPACE, … */
int tare_writer_open(struct tare_writer **out, const char *path, const struct tare_file_header *header,
                     struct tare_err *err);

/*
 * `rec` begins with a struct tare_record whose kind and stamp are set. Returns 0, NO_SPACE or IO
 * when the record had to be given up, RANGE when it is longer than a record can be.
 */
int tare_writer_add(struct tare_writer *w, const void *rec, size_t fixed, const void *tail, size_t tail_size);

/* What is gathered is in the file afterwards, so that it survives this process. */
int tare_writer_flush(struct tare_writer *w);

/* Flushes, says what was lost as far as there is room, closes. NULL is fine. */
int tare_writer_close(struct tare_writer *w);

#endif
