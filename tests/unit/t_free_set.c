/* SPDX-License-Identifier: Apache-2.0 */
/* Which free block a request gets, and in which order they go back: of few and of many, of equal sizes and of mixed ones. */
#include "allocator/allocator.h"
#include "test.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define C   0x100000000ull /* where cudaMalloc begins */

enum { PLACES = 1024, FREES = 64 };

/* A driver without an end, which writes down what goes back to it. */
struct world {
	struct tare_allocator *a;
	uint64_t next;
	uint64_t freed[FREES];
	size_t freed_count;
};

static bool on_alloc(void *arg, uint64_t size, uint64_t *address)
{
	struct world *w = arg;

	*address = w->next;
	w->next += size;
	return true;
}

static void on_free(void *arg, uint64_t address, uint64_t size)
{
	struct world *w = arg;

	(void)size;
	CHECK(w->freed_count < FREES);
	w->freed[w->freed_count++] = address;
}

static void begin(struct world *w, const char *version)
{
	struct tare_alloc_driver driver = { .arg = w, .alloc = on_alloc, .free = on_free };
	struct tare_alloc_settings settings;
	struct tare_alloc_rules rules;

	tare_alloc_settings_init(&settings);
	CHECK_INT(tare_alloc_rules_of(version, &rules, NULL), 0);
	*w = (struct world){ .next = C };
	w->a = tare_alloc_new(&settings, &rules, &driver);
	tare_alloc_stream(w->a, 0);
}

static uint64_t dice(uint64_t sides)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 8) % sides;
}

/* What fits best, found by looking at each block. Segments come in the order of addresses, so the oldest is the lowest. */
struct fit {
	uint64_t size, address, best;
	bool is_small;
};

static void fit_one(void *arg, const struct tare_alloc_place *place)
{
	struct fit *f = arg;

	if (place->state != TARE_ALLOC_FREE || place->is_small != f->is_small || place->size < f->size)
		return;
	if (place->size < f->best || (place->size == f->best && place->address < f->address)) {
		f->best = place->size;
		f->address = place->address;
	}
}

static uint32_t ask(struct world *w, uint64_t size)
{
	struct fit fit = { .size = size, .is_small = size <= MIB, .best = UINT64_MAX };
	uint32_t block;

	tare_alloc_layout(w->a, fit_one, &fit);
	block = tare_alloc_malloc(w->a, size, 0, 0);
	if (fit.best != UINT64_MAX)
		CHECK_INT(tare_alloc_address(w->a, block), fit.address);
	return block;
}

/* Sizes of up to `most` bytes, and many that are much smaller. First the free blocks become many, then they are used up. */
static void course(const char *version, uint64_t most)
{
	static uint32_t live[PLACES];
	struct world w;

	begin(&w, version);
	memset(live, 0, sizeof(live));
	for (size_t i = 0; i < 8 * PLACES; i++) {
		size_t at = i < 6 * PLACES ? dice(PLACES) : i % PLACES;
		uint64_t size = (1 + dice(most)) / (dice(3) ? 1 : 64) / 512 * 512 + 512;

		if (live[at] && i < 6 * PLACES) {
			tare_alloc_free(w.a, live[at]);
			live[at] = 0;
		} else if (!live[at]) {
			live[at] = ask(&w, size);
		}
		if (!(i % 64))
			CHECK(!tare_alloc_check(w.a));
	}
	tare_alloc_delete(w.a);
}

TEST(each_request_gets_the_block_that_fits_best)
{
	course("2.11", 3 * KIB);
	course("2.11", 100 * KIB);
	course("2.11", 4 * MIB);
	course("2.11", 60 * MIB);
	course("2.13", 3 * KIB);
	course("2.13", 4 * MIB);
}

/* By empty_cache(): the smallest first, of equal ones the lowest, in whichever order they became free. */
TEST(what_is_cached_goes_back_in_order)
{
	enum { COUNT = 40, STRIDE = 7 };
	uint64_t address[COUNT];
	uint32_t blocks[COUNT];
	struct world w;

	begin(&w, "2.11");
	for (size_t i = 0; i < COUNT; i++) {
		blocks[i] = tare_alloc_malloc(w.a, (i % 2 ? 40 : 42) * MIB, 0, 0);
		address[i] = tare_alloc_address(w.a, blocks[i]);
	}
	for (size_t i = 0; i < COUNT; i++)
		tare_alloc_free(w.a, blocks[i * STRIDE % COUNT]);
	tare_alloc_empty_cache(w.a);
	CHECK_INT(w.freed_count, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		CHECK_INT(w.freed[i], address[i < COUNT / 2 ? 2 * i + 1 : 2 * i - COUNT]);
	tare_alloc_delete(w.a);
}

/* There is a bin for sizes that no device has, too. */
TEST(the_greatest_sizes_have_a_place)
{
	struct world w;
	uint32_t segment, block;

	begin(&w, "2.11");
	segment = tare_alloc_put_segment(w.a, 512, UINT64_MAX - 1023, 0, 0, false);
	CHECK(!tare_alloc_check(w.a));
	block = tare_alloc_put_block(w.a, segment, 512, 512, 512);
	CHECK(block && !tare_alloc_check(w.a));
	tare_alloc_free(w.a, block);
	CHECK(!tare_alloc_check(w.a));
	CHECK_INT(tare_alloc_address(w.a, tare_alloc_malloc(w.a, 100 * MIB, 0, 0)), 512);
	tare_alloc_delete(w.a);
}
