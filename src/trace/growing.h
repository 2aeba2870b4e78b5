/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is still written, kept open: what its logs get is read once, as it comes, and given out when nothing that is
 * still to come changes its place in the order of time.
 *
 *     struct tare_growing *g = tare_growing_new(recording, from_ns);
 *
 *     while (g && tare_growing_read(g)) {
 *             while (tare_growing_look(g, &e)) …
 *             while (tare_growing_take(g, until_ns, &e)) … if (tare_growing_run(g, until_ns, &run)) …
 *     }
 *
 * What is made into segments and taken out of the logs meanwhile is read there, if it had not been read before.
 */
#ifndef TARE_TRACE_GROWING_H
#define TARE_TRACE_GROWING_H

#include "trace/recording.h"

struct tare_growing;

/*
 * Of a recording of one folder that was opened whole, which can be read as a whole no more and must live longer. Events behind `from_ns` are
 * given; that is at most tare_growing_begin_ns(). NULL: it has to be read as a whole each time.
 */
struct tare_growing *tare_growing_new(struct tare_recording *recording, int64_t from_ns);
void tare_growing_free(struct tare_growing *g); /* NULL is fine */

/* The last moment from which on a recording can be kept open; INT64_MIN: it cannot. */
int64_t tare_growing_begin_ns(const struct tare_recording *recording);

/* Reads what came. False: the recording has to be opened again, because something came that changes what was read, or may have. */
bool tare_growing_read(struct tare_growing *g);

/* Events up to then are all there, in their order; what else was read waits. */
int64_t tare_growing_settled_ns(const struct tare_growing *g);
/* The last event that was read, whether it is settled or not. */
int64_t tare_growing_last_ns(const struct tare_growing *g);

/* Of the settled events the next that this was not called for yet. It stays. */
bool tare_growing_look(struct tare_growing *g, struct tare_event *e);
/* Of those the next up to `until_ns`, which goes with the next call. */
bool tare_growing_take(struct tare_growing *g, int64_t until_ns, struct tare_event *e);

/*
 * What follows an event that was taken, many at once, as tare_recording_run(), tare_recording_phase_run() and
 * tare_recording_heap_run() give it of a whole recording. Good until the next call for this one.
 */
bool tare_growing_run(struct tare_growing *g, int64_t until_ns, struct tare_block_run *run);
bool tare_growing_phase_run(struct tare_growing *g, int64_t until_ns, struct tare_phase_run *run);
bool tare_growing_heap_run(struct tare_growing *g, int64_t until_ns, struct tare_heap_run *run);

#endif
