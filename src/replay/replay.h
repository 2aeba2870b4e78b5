/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_REPLAY_REPLAY_H
#define TARE_REPLAY_REPLAY_H

#include "replay/trace.h"

/* What a replay comes to, of one device or of all. */
struct tare_replay_figures {
	uint64_t allocated, reserved, peak_allocated, peak_reserved, allocated_at_peak;
	uint64_t driver_allocs, driver_frees, retries, ooms;
};

/* Where memory ran out first. */
struct tare_replay_oom {
	bool is_there;
	bool was_served; /* in the file it was served: the program would have gone another way from here on */
	uint32_t device, stack;
	uint64_t event, size, reserved;
};

/* The replay of what happened, compared with the file. */
struct tare_replay_check {
	struct tare_replay_figures figures;
	uint64_t mismatches;
	uint64_t addresses, segments, releases, blocks; /* of those */
	/* From where on the driver had no more, if it ever refused; and what it gave at most. */
	uint64_t refused_from, given;
	bool is_limit;           /* the device had more: a limit of the program's own */
	uint64_t guesses_mended; /* sizes of blocks at the start that follow only from later addresses */
	struct tare_replay_oom oom;
};

/* Orders of addresses that a replay can take; the first is what cudaMalloc mostly does. */
#define TARE_REPLAY_ORDERS 12

struct tare_replay_ask {
	struct tare_alloc_settings settings;
	struct tare_alloc_rules rules;
	uint64_t capacity; /* bytes that the device has for the allocator; UINT64_MAX: any number */
	uint64_t limit;    /* of the program's own; UINT64_MAX: none */
	uint32_t order;    /* of the addresses that the driver gives: of equal blocks the lowest is taken */
};

/* The settings that the file was recorded with. */
int tare_replay_recorded(const struct tare_trace *t, const struct tare_alloc_rules *rules,
                         struct tare_alloc_settings *settings, struct tare_err *err);

/* Every address, every call of the driver and the blocks at the end, compared. Marks what the program released itself. */
void tare_replay_check(struct tare_trace *t, struct tare_trace_device *d, const struct tare_replay_ask *ask,
                       struct tare_replay_check *out);

/* The same requests under other settings, or on another card. `oom` may be NULL. */
void tare_replay_run(const struct tare_trace *t, const struct tare_trace_device *d, const struct tare_replay_ask *ask,
                     struct tare_replay_figures *out, struct tare_replay_oom *oom);

/* What both share: an allocator with the streams and pools of a trace. */
struct tare_allocator *tare_replay_allocator(const struct tare_trace *t, const struct tare_replay_ask *ask,
                                             const struct tare_alloc_driver *driver);
void tare_replay_put_start(const struct tare_trace *t, const struct tare_trace_device *d, struct tare_allocator *a,
                           uint32_t *slots);
void tare_replay_figures_of(const struct tare_allocator *a, struct tare_replay_figures *out);
/* wait.c: blocks of a recording whose wait is over before an event are free; `next`: the first that waits, 0 at the begin. */
void tare_replay_end_waits(const struct tare_trace_device *d, struct tare_allocator *a, uint32_t *slots, size_t *next,
                           size_t event);
/* Private pools whose segments the file releases in these events may be released. */
void tare_replay_release_pools(const struct tare_trace *t, const struct tare_trace_device *d, struct tare_allocator *a,
                               size_t from, size_t to);
/* Blocks at the end that are not where, or not what, the file says. */
uint64_t tare_replay_compare_end(const struct tare_trace_device *d, const struct tare_allocator *a);

#endif
