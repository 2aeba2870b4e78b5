/* SPDX-License-Identifier: Apache-2.0 */
#include "compact/compact.h"

#include "compact_logs.h"
#include "store/manifest.h"
#include "store/store.h"
#include "segments.h"
#include "test.h"
#include "record/chunk.h"
#include "trace/log.h"
#include "trace/recording.h"
#include "record/schema_text.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(a_small_program_reads_the_same)
{
	compact_init();
	make_log_program(&compact_program);
	compact_write();
	compact_check(false);
}

TEST(every_kind_of_record_reads_the_same)
{
	compact_init();
	make_log_every_kind(&compact_program);
	make_log_every_kind(&compact_tare);
	compact_write();
	compact_check(false);
}

TEST(records_of_several_threads_come_in_the_same_order)
{
	compact_init();
	compact_program.header.has_lanes = 1;
	compact_make_threads();
	compact_write();
	compact_check(false);
}

TEST(stamps_that_run_backwards_come_in_the_same_order)
{
	compact_init();
	compact_make_backwards(true);
	compact_write();
	compact_check(false);
}

TEST(sizes_that_cannot_be_are_bounded_as_before)
{
	compact_init();
	MAKE(&compact_program, event, EVENT, .tid = 431, .granted = UINT64_MAX - 9, .after = TARE_NOT_KNOWN);
	MAKE(&compact_program, tensor, TENSOR, .block = 1, .bytes = INT64_MIN);
	compact_write();
	compact_check(false);
}

/* This version's schema, but fields of two kinds lie in another order, and there is a kind that nobody knows. */
static char *schema_to_come(void)
{
	struct tare_str text = { 0 };

	for (const char *line = tare_schema_text, *end; *line; line = end + 1) {
		char word[64], name[64], tail[64], class[64], first[64], second[64];
		int n = 0;

		end = strchr(line, '\n');
		if (sscanf(line, "%63s %63s %63s %63s %63s %63s%n", word, name, tail, class, first, second, &n) == 6 &&
		    (!strcmp(name, "tensor") || !strcmp(name, "peer")))
			tare_str_addf(&text, "%s %s %s %s %s %s%.*s\n", word, name, tail, class, second, first,
			              (int)(end - line - n), line + n);
		else
			tare_str_add_n(&text, line, (size_t)(end + 1 - line));
	}
	tare_str_add(&text, "900 novelty TEXT EVENT much:u64:NUMBER bytes:u32:LENGTH\n");
	return tare_str_steal(&text);
}

static void add_novelties(void)
{
	struct __attribute__((packed)) {
		struct tare_record head;
		uint64_t much;
		uint32_t bytes;
	} novelty = { .head = { .kind = 900 } };

	for (uint64_t i = 0; i < 300; i++) {
		novelty.head.stamp = compact_program.stamp++;
		novelty.much = i * i;
		novelty.bytes = (uint32_t)(i % 7);
		make_log_add(&compact_program, &novelty, sizeof(novelty), "novelty", i % 7);
		MAKE(&compact_program, tensor, TENSOR, .block = i << 9, .bytes = 512, .tid = 431);
		MAKE_TEXT(&compact_program, peer, PEER, i % 2 ? "python" : "", .pid = (uint32_t)i);
		compact_program.stamp -= i % 5; /* so that a reader has to hold records back */
	}
}

TEST(logs_of_another_version_read_the_same)
{
	char *text = schema_to_come();

	compact_init();
	make_log_every_kind(&compact_program);
	add_novelties();
	compact_write();
	make_log_write_schema(&compact_program, make_path(make_dir(), "431-0.events"), text);
	compact_check(false);
	free(text);
}

TEST(logs_of_0_1_0_read_the_same)
{
	compact_init();
	make_log_program(&compact_program);
	make_log_every_kind(&compact_program);
	compact_program.header.schema = compact_tare.header.schema = 0;
	compact_write();
	compact_check(false);
}

TEST(damage_stays_told)
{
	compact_init();
	make_log_program(&compact_program);
	make_log_every_kind(&compact_program);
	memset(compact_program.bytes + compact_program.records[5].position, 0xee, compact_program.records[5].size);
	memset(compact_program.bytes + compact_program.records[9].position, 0, compact_program.records[9].size);
	compact_program.bytes[compact_program.records[12].position + 6] ^= 3;  /* its length */
	compact_program.bytes[compact_program.records[14].position + 4] = 250; /* its kind */
	compact_program.bytes[compact_program.records[14].position + 5] = 250;
	compact_write();
	compact_check(false);
}

