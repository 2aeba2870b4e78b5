/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include "make_log.h"
#include "store/manifest.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BLOCKS = 6, IN_BLOCK = 50, SEGMENTS = 3 };

static struct tare_rec_tensor tensors[BLOCKS * IN_BLOCK * SEGMENTS];

static const struct tare_kind_info *own_kind(const void *arg, uint16_t kind)
{
	(void)arg;
	return tare_decode_kind(kind);
}

static const struct tare_layouts layouts = { own_kind, NULL };

/* Records of a log whose stamps are 1000, 1001, … */
static void make_records(struct tare_block_record *records, size_t first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tare_rec_tensor *t = &tensors[first + i];

		*t = (struct tare_rec_tensor){ .head = { tare_seal((first + i) * sizeof(*t)), TARE_KIND_TENSOR,
			                                     sizeof(*t) / TARE_CELL, 1000 + first + i },
			                           .block = 0x7f00 + i,
			                           .bytes = 512,
			                           .tid = 431 };
		records[i] = (struct tare_block_record){ (const uint8_t *)t, (first + i) * sizeof(*t), sizeof(*t) };
	}
}

static struct tare_log_part part_of(const char *name)
{
	struct tare_log_part part = { .name = (char *)(uintptr_t)name, .has_file = true };

	part.header.pid = 431;
	part.records = BLOCKS * IN_BLOCK;
	part.first_stamp = 1000;
	return part;
}

static void make_segment(const char *folder, uint32_t number)
{
	struct tare_log_part part = part_of("431-0"), other = part_of("tare");
	struct tare_block_record records[IN_BLOCK];
	struct tare_segment_writer *w;
	char *path = tare_manifest_path(folder, number);

	tare_log_part_add_hole(&part, 4096 * number, 32, 2);
	CHECK_INT(tare_segment_create(&w, path, number, NULL), 0);
	tare_segment_add_log(w, 0, &part);
	tare_segment_add_log(w, 7, &other);
	for (size_t i = 0; i < BLOCKS; i++) {
		make_records(records, ((number - 1) * BLOCKS + i) * IN_BLOCK, IN_BLOCK);
		tare_segment_add(w, TARE_SEGMENT_EVENTS, 0, &layouts, records, IN_BLOCK);
	}
	tare_segment_add_log(w, 0, &part);
	tare_segment_add_log(w, 7, &other);
	CHECK_INT(tare_segment_close(w, NULL), 0);
	free(part.holes);
	free(path);
}

static const char *make_store(void)
{
	const char *folder = make_dir();
	uint32_t numbers[SEGMENTS];
	struct tare_manifest m = { .numbers = numbers, .nr = SEGMENTS };

	for (uint32_t i = 0; i < SEGMENTS; i++) {
		make_segment(folder, i + 1);
		numbers[i] = i + 1;
	}
	CHECK_INT(tare_manifest_write(&m, folder, NULL), 0);
	return folder;
}

static struct tare_store *open_store(const char *folder)
{
	struct tare_store *store;

	CHECK_INT(tare_store_open(&store, folder, NULL), 0);
	return store;
}

/* How many records of 431-0 can be read; they must be in order, and each as it was made. */
static size_t count_records(const struct tare_store *store)
{
	const struct tare_stored_log *log = tare_store_find(store, "431-0");
	struct tare_store_cursor cursor = { .store = store, .log = log, .layouts = layouts };
	const struct tare_block_record *r;
	uint64_t before = 0;
	size_t n = 0;

	if (!log)
		return 0;
	for (tare_store_begin(&cursor, true, true); (r = tare_store_next(&cursor)); n++) {
		struct tare_rec_tensor t;

		memcpy(&t, r->data, sizeof(t));
		CHECK(t.head.stamp > before);
		CHECK(!memcmp(&t, &tensors[t.head.stamp - 1000], sizeof(t)));
		before = t.head.stamp;
	}
	tare_store_cursor_free(&cursor);
	return n;
}

static void write_at(const char *path, off_t at, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0 && pwrite(fd, bytes, n, at) == (ssize_t)n);
	close(fd);
}

static off_t size_of(const char *path)
{
	struct stat st;

	CHECK_INT(stat(path, &st), 0);
	return st.st_size;
}

