/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/torch/scan_budget.h"
#include "test.h"

enum { TICKS_PER_MS = 2600000, NS_PER_MS = 1000000, LEAST = 3 * TICKS_PER_MS };

static uint64_t of_ms(uint64_t ms)
{
	return ms * TICKS_PER_MS;
}

static void look(struct tare_scan_budget *b, uint64_t ms, uint64_t cpu_ms)
{
	tare_scan_budget_spend(b, of_ms(ms), ms * NS_PER_MS, cpu_ms * NS_PER_MS);
}

TEST(a_first_look_needs_room_for_the_least)
{
	struct tare_scan_budget b = { 0 };

	CHECK(!tare_scan_budget_allows(&b, 0, LEAST));
	CHECK(!tare_scan_budget_allows(&b, of_ms(300), LEAST));
	CHECK(tare_scan_budget_allows(&b, of_ms(301), LEAST));
}

TEST(a_next_look_needs_room_for_as_much_as_the_last_took)
{
	struct tare_scan_budget b = { 0 };

	look(&b, 14, 14);
	CHECK_INT(b.spent, of_ms(14));
	CHECK(!tare_scan_budget_allows(&b, of_ms(2800), LEAST));
	CHECK(tare_scan_budget_allows(&b, of_ms(2801), LEAST));
	look(&b, 1, 1); /* cheaper than the least */
	CHECK_INT(b.spent, of_ms(15));
	CHECK(!tare_scan_budget_allows(&b, of_ms(1800), LEAST));
	CHECK(tare_scan_budget_allows(&b, of_ms(1801), LEAST));
}

TEST(time_without_a_cpu_is_not_spent)
{
	struct tare_scan_budget b = { 0 };

	look(&b, 200, 14);
	CHECK_INT(b.last, of_ms(14));
	CHECK(tare_scan_budget_allows(&b, of_ms(2801), LEAST));
	look(&b, 30000, 15000);
	CHECK_INT(b.last, of_ms(15000));
	CHECK_INT(b.spent, of_ms(15014));
}

TEST(a_clock_that_does_not_answer_leaves_the_other)
{
	struct tare_scan_budget b = { 0 };

	look(&b, 20, 0);
	CHECK_INT(b.last, of_ms(20));
	tare_scan_budget_spend(&b, of_ms(20), 0, 20 * NS_PER_MS);
	CHECK_INT(b.last, of_ms(20));
	look(&b, 20, 21); /* the clocks are not read at once */
	CHECK_INT(b.last, of_ms(20));
	CHECK_INT(b.spent, of_ms(60));
}
