/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_EXTENT_H
#define TARE_VIEW_EXTENT_H

#include "base/emit.h"
#include "base/extent.h"

/*
 * A moment whose events went to keep a recording under its cap: the least and the most that was in use around it, and
 * the moments near it that are known exactly.
 */
struct tare_extent_row {
	int64_t device; /* as people number it; -1: tensors on the CPU */
	const char *name;
	struct tare_extent of;
};

struct tare_extent_exact {
	int64_t t_ns;
	const char *at;       /* for --at */
	const char *what;     /* "state", "oom#1", "phase:epoch#2:end" */
	int64_t device, used; /* -1: a report of that moment says all */
};

struct tare_extent_view {
	const char *at;
	int64_t t_ns, dropped_ns;
	const struct tare_extent_row *rows;
	size_t row_nr;
	const struct tare_extent_exact *exacts;
	size_t exact_nr;
};

void tare_extent_show(struct tare_emit *e, const struct tare_extent_view *view);

#endif
