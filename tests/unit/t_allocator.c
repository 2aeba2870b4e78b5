/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's caching allocator: sizes, and courses of requests whose driver calls and addresses are known. */
#include "allocator/allocator.h"
#include "base/str.h"
#include "test.h"

#include <stdlib.h>

#define KIB 1024ull
#define MIB (1024 * KIB)
#define C   0x100000000ull   /* where cudaMalloc begins */
#define V   0x10000000000ull /* where reservations begin */

/* A driver that writes down what it is asked for: "a0 2", "f0 2": alloc and free at C + 0 MiB, 2 MiB; "m", "u" at V. */
struct world {
	struct tare_allocator *a;
	uint64_t capacity, used, next, reserved;
	struct tare_str calls;
};

static void say(struct world *w, const char *what, uint64_t address, uint64_t size)
{
	tare_str_addf(&w->calls, "%s%s%llu %llu", w->calls.len ? "; " : "", what, (unsigned long long)(address / MIB),
	              (unsigned long long)(size / MIB));
}

static bool take(struct world *w, uint64_t size)
{
	if (size > w->capacity - w->used)
		return false;
	w->used += size;
	return true;
}

static bool on_alloc(void *arg, uint64_t size, uint64_t *address)
{
	struct world *w = arg;

	if (!take(w, size))
		return false;
	*address = w->next;
	w->next += size;
	say(w, "a", *address - C, size);
	return true;
}

static void on_free(void *arg, uint64_t address, uint64_t size)
{
	struct world *w = arg;

	w->used -= size;
	say(w, "f", address - C, size);
}

static uint64_t on_reserve(void *arg, uint64_t *size)
{
	struct world *w = arg;

	*size = 1ull << 40;
	w->reserved += *size;
	return V + w->reserved - *size;
}

static bool on_map(void *arg, uint64_t address, uint64_t size)
{
	struct world *w = arg;

	if (!take(w, size))
		return false;
	say(w, "m", (address - V) & ((1ull << 40) - 1), size);
	return true;
}

static void on_unmap(void *arg, uint64_t address, uint64_t size)
{
	struct world *w = arg;

	w->used -= size;
	say(w, "u", (address - V) & ((1ull << 40) - 1), size);
}

static struct world *world(const char *conf, const char *version, uint64_t capacity)
{
	struct world *w = calloc(1, sizeof(*w));
	struct tare_alloc_driver driver = {
		.arg = w, .alloc = on_alloc, .free = on_free, .reserve = on_reserve, .map = on_map, .unmap = on_unmap
	};
	struct tare_alloc_settings settings;
	struct tare_alloc_rules rules;
	struct tare_err err;

	tare_alloc_settings_init(&settings);
	CHECK_INT(tare_alloc_rules_of(version, &rules, &err), 0);
	CHECK_INT(tare_alloc_settings_parse(&settings, conf, &rules, &err), 0);
	w->capacity = capacity;
	w->next = C;
	w->a = tare_alloc_new(&settings, &rules, &driver);
	tare_alloc_stream(w->a, 0);
	return w;
}

static uint32_t ask(struct world *w, uint64_t size)
{
	uint32_t block = tare_alloc_malloc(w->a, size, 0, 0);

	CHECK(!tare_alloc_check(w->a));
	return block;
}

static void give(struct world *w, uint32_t block)
{
	tare_alloc_free(w->a, block);
	CHECK(!tare_alloc_check(w->a));
}

static void check_block(struct world *w, uint32_t block, uint64_t address, uint64_t size)
{
	CHECK(block);
	CHECK_INT(tare_alloc_address(w->a, block), address);
	CHECK_INT(tare_alloc_size(w->a, block), size);
}

/* What was called since the last time. */
static void check_calls(struct world *w, const char *calls)
{
	CHECK_STR(tare_str_text(&w->calls), calls);
	tare_str_cut(&w->calls, 0);
}

