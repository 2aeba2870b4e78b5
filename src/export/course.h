/* SPDX-License-Identifier: Apache-2.0 */
/* What formats with a time axis share: the curves, and where spans of phases stand. */
#ifndef TARE_EXPORT_COURSE_H
#define TARE_EXPORT_COURSE_H

#include "export/export.h"

/* A curve of one GPU, or of tensors on the CPU: by account, or tensors by category. */
struct tare_export_course {
	struct tare_str name; /* "GPU 0 NVIDIA H200" */
	const struct tare_memory_history_panel *panel;
	const char *by; /* "account", "category" */
};

struct tare_export_courses {
	struct tare_export_course *items;
	size_t nr;
};

void tare_export_courses_make(struct tare_export_courses *out, const struct tare_export *x);
void tare_export_courses_free(struct tare_export_courses *courses);

/* Points of a curve in order of time, the peak among them. `at` is 0 before the first; false: there is none more. */
bool tare_export_course_next(const struct tare_export_course *course, size_t *at,
                             struct tare_memory_history_point *out);

/*
 * A lane for each span, in which spans lie in one another or apart, as viewers want it; caller frees. Marks have lane 0. `nr`: lanes.
 */
int *tare_export_lanes(const struct tare_memory_history *history, int *nr);

/* That curves have so many points and no more: a note. */
void tare_export_note_course(struct tare_export *x);

#endif
