/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "streams": which of PyTorch's segments are on which stream. */
#include "ledger_world.h"
#include "test.h"

#define BASE     UINT64_C(0x7f0000000000)
#define C10_CUDA "/site-packages/torch/lib/libc10_cuda.so"

/* As PyTorch numbers them from 2.1 on. */
#define SIDE(KIND, NUMBER) (UINT64_C(NUMBER) << 5 | UINT64_C(KIND) << 1 | 1)

static void give_back(struct world *w, int64_t t, uint64_t at, int64_t before, int64_t size)
{
	CALL(w, .class = TARE_CLASS_DEVICE, .effect = TARE_EFFECT_DEL, .begin = t, .end = t + 10, .handle = at,
	     .context = 0xc0, .weigh = true, .before = before, .after = before - size);
}

static void block_alloc(struct world *w, int64_t t, uint32_t tid, uint64_t at, int64_t bytes, unsigned int flags)
{
	world_block(w, (struct world_block){ .t = t, .tid = tid, .block = at, .bytes = bytes, .flags = flags });
}

static void on_default(struct world *w, int64_t t, uint64_t at, int64_t bytes)
{
	block_alloc(w, t, 1, at, bytes, TARE_TENSOR_ON_DEFAULT);
}

static void on_stream(struct world *w, int64_t t, uint32_t tid, uint64_t at, int64_t bytes)
{
	block_alloc(w, t, tid, at, bytes, TARE_TENSOR_ON_STREAM);
}

static const struct tare_pool_segment *segment_at(const struct tare_ledger *l, uint64_t at)
{
	for (int i = 0; i < l->devices[0].segment_nr; i++)
		if (l->devices[0].segments[i].address == at)
			return &l->devices[0].segments[i];
	test_fail(__FILE__, __LINE__, "there is no segment at 0x%llx", (unsigned long long)at);
	return NULL;
}

/* One of the default stream, one of a side stream that is cached, one that no block was in yet. */
static struct world *pool(void)
{
	struct world *w = world_new();