static void end(struct world *w)
{
	tare_alloc_delete(w->a);
	tare_str_free(&w->calls);
	free(w);
}

TEST(sizes_are_rounded_as_the_version_does)
{
	struct tare_alloc_settings s;
	struct tare_alloc_rules rules, old;

	tare_alloc_settings_init(&s);
	tare_alloc_rules_of("2.11", &rules, NULL);
	tare_alloc_rules_of("2.0.1+cu118", &old, NULL);
	CHECK_INT(tare_alloc_round(&s, &rules, 1), 512);
	CHECK_INT(tare_alloc_round(&s, &rules, 512), 512);
	CHECK_INT(tare_alloc_round(&s, &rules, 513), 1024);
	CHECK_INT(tare_alloc_round(&s, &rules, 1048577), 1049088);
	CHECK_INT(tare_alloc_round(&s, &rules, 1200000), 1200128);
	CHECK_INT(tare_alloc_settings_parse(&s, "roundup_power2_divisions:4", &rules, NULL), 0);
	CHECK_INT(tare_alloc_round(&s, &rules, 1200), 1536);
	CHECK_INT(tare_alloc_round(&s, &rules, 2048), 2048);
	CHECK_INT(tare_alloc_round(&s, &rules, 2049), 2560);
	CHECK_INT(tare_alloc_round(&s, &rules, 2600), 3072);
	CHECK_INT(tare_alloc_round(&s, &rules, 1048577), 1310720);
	CHECK_INT(tare_alloc_round(&s, &rules, 1310721), 1572864);
	CHECK_INT(tare_alloc_round(&s, &rules, 3145729), 3670016);
	CHECK_INT(tare_alloc_settings_parse(&s, "roundup_power2_divisions:8", &rules, NULL), 0);
	CHECK_INT(tare_alloc_round(&s, &rules, 4096), 4096);
	CHECK_INT(tare_alloc_round(&s, &rules, 4097), 4608);
	CHECK_INT(tare_alloc_round(&s, &rules, 4609), 5120);
	CHECK_INT(tare_alloc_round(&s, &rules, 9000), 9216);
	CHECK_INT(tare_alloc_settings_parse(&s, "roundup_power2_divisions:1", &rules, NULL), 0);
	CHECK_INT(tare_alloc_round(&s, &rules, 1200), 1536);
	CHECK_INT(tare_alloc_round(&s, &old, 1200), 1200);
}

TEST(segments_have_three_sizes)
{
	struct tare_alloc_settings s;

	tare_alloc_settings_init(&s);
	CHECK_INT(tare_alloc_segment_size(&s, 512), 2097152);
	CHECK_INT(tare_alloc_segment_size(&s, 1048576), 2097152);
	CHECK_INT(tare_alloc_segment_size(&s, 1049088), 20971520);
	CHECK_INT(tare_alloc_segment_size(&s, 10485248), 20971520);
	CHECK_INT(tare_alloc_segment_size(&s, 10485760), 10485760);
	CHECK_INT(tare_alloc_segment_size(&s, 10486272), 12582912);
	CHECK_INT(tare_alloc_segment_size(&s, 20972032), 23068672);
}

TEST(lists_of_divisions_are_read_as_the_version_does)
{
	static const char list[] = "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]";
	struct tare_alloc_settings s;
	struct tare_alloc_rules rules;

	tare_alloc_settings_init(&s);
	tare_alloc_rules_of("2.11", &rules, NULL);
	CHECK_INT(tare_alloc_settings_parse(&s, list, &rules, NULL), 0);
	CHECK_INT(s.divisions[0], 1);
	CHECK_INT(s.divisions[8], 1);
	CHECK_INT(s.divisions[9], 2);
	CHECK_INT(s.divisions[10], 4);
	CHECK_INT(s.divisions[11], 8);
	CHECK_INT(s.divisions[15], 8);
	tare_alloc_rules_of("2.4", &rules, NULL);
	CHECK_INT(tare_alloc_settings_parse(&s, list, &rules, NULL), 0);
	CHECK_INT(s.divisions[10], 8);
}

