/* SPDX-License-Identifier: Apache-2.0 */
#include "store/block_ends.h"

#include "make_log.h"
#include "store/pack.h"
#include "test.h"

#include <stdlib.h>

static const struct tare_kind_info *own_kind(const void *arg, uint16_t kind)
{
	(void)arg;
	return tare_decode_kind(kind);
}

static const struct tare_layouts layouts = { own_kind, NULL };

static uint64_t state = 1;

static uint64_t number(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* Records one behind the other, as a log has them. */
struct world {
	struct make_log log;
	struct tare_block_record *records;
	size_t n;
};

static void begin(struct world *w)
{
	*w = (struct world){ 0 };
	make_log_init(&w->log, 431, 0);
}

/* What was made, as records. */
static void end(struct world *w)
{
	size_t at = 0;

	w->records = calloc(w->log.size / TARE_CELL + 1, sizeof(*w->records));
	while (at < w->log.size) {
		struct tare_record head;

		memcpy(&head, w->log.bytes + at, sizeof(head));
		w->records[w->n++] = (struct tare_block_record){ w->log.bytes + at, at, head.cells * TARE_CELL };
		at += head.cells * TARE_CELL;
	}
}

static void free_world(struct world *w)
{
	free(w->records);
	make_log_free(&w->log);
}

/* Without its seal. NULL: the block has it as it is. */
static const struct tare_rec_tensor *tensor_of(const struct tare_record_block *block, size_t i)
{
	static struct tare_rec_tensor rec;

	for (size_t k = 0; k < block->run_nr; k++) {
		const struct tare_tensor_run *run = &block->runs[k];

		if (i < run->begin || i >= run->end)
			continue;
		tare_tensor_columns_get(&run->columns, i - run->begin, &rec);
		if (run->is_of_one_device)
			CHECK_INT(rec.device, run->columns.others[0].device);
		return &rec;
	}
	return NULL;
}

static void check_columns(const struct tare_pack *pack, const struct tare_block_record *records, size_t n)
{
	struct tare_record_block block = { 0 };

	CHECK(tare_block_decode(&block, &layouts, pack->data, pack->len, TARE_BLOCK_COLUMNS));
	CHECK_INT(block.n, n);
	for (size_t i = 0; i < n; i++) {
		const struct tare_record *head = (const void *)records[i].data;
		const struct tare_rec_tensor *rec = tensor_of(&block, i);
		const uint8_t *data = rec ? (const uint8_t *)rec : block.records[i].data;

		CHECK_INT(block.stamps[i], head->stamp);
		CHECK_INT(rec != NULL, head->kind == TARE_KIND_TENSOR && head->cells * TARE_CELL == sizeof(*rec) &&
		                           records[i].bytes == sizeof(*rec));
		CHECK(
			!memcmp(data + sizeof(uint32_t), records[i].data + sizeof(uint32_t), records[i].bytes - sizeof(uint32_t)));
	}
	tare_block_free(&block);
}

/* Returns how long the block was. */
static size_t check_comes_back(const struct tare_block_record *records, size_t n)
{
	struct tare_pack pack = { 0 };
	struct tare_record_block block = { 0 };
	size_t size;

	tare_block_encode(&pack, &layouts, records, n);
	for (int has_positions = 0; has_positions < 2; has_positions++) {
		CHECK(tare_block_decode(&block, &layouts, pack.data, pack.len, has_positions ? TARE_BLOCK_POSITIONS : 0));
		CHECK_INT(block.n, n);
		for (size_t i = 0; i < n; i++) {
			size_t skip = has_positions ? 0 : sizeof(uint32_t);

			CHECK_INT(block.records[i].bytes, records[i].bytes);
			CHECK_INT(block.records[i].position, has_positions ? records[i].position : 0);
			CHECK(!memcmp(block.records[i].data + skip, records[i].data + skip, records[i].bytes - skip));
		}
	}
	check_columns(&pack, records, n);
	size = pack.len;
	tare_block_free(&block);
	tare_pack_free(&pack);
	return size;
}

static void shuffle(struct world *w)
{
	for (size_t i = w->n; i > 1; i--) {
		size_t k = number(i);
		struct tare_block_record other = w->records[i - 1];

		w->records[i - 1] = w->records[k];
		w->records[k] = other;
	}
}

TEST(every_kind_comes_back_byte_for_byte)
{
	struct world w;

	begin(&w);
	for (int i = 0; i < 40; i++)
		make_log_every_kind(&w.log);
	end(&w);
	check_comes_back(w.records, w.n);
	shuffle(&w);
	check_comes_back(w.records, w.n);
	free_world(&w);
}

TEST(one_record_comes_back)
{
	struct world w;

	begin(&w);
	make_log_every_kind(&w.log);
	end(&w);
	for (size_t i = 0; i < w.n; i++)
		check_comes_back(w.records + i, 1);
	free_world(&w);
}

/* As if a bit of every field may be anything: noise, small numbers and edges. */
static uint64_t any(void)
{
	static const uint64_t edges[] = { 0, 1, 127, 128, INT64_MAX, UINT64_MAX, 1ull << 63 };

	switch (number(3)) {
	case 0:
		return state;
	case 1:
		return number(4);
	default:
		return edges[number(sizeof(edges) / sizeof(edges[0]))];
	}
}

TEST(fields_of_any_values_come_back)
{
	for (int round = 0; round < 30; round++) {
		struct world w;

		begin(&w);
		for (int i = 0; i < 300; i++) {
			MAKE(&w.log, tensor, TENSOR, .block = number(9) ? number(50) << 9 : any(), .bytes = (int64_t)any(),
			     .tid = (uint32_t)any(), .device = (int16_t)any(), .flags = (uint16_t)number(2),
			     .python = (uint32_t)number(5));
			MAKE(&w.log, event, EVENT, .tid = (uint32_t)number(3), .handle = any(), .before = any(), .after = any(),
			     .ticks = number(9999), .effect = (uint8_t)any(), .result = (uint16_t)any());
			MAKE(&w.log, phase, PHASE, .id = any(), .what = (uint8_t)any());
			w.log.stamp = any();
		}
		end(&w);
		check_comes_back(w.records, w.n);
		free_world(&w);
	}
}

/* What a record of an older or a newer Tare is like, and what damage is like. */
TEST(records_that_are_not_as_they_should_be_come_back)
{
	struct world w;
	struct tare_record head;

	begin(&w);
	for (int i = 0; i < 3; i++)
		make_log_every_kind(&w.log);
	end(&w);
	for (size_t i = 0; i < w.n; i++) {
		uint8_t *data = (uint8_t *)(uintptr_t)w.records[i].data;

		memcpy(&head, data, sizeof(head));
		if (i % 4 == 0)
			head.kind = (uint16_t)(1000 + i % 7);
		else if (i % 4 == 1)
			w.records[i].bytes = TARE_CELL;
		else if (i % 4 == 2)
			data[w.records[i].bytes - 1] = 0xee;
		else
			head.cells = 4095;
		memcpy(data, &head, sizeof(head));
	}
	check_comes_back(w.records, w.n);
	free_world(&w);
}

/* What is read is the whole struct, whatever the record has of it. */
TEST(a_record_that_is_too_short_has_room_for_all_fields)
{
	struct tare_rec_event event = { .head = { .kind = TARE_KIND_EVENT, .cells = 2 }, .tid = 7 };
	struct tare_block_record record = { (const uint8_t *)&event, 64, 32 };
	struct tare_pack pack = { 0 };
	struct tare_record_block block = { 0 };
	const struct tare_rec_event *got;

	event.head.seal = tare_seal(64);
	tare_block_encode(&pack, &layouts, &record, 1);
	CHECK(tare_block_decode(&block, &layouts, pack.data, pack.len, TARE_BLOCK_POSITIONS));
	got = (const struct tare_rec_event *)(const void *)block.records[0].data;
	CHECK_INT(got->tid, 7);
	CHECK_INT(got->handle, 0);
	CHECK_INT(got->reading_after, 0);
	CHECK_INT(block.records[0].bytes, 32);
	tare_block_free(&block);
	tare_pack_free(&pack);
}

/* Steps of a program that allocates and frees in the same order each time: a record of 48 bytes takes less than 5. */
TEST(tensors_of_repeated_steps_take_few_bytes)
{
	struct world w;
	size_t size;

	begin(&w);
	for (int step = 0; step < 50; step++)
		for (int i = 0; i < 300; i++) {
			int k = i / 2;

			w.log.stamp += 300 + number(200);
			if (i % 2 == 0)
				MAKE(&w.log, tensor, TENSOR, .block = 0x7f0000000000 + k * 4096u, .bytes = 512 * (1 + k % 9),
				     .tid = 431, .python = (uint32_t)(1 + k % 40));
			else
				MAKE(&w.log, tensor, TENSOR, .block = 0x7f0000000000 + k * 4096u, .bytes = -512 * (1 + k % 9),
				     .tid = 431);
		}
	end(&w);
	size = check_comes_back(w.records, w.n);
	CHECK(size < 5 * w.n);
	free_world(&w);
}

/* Positions of several threads, whose records take turns, cost next to nothing. */
TEST(positions_follow_from_those_of_the_thread)
{
	struct world w;
	size_t many, one;

	begin(&w);
	for (int i = 0; i < 8000; i++)
		MAKE(&w.log, tensor, TENSOR, .block = 4096, .bytes = 1, .tid = 1 + i / 2000u);
	end(&w);
	one = check_comes_back(w.records, w.n);
	/* The order of time: the four threads in turn. */
	for (size_t i = 0; i < w.n; i++)
		w.records[i].position = i % 4 * 96000 + i / 4 * 48;
	for (size_t i = 0; i < w.n; i++) {
		size_t from = i % 4 * 2000 + i / 4;
		struct tare_rec_tensor *t = (struct tare_rec_tensor *)(void *)(w.log.bytes + from * 48);

		w.records[i].data = (const uint8_t *)t;
		t->head.seal = tare_seal(w.records[i].position);
		t->head.stamp = i;
	}
	many = check_comes_back(w.records, w.n);
	CHECK(many < one + 200);
	free_world(&w);
}

/* Tensors of so many devices, and phases unless `phases` is 0: one in so many records. */
static void make_blocks(struct world *w, size_t n, uint64_t devices, uint64_t phases)
{
	begin(w);
	for (size_t i = 0; i < n; i++) {
		w->log.stamp += number(9);
		if (phases && i % phases == 1)
			MAKE(&w->log, phase, PHASE, .tid = 3, .name = (uint32_t)number(20));
		else
			MAKE(&w->log, tensor, TENSOR, .block = number(500) << 9, .bytes = 512,
			     .device = (int16_t)(3 + number(devices)), .tid = (uint32_t)number(2));
	}
	end(w);
}

static bool read_ends(struct tare_block_ends *ends, const struct world *w)
{
	const struct tare_record *first = (const void *)w->records[0].data;
	const struct tare_record *last = (const void *)w->records[w->n - 1].data;
	struct tare_pack pack = { 0 };
	bool is_read;

	tare_block_encode(&pack, &layouts, w->records, w->n);
	is_read = tare_block_read_ends(ends, &layouts, pack.data, pack.len, first->stamp, last->stamp);
	tare_pack_free(&pack);
	return is_read;
}

static void check_end(const struct tare_block_ends *ends, size_t i, const struct world *w, size_t at)
{
	const struct tare_rec_tensor *rec = (const void *)ends->block.records[i].data,
								 *of = (const void *)w->records[at].data;

	CHECK_INT(rec->head.kind, of->head.kind);
	CHECK_INT(rec->head.stamp, of->head.stamp);
	CHECK_INT(ends->block.records[i].bytes, w->records[at].bytes);
	if (of->head.kind == TARE_KIND_TENSOR)
		CHECK_INT(rec->device, of->device);
}

TEST(a_block_of_tensors_of_one_device_has_two_ends)
{
	struct tare_block_ends ends = { 0 };
	struct world w;

	make_blocks(&w, 1000, 1, 0);
	CHECK(read_ends(&ends, &w));
	CHECK_INT(ends.block.n, 2);
	check_end(&ends, 0, &w, 0);
	check_end(&ends, 1, &w, 999);
	w.n = 1;
	CHECK(read_ends(&ends, &w));
	CHECK_INT(ends.block.n, 1);
	check_end(&ends, 0, &w, 0);
	free_world(&w);
	make_blocks(&w, 1000, 2, 0);
	CHECK(!read_ends(&ends, &w));
	CHECK_INT(ends.block.n, 0);
	free_world(&w);
	tare_block_ends_free(&ends);
}

TEST(phases_beside_tensors_have_ends_of_their_own)
{
	struct tare_block_ends ends = { 0 };
	struct world w;

	make_blocks(&w, 1000, 1, 10);
	CHECK(read_ends(&ends, &w));
	CHECK_INT(ends.block.n, 4);
	check_end(&ends, 0, &w, 0);
	check_end(&ends, 1, &w, 1);
	check_end(&ends, 2, &w, 991);
	check_end(&ends, 3, &w, 999);
	MAKE(&w.log, oom, OOM, .tid = 3);
	free(w.records);
	w.n = 0;
	end(&w);
	CHECK(!read_ends(&ends, &w));
	free_world(&w);
	tare_block_ends_free(&ends);
}

static int16_t device_of_heap(const struct tare_record *head)
{
	return head->kind == TARE_KIND_HEAP_BLOCK ? ((const struct tare_rec_heap_block *)(const void *)head)->device
	                                          : ((const struct tare_rec_heap_freed *)(const void *)head)->device;
}

TEST(in_an_outline_blocks_of_the_heap_have_their_device)
{
	struct tare_record_block block = { 0 };
	struct tare_pack pack = { 0 };
	struct world w;

	begin(&w);
	for (size_t i = 0; i < 500; i++) {
		w.log.stamp += number(9);
		if (i % 3)
			MAKE(&w.log, heap_block, HEAP_BLOCK, .block = any(), .bytes = number(900), .device = 2,
			     .stack = (uint32_t)number(70));
		else
			MAKE(&w.log, heap_freed, HEAP_FREED, .block = any(), .device = 2, .tid = 5);
	}
	end(&w);
	tare_block_encode(&pack, &layouts, w.records, w.n);
	CHECK(tare_block_decode(&block, &layouts, pack.data, pack.len, TARE_BLOCK_OUTLINE));
	CHECK_INT(block.n, w.n);
	for (size_t i = 0; i < block.n; i++) {
		const struct tare_record *head = (const void *)block.records[i].data, *of = (const void *)w.records[i].data;

		CHECK_INT(head->kind, of->kind);
		CHECK_INT(head->stamp, of->stamp);
		CHECK_INT(device_of_heap(head), 2);
	}
	tare_block_free(&block);
	tare_pack_free(&pack);
	free_world(&w);
}

TEST(no_damage_of_ends_does_harm)
{
	struct tare_block_ends ends = { 0 };
	struct tare_pack pack = { 0 };
	struct world w;
	uint8_t *copy;

	make_blocks(&w, 300, 1, 10);
	tare_block_encode(&pack, &layouts, w.records, w.n);
	copy = malloc(pack.len);
	for (size_t i = 0; i < 40000; i++) {
		memcpy(copy, pack.data, pack.len);
		for (uint64_t k = 1 + number(4); k > 0; k--)
			copy[number(i % 2 ? pack.len : 60)] = (uint8_t)any();
		if (tare_block_read_ends(&ends, &layouts, copy, number(9) ? pack.len : number(pack.len), any(), any()))
			CHECK(ends.block.n > 0 && ends.block.n <= TARE_BLOCK_ENDS);
		else
			CHECK_INT(ends.block.n, 0);
	}
	free(copy);
	tare_pack_free(&pack);
	free_world(&w);
	tare_block_ends_free(&ends);
}

TEST(no_damage_does_harm)
{
	struct tare_pack pack = { 0 };
	struct tare_record_block block = { 0 };
	struct world w;
	uint8_t *copy;

	begin(&w);
	for (int i = 0; i < 8; i++)
		make_log_every_kind(&w.log);
	end(&w);
	tare_block_encode(&pack, &layouts, w.records, w.n);
	copy = malloc(pack.len);
	for (size_t i = 0; i < 40000; i++) {
		memcpy(copy, pack.data, pack.len);
		for (uint64_t k = 1 + number(4); k > 0; k--)
			copy[number(i % 2 ? pack.len : 200)] = (uint8_t)any();
		if (tare_block_decode(&block, &layouts, copy, number(9) ? pack.len : number(pack.len), (int)(i % 5)))
			CHECK(block.n > 0 && block.n <= 1 << 16);
		else
			CHECK_INT(block.n, 0);
		for (size_t k = 0; k < block.n && i % 5 == TARE_BLOCK_COLUMNS; k++)
			CHECK(tensor_of(&block, k) || block.records[k].data);
	}
	free(copy);
	tare_block_free(&block);
	tare_pack_free(&pack);
	free_world(&w);
}

TEST(checksums_are_those_of_xxh64)
{
	uint8_t bytes[101];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	CHECK_INT(tare_checksum("", 0), UINT64_C(0xef46db3751d8e999));
	CHECK_INT(tare_checksum("a", 1), UINT64_C(0xd24ec4f1a98c6e5b));
	CHECK_INT(tare_checksum("abc", 3), UINT64_C(0x44bc2cf5ad770999));
	CHECK_INT(tare_checksum(bytes, sizeof(bytes)), UINT64_C(0xe99038495f85381e));
}
