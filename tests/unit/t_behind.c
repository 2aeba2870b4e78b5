/* SPDX-License-Identifier: Apache-2.0 */
/* A segment that another thread writes behind the caller is the one that the caller would have written. */
#include "store/behind.h"

#include "base/file.h"
#include "base/str.h"
#include "make_log.h"
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BLOCKS = 40, IN_BLOCK = 700 };

static int threads; /* that the last segment was made with, beside those that were there */

/* Of this process. */
static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = 0;

	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static const struct tare_kind_info *own_kind(const void *arg, uint16_t kind)
{
	(void)arg;
	return tare_decode_kind(kind);
}

static const struct tare_layouts layouts = { own_kind, NULL };

/* Blocks of different lengths, of two logs. */
static void gather(struct tare_gathered *g, size_t block)
{
	for (size_t i = 0; i < IN_BLOCK + block; i++) {
		uint64_t position = (block * 2 * IN_BLOCK + i) * sizeof(struct tare_rec_heap_freed);
		struct tare_rec_heap_freed freed = { .head = { tare_seal(position), TARE_KIND_HEAP_FREED,
			                                           sizeof(freed) / TARE_CELL, 1000 * block + i },
			                                 .block = 0x7f00 + i * block * 16 };

		tare_gathered_add(g, &(struct tare_block_record){ (const uint8_t *)&freed, position, sizeof(freed) });
	}
}

static void make_segment(const char *path, bool is_behind)
{
	struct tare_behind *behind = tare_behind_new();
	struct tare_gathered g = { 0 };
	struct tare_segment_writer *w;
	int before = count_threads();

	unlink(path);
	CHECK_INT(tare_segment_create(&w, path, 1, NULL), 0);
	for (size_t block = 0; block < BLOCKS; block++) {
		gather(&g, block);
		if (is_behind) {
			tare_behind_write(behind, w, block % 2, &layouts, &g);
			CHECK_INT(g.n, 0);
		} else {
			tare_gathered_write(&g, w, TARE_SEGMENT_EVENTS, block % 2, &layouts);
			tare_gathered_clear(&g);
		}
	}
	tare_behind_wait(behind);
	threads = count_threads() - before;
	CHECK_INT(tare_segment_close(w, NULL), 0);
	tare_behind_free(behind);
	tare_gathered_free(&g);
}

static void check_is_same(const char *folder)
{
	struct tare_str a = { 0 }, b = { 0 };

	CHECK_INT(tare_file_read(&a, make_path(folder, "own"), 1 << 26, NULL), 0);
	CHECK_INT(tare_file_read(&b, make_path(folder, "behind"), 1 << 26, NULL), 0);
	CHECK(a.len > 1000 && a.len == b.len && !memcmp(a.data, b.data, a.len));
	tare_str_free(&a);
	tare_str_free(&b);
}

TEST(another_thread_writes_the_same)
{
	const char *folder = make_dir();

	make_segment(make_path(folder, "own"), false);
	CHECK_INT(threads, 0);
	make_segment(make_path(folder, "behind"), true);
	CHECK(threads > 0); /* a sanitizer may have made one with it */
	check_is_same(folder);
}

/* No addresses are left for the stack of a thread. A sanitizer has taken all of them, and an emulator keeps no such limit. */
static void allow_no_thread(void)
{
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	CHECK(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (4 << 20);
	if (limit.rlim_cur > UINT64_C(1) << 40 || setrlimit(RLIMIT_AS, &limit) || getrlimit(RLIMIT_AS, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		SKIP("addresses cannot be limited here");
}

TEST(without_a_thread_the_caller_writes)
{
	const char *folder = make_dir();

	make_segment(make_path(folder, "own"), false);
	allow_no_thread();
	make_segment(make_path(folder, "behind"), true);
	CHECK_INT(threads, 0);
	check_is_same(folder);
}