TEST(what_is_only_in_the_ring_of_a_killed_program_goes_into_segments)
{
	struct tare_compact_options o = { 0 };
	struct tare_compacted done;
	struct tare_err err = { 0 };

	compact_init();
	compact_program.header.has_lanes = 1;
	for (int i = 0; i < 20; i++)
		MAKE(&compact_program, tensor, TENSOR, .block = 4096 + i, .bytes = 512, .tid = 431);
	make_log_write_block(&compact_program, make_path(make_dir(), "431-0.events"), compact_program.records[6].position,
	                     SIZE_MAX);
	make_log_write_ring(&compact_program, make_path(make_dir(), "431-0.ring"), compact_program.records[6].position,
	                    false);
	make_log_write(&compact_tare, make_path(make_dir(), "tare.events"), SIZE_MAX);
	CHECK_INT(tare_compact(make_dir(), &o, &done, &err), TARE_E_USAGE);
	CHECK_HAS(err.text, "--force");
	CHECK(compact_is_there("431-0.ring"));
	compact_check(true);
}

TEST(what_damage_of_a_segment_costs_is_told)
{
	const struct tare_log_reach reach = { .scope = TARE_LOG_SEGMENTS, .is_unchecked = true };
	char *segment = tare_manifest_path(make_dir(), 1), *after;
	struct tare_recording *unchecked;
	struct tare_segment_file file;
	size_t k = 0;
	int fd;

	compact_init();
	make_log_program(&compact_program);
	compact_write();
	compact_run(false);
	CHECK_INT(tare_segment_open(&file, segment, NULL), 0);
	while (file.entries[k].head.kind != TARE_SEGMENT_EVENTS)
		k++;
	fd = open(segment, O_WRONLY | O_CLOEXEC);
	CHECK_INT(pwrite(fd, "damage", 6, (off_t)file.entries[k].at), 6);
	close(fd);
	after = compact_all_of(make_dir());
	CHECK_HAS(after, " lost with 1 damaged block of the segments beside it");
	/* Who does not ask reads no block for that. */
	CHECK_INT(tare_recording_open_scope(&unchecked, make_dir(), &reach, NULL), 0);
	CHECK_INT(tare_recording_note_nr(unchecked), 0);
	tare_recording_close(unchecked);
	tare_segment_free(&file);
	free(segment);
}

/* A reader of the last segments alone finds the names, stacks and devices that their records have. */
TEST(a_segment_is_read_without_those_before_it)
{
	struct tare_compact_options o = { .segment_records = 50 };
	struct tare_manifest manifest;
	struct tare_recording *r;
	struct tare_compacted done;
	struct tare_event e;
	char *before, *after;
	size_t n = 0;

	compact_init();
	MAKE_TEXT(&compact_program, string, STRING, "cuMemAlloc_v2", .id = 1);
	MAKE_TEXT(&compact_program, device, DEVICE, "H200", .ordinal = 0);
	for (int i = 0; i < 200; i++)
		MAKE(&compact_program, event, EVENT, .tid = 431, .api = 1, .effect = TARE_EFFECT_NEW);
	compact_write();
	before = compact_all_of(make_dir());
	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	CHECK(done.segments > 3);
	after = compact_all_of(make_dir());
	CHECK_STR(after, before);
	CHECK_INT(tare_manifest_read(&manifest, make_dir(), NULL), 0);
	memmove(manifest.numbers, manifest.numbers + 2, (manifest.nr - 2) * sizeof(uint32_t));
	manifest.nr -= 2;
	CHECK_INT(tare_manifest_write(&manifest, make_dir(), NULL), 0);
	CHECK_INT(tare_recording_open(&r, make_dir(), NULL), 0);
	while (tare_recording_next(r, &e)) {
		if (e.kind != TARE_KIND_EVENT)
			continue;
		CHECK_STR(e.api, "cuMemAlloc_v2");
		CHECK(e.device && !strcmp(e.device->name, "H200"));
		n++;
	}
	CHECK(n >= 90 && n < 200);
	tare_recording_close(r);
	tare_manifest_free(&manifest);
}

/* Logs that came later are added, and what was there is left alone. */
TEST(a_log_that_came_later_gets_a_segment_of_its_own)
{
	struct stat st, later;
	char *before, *after;

	compact_init();
	make_log_program(&compact_program);
	compact_write();
	compact_run(false);
	CHECK_INT(stat(make_path(make_dir(), "000001.segment"), &st), 0);
	compact_program.header.pid = 500;
	make_log_write(&compact_program, make_path(make_dir(), "500-0.events"), SIZE_MAX);
	before = compact_all_of(make_dir());
	CHECK(!compact_run(false).was_done);
	CHECK(!compact_is_there("500-0.events"));
	CHECK(compact_is_there("000002.segment"));
	CHECK_INT(stat(make_path(make_dir(), "000001.segment"), &later), 0);
	CHECK_INT(later.st_ino, st.st_ino);
	after = compact_all_of(make_dir());
	CHECK_STR(after, before);
}

