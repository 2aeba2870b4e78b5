/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a screen: how wide names are, and what something had in the last minutes. */
#include "base/width.h"
#include "test.h"
#include "top/course.h"
#include "top/draw.h"

#include <stdint.h>
#include <string.h>

#define S INT64_C(1000000000)

static void check_cell(const char *name, size_t columns, const char *wanted)
{
	struct tare_str out = { 0 };

	tare_width_add(&out, name, columns, 0);
	CHECK_STR(tare_str_text(&out), wanted);
	CHECK_INT(tare_width_text(tare_str_text(&out)), columns);
	tare_str_free(&out);
}

TEST(a_cell_has_its_columns)
{
	check_cell("abc", 5, "abc  ");
	check_cell("abcdef", 4, "abc…");
	check_cell("字字字", 6, "字字字");
	check_cell("字字字", 5, "字字…");
	check_cell("字字字", 4, "字… ");
	check_cell("a\033[31m\n", 7, "a?[31m?");
	check_cell("\xff\xfe", 3, "?? ");
	check_cell("", 2, "  ");
	check_cell("abc", 0, "");
	check_cell("abc", 1, "…");
}

TEST(a_number_stands_at_the_right)
{
	struct tare_str out = { 0 };

	tare_width_add(&out, "1,234.5", 9, 1);
	CHECK_STR(tare_str_text(&out), "  1,234.5");
	tare_str_free(&out);
}

static void check_course(const struct tare_top_course *c, size_t columns, const char *wanted)
{
	struct tare_str out = { 0 };

	tare_top_course_show(c, columns, &out);
	CHECK_STR(tare_str_text(&out), wanted);
	tare_str_free(&out);
}

TEST(a_course_has_the_most_of_each_part)
{
	static struct tare_top_course c;

	check_course(&c, 3, "   ");
	tare_top_course_add(&c, 1000 * S, 80);
	tare_top_course_add(&c, 1000 * S + 1, 20);
	check_course(&c, 3, "  █");
	/* What was there at last stays until the next look. */
	tare_top_course_add(&c, 1099 * S, 20);
	tare_top_course_add(&c, 1100 * S, 40);
	check_course(&c, 3, " █▅");
	tare_top_course_add(&c, 1299 * S, 0);
	check_course(&c, 3, "█▅▅");
	tare_top_course_add(&c, 5000 * S, 7);
	check_course(&c, 3, "▁▁█");
}

TEST(a_course_begins_with_what_the_recording_says)
{
	static struct tare_top_course c;
	int64_t used[] = { 10, 70, -1, 35 };
	struct tare_timeline t = { 0, 400 * S, 100 * S, used, 4 };

	tare_top_course_begin(&c, 1000 * S, &t);
	check_course(&c, 3, "█ ▅");
	/* No second time, and nothing where no time is known. */
	t.used[1] = 0;
	tare_top_course_begin(&c, 1000 * S, &t);
	check_course(&c, 3, "█ ▅");
}

TEST(sizes_that_cannot_be_do_no_harm)
{
	static struct tare_top_course c;

	tare_top_course_add(&c, 1000 * S, INT64_MAX);
	tare_top_course_add(&c, 1001 * S, INT64_MIN);
	check_course(&c, 1, "█");
}

TEST(an_interval_stays_within_its_bounds)
{
	struct tare_top_view view = { .interval_ns = S };
	struct tare_top_tree tree = { 0 };

	for (int i = 0; i < 9; i++)
		tare_top_key(&view, &tree, '-', 24);
	CHECK_INT(view.interval_ns, S / 10);
	for (int i = 0; i < 20; i++)
		tare_top_key(&view, &tree, '+', 24);
	CHECK_INT(view.interval_ns, 60 * S);
	tare_top_view_free(&view);
}