TEST(what_was_written_is_read_in_order)
{
	struct tare_store *store = open_store(make_store());
	const struct tare_stored_log *log = tare_store_find(store, "431-0");

	CHECK_INT(store->segment_nr, SEGMENTS);
	CHECK_INT(store->log_nr, 2);
	CHECK_INT(store->fault_nr, 0);
	CHECK_INT(log->part.header.pid, 431);
	CHECK_INT(log->part.records, SEGMENTS * BLOCKS * IN_BLOCK);
	CHECK_INT(log->part.hole_nr, SEGMENTS);
	CHECK_INT(log->part.holes[1].position, 8192);
	CHECK_INT(count_records(store), SEGMENTS * BLOCKS * IN_BLOCK);
	CHECK(tare_store_find(store, "tare"));
	CHECK(!tare_store_find(store, "431-1"));
	tare_store_close(store);
}

/* Where a log lies beside it, the segment may be of a compaction that was interrupted; else there was a manifest. */
TEST(a_segment_without_a_manifest_counts_where_no_log_has_its_records)
{
	const char *folder = make_dir();
	struct tare_store *store;
	FILE *log;

	make_segment(folder, 1);
	store = open_store(folder);
	CHECK_INT(count_records(store), BLOCKS * IN_BLOCK);
	tare_store_close(store);
	log = fopen(make_path(folder, "431-0.events"), "w");
	CHECK(log);
	fclose(log);
	CHECK_INT(tare_store_open(&store, folder, NULL), TARE_E_NOT_FOUND);
}

TEST(the_footer_tells_of_every_block)
{
	char *path = tare_manifest_path(make_store(), 1);
	struct tare_segment_file segment;

	CHECK_INT(tare_segment_open(&segment, path, NULL), 0);
	CHECK(!segment.is_scanned);
	CHECK_INT(segment.entry_nr, BLOCKS + 4);
	CHECK_INT(segment.entries[2].head.records, IN_BLOCK);
	CHECK_INT(segment.entries[2].head.first, 1000);
	CHECK_INT(segment.entries[2].head.last, 1049);
	CHECK_INT(segment.entries[2].head.position_last, 49 * 48);
	tare_segment_free(&segment);
	free(path);
}

/* Of a cursor that wants one kind; only what is in segments that have none of it may be left out. */
static uint64_t count_wanted(const struct tare_store *store, uint16_t kind)
{
	struct tare_store_cursor c = { .store = store, .log = tare_store_find(store, "431-0"), .layouts = layouts };
	uint64_t n = 0;

	c.wanted[0] = kind;
	c.wanted_nr = 1;
	tare_store_begin(&c, true, false);
	while (tare_store_next(&c))
		n++;
	return n;
}

TEST(the_footer_tells_of_kinds_so_that_segments_are_passed_over)
{
	const char *folder = make_store();
	char *path = tare_manifest_path(folder, 1);
	struct tare_segment_file segment;
	struct tare_store *store;
	uint16_t kind;

	CHECK_INT(tare_segment_open(&segment, path, NULL), 0);
	CHECK(segment.has_counts);
	CHECK_INT(segment.count_nr, 1);
	CHECK_INT((int64_t)segment.counts[0].records, BLOCKS * IN_BLOCK);
	kind = (uint16_t)segment.counts[0].kind;
	tare_segment_free(&segment);
	store = open_store(folder);
	CHECK_INT((int64_t)count_wanted(store, kind), SEGMENTS * BLOCKS * IN_BLOCK);
	CHECK_INT((int64_t)count_wanted(store, kind + 1), 0);
	tare_store_close(store);
	/* A damaged footer costs that, and no record. */
	write_at(path, size_of(path) - 100, "xxxxxxxx", 8);
	store = open_store(folder);
	CHECK_INT((int64_t)count_wanted(store, kind), SEGMENTS * BLOCKS * IN_BLOCK);
	CHECK_INT((int64_t)count_wanted(store, kind + 1), BLOCKS * IN_BLOCK);
	tare_store_close(store);
	free(path);
}

TEST(a_damaged_footer_costs_no_record)
{
	const char *folder = make_store();
	char *path = tare_manifest_path(folder, 2);
	struct tare_segment_file segment;
	struct tare_store *store;

	write_at(path, size_of(path) - 100, "xxxxxxxx", 8);
	CHECK_INT(tare_segment_open(&segment, path, NULL), 0);
	CHECK(segment.is_scanned);
	CHECK_INT(segment.entry_nr, BLOCKS + 4);
	tare_segment_free(&segment);
	store = open_store(folder);
	CHECK_INT(count_records(store), SEGMENTS * BLOCKS * IN_BLOCK);
	tare_store_close(store);
	free(path);
}