TEST(a_log_in_several_files)
{
	compact_init();
	compact_program.header.chunk_bytes = TARE_CHUNK_BYTES_MIN;
	while (compact_program.size < 3 * TARE_CHUNK_BYTES_MIN)
		make_log_program(&compact_program);
	make_log_write_chunks(&compact_program, make_path(make_dir(), "431-0.events"));
	make_log_write(&compact_tare, make_path(make_dir(), "tare.events"), SIZE_MAX);
	compact_check(false);
	CHECK(!compact_is_there("431-0.events.1") && !compact_is_there("431-0.events.3"));
	make_log_write(&compact_program, make_path(make_dir(), "431-0.events.2"), 100);
	CHECK(compact_run(false).was_done && !compact_is_there("431-0.events.2"));
}

TEST(kept_logs_are_not_read_twice_and_go_the_next_time)
{
	struct tare_compact_options o = { .keeps_raw = true };
	struct tare_compacted done;
	char *before, *after;

	compact_init();
	make_log_program(&compact_program);
	compact_write();
	before = compact_all_of(make_dir());
	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	CHECK(compact_is_there("431-0.events"));
	after = compact_all_of(make_dir());
	CHECK_STR(after, before);
	CHECK(compact_run(false).was_done);
	CHECK(!compact_is_there("431-0.events"));
	after = compact_all_of(make_dir());
	CHECK_STR(after, before);
}

TEST(kept_logs_stay_if_their_segments_are_damaged)
{
	struct tare_compact_options o = { .keeps_raw = true };
	struct tare_compacted done;

	compact_init();
	make_log_program(&compact_program);
	compact_write();
	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	segments_damage(1);
	compact_run(false);
	CHECK(compact_is_there("431-0.events"));
	CHECK(compact_is_there("tare.events"));
}

TEST(a_recording_is_compacted_by_one_at_a_time)
{
	struct tare_compact_options o = { 0 };
	struct tare_compacted done;
	struct tare_err err = { 0 };
	int fd;

	compact_init();
	make_log_program(&compact_program);
	compact_write();
	fd = open(make_dir(), O_DIRECTORY | O_CLOEXEC);
	CHECK_INT(flock(fd, LOCK_EX), 0);
	CHECK_INT(tare_compact(make_dir(), &o, &done, &err), TARE_E_USAGE);
	CHECK_HAS(err.text, "another tare");
	CHECK(compact_is_there("431-0.events"));
	close(fd);
	compact_run(false);
	CHECK(!compact_is_there("431-0.events"));
}

/* A log that cannot be read stays, and is told of as before. */
TEST(a_log_that_cannot_be_read_stays)
{
	char *before, *after;
	int fd;

	compact_init();
	make_log_program(&compact_program);
	compact_write();
	fd = open(make_path(make_dir(), "77-0.events"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	before = compact_all_of(make_dir());
	compact_run(false);
	CHECK(compact_is_there("77-0.events"));
	CHECK(!compact_is_there("431-0.events"));
	after = compact_all_of(make_dir());
	CHECK_STR(after, before);
	CHECK_HAS(after, "77-0.events is empty");
}

/* Files as large as the limit cannot be written: as if the disk were full, wherever that happens. */
TEST(a_full_disk_leaves_the_recording_as_it_was)
{
	struct tare_compact_options o = { 0 };
	struct tare_compacted done;
	char *before, *after;
	int failed = 0;

	compact_init();
	for (int i = 0; i < 20; i++)
		make_log_every_kind(&compact_program);
	compact_write();
	before = compact_all_of(make_dir());
	signal(SIGXFSZ, SIG_IGN);
	for (rlim_t limit = 0;; limit += 100) {
		struct rlimit old, less;
		struct tare_err err = { 0 };
		int rc;

		getrlimit(RLIMIT_FSIZE, &old);
		less = (struct rlimit){ limit, old.rlim_max };
		setrlimit(RLIMIT_FSIZE, &less);
		rc = tare_compact(make_dir(), &o, &done, &err);
		setrlimit(RLIMIT_FSIZE, &old);
		after = compact_all_of(make_dir());
		CHECK_STR(after, before);
		if (!rc)
			break;
		failed++;
		CHECK(err.text[0]);
		CHECK(compact_is_there("431-0.events"));
		CHECK(!compact_is_there("000001.segment"));
		CHECK(!compact_is_there("000001.segment.new"));
		CHECK(!compact_is_there(TARE_STORE_MANIFEST));
	}
	CHECK(failed > 10);
	CHECK(!compact_is_there("431-0.events"));
}

TEST(what_an_interrupted_compaction_left_goes)
{
	static const char *const left[] = { "000001.segment", "000007.segment", "000001.segment.new", "segments.json.new" };

	compact_init();
	make_log_program(&compact_program);
	compact_write();
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		close(open(make_path(make_dir(), left[i]), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	compact_run(false);
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		CHECK(!compact_is_there(left[i]));
	CHECK(compact_is_there("000008.segment"));
	CHECK(compact_is_there(TARE_STORE_MANIFEST));
}