	world_torch_context(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	on_default(w, 3 * MS + 20, BASE, 12 * MIB);
	world_segment(w, 4 * MS, BASE + 100 * MIB, 30 * MIB, 620 * MIB);
	world_stream(w, 4 * MS + 20, 1, SIDE(2, 5), TARE_STREAM_IDS_ODD);
	on_stream(w, 4 * MS + 30, 1, BASE + 100 * MIB, 30 * MIB);
	world_tensor(w, 5 * MS, BASE + 100 * MIB, 0);
	world_segment(w, 6 * MS, BASE + 200 * MIB, 2 * MIB, 650 * MIB);
	return w;
}

static void check_pool(const struct tare_ledger *l)
{
	CHECK_INT(segment_at(l, BASE)->stream.kind, TARE_STREAM_DEFAULT);
	CHECK_INT(segment_at(l, BASE + 100 * MIB)->stream.kind, TARE_STREAM_OF_POOL);
	CHECK_INT(segment_at(l, BASE + 100 * MIB)->stream.number, 5);
	CHECK_INT(segment_at(l, BASE + 100 * MIB)->stream.priority, -1);
	CHECK_INT(segment_at(l, BASE + 200 * MIB)->stream.kind, TARE_STREAM_NOT_KNOWN);
	CHECK_INT(l->degraded_nr, 0);
}

TEST(streams_a_segment_is_on_that_of_its_first_block)
{
	struct world *w = pool();
	struct tare_ledger l = world_ledger(w, "end");

	check_pool(&l);
	tare_ledger_free(&l);
	world_free(w);
}

/* Also of what is cached, and of a thread that says nothing any more. */
TEST(streams_are_carried_through_a_state)
{
	struct world *w = pool();
	struct tare_ledger l;

	on_stream(w, 20 * MS, 1, BASE + 200 * MIB, 1 * MIB);
	l = world_ledger_from_state(w, 10 * MS, "end");
	CHECK_INT(segment_at(&l, BASE + 200 * MIB)->stream.number, 5);
	CHECK_INT(segment_at(&l, BASE)->stream.kind, TARE_STREAM_DEFAULT);
	CHECK_INT((int64_t)segment_at(&l, BASE)->other_stream_blocks, 0);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(streams_that_contradict_are_counted_and_move_nothing)
{
	struct world *w = pool();
	struct tare_ledger l;

	on_stream(w, 7 * MS, 1, BASE + 12 * MIB, 1 * MIB);
	on_stream(w, 8 * MS, 1, BASE + 13 * MIB, 1 * MIB);
	on_default(w, 9 * MS, BASE + 100 * MIB, 1 * MIB);
	world_tensor(w, 10 * MS, BASE + 13 * MIB, 0);
	for (int i = 0; i < 2; i++) {
		l = i ? world_ledger_from_state(w, 15 * MS, "end") : world_ledger(w, "end");
		CHECK_INT(segment_at(&l, BASE)->stream.kind, TARE_STREAM_DEFAULT);
		CHECK_INT((int64_t)segment_at(&l, BASE)->other_stream_blocks, 2);
		CHECK_INT((int64_t)segment_at(&l, BASE + 100 * MIB)->other_stream_blocks, 1);
		CHECK(world_has_note(&l, "3 blocks of PyTorch's allocator"));
		tare_ledger_free(&l);
	}
	world_free(w);
}

TEST(streams_of_threads_are_their_own)
{
	struct world *w = pool();
	struct tare_ledger l;

	world_stream(w, 7 * MS, 2, SIDE(1, 9), TARE_STREAM_IDS_ODD);
	on_stream(w, 8 * MS, 1, BASE + 100 * MIB, 1 * MIB);
	on_stream(w, 8 * MS + 1, 2, BASE + 200 * MIB, 1 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(segment_at(&l, BASE + 100 * MIB)->stream.number, 5);
	CHECK_INT((int64_t)segment_at(&l, BASE + 100 * MIB)->other_stream_blocks, 0);
	CHECK_INT(segment_at(&l, BASE + 200 * MIB)->stream.number, 9);
	tare_ledger_free(&l);
	world_free(w);
}

/* What comes at the same address later is another segment. */
TEST(streams_go_with_their_segment)
{
	struct world *w = pool();
	struct tare_ledger l;

	give_back(w, 7 * MS, BASE + 100 * MIB, 652 * MIB, 30 * MIB);
	world_segment(w, 8 * MS, BASE + 100 * MIB, 20 * MIB, 622 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(segment_at(&l, BASE + 100 * MIB)->stream.kind, TARE_STREAM_NOT_KNOWN);
	tare_ledger_free(&l);
	l = world_ledger(w, "peak");
	CHECK_INT(segment_at(&l, BASE + 100 * MIB)->stream.number, 5);
	tare_ledger_free(&l);
	world_free(w);
}

/* A block that lies in several mappings says of all of them which stream they are of. */
TEST(streams_of_expandable_segments)
{
	struct world *w = world_new();
	struct tare_ledger l;

	world_torch_context(w);
	for (int i = 0; i < 3; i++) {
		CALL(w, .class = TARE_CLASS_VMM, .effect = TARE_EFFECT_NEW, .begin = (3 + i) * MS, .end = (3 + i) * MS + 10,
		     .handle = 0x100 + (uint64_t)i, .context = 0xc0, .asked = 20 * MIB, .granted = 20 * MIB, .weigh = true,
		     .before = (600 + 20 * i) * MIB, .after = (620 + 20 * i) * MIB, .owner = C10_CUDA);
		CALL(w, .class = TARE_CLASS_VMM_MAP, .effect = TARE_EFFECT_NEW, .begin = (3 + i) * MS + 100000,
		     .end = (3 + i) * MS + 100010, .handle = BASE + (uint64_t)(20 * i * MIB), .parent = 0x100 + (uint64_t)i,
		     .asked = 20 * MIB, .context = 0xc0);
	}
	world_stream(w, 7 * MS, 1, SIDE(1, 2), TARE_STREAM_IDS_ODD);
	on_stream(w, 7 * MS + 1, 1, BASE + 10 * MIB, 12 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(segment_at(&l, BASE)->stream.number, 2);
	CHECK_INT(segment_at(&l, BASE + 20 * MIB)->stream.number, 2);
	CHECK_INT(segment_at(&l, BASE + 40 * MIB)->stream.kind, TARE_STREAM_NOT_KNOWN);
	CHECK_INT((int64_t)segment_at(&l, BASE + 20 * MIB)->other_stream_blocks, 0);
	tare_ledger_free(&l);
	world_free(w);
}

/* The record is lost, or of another device. */
TEST(streams_of_a_damaged_recording_are_not_known)
{
	struct world *w = world_new();
	struct tare_ledger l;
	int other;

	world_torch_context(w);
	other = world_device(w);
	world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
	on_stream(w, 4 * MS, 1, BASE, 1 * MIB);
	world_stream_of(w, 5 * MS, other, (struct tare_rec_stream){ .id = SIDE(1, 1), .tid = 1 });
	on_stream(w, 6 * MS, 1, BASE + 1 * MIB, 1 * MIB);
	l = world_ledger(w, "end");
	CHECK_INT(segment_at(&l, BASE)->stream.kind, TARE_STREAM_NOT_KNOWN);
	CHECK_INT(segment_at(&l, BASE)->live, 2 * MIB);
	tare_ledger_free(&l);
	world_free(w);
}

TEST(streams_are_called_as_pytorch_made_them)
{
	static const struct {
		uint64_t id;
		uint16_t ids;
		enum tare_stream_kind kind;
		uint32_t number;
		int priority;
	} rows[] = {
		{ 0, TARE_STREAM_IDS_OLD, TARE_STREAM_DEFAULT, 0, 0 },
		{ 1 << 5 | 31, TARE_STREAM_IDS_OLD, TARE_STREAM_OF_POOL, 31, 0 },
		{ 2 << 5 | 4, TARE_STREAM_IDS_OLD, TARE_STREAM_OF_POOL, 4, -1 },
		{ 4, TARE_STREAM_IDS_OLD, TARE_STREAM_OTHER, 0, 0 },
		{ UINT32_MAX, TARE_STREAM_IDS_OLD, TARE_STREAM_OTHER, 0, 0 },
		{ 31 << 3 | 1, TARE_STREAM_IDS_POINTER, TARE_STREAM_OF_POOL, 31, 0 },
		{ 7 << 3 | 2, TARE_STREAM_IDS_POINTER, TARE_STREAM_OF_POOL, 7, -1 },
		{ 0x55d0a008, TARE_STREAM_IDS_POINTER, TARE_STREAM_EXTERNAL, 0, 0 },
		{ 0x55d0a009, TARE_STREAM_IDS_POINTER, TARE_STREAM_OTHER, 0, 0 },
		{ SIDE(1, 31), TARE_STREAM_IDS_ODD, TARE_STREAM_OF_POOL, 31, 0 },
		{ SIDE(4, 0), TARE_STREAM_IDS_ODD, TARE_STREAM_OF_POOL, 0, -3 },
		{ 0x55d0a008, TARE_STREAM_IDS_ODD, TARE_STREAM_EXTERNAL, 0, 0 },
		{ SIDE(1, 32), TARE_STREAM_IDS_ODD, TARE_STREAM_OTHER, 0, 0 },
		{ 1, TARE_STREAM_IDS_ODD, TARE_STREAM_OTHER, 0, 0 },
		{ 99, 99, TARE_STREAM_OTHER, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world *w = world_new();
		struct tare_ledger l;
		struct tare_stream s;

		world_torch_context(w);
		world_segment(w, 3 * MS, BASE, 20 * MIB, 600 * MIB);
		world_stream(w, 4 * MS, 1, rows[i].id, rows[i].ids);
		on_stream(w, 5 * MS, 1, BASE, 1 * MIB);
		l = world_ledger(w, "end");
		s = segment_at(&l, BASE)->stream;
		printf("# id 0x%llx\n", (unsigned long long)rows[i].id);
		CHECK_INT(s.kind, rows[i].kind);
		CHECK_INT((int64_t)s.id, (int64_t)rows[i].id);
		CHECK_INT(s.number, rows[i].number);
		CHECK_INT(s.priority, rows[i].priority);
		tare_ledger_free(&l);
		world_free(w);
	}
}