TEST(wrong_settings_are_refused_by_name)
{
	static const struct {
		const char *conf, *version, *says;
	} wrong[] = {
		{ "no_such:1", "2.11", "no_such" },
		{ "max_split_size_mb:5", "2.11", "max_split_size_mb" },
		{ "max_split_size_mb:20", "2.8", "max_split_size_mb" },
		{ "max_split_size_mb", "2.11", "':'" },
		{ "max_split_size_mb:many", "2.11", "many" },
		{ "expandable_segments:yes", "2.11", "yes" },
		{ "expandable_segments:True", "2.0", "2.1" },
		{ "large_segment_size_mb:40", "2.9", "2.10" },
		{ "garbage_collection_threshold:1.5", "2.11", "1.5" },
		{ "garbage_collection_threshold:nan", "2.11", "nan" },
		{ "roundup_power2_divisions:3", "2.11", "power of two" },
		{ "roundup_power2_divisions:[256:1,512", "2.11", "':'" },
		{ "roundup_power2_divisions:[256:1", "2.11", "]" },
		{ "expandable_segments:True max_split_size_mb:64", "2.11", "neither" },
	};
	struct tare_alloc_settings s, before;
	struct tare_alloc_rules rules;
	struct tare_err err;

	tare_alloc_settings_init(&s);
	before = s;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		tare_alloc_rules_of(wrong[i].version, &rules, NULL);
		CHECK_INT(tare_alloc_settings_parse(&s, wrong[i].conf, &rules, &err), TARE_E_USAGE);
		if (!strstr(err.text, wrong[i].says))
			test_fail(__FILE__, __LINE__, "%s: %s", wrong[i].conf, err.text);
	}
	CHECK(!memcmp(&s, &before, sizeof(s)));
	CHECK_INT(tare_alloc_rules_of("1.13", &rules, &err), TARE_E_USAGE);
	CHECK_INT(tare_alloc_rules_of("new", &rules, &err), TARE_E_USAGE);
	tare_alloc_rules_of("2.11", &rules, NULL);
	CHECK_INT(
		tare_alloc_settings_parse(
			&s, " pinned_use_background_threads:True , max_split_size_mb : 64,backend:native,large_segment_size_mb:40",
			&rules, &err),
		0);
	CHECK_INT(s.max_split, 64 * MIB);
	CHECK_INT(s.large_segment, 40 * MIB);
	CHECK_INT(s.max_non_split_rounding, 40 * MIB);
}

TEST(a_rest_of_one_mebibyte_is_not_split_off)
{
	struct world *w = world("", "2.11", UINT64_MAX);
	uint32_t a = ask(w, 1), b = ask(w, 1000), c = ask(w, 2 * MIB), d = ask(w, 17 * MIB), e;

	check_calls(w, "a0 2; a2 20");
	check_block(w, a, C, 512);
	check_block(w, b, C + 512, 1024);
	check_block(w, c, C + 2 * MIB, 2 * MIB);
	check_block(w, d, C + 4 * MIB, 18 * MIB);
	give(w, c);
	e = ask(w, MIB + 1);
	check_block(w, e, C + 2 * MIB, 2 * MIB);
	give(w, a);
	give(w, b);
	CHECK_INT(tare_alloc_stats(w->a)->reserved, 22 * MIB);
	end(w);
}

TEST(a_stream_does_not_get_what_another_has_freed)
{
	struct world *w = world("", "2.11", UINT64_MAX);
	unsigned other = tare_alloc_stream(w->a, 7);

	give(w, ask(w, 5 * MIB));
	CHECK(tare_alloc_malloc(w->a, 5 * MIB, other, 0));
	check_calls(w, "a0 20; a20 20");
	end(w);
}

