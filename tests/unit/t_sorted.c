/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sorted.h"
#include "test.h"

#include <stdlib.h>

/* How often the set has looked at a map. */
static uint64_t looks;

uint64_t *__real_tare_map_get(const struct tare_map *m, uint64_t key);
uint64_t *__wrap_tare_map_get(const struct tare_map *m, uint64_t key);
uint64_t *__real_tare_map_put(struct tare_map *m, uint64_t key, bool *is_new);
uint64_t *__wrap_tare_map_put(struct tare_map *m, uint64_t key, bool *is_new);

uint64_t *__wrap_tare_map_get(const struct tare_map *m, uint64_t key)
{
	looks++;
	return __real_tare_map_get(m, key);
}

uint64_t *__wrap_tare_map_put(struct tare_map *m, uint64_t key, bool *is_new)
{
	looks++;
	return __real_tare_map_put(m, key, is_new);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return *seed >> 33;
}

/* The last up to a number; `none` where all are greater. */
static uint64_t last(const struct tare_sorted *s, uint64_t number, uint64_t none)
{
	uint64_t found = 0;

	return tare_sorted_last_up_to(s, number, &found) ? found : none;
}

TEST(an_empty_set_has_none)
{
	struct tare_sorted s = { 0 };

	CHECK_INT(last(&s, UINT64_MAX, 7), 7);
	tare_sorted_remove(&s, 5);
	tare_sorted_add(&s, 5);
	tare_sorted_add(&s, 5);
	tare_sorted_remove(&s, 5);
	CHECK_INT(last(&s, UINT64_MAX, 7), 7);
	tare_sorted_free(&s);
}

TEST(the_least_and_the_greatest_number)
{
	struct tare_sorted s = { 0 };

	tare_sorted_add(&s, UINT64_MAX);
	CHECK_INT(last(&s, UINT64_MAX - 1, 7), 7);
	CHECK(last(&s, UINT64_MAX, 7) == UINT64_MAX);
	tare_sorted_add(&s, 0);
	CHECK_INT(last(&s, UINT64_MAX - 1, 7), 0);
	CHECK_INT(last(&s, 0, 7), 0);
	tare_sorted_remove(&s, 0);
	CHECK_INT(last(&s, 0, 7), 7);
	tare_sorted_free(&s);
}

/* Numbers close to each other, far apart, and around every power of two. */
TEST(random_operations_match_a_plain_array)
{
	enum { NUMBERS = 192, STEPS = 200000 };
	static uint64_t numbers[NUMBERS];
	static bool is_in[NUMBERS];
	struct tare_sorted s = { 0 };
	uint64_t seed = 3;

	for (uint64_t i = 0; i < NUMBERS; i++)
		numbers[i] = i < 64 ? i * 3 : (UINT64_C(1) << (i % 64)) + (i < 128 ? -1 : 5);
	for (int i = 0; i < STEPS; i++) {
		uint64_t k = next_random(&seed) % NUMBERS, asked, wanted = 0;
		bool is_any = false;

		if (next_random(&seed) % 2) {
			tare_sorted_add(&s, numbers[k]);
			for (int j = 0; j < NUMBERS; j++)
				is_in[j] |= numbers[j] == numbers[k];
		} else {
			tare_sorted_remove(&s, numbers[k]);
			for (int j = 0; j < NUMBERS; j++)
				is_in[j] &= numbers[j] != numbers[k];
		}
		asked = numbers[next_random(&seed) % NUMBERS] + next_random(&seed) % 3 - 1;
		for (int j = 0; j < NUMBERS; j++)
			if (is_in[j] && numbers[j] <= asked && (!is_any || numbers[j] > wanted)) {
				wanted = numbers[j];
				is_any = true;
			}
		CHECK(last(&s, asked, wanted + 1) == (is_any ? wanted : wanted + 1));
	}
	tare_sorted_free(&s);
}

TEST(a_look_is_as_short_however_many_there_are)
{
	enum { MANY = 300000 };
	struct tare_sorted s = { 0 };
	uint64_t seed = 9;

	for (uint64_t i = 0; i < MANY; i++)
		tare_sorted_add(&s, next_random(&seed) << 7 ^ i << 40);
	looks = 0;
	for (uint64_t i = 0; i < MANY; i++) {
		last(&s, next_random(&seed) << 7, 0);
		tare_sorted_add(&s, i);
		tare_sorted_remove(&s, i);
	}
	CHECK(looks <= (uint64_t)MANY * 4 * TARE_SORTED_LEVELS);
	tare_sorted_free(&s);
}
