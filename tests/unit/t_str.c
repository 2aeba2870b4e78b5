/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "test.h"

#include <stdlib.h>

TEST(grows_and_formats)
{
	struct tare_str s = { 0 };
	char *stolen;

	CHECK_STR(tare_str_text(&s), "");
	for (int i = 0; i < 1000; i++)
		tare_str_addf(&s, "%d,", i);
	CHECK_INT(s.len, 10 * 2 + 90 * 3 + 900 * 4);
	CHECK(!strncmp(tare_str_text(&s), "0,1,2,", 6));
	tare_str_cut(&s, 3);
	tare_str_cut(&s, 100);
	tare_str_add_char(&s, '!');
	tare_str_add_repeat(&s, "-=", 2);
	CHECK_STR(tare_str_text(&s), "0,1!-=-=");
	stolen = tare_str_steal(&s);
	CHECK_STR(stolen, "0,1!-=-=");
	CHECK_STR(tare_str_text(&s), "");
	free(stolen);
	stolen = tare_str_steal(&s);
	CHECK_STR(stolen, "");
	free(stolen);
}

TEST(wraps_between_words)
{
	struct tare_str s = { 0 };

	tare_str_add_wrapped(&s, "aa bbb cc überlang dd", 4, 2, 12);
	CHECK_STR(tare_str_text(&s), "aa bbb\n  cc\n  überlang\n  dd");
	tare_str_free(&s);
	tare_str_add_wrapped(&s, "a\n\nb c", 0, 0, 80);
	CHECK_STR(tare_str_text(&s), "a\n\nb c");
	tare_str_free(&s);
}

TEST(columns_are_code_points)
{
	CHECK_INT(tare_str_columns(""), 0);
	CHECK_INT(tare_str_columns("a·b…"), 4);
}
