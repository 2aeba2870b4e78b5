/* SPDX-License-Identifier: Apache-2.0 */
/* Columns while they are being filled; see course.h. */
#ifndef TARE_LEDGER_COURSE_FOLD_H
#define TARE_LEDGER_COURSE_FOLD_H

#include "base/map.h"
#include "ledger/category.h"
#include "ledger/course.h"

struct tare_fold;
struct tare_device_fold;

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
	struct tare_sample (*items)[TARE_SAMPLE_NR];
	int64_t *parts;
};

/* Phases as they end. */
struct tare_spans {
	struct tare_span_fold {
		int known; /* of the fold's phases */
		int64_t begin, end;
		uint64_t count;
	} * items;
	size_t count, cap;
	struct tare_map last_of; /* known → 1 + the last span of it */
	uint64_t dropped;
};

/* Tensors by category at the points of a panel; tensors/history_category.c. No panel: they are not asked for. */
struct tare_kinds {
	const struct tare_course_panel *panel;
	int64_t *change; /* by category and point; once it is finished: how much there is */
	int64_t peak[TARE_CATEGORY_NR];
};

/* samples.c. Columns reach from `start` to `end`; before `known` nothing is known. */
void tare_samples_begin(struct tare_samples *s, int64_t start, int64_t end, int64_t known,
			int part_nr);
/* The state has held since the last time that something was said, up to t. */
void tare_samples_hold(struct tare_samples *s, int64_t t, int64_t used, int64_t live,
		       const int64_t *parts);
/* The same where nothing is to be kept of it; false: something is. For every block of a tensor it is asked first. */
static inline bool tare_samples_pass(struct tare_samples *s, int64_t t, int64_t used, int64_t live)
{
	const struct tare_sample *least, *most;

	if (!s->width)
		return true;
	least = &s->items[s->column][TARE_SAMPLE_LEAST];
	most = &s->items[s->column][TARE_SAMPLE_MOST];
	if (t >= s->column_end || !least->is_there || !most->is_there || used < least->used ||
	    used > most->used || (used == least->used && live < least->live) ||
	    (used == most->used && live > most->live))
		return false;
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
void tare_samples_free(struct tare_samples *s);

/* history/span.c */
void tare_fold_course_span(struct tare_fold *f, int known, int64_t begin, int64_t end);
void tare_fold_course_spans(struct tare_fold *f, struct tare_course *out);
void tare_spans_free(struct tare_spans *s);

/* history/history.c: something is about to happen at t; it has happened; and its `used` has moved */
void tare_fold_course_begin(struct tare_fold *f, struct tare_course *out,
			    const struct tare_course *first);
void tare_fold_course_advance(struct tare_fold *f, struct tare_device_fold *d, int64_t t);
void tare_fold_course_host(struct tare_fold *f, int64_t t); /* the same for tensors on the CPU */
void tare_fold_course_finish(struct tare_fold *f);
void tare_fold_course_end(struct tare_fold *f);

/* tensors/history_category.c: device -1: the memory of CPUs. Points count from 0; the one behind the last is the peak. */
struct tare_live_block;
void tare_fold_course_kinds_begin(struct tare_fold *f, const struct tare_course *first);
void tare_fold_course_gone(struct tare_fold *f, const struct tare_live_block *b, int device);
void tare_fold_course_kinds_finish(struct tare_fold *f, int device);
int64_t tare_kinds_at(const struct tare_kinds *k, enum tare_category category, size_t point);

#endif