TEST(what_is_cached_goes_back_when_memory_runs_out)
{
	struct world *w = world("", "2.11", 64 * MIB);
	uint32_t a, b;

	give(w, ask(w, 30 * MIB));
	a = ask(w, 5 * MIB);
	check_block(w, a, C, 5 * MIB);
	give(w, a);
	ask(w, 1);
	CHECK(ask(w, 50 * MIB));
	check_calls(w, "a0 30; a30 2; f0 30; a32 50");
	CHECK_INT(tare_alloc_stats(w->a)->retries, 1);
	CHECK_INT(tare_alloc_stats(w->a)->reserved, 52 * MIB);
	end(w);
	w = world("", "2.11", 64 * MIB);
	a = ask(w, 30 * MIB);
	b = ask(w, 30 * MIB);
	CHECK(a && b && !ask(w, 10 * MIB));
	CHECK_INT(tare_alloc_stats(w->a)->retries, 1);
	CHECK_INT(tare_alloc_stats(w->a)->ooms, 1);
	CHECK_INT(tare_alloc_stats(w->a)->reserved, 60 * MIB);
	end(w);
}

TEST(blocks_of_max_split_size_stay_whole)
{
	struct world *w = world("max_split_size_mb:100", "2.11", 500 * MIB);
	uint32_t a = ask(w, 300 * MIB), b = ask(w, 150 * MIB);

	give(w, a);
	give(w, b);
	ask(w, 50 * MIB);
	check_block(w, ask(w, 145 * MIB), C + 300 * MIB, 150 * MIB);
	CHECK(ask(w, 250 * MIB));
	check_calls(w, "a0 300; a300 150; a450 50; f0 300; a500 250");
	CHECK_INT(tare_alloc_stats(w->a)->retries, 0);
	CHECK_INT(tare_alloc_stats(w->a)->reserved, 450 * MIB);
	end(w);
}

TEST(large_blocks_go_back_until_there_is_enough)
{
	struct world *w = world("max_split_size_mb:100", "2.11", 500 * MIB);
	uint32_t a = ask(w, 148 * MIB), b = ask(w, 150 * MIB), c = ask(w, 120 * MIB);

	give(w, b);
	give(w, a);
	give(w, c);
	CHECK(ask(w, 400 * MIB));
	check_calls(w, "a0 148; a148 150; a298 120; f148 150; f0 148; f298 120; a418 400");
	CHECK_INT(tare_alloc_stats(w->a)->retries, 0);
	end(w);
}

TEST(of_many_equal_blocks_the_lowest_is_taken)
{
	enum { COUNT = 5000, STRIDE = 1237 };
	struct world *w = world("", "2.11", UINT64_MAX);
	uint32_t *blocks = calloc(2 * COUNT, sizeof(*blocks));

	for (int i = 0; i < 2 * COUNT; i++)
		blocks[i] = tare_alloc_malloc(w->a, 512 + (i / 2) % 3 * 512, 0, 0);
	for (int i = 0; i < COUNT; i++)
		tare_alloc_free(w->a, blocks[2 * (i * STRIDE % COUNT)]);
	CHECK(!tare_alloc_check(w->a));
	for (int i = 0; i < COUNT; i += 3) {
		uint32_t block = tare_alloc_malloc(w->a, 512, 0, 0);

		/* What is behind it in its segment is in use, so it has not moved. */
		check_block(w, block, tare_alloc_address(w->a, blocks[2 * i + 1]) - 512, 512);
	}
	CHECK(!tare_alloc_check(w->a));
	free(blocks);
	end(w);
}

