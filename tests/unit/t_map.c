/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "test.h"

#include <stdlib.h>

TEST(empty_map_answers)
{
	struct tare_map m = { 0 };
	size_t at = 0;

	CHECK(!tare_map_get(&m, 0) && !tare_map_get(&m, 5));
	CHECK(!tare_map_remove(&m, 5, NULL));
	CHECK(!tare_map_next(&m, &at));
	tare_map_free(&m);
}

TEST(zero_and_all_ones_are_keys)
{
	struct tare_map m = { 0 };
	uint64_t v;
	bool is_new;
	size_t at = 0, seen = 0;

	*tare_map_put(&m, 0, &is_new) = 7;
	CHECK(is_new);
	*tare_map_put(&m, UINT64_MAX, &is_new) = 8;
	tare_map_put(&m, 0, &is_new);
	CHECK(!is_new);
	CHECK_INT(m.count, 2);
	for (uint64_t k = 1; k < 100; k++)
		*tare_map_put(&m, k, NULL) = k;
	CHECK_INT(*tare_map_get(&m, 0), 7);
	CHECK_INT(*tare_map_get(&m, UINT64_MAX), 8);
	while (tare_map_next(&m, &at))
		seen++;
	CHECK_INT(seen, 101);
	CHECK(tare_map_remove(&m, 0, &v));
	CHECK_INT(v, 7);
	CHECK(!tare_map_get(&m, 0));
	CHECK_INT(m.count, 100);
	tare_map_free(&m);
}

/* A million random operations beside a plain array. */
TEST(random_operations_match_an_array)
{
	enum { KEYS = 512 };
	static uint64_t want[KEYS];
	static bool is_in[KEYS];
	struct tare_map m = { 0 };
	uint64_t seed = 1;

	for (int i = 0; i < 1000000; i++) {
		uint64_t k, key, got = 0;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
		k = (seed >> 33) % KEYS;
		key = k << 21; /* addresses: equal low bits */
		if (seed >> 63) {
			*tare_map_put(&m, key, NULL) = want[k] = seed;
			is_in[k] = true;
		} else {
			CHECK(tare_map_remove(&m, key, &got) == is_in[k]);
			CHECK(!is_in[k] || got == want[k]);
			is_in[k] = false;
		}
	}
	for (uint64_t k = 0; k < KEYS; k++)
		CHECK((tare_map_get(&m, k << 21) != NULL) == is_in[k]);
	tare_map_free(&m);
}

TEST(strings_keep_a_copy)
{
	struct tare_strmap m = { 0 };
	char key[16];
	size_t at = 0, seen = 0;
	bool is_new;

	CHECK(!tare_strmap_get(&m, "x"));
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		*tare_strmap_put(&m, key, &is_new) = (uint64_t)i;
		CHECK(is_new);
	}
	tare_strmap_put(&m, "k7", &is_new);
	CHECK(!is_new);
	CHECK_INT(*tare_strmap_get(&m, "k999"), 999);
	CHECK(!tare_strmap_get(&m, "k1000"));
	while (tare_strmap_next(&m, &at))
		seen++;
	CHECK_INT(seen, 1000);
	tare_strmap_free(&m);
}
