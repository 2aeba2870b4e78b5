/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the most of each second of the last minutes. */
#include "top/course.h"

#define SECOND INT64_C(1000000000)

static int64_t *place(struct tare_top_course *c, int64_t second)
{
	return &c->most[second % TARE_COURSE_SECONDS];
}

static void clear(struct tare_top_course *c)
{
	for (size_t i = 0; i < TARE_COURSE_SECONDS; i++)
		c->most[i] = -1;
}

void tare_top_course_add(struct tare_top_course *c, int64_t now_ns, int64_t bytes)
{
	int64_t now = now_ns / SECOND;

	if (!c->last_s) {
		clear(c);
		c->last_s = now - 1;
		c->latest = -1;
	}
	if (now - c->last_s > TARE_COURSE_SECONDS)
		c->last_s = now - TARE_COURSE_SECONDS;
	while (c->last_s < now - 1)
		*place(c, ++c->last_s) = c->latest;
	if (c->last_s < now || *place(c, now) < bytes)
		*place(c, now) = bytes;
	c->last_s = now;
	c->latest = bytes;
}

void tare_top_course_begin(struct tare_top_course *c, int64_t end_ns, const struct tare_timeline *t)
{
	int64_t end = end_ns / SECOND;

	if (c->last_s || t->nr <= 0 || t->width_ns <= 0)
		return;
	clear(c);
	c->last_s = end;
	for (int64_t i = 0; i < TARE_COURSE_SECONDS && i <= end; i++) {
		int64_t at = t->to_ns - i * SECOND - 1, column = (at - t->from_ns) / t->width_ns;

		if (at < t->from_ns)
			break;
		column = column < t->nr ? column : t->nr - 1;
		*place(c, end - i) = t->used[column];
	}
	c->latest = *place(c, end);
}

/* The most of the seconds that one of `columns` characters stands for, 0 the newest. */
static int64_t most_of(const struct tare_top_course *c, size_t columns, size_t column)
{
	size_t from = column * TARE_COURSE_SECONDS / columns, to = (column + 1) * TARE_COURSE_SECONDS / columns;
	int64_t most = -1;

	for (size_t i = from; i < (to > from ? to : from + 1); i++) {
		int64_t second = c->last_s - (int64_t)i;

		if (second >= 0 && c->most[second % TARE_COURSE_SECONDS] > most)
			most = c->most[second % TARE_COURSE_SECONDS];
	}
	return most;
}

void tare_top_course_show(const struct tare_top_course *c, size_t columns, struct tare_str *out)
{
	static const char *const levels[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	int64_t top = 1;

	for (size_t i = 0; c->last_s && i < columns; i++) {
		int64_t most = most_of(c, columns, i);

		top = most > top ? most : top;
	}
	for (size_t i = columns; i-- > 0;) {
		int64_t most = c->last_s ? most_of(c, columns, i) : -1;

		tare_str_add(out, most < 0 ? " " : levels[(int)((double)most / (double)top * 7 + 0.5)]);
	}
}
