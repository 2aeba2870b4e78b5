/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/array.h"
#include "test.h"

#include <stdlib.h>

TEST(arena_gives_zeroed_aligned_memory)
{
	struct tare_arena a = { 0 };
	char *keep = tare_arena_strdup(&a, "keep");

	for (size_t i = 1; i < 300; i++) {
		unsigned char *p = tare_arena_alloc(&a, i * 7);

		CHECK_INT((uintptr_t)p % 16, 0);
		for (size_t k = 0; k < i * 7; k++)
			CHECK(p[k] == 0);
		memset(p, 0xff, i * 7);
	}
	memset(tare_arena_alloc(&a, 1 << 20), 1, 1 << 20);
	CHECK_STR(tare_arena_strndup(&a, "abcdef", 3), "abc");
	CHECK_STR(keep, "keep");
	tare_arena_free(&a);
	CHECK(!a.blocks);
}

TEST(array_grows_by_doubling)
{
	int *items = NULL;
	size_t cap = 0;

	for (size_t n = 0; n < 1000; n++) {
		items = tare_array_reserve(items, &cap, n + 1, sizeof(*items));
		items[n] = (int)n;
	}
	CHECK_INT(cap, 1024);
	CHECK_INT(items[999], 999);
	items = tare_array_reserve(items, &cap, 5000, sizeof(*items));
	CHECK_INT(cap, 8192);
	free(items);
}