/* Which no driver gives, and a damaged file says. */
TEST(two_reservations_at_one_address_are_two)
{
	struct world *w = world("expandable_segments:True", "2.11", UINT64_MAX);
	uint32_t one = tare_alloc_put_reservation(w->a, V, 1ull << 40, 0, 0, false);
	uint32_t two = tare_alloc_put_reservation(w->a, V, 1ull << 40, 0, 0, false);

	w->used = 20 * MIB;
	CHECK(one != two && tare_alloc_put_mapped(w->a, one, V, 20 * MIB));
	give(w, ask(w, 10 * MIB));
	tare_alloc_empty_cache(w->a);
	CHECK(!tare_alloc_check(w->a));
	check_block(w, ask(w, 30 * MIB), V, 30 * MIB);
	check_calls(w, "u0 20; m0 40");
	end(w);
}

TEST(expandable_segments_grow_and_shrink_by_pages)
{
	struct world *w = world("expandable_segments:True", "2.11", UINT64_MAX);
	uint32_t small = ask(w, 1), a = ask(w, 3 * MIB), b = ask(w, 30 * MIB), c;
	uint64_t large = V + (1ull << 40);

	check_calls(w, "m0 2; m0 20; m20 20");
	check_block(w, small, V, 512);
	check_block(w, b, large + 3 * MIB, 30 * MIB);
	give(w, a);
	c = ask(w, 3 * MIB + 512);
	check_block(w, c, large + 33 * MIB, 3 * MIB + 512);
	give(w, b);
	tare_alloc_empty_cache(w->a);
	CHECK(!tare_alloc_check(w->a));
	check_block(w, ask(w, 100 * MIB), large + 0x2400200, 100 * MIB);
	check_calls(w, "u0 20; m40 100");
	CHECK_INT(tare_alloc_stats(w->a)->reserved, 127926272);
	CHECK_INT(tare_alloc_stats(w->a)->driver_allocs, 4);
	CHECK_INT(tare_alloc_stats(w->a)->driver_frees, 1);
	end(w);
}

TEST(expandable_segments_are_unmapped_when_memory_runs_out)
{
	struct world *w = world("expandable_segments:True", "2.11", 90 * MIB);
	uint32_t a = ask(w, 30 * MIB), b = ask(w, 30 * MIB);

	check_block(w, b, V + 30 * MIB, 30 * MIB);
	give(w, a);
	check_block(w, ask(w, 40 * MIB), V + 60 * MIB, 40 * MIB);
	check_calls(w, "m0 40; m40 20; u0 20; m60 40");
	check_block(w, ask(w, 9 * MIB), V + 20 * MIB, 9 * MIB);
	CHECK_INT(tare_alloc_stats(w->a)->retries, 1);
	CHECK_INT(tare_alloc_stats(w->a)->reserved, 80 * MIB);
	end(w);
}

TEST(garbage_of_the_average_age_is_collected)
{
	struct world *w = world("garbage_collection_threshold:0.6", "2.11", 1000 * MIB);
	uint32_t blocks[6];

	tare_alloc_set_limit(w->a, 500 * MIB);
	for (size_t i = 0; i < 6; i++)
		blocks[i] = ask(w, 60 * MIB);
	for (size_t i = 0; i < 6; i++)
		give(w, blocks[i]);
	check_block(w, ask(w, 60 * MIB), C, 60 * MIB);
	tare_str_cut(&w->calls, 0);
	ask(w, 100 * MIB);
	check_calls(w, "f60 60; f120 60; f180 60; f240 60; f300 60; a360 100");
	CHECK_INT(tare_alloc_stats(w->a)->reserved, 160 * MIB);
	end(w);
}

TEST(of_equal_blocks_the_lowest_or_the_oldest_wins)
{
	static const struct {
		const char *version;
		uint64_t address;
	} by[] = { { "2.11", C }, { "2.13", C + 60 * MIB } };

	for (size_t i = 0; i < 2; i++) {
		struct world *w = world("", by[i].version, UINT64_MAX);
		uint32_t a, b;

		w->next = C + 60 * MIB;
		a = ask(w, 60 * MIB);
		w->next = C;
		b = ask(w, 60 * MIB);
		give(w, b);
		give(w, a);
		check_block(w, ask(w, 60 * MIB), by[i].address, 60 * MIB);
		end(w);
	}
}