/* Wherever the file is cut, what lies before the cut is read. */
TEST(a_segment_that_was_cut_has_what_is_left)
{
	const char *folder = make_store();
	char *path = tare_manifest_path(folder, SEGMENTS);
	size_t before = SEGMENTS * BLOCKS * IN_BLOCK, n = 0;

	for (off_t size = size_of(path); size >= 0; size -= 40) {
		struct tare_store *store;

		CHECK_INT(truncate(path, size), 0);
		store = open_store(folder);
		n = count_records(store);
		CHECK(n <= before && n >= (SEGMENTS - 1) * BLOCKS * IN_BLOCK);
		before = n;
		tare_store_close(store);
	}
	CHECK_INT(n, (SEGMENTS - 1) * BLOCKS * IN_BLOCK);
	free(path);
}

/* One block of one log is the most that a damaged byte can cost, and what it costs is counted. */
TEST(a_damaged_byte_costs_its_block)
{
	const char *folder = make_store();
	char *path = tare_manifest_path(folder, 1);
	off_t size = size_of(path);

	for (off_t at = 64; at < size; at += 7) {
		struct tare_store *store;
		const struct tare_stored_log *log;
		uint8_t was, is;
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		size_t n;

		CHECK_INT(pread(fd, &was, 1, at), 1);
		close(fd);
		is = (uint8_t)~was;
		write_at(path, at, &is, 1);
		store = open_store(folder);
		log = tare_store_find(store, "431-0");
		n = count_records(store);
		CHECK(n == SEGMENTS * BLOCKS * IN_BLOCK || n == SEGMENTS * BLOCKS * IN_BLOCK - IN_BLOCK);
		CHECK_INT(n + tare_store_check(store, log).records, SEGMENTS * BLOCKS * IN_BLOCK);
		CHECK_INT(log->part.records, SEGMENTS * BLOCKS * IN_BLOCK);
		tare_store_close(store);
		write_at(path, at, &was, 1);
	}
	free(path);
}

/* So many bytes that several threads look at them; nobody decodes the blocks. */
enum { LARGE_BLOCKS = 200, LARGE_BYTES = 64 << 10 };

static void make_large_segment(const char *folder, uint32_t number)
{
	struct tare_log_part part = part_of("431-0");
	struct tare_pack bytes = { 0 };
	struct tare_segment_writer *w;
	char *path = tare_manifest_path(folder, number);

	memset(tare_pack_room(&bytes, LARGE_BYTES), (int)number, LARGE_BYTES);
	bytes.len = LARGE_BYTES;
	CHECK_INT(tare_segment_create(&w, path, number, NULL), 0);
	tare_segment_add_log(w, 0, &part);
	for (uint64_t i = 0; i < LARGE_BLOCKS; i++) {
		uint64_t stamp = (number * LARGE_BLOCKS + i) * 10;
		struct tare_segment_block head = {
			.kind = TARE_SEGMENT_EVENTS, .records = (uint32_t)(1 + i), .first = stamp, .last = stamp + 9
		};

		tare_segment_copy(w, &head, 0, &bytes);
	}
	CHECK_INT(tare_segment_close(w, NULL), 0);
	tare_pack_free(&bytes);
	free(path);
}

static struct tare_store *open_two_large(void)
{
	struct tare_manifest m = { .numbers = (uint32_t[]){ 1, 2 }, .nr = 2 };
	const char *folder = make_dir();

	make_large_segment(folder, 1);
	make_large_segment(folder, 2);
	CHECK_INT(tare_manifest_write(&m, folder, NULL), 0);
	return open_store(folder);
}

