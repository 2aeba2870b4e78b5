/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_STREAM_H
#define TARE_TRACE_STREAM_H

#include "trace/recording_private.h"

/* The records of one stream that belong in the order of time, in that order, each with its time. */
void tare_stream_open(struct tare_rstream *s); /* after its ranges are known */
void tare_stream_free(struct tare_rstream *s);
void tare_stream_close(struct tare_rstream *s); /* and its log */
/* The next record is the first again; `is_outline`: tare_recording_outline(). */
void tare_stream_rewind(struct tare_rstream *s, bool is_outline);

/* tare_recording_pass_over(), of a stream; 0: nothing is passed over. */
void tare_stream_pass_over(struct tare_rstream *s, uint64_t stamp);

/* As tare_stream_next(), but of a run only a time that is not after that of its first record: is_waiting. */
bool tare_stream_first(const struct tare_recording *r, struct tare_rstream *s);
/* Sets has_next, and next_ns, next.info, next.rec and the tail of `next`. Good until the next call. */
bool tare_stream_next(const struct tare_recording *r, struct tare_rstream *s);
/*
 * Behind a TENSOR: how many records follow in its block of records that are of that kind and ordinal of a device, and are before `before`
 * (from the first of them on: *columns, *times). They count as read, the last as the one that is next.
 */
size_t tare_stream_run(struct tare_rstream *s, int64_t before, struct tare_tensor_columns *columns, int64_t **times);
/* The same behind a PHASE, of that kind. */
size_t tare_stream_phase_run(struct tare_rstream *s, int64_t before, const uint8_t **records, int64_t **times);
/* The same behind a HEAP_BLOCK or HEAP_FREED, of these kinds and of the same ordinal of a device. */
size_t tare_stream_heap_run(struct tare_rstream *s, int64_t before, const struct tare_record *const **records,
                            int64_t **times);
/* All of s->next. */
void tare_stream_complete(struct tare_rstream *s);

#endif