TEST(a_block_that_another_stream_uses_is_free_when_it_is_completed)
{
	struct world *w = world("", "2.11", UINT64_MAX);
	unsigned other = tare_alloc_stream(w->a, 7);
	uint32_t a = ask(w, 60 * MIB);

	tare_alloc_record_stream(w->a, a, 0); /* its own: nothing */
	tare_alloc_record_stream(w->a, a, other);
	give(w, a);
	CHECK_INT(tare_alloc_stats(w->a)->allocated, 0);
	CHECK_INT(tare_alloc_stats(w->a)->active, 60 * MIB);
	ask(w, 60 * MIB);
	check_calls(w, "a0 60; a60 60");
	tare_alloc_complete(w->a, a);
	CHECK(!tare_alloc_check(w->a));
	check_block(w, ask(w, 60 * MIB), C, 60 * MIB);
	end(w);
}

TEST(a_private_pool_keeps_what_it_has_until_it_is_released)
{
	struct world *w = world("", "2.11", UINT64_MAX);
	unsigned pool = tare_alloc_pool(w->a);
	uint32_t a = tare_alloc_malloc(w->a, 60 * MIB, 0, pool);

	give(w, a);
	give(w, ask(w, 1));
	tare_alloc_empty_cache(w->a);
	check_calls(w, "a0 60; a60 2; f60 2");
	tare_alloc_pool_release(w->a, pool);
	tare_alloc_empty_cache(w->a);
	check_calls(w, "f0 60");
	end(w);
}

static uint64_t state = 88172645463325252ull;

static uint64_t dice(uint64_t sides)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % sides;
}

/* Any course leaves a layout that can be, whatever the settings. */
TEST(random_courses_keep_the_books)
{
	static const char *const confs[] = {
		"",
		"expandable_segments:True",
		"max_split_size_mb:32",
		"max_split_size_mb:32,expandable_segments:True",
		"roundup_power2_divisions:4,garbage_collection_threshold:0.5",
		"large_segment_size_mb:40",
	};

	for (size_t c = 0; c < sizeof(confs) / sizeof(confs[0]); c++) {
		struct world *w = world(confs[c], c % 2 ? "2.13" : "2.11", 700 * MIB);
		unsigned streams[] = { 0, tare_alloc_stream(w->a, 99), tare_alloc_stream(w->a, 5) };
		unsigned pool = tare_alloc_pool(w->a);
		uint32_t live[64] = { 0 };

		tare_alloc_set_limit(w->a, 600 * MIB);
		for (size_t i = 0; i < 20000; i++) {
			size_t at = dice(64);
			uint64_t size = 1 + dice(dice(2) ? 40 * KIB : dice(2) ? 3 * MIB : 60 * MIB);

			if (live[at]) {
				if (!dice(8))
					tare_alloc_record_stream(w->a, live[at], TARE_ALLOC_ANY_STREAM);
				tare_alloc_free(w->a, live[at]);
				tare_alloc_complete(w->a, live[at]);
				live[at] = 0;
			} else {
				live[at] = tare_alloc_malloc(w->a, size, streams[dice(3)], dice(4) ? 0 : pool);
			}
			if (!dice(500))
				tare_alloc_empty_cache(w->a);
			if (!(i % 16) && tare_alloc_check(w->a))
				test_fail(__FILE__, __LINE__, "%s, step %zu: %s", confs[c], i, tare_alloc_check(w->a));
			CHECK(w->used == tare_alloc_stats(w->a)->reserved);
		}
		for (size_t i = 0; i < 64; i++)
			tare_alloc_free(w->a, live[i]);
		tare_alloc_pool_release(w->a, pool);
		tare_alloc_empty_cache(w->a);
		CHECK_INT(w->used, 0);
		end(w);
	}
}
