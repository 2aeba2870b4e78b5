/* SPDX-License-Identifier: Apache-2.0 */
/* What tare run --live draws: sequences that keep lines free, and what the lines say. */
#include "base/region.h"
#include "base/width.h"
#include "sample_ledger.h"
#include "test.h"
#include "top/status.h"

#include <string.h>

TEST(a_region_is_begun_drawn_in_and_ended)
{
	struct tare_str out = { 0 }, texts[2] = { { 0 }, { 0 } };

	tare_region_add_begin(&out, 24, 2, false);
	CHECK_STR(tare_str_text(&out), "\0337\033[r\0338\033D\033D\033[2A\0337\033[1;22r\0338");
	tare_str_cut(&out, 0);
	tare_region_add_begin(&out, 30, 1, true);
	CHECK_STR(tare_str_text(&out), "\0337\033[r\0338\033[J\033D\033[1A\0337\033[1;29r\0338");
	tare_str_cut(&out, 0);
	tare_str_add(&texts[0], "one");
	tare_str_add(&texts[1], "two");
	tare_region_add_lines(&out, 24, 2, texts, false);
	CHECK_STR(tare_str_text(&out),
	          "\0337\033[1;22r\033[23;1H\033[0mone\033[0m\033[K\033[24;1H\033[0mtwo\033[0m\033[K\0338");
	tare_str_cut(&out, 0);
	tare_region_add_end(&out, 24, 2);
	CHECK_STR(tare_str_text(&out), "\0337\033[0m\033[23;1H\033[J\033[r\0338");
	tare_str_free(&out);
	tare_str_free(&texts[0]);
	tare_str_free(&texts[1]);
}

static void check_lines(const struct tare_status *s, const struct tare_ledger *ledger, size_t columns,
                        const char *first, const char *second)
{
	struct tare_str lines[2] = { { 0 }, { 0 } };
	size_t nr = second ? 2 : 1;

	tare_status_lines(s, ledger, 61, columns, lines, nr);
	for (size_t i = 0; i < nr; i++) {
		char *text = lines[i].data;

		CHECK_INT(tare_width_text(text), columns);
		for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
			text[n - 1] = '\0';
		CHECK_STR(text, i ? second : first);
		tare_str_free(&lines[i]);
	}
}

TEST(lines_of_a_training)
{
	struct tare_status s = { .steps = 1185, .before = 1184, .change = 3 << 19, .has_change = true };

	check_lines(&s, sample_train_peak(), 110,
	            "tare  GPU 0  8,464.8 of 143,771 MiB, 5.9 % · peak 8,464.8 · PyTorch 2,970.0 · host 934.6",
	            "      step 1,185 · +1.5 since step 1,184 · most: activation 2,390.0 · 1:01");
	check_lines(&s, sample_train_peak(), 60, "tare  GPU 0  8,464.8 of 143,771 MiB, 5.9 % · peak 8,464.8",
	            "      step 1,185 · +1.5 since step 1,184 · 1:01");
	check_lines(&s, sample_train_peak(), 40, "tare  GPU 0  8,464.8 of 143,771 MiB, 5.…", NULL);
}

TEST(lines_of_what_is_not_known)
{
	const struct tare_status s = { 0 };

	check_lines(&s, NULL, 60, "tare  nothing is recorded yet", "      1:01");
	check_lines(&s, NULL, 60, "tare  nothing is recorded yet · 1:01", NULL);
	check_lines(&s, sample_idle(), 60, "tare  nothing is recorded yet", "      1:01");
	check_lines(&s, sample_uncounted(), 60, "tare  GPU 0  64.0 MiB · peak 64.0", "      most: allocations 64.0 · 1:01");
}

TEST(a_change_is_from_step_to_step)
{
	struct tare_training training = { .count = 4 };
	struct tare_device_ledger d = sample_train_peak()->devices[0];
	struct tare_ledger ledger = { .devices = &d, .device_nr = 1, .trainings = &training, .training_nr = 1 };
	struct tare_status s = { 0 };

	d.used = 1000;
	tare_status_take(&s, &ledger);
	CHECK(!s.has_change); /* of the first nobody knows what was before */
	d.used = 5000;
	tare_status_take(&s, &ledger);
	CHECK_INT(s.used, 1000); /* within a step */
	d.used = 1500;
	training.count = 9;
	tare_status_take(&s, &ledger);
	CHECK_INT(s.change, 500);
	CHECK_INT(s.before, 4);
	training.count = 2; /* another program of the recording */
	tare_status_take(&s, &ledger);
	CHECK_INT(s.steps, 2);
}
