/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory over time, for pictures. The time of a recording is cut into equal columns, and of each the
 * moment with least and the moment with most in use is kept, with all that was there then: so no peak is
 * lost, every point is a moment that was, and the size does not depend on the number of events.
 */
#ifndef TARE_LEDGER_MEMORY_HISTORY_H
#define TARE_LEDGER_MEMORY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TARE_HISTORY_COLUMNS = 800 };

/* What there is from `t_ns` on. */
struct tare_memory_history_point {
	int64_t t_ns, used;
	const int64_t *bytes; /* by band: they sum to `used` */
};

/* A span of time whose events went: the least and the most that was in use in it. */
struct tare_memory_history_bounds {
	int64_t from_ns, until_ns, low, high, high_ns; /* high_ns: when it was that much */
};

#define TARE_HISTORY_SMALL "small" /* key of a band of what is too small to be told apart */

/* From the bottom to the top: elastic ones stand above all others, what nobody can explain above those. */
struct tare_memory_history_band {
	const char *key, *label;
	bool elastic, is_unexplained;
};

/* A GPU, or the memory of CPUs, where only tensors count (rule "host tensors"). */
struct tare_memory_history_panel {
	int device;                             /* index in tare_ledger.devices; -1: the memory of CPUs */
	struct tare_memory_history_band *bands; /* bands that ever had anything */
	int band_nr;
	struct tare_memory_history_point *points; /* in order of time */
	size_t point_nr;
	struct tare_memory_history_bounds
		*bounds; /* of the time before known_ns, in its order; none where nothing is known */
	size_t bound_nr;
	bool has_peak;
	struct tare_memory_history_point peak; /* as the ledger has it: may be of a span whose events are not there */
};

/* A phase while it was open, or several repeats too short to be told apart. A mark has no length. */
struct tare_memory_history_span {
	const char *name;
	int64_t begin_ns, end_ns;
	uint64_t count;
	bool is_mark;
};

struct tare_memory_history {
	int64_t known_ns;                         /* before it only the bounds of the panels are known */
	int64_t from_ns, end_ns;                  /* from_ns: 0, unless nearly everything happens late */
	struct tare_memory_history_panel *panels; /* in the order of the ledger's devices, the CPU's last */
	int panel_nr;
	struct tare_memory_history_span *spans; /* by begin, the longer first */
	size_t span_nr;
	uint64_t dropped; /* phases that are in no span */
	void *memory;
};

void tare_memory_history_free(struct tare_memory_history *history); /* empty afterwards */

#endif
