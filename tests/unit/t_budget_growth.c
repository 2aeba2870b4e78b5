/* SPDX-License-Identifier: Apache-2.0 */
/* What a limit of growth finds where some lines grow by the step, and some by time alone. */
#include "test.h"

#include "base/arena.h"
#include "base/json.h"
#include "view/budget.h"

#include <string.h>

#define STEPS(LINE, BYTES)                                                                                             \
	"{\"line\": \"" LINE "\", \"device\": -1, \"bytes_per_step\": " BYTES ", \"bytes_per_second\": 9}"
#define TIME(LINE, BYTES)                                                                                              \
	"{\"line\": \"" LINE "\", \"device\": 1000, \"bytes_per_step\": null, \"bytes_per_second\": " BYTES "}"

/* The limit that the rows have, in order of their rate. */
static void check(const char *rows, uint64_t most, enum tare_limit_state state, const char *sentence)
{
	struct tare_budget b = { 0 };
	struct tare_budget_limit l = { .kind = TARE_LIMIT_GROWTH, .name = "growth", .bytes = most, .device = -1 };
	struct tare_str text = { 0 }, said = { 0 };
	const struct tare_json_value *report;
	struct tare_err err = { 0 };

	tare_str_addf(&text, "{\"growth\": [%s]}", rows);
	CHECK_INT(tare_json_parse(&b.arena, text.data, text.len, &report, &err), 0);
	CHECK_INT(tare_budget_find(&b, &l, report, &err), 0);
	CHECK_INT(l.state, state);
	tare_budget_sentence(&said, &l);
	CHECK_STR(tare_str_text(&said), sentence);
	tare_str_free(&said);
	tare_str_free(&text);
	tare_budget_free(&b);
}

TEST(budget_growth_that_nobody_knows_by_the_step_does_not_pass)
{
	const char *said =
		"growth is not known on heap: s.py:7 in serve grows by 3.0 MiB a second, and nobody knows by how much a step";

	check(TIME("s.py:7 in serve", "3145728") ", " TIME("s.py:9 in log", "1024"), 1 << 20, TARE_LIMIT_UNKNOWN, said);
	check(TIME("s.py:7 in serve", "3145728") ", " STEPS("t.py:3 in step", "4096"), 1 << 20, TARE_LIMIT_UNKNOWN, said);
	check(STEPS("t.py:3 in step", "4096") ", " TIME("s.py:7 in serve", "3145728"), 1 << 20, TARE_LIMIT_UNKNOWN, said);
}

TEST(budget_growth_by_the_step_is_told_first_where_it_is_over)
{
	check(TIME("s.py:7 in serve", "3145728") ", " STEPS("t.py:3 in step", "2097152"), 1 << 20, TARE_LIMIT_OVER,
	      "growth is 2.0 MiB a step, the limit 1.0 MiB: t.py:3 in step");
	check(TIME("s.py:7 in serve", "3145728") ", " STEPS("t.py:3 in step", "2097152"), 0, TARE_LIMIT_OVER,
	      "growth is 2.0 MiB a step, the limit 0.0 MiB: t.py:3 in step");
	check(STEPS("t.py:3 in step", "4096") ", " STEPS("t.py:4 in step", "8192"), 1 << 20, TARE_LIMIT_OK,
	      "growth is 0.0 MiB a step, the limit 1.0 MiB: t.py:4 in step");
	check("", 0, TARE_LIMIT_OK, "growth is 0.0 MiB a step, the limit 0.0 MiB");
}
