/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bracket around a driver call that may have an effect on memory:
 *
 *     if (!tare_call_begin(&call, api, class, effect))
 *             return real(…);                   not ours to record: nested, paused, disabled …
 *     result = real(…);
 *     if (result == CUDA_SUCCESS) call.handle = …;
 *     tare_call_end(&call, result);
 *     return result;
 *
 * No lock of ours is held between the two, and errno is what the driver left.
 */
#ifndef TARE_RECORDER_HOOKS_CALL_H
#define TARE_RECORDER_HOOKS_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/cuda/real.h"
#include "recorder/weigh/rss.h"
#include "record/format.h"

struct tare_call {
	enum tare_api api;
	enum tare_class class;
	enum tare_effect effect;
	int device;     /* CUDA ordinal, -1: not known */
	uint32_t flags; /* enum tare_event_flag */
	uint64_t context, handle, parent, asked, granted, local, limit, missing;
	uint64_t before, after, peers_before, peers_after;
	uint64_t begin, end; /* ticks, around the driver alone */
	uint64_t launches;   /* of an executable graph that goes */
	struct tare_rss rss_before, rss_after;
	uint64_t reading_before, reading_after; /* ticks from the start of the first, to the end of the second */
	const char *name;
	const char *symbol; /* of a function that is none of the driver's; else NULL */
	int saved_errno;
	bool is_weighed;
	bool changed_before; /* device memory had changed since our last call before this one began */
	bool is_inside;      /* of another call of this thread, which is recorded too */
	bool is_light;       /* recording is paused, and an object ends: no stack, no mere check of its size */
	bool is_quiet;       /* record it only if device memory changed, in it or before it */
};

bool tare_call_begin(struct tare_call *call, enum tare_api api, enum tare_class class, enum tare_effect effect);
/* As above, without reading any counter: what the call changes is known by other means. */
bool tare_call_begin_unweighed(struct tare_call *call, enum tare_api api, enum tare_class class,
                               enum tare_effect effect);
/* As above, on a device that is named by the call and not by the current context. */
bool tare_call_begin_on(struct tare_call *call, enum tare_api api, enum tare_class class, enum tare_effect effect,
                        CUdevice device);
void tare_call_end(struct tare_call *call, CUresult result);
/* As above, for a call that ended at this tick, before some work of ours. */
void tare_call_end_at(struct tare_call *call, CUresult result, uint64_t end);

/* Before the call: what others have on its device, if that is not known. It begins then. */
void tare_call_read_peers(struct tare_call *call);

/* The counter must be read for it after all: before the call. */
void tare_call_weigh(struct tare_call *call, enum tare_class class, enum tare_effect effect);
/* Writes the event alone. pre: begin and end are set. */
void tare_call_emit(struct tare_call *call, CUresult result);
/* Instead of tare_call_end(): the call is not recorded. */
void tare_call_drop(struct tare_call *call);

/*
 * What a change inside a synchronisation is booked to: POOL once asynchronous pools were used
 * (they shrink there), MANAGED once managed memory was (it comes when the GPU touches it); NONE: no
 * need to look.
 */
extern enum tare_class tare_sync_class;
void tare_call_is_sync(struct tare_call *call); /* booked as that says, recorded if anything changed */

#endif