TEST(each_damaged_block_of_many_counts_once)
{
	static const size_t hit[] = { 0, 31, 32, 77, LARGE_BLOCKS - 1, LARGE_BLOCKS, 350 };
	const size_t hits = sizeof(hit) / sizeof(hit[0]);
	struct tare_store *store = open_two_large();
	struct tare_store_damage damage;
	uint64_t records = 0;

	CHECK_INT(tare_store_check(store, tare_store_find(store, "431-0")).blocks, 0);
	for (size_t i = 0; i < hits; i++) {
		const struct tare_stored_block *block = &tare_store_find(store, "431-0")->events[hit[i]];
		const struct tare_segment_file *of = &store->segments[block->segment];

		write_at(of->path, (off_t)of->entries[block->entry].at + 100, "damage", 6);
		records += 1 + hit[i] % LARGE_BLOCKS;
	}
	damage = tare_store_check(store, tare_store_find(store, "431-0"));
	CHECK_INT(damage.blocks, hits);
	CHECK_INT(damage.records, records);
	CHECK_INT(damage.first, LARGE_BLOCKS * 10);
	CHECK_INT(damage.last, (LARGE_BLOCKS + 350) * 10 + 9);
	tare_store_close(store);
}

/* How many files could be open at once before. */
static struct rlimit allow_one_more_file(void)
{
	int next = open("/dev/null", O_RDONLY);
	struct rlimit was, least;

	close(next);
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &was), 0);
	least = (struct rlimit){ .rlim_cur = (rlim_t)next + 1, .rlim_max = was.rlim_max };
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &least), 0);
	return was;
}

TEST(no_block_is_damaged_for_want_of_an_open_file)
{
	struct tare_store *store = open_two_large();
	struct rlimit was;
	uint64_t damaged = 0;

	was = allow_one_more_file();
	for (int i = 0; i < 20; i++) /* of several threads one is seldom late */
		damaged += tare_store_check(store, tare_store_find(store, "431-0")).blocks;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &was), 0);
	CHECK_INT(damaged, 0);
	tare_store_close(store);
}

TEST(a_segment_that_is_missing_is_told)
{
	const char *folder = make_store();
	char *path = tare_manifest_path(folder, 2);
	struct tare_store *store;

	CHECK_INT(unlink(path), 0);
	store = open_store(folder);
	CHECK_INT(store->fault_nr, 1);
	CHECK_HAS(store->faults[0], "000002.segment");
	CHECK_INT(count_records(store), (SEGMENTS - 1) * BLOCKS * IN_BLOCK);
	tare_store_close(store);
	free(path);
}

TEST(with_a_damaged_manifest_all_segments_that_are_there_are_read)
{
	const char *folder = make_store();
	struct tare_store *store;

	write_at(make_path(folder, TARE_STORE_MANIFEST), 0, "]]]", 3);
	store = open_store(folder);
	CHECK_INT(store->fault_nr, 0);
	CHECK_INT(count_records(store), SEGMENTS * BLOCKS * IN_BLOCK);
	tare_store_close(store);
}

TEST(a_segment_of_a_newer_tare_is_refused)
{
	const char *folder = make_store();
	char *path = tare_manifest_path(folder, 1);
	uint32_t version = TARE_SEGMENT_VERSION + 1;
	struct tare_store *store;
	struct tare_err err = { 0 };

	write_at(path, offsetof(struct tare_segment_header, version), &version, sizeof(version));
	CHECK_INT(tare_store_open(&store, folder, &err), TARE_E_NEWER);
	CHECK_HAS(err.text, "or newer");
	free(path);
}

TEST(the_name_of_a_log_is_never_a_path)
{
	static const char *const names[] = { "../431-0", "a/b", "" };
	struct tare_pack bytes = { 0 };
	struct tare_log_part got;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tare_log_part part = part_of(names[i]);

		bytes.len = 0;
		tare_log_part_encode(&bytes, &part);
		CHECK(!tare_log_part_decode(&got, bytes.data, bytes.len));
	}
	tare_pack_free(&bytes);
}

TEST(what_is_there_already_is_not_written_over)
{
	const char *folder = make_store();
	char *path = tare_manifest_path(folder, 1);
	struct tare_segment_writer *w;

	CHECK_INT(tare_segment_create(&w, path, 1, NULL), TARE_E_EXISTS);
	free(path);
}

TEST(names_of_segments_are_told_from_others)
{
	CHECK_INT(tare_manifest_number("000012.segment"), 12);
	CHECK_INT(tare_manifest_number("12.segment.new"), 0);
	CHECK_INT(tare_manifest_number("-1.segment"), 0);
	CHECK_INT(tare_manifest_number("a.segment"), 0);
	CHECK_INT(tare_manifest_number("99999999999.segment"), 0);
}
