/* SPDX-License-Identifier: Apache-2.0 */
/* What is in use over time, column by column; see memory_history.h. */
#ifndef TARE_LEDGER_CORE_SAMPLES_H
#define TARE_LEDGER_CORE_SAMPLES_H

#include "base/map.h"
#include "base/owned.h"
#include "ledger/category.h"
#include "ledger/memory_history.h"
#include "ledger/saved.h"

/* One moment of a column. Of two with as much in use, that with more in tensors is the larger. */
struct tare_sample {
	bool is_there;
	int64_t t, used, live;
};

enum { TARE_SAMPLE_LEAST, TARE_SAMPLE_MOST, TARE_SAMPLE_NR };

/* What is in use on a device, or on CPUs, column by column. */
struct tare_samples {
	int64_t start;
	int64_t width; /* of a column; 0: nothing is kept */
	int64_t until; /* all before it is in */
	size_t column; /* in which that is … */
	int64_t column_end;
	int part_nr; /* 0: without parts */
	TARE_SAVED_BY_STATE(TARE_STATE_SAMPLES) struct tare_sample (*items)[TARE_SAMPLE_NR];
	TARE_SAVED_BY_STATE(TARE_STATE_SAMPLE_PARTS) int64_t *parts;
};

/* Blocks that a picture may show one by one: src/ledger/tensors/block_course.c. */
struct tare_drawn_block;
struct tare_drawn_blocks {
	TARE_OWNED struct tare_samples events;     /* of numbers of changes in place of times; a part: when that was */
	int64_t live, changed_ns;                  /* in blocks, since when */
	TARE_OWNED struct tare_drawn_block *items; /* up to twice as many as are wanted */
	size_t nr, cap, wanted;
	double least; /* a smaller one is not among those that are wanted */
	uint64_t seen;
};

/*
 * Tensors by category at the points of a panel. What a block is for is decided when the whole recording is known: until then blocks
 * that all rules see alike are summed up together (tensors/history_category.c). No panel: they are not asked for.
 */
struct tare_kind_group;
struct tare_kinds {
	const struct tare_memory_history_panel *panel;
	TARE_OWNED struct tare_kind_group *groups;
	size_t group_nr, group_cap;
	TARE_OWNED struct tare_map group_at; /* hash of what rules see → 1 + place of the first such group */
	TARE_OWNED struct tare_map changes;  /* group and point → by how much more it has from there on */
	TARE_OWNED struct tare_map late; /* serial of a block that waited for calls to be settled → since when it counts */
	TARE_OWNED int64_t *bytes;       /* once it is finished: by point and category */
	int64_t peak[TARE_CATEGORY_NR];
	TARE_OWNED struct tare_drawn_blocks drawn;
};

/* samples.c. Columns reach from `start` to `end`; before `known` nothing is known. */
void tare_samples_begin(struct tare_samples *s, int64_t start, int64_t end, int64_t known, int part_nr);
/* Columns of another width, from what was kept so far. */
void tare_samples_stretch(struct tare_samples *s, int64_t start, int64_t end);
/* What the moments that were kept are made up of is not asked for. */
void tare_samples_forget_parts(struct tare_samples *s);
/* The state has held since the last time that something was said, up to t. */
void tare_samples_hold(struct tare_samples *s, int64_t t, int64_t used, int64_t live, const int64_t *parts);
/* The same where it is in a column that has moments already, and no parts are kept; false: it is not. For every block it is asked first. */
static inline bool tare_samples_pass(struct tare_samples *s, int64_t t, int64_t used, int64_t live)
{
	struct tare_sample *least, *most;
	bool is_least, is_most;

	if (!s->width)
		return true;
	least = &s->items[s->column][TARE_SAMPLE_LEAST];
	most = &s->items[s->column][TARE_SAMPLE_MOST];
	if (t >= s->column_end || !least->is_there || !most->is_there)
		return false;
	is_least = used < least->used || (used == least->used && live < least->live);
	is_most = used > most->used || (used == most->used && live > most->live);
	if (is_least || is_most) {
		if (s->part_nr || least->t == s->until)
			return false;
		*(is_most ? most : least) = (struct tare_sample){ true, s->until, used, live };
	}
	if (s->until < t)
		s->until = t;
	return true;
}
/* The device turns out to have had that much more all along, in the given part. */
void tare_samples_shift(struct tare_samples *s, int part, int64_t by);
/* The moments that were kept, in order of time and each once; returns how many. `out` has room for all. */
size_t tare_samples_list(const struct tare_samples *s, size_t *out);
const struct tare_sample *tare_sample_at(const struct tare_samples *s, size_t place);
const int64_t *tare_sample_parts(const struct tare_samples *s, size_t place);
/* The most of every column. */
struct tare_arena;
struct tare_timeline;
void tare_fold_timeline(const struct tare_samples *s, struct tare_arena *memory, struct tare_timeline *out);
void tare_samples_free(struct tare_samples *s);

/* Tensors of a category at a point; points count from 0, and the one behind the last is the peak. */
int64_t tare_kinds_at(const struct tare_kinds *k, enum tare_category category, size_t point);
TARE_FREES(tare_kinds_free, tare_kinds);

#endif
