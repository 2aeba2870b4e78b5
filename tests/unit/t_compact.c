/* SPDX-License-Identifier: Apache-2.0 */
#include "compact/compact.h"

#include "make_log.h"
#include "store/manifest.h"
#include "store/store.h"
#include "test.h"
#include "trace/log.h"
#include "trace/recording.h"
#include "trace/schema_text.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct make_log m, t; /* a program's log, and that of `tare` */

static void init_both(void)
{
	make_log_init(&m, 431, 0);
	make_log_init(&t, 400, 0);
	t.header.role = TARE_ROLE_TARE;
	MAKE(&t, clock, CLOCK, .ticks = 1000000000, .monotonic_ns = 1000000000,
	     .realtime_ns = 1700000000000000000);
	MAKE(&t, reading, READING, .used = 77, .total = 99);
}

static void write_both(void)
{
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
}

static void add_names(struct tare_str *out, const struct tare_event *e)
{
	tare_str_addf(out, " api=%s name=%s domain=%s text=%s about=%d device=%d",
		      e->api ? e->api : "-", e->name ? e->name : "-", e->domain ? e->domain : "-",
		      e->text, e->about ? e->about->index : -1, e->device ? e->device->index : -1);
	for (uint32_t i = 0; e->stack && i < e->stack->depth; i++)
		tare_str_addf(out, " %llx", (unsigned long long)e->stack->pcs[i]);
	for (uint32_t i = 0; e->python && i < e->python->depth; i++)
		tare_str_addf(out, " %s:%u", e->python->lines[i].file, e->python->lines[i].line);
}

static void add_process(struct tare_str *out, const struct tare_process *p)
{
	tare_str_addf(out, "process %d %d %u %u %s %s %s %lld %lld %d%d%d %u %lld %llu %llu %llu\n",
		      p->index, p->role, p->pid, p->generation, p->program, p->host, p->log,
		      (long long)p->first_ns, (long long)p->last_ns, p->is_ended, p->is_open,
		      p->is_status_known, p->status, (long long)p->status_ns,
		      (unsigned long long)p->lost, (unsigned long long)p->unfinished,
		      (unsigned long long)p->skipped_bytes);
	for (int i = 0; i < p->device_nr; i++)
		tare_str_addf(out, " device %d %d\n", p->devices[i].ordinal,
			      p->devices[i].device->index);
	for (int i = 0; i < p->object_nr; i++)
		tare_str_addf(out, " object %llx %s\n", (unsigned long long)p->objects[i].begin,
			      p->objects[i].path);
	for (int i = 0; i < p->symbol_nr; i++)
		tare_str_addf(out, " symbol %llx %s\n", (unsigned long long)p->symbols[i].address,
			      p->symbols[i].name);
}

/* The texts that a test compares, until it ends. */
static char *texts[4096];
static size_t text_nr;

/* All that a reader of the recording gets. */
static char *all_of(const char *folder)
{
	struct tare_recording *r;
	struct tare_str out = { 0 };
	struct tare_event e;

	CHECK_INT(tare_recording_open(&r, folder, NULL), 0);
	tare_str_addf(&out, "%d %lld %lld\n", tare_recording_is_open(r),
		      (long long)tare_recording_last_ns(r),
		      (long long)tare_recording_started_realtime_ns(r));
	for (int i = 0; i < tare_recording_process_nr(r); i++)
		add_process(&out, tare_recording_process(r, i));
	for (int i = 0; i < tare_recording_device_nr(r); i++)
		tare_str_addf(&out, "device %s\n", tare_recording_device(r, i)->name);
	for (int i = 0; i < tare_recording_note_nr(r); i++)
		tare_str_addf(&out, "note %s\n", tare_recording_note(r, i));
	for (int i = 0; i < tare_recording_snapshot_nr(r); i++)
		tare_str_addf(&out, "snapshot %s\n", tare_recording_snapshot(r, i)->name);
	for (int pass = 0; pass < 2; pass++, tare_recording_rewind(r))
		while (tare_recording_next(r, &e)) {
			const struct tare_kind_info *info = tare_decode_kind((uint16_t)e.kind);

			tare_str_addf(&out, "%lld %lld %lld %d %s", (long long)e.at_ns,
				      (long long)e.begin_ns, (long long)e.end_ns, e.process->index,
				      info->name);
			for (int i = 0; i < info->field_nr; i++)
				tare_str_addf(&out, " %llx",
					      (unsigned long long)
						      tare_decode_value(&info->fields[i],
									e.rec.head));
			add_names(&out, &e);
			tare_str_add_char(&out, '\n');
		}
	tare_recording_close(r);
	CHECK(text_nr < sizeof(texts) / sizeof(texts[0]));
	texts[text_nr] = tare_str_steal(&out);
	return texts[text_nr++];
}

struct raw {
	uint64_t position, bytes;
	uint8_t *data;
};

static int by_position(const void *a, const void *b)
{
	const struct raw *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

/* Every record of a log with its bytes, in the order of the log; ends with one of no bytes. */
static struct raw *records_of(const char *path)
{
	struct raw *all = calloc(100000, sizeof(*all));
	struct tare_log_record rec;
	enum tare_log_step step;
	struct tare_log *log;
	size_t n = 0;

	CHECK_INT(tare_log_open(&log, path, NULL), 0);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END) {
		all[n] = (struct raw){ rec.position, rec.bytes, NULL };
		if (step == TARE_LOG_RECORD) {
			all[n].data = malloc(rec.bytes);
			memcpy(all[n].data, rec.raw, rec.bytes);
		}
		n++;
	}
	tare_log_close(log);
	qsort(all, n, sizeof(*all), by_position);
	return all;
}

static void free_records(struct raw *all)
{
	for (struct raw *r = all; r->bytes; r++)
		free(r->data);
	free(all);
}

static void check_same_records(const struct raw *a, const struct raw *b)
{
	for (; a->bytes || b->bytes; a++, b++) {
		CHECK_INT(b->position, a->position);
		CHECK_INT(b->bytes, a->bytes);
		CHECK(!a->data == !b->data);
		CHECK(!a->data || !memcmp(a->data, b->data, a->bytes));
	}
}

static bool is_there(const char *name)
{
	return access(make_path(make_dir(), name), F_OK) == 0;
}

static struct tare_compacted compact(bool is_forced)
{
	struct tare_compact_options o = { .is_forced = is_forced };
	struct tare_compacted done;
	struct tare_err err = { 0 };

	if (tare_compact(make_dir(), &o, &done, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	return done;
}

/* The reader says the same, every record has the same bytes, and the logs are gone. */
static void check_compacts(bool is_forced)
{
	char *before = all_of(make_dir()), *after;
	struct raw *own = records_of(make_path(make_dir(), "431-0.events"));
	struct raw *tares = records_of(make_path(make_dir(), "tare.events"));
	struct raw *own_after, *tares_after;

	CHECK(!compact(is_forced).was_done);
	CHECK(!is_there("431-0.events"));
	CHECK(!is_there("431-0.ring"));
	CHECK(!is_there("tare.events"));
	CHECK(is_there("000001.segment"));
	after = all_of(make_dir());
	CHECK_STR(after, before);
	own_after = records_of(make_path(make_dir(), "431-0.events"));
	tares_after = records_of(make_path(make_dir(), "tare.events"));
	check_same_records(own, own_after);
	check_same_records(tares, tares_after);
	free_records(own);
	free_records(own_after);
	free_records(tares);
	free_records(tares_after);
	CHECK(compact(is_forced).was_done);
	make_log_free(&m);
	make_log_free(&t);
}

TEST(a_small_program_reads_the_same)
{
	init_both();
	make_log_program(&m);
	write_both();
	check_compacts(false);
}

TEST(every_kind_of_record_reads_the_same)
{
	init_both();
	make_log_every_kind(&m);
	make_log_every_kind(&t);
	write_both();
	check_compacts(false);
}

TEST(records_of_several_threads_come_in_the_same_order)
{
	init_both();
	m.header.has_lanes = 1;
	for (uint64_t i = 0; i < 12; i++) {
		MAKE(&m, lane, LANE, .lane = i % 3, .bytes = 40 * 48, .from = i / 3 * 40 * 48);
		for (uint64_t k = 0; k < 40; k++) {
			m.stamp = 2000000000 + i / 3 * 4000 + k * 100 + i % 3 * (k % 2);
			MAKE(&m, tensor, TENSOR, .block = 4096 + i, .bytes = 512,
			     .tid = (uint32_t)(431 + i % 3));
		}
	}
	write_both();
	check_compacts(false);
}

TEST(stamps_that_run_backwards_come_in_the_same_order)
{
	init_both();
	for (uint64_t i = 0; i < 40000; i++) { /* more than one block */
		m.stamp = 2000000000 + i * 50 - i % 7 * 120;
		if (i == 100 || i == 30000)
			m.stamp = UINT64_MAX / 2; /* damage */
		MAKE(&m, event, EVENT, .tid = 431, .ticks = i, .handle = i);
	}
	write_both();
	check_compacts(false);
}

TEST(sizes_that_cannot_be_are_bounded_as_before)
{
	init_both();
	MAKE(&m, event, EVENT, .tid = 431, .granted = UINT64_MAX - 9, .after = TARE_NOT_KNOWN);
	MAKE(&m, tensor, TENSOR, .block = 1, .bytes = INT64_MIN);
	write_both();
	check_compacts(false);
}

/* This version's schema, but fields of two kinds lie in another order, and there is a kind that nobody knows. */
static char *schema_to_come(void)
{
	struct tare_str text = { 0 };

	for (const char *line = tare_schema_text, *end; *line; line = end + 1) {
		char word[64], name[64], tail[64], class[64], first[64], second[64];
		int n = 0;

		end = strchr(line, '\n');
		if (sscanf(line, "%63s %63s %63s %63s %63s %63s%n", word, name, tail, class, first,
			   second, &n) == 6 &&
		    (!strcmp(name, "tensor") || !strcmp(name, "peer")))
			tare_str_addf(&text, "%s %s %s %s %s %s%.*s\n", word, name, tail, class,
				      second, first, (int)(end - line - n), line + n);
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
		novelty.head.stamp = m.stamp++;
		novelty.much = i * i;
		novelty.bytes = (uint32_t)(i % 7);
		make_log_add(&m, &novelty, sizeof(novelty), "novelty", i % 7);
		MAKE(&m, tensor, TENSOR, .block = i << 9, .bytes = 512, .tid = 431);
		MAKE_TEXT(&m, peer, PEER, i % 2 ? "python" : "", .pid = (uint32_t)i);
		m.stamp -= i % 5; /* so that a reader has to hold records back */
	}
}

TEST(logs_of_another_version_read_the_same)
{
	char *text = schema_to_come();

	init_both();
	make_log_every_kind(&m);
	add_novelties();
	write_both();
	make_log_write_schema(&m, make_path(make_dir(), "431-0.events"), text);
	check_compacts(false);
	free(text);
}

TEST(logs_of_0_1_0_read_the_same)
{
	init_both();
	make_log_program(&m);
	make_log_every_kind(&m);
	m.header.schema = t.header.schema = 0;
	write_both();
	check_compacts(false);
}

TEST(damage_stays_told)
{
	init_both();
	make_log_program(&m);
	make_log_every_kind(&m);
	memset(m.bytes + m.records[5].position, 0xee, m.records[5].size);
	memset(m.bytes + m.records[9].position, 0, m.records[9].size);
	m.bytes[m.records[12].position + 6] ^= 3;  /* its length */
	m.bytes[m.records[14].position + 4] = 250; /* its kind */
	m.bytes[m.records[14].position + 5] = 250;
	write_both();
	check_compacts(false);
}

TEST(what_is_only_in_the_ring_of_a_killed_program_goes_into_segments)
{
	struct tare_compact_options o = { 0 };
	struct tare_compacted done;
	struct tare_err err = { 0 };

	init_both();
	m.header.has_lanes = 1;
	for (int i = 0; i < 20; i++)
		MAKE(&m, tensor, TENSOR, .block = 4096 + i, .bytes = 512, .tid = 431);
	make_log_write_block(&m, make_path(make_dir(), "431-0.events"), m.records[6].position,
			     SIZE_MAX);
	make_log_write_ring(&m, make_path(make_dir(), "431-0.ring"), m.records[6].position, false);
	make_log_write(&t, make_path(make_dir(), "tare.events"), SIZE_MAX);
	CHECK_INT(tare_compact(make_dir(), &o, &done, &err), TARE_E_USAGE);
	CHECK_HAS(err.text, "--force");
	CHECK(is_there("431-0.ring"));
	check_compacts(true);
}

TEST(what_damage_of_a_segment_costs_is_told)
{
	char *segment = tare_manifest_path(make_dir(), 1), *after;
	struct tare_segment_file file;
	size_t k = 0;
	int fd;

	init_both();
	make_log_program(&m);
	write_both();
	compact(false);
	CHECK_INT(tare_segment_open(&file, segment, NULL), 0);
	while (file.entries[k].head.kind != TARE_SEGMENT_EVENTS)
		k++;
	fd = open(segment, O_WRONLY | O_CLOEXEC);
	CHECK_INT(pwrite(fd, "damage", 6, (off_t)file.entries[k].at), 6);
	close(fd);
	after = all_of(make_dir());
	CHECK_HAS(after, " lost with 1 damaged block of the segments beside it");
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

	init_both();
	MAKE_TEXT(&m, string, STRING, "cuMemAlloc_v2", .id = 1);
	MAKE_TEXT(&m, device, DEVICE, "H200", .ordinal = 0);
	for (int i = 0; i < 200; i++)
		MAKE(&m, event, EVENT, .tid = 431, .api = 1, .effect = TARE_EFFECT_NEW);
	write_both();
	before = all_of(make_dir());
	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	CHECK(done.segments > 3);
	after = all_of(make_dir());
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

	init_both();
	make_log_program(&m);
	write_both();
	compact(false);
	CHECK_INT(stat(make_path(make_dir(), "000001.segment"), &st), 0);
	m.header.pid = 500;
	make_log_write(&m, make_path(make_dir(), "500-0.events"), SIZE_MAX);
	before = all_of(make_dir());
	CHECK(!compact(false).was_done);
	CHECK(!is_there("500-0.events"));
	CHECK(is_there("000002.segment"));
	CHECK_INT(stat(make_path(make_dir(), "000001.segment"), &later), 0);
	CHECK_INT(later.st_ino, st.st_ino);
	after = all_of(make_dir());
	CHECK_STR(after, before);
}

TEST(kept_logs_are_not_read_twice_and_go_the_next_time)
{
	struct tare_compact_options o = { .keeps_raw = true };
	struct tare_compacted done;
	char *before, *after;

	init_both();
	make_log_program(&m);
	write_both();
	before = all_of(make_dir());
	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	CHECK(is_there("431-0.events"));
	after = all_of(make_dir());
	CHECK_STR(after, before);
	CHECK(compact(false).was_done);
	CHECK(!is_there("431-0.events"));
	after = all_of(make_dir());
	CHECK_STR(after, before);
}

TEST(kept_logs_stay_if_their_segments_are_damaged)
{
	struct tare_compact_options o = { .keeps_raw = true };
	char *segment = tare_manifest_path(make_dir(), 1);
	struct tare_segment_file file;
	struct tare_compacted done;
	int fd;

	init_both();
	make_log_program(&m);
	write_both();
	CHECK_INT(tare_compact(make_dir(), &o, &done, NULL), 0);
	CHECK_INT(tare_segment_open(&file, segment, NULL), 0);
	fd = open(segment, O_WRONLY | O_CLOEXEC);
	for (size_t i = 0; i < file.entry_nr; i++)
		if (file.entries[i].head.kind == TARE_SEGMENT_EVENTS)
			CHECK_INT(pwrite(fd, "damage", 6, (off_t)file.entries[i].at), 6);
	close(fd);
	compact(false);
	CHECK(is_there("431-0.events"));
	CHECK(is_there("tare.events"));
	tare_segment_free(&file);
	free(segment);
}

TEST(a_recording_is_compacted_by_one_at_a_time)
{
	struct tare_compact_options o = { 0 };
	struct tare_compacted done;
	struct tare_err err = { 0 };
	int fd;

	init_both();
	make_log_program(&m);
	write_both();
	fd = open(make_dir(), O_DIRECTORY | O_CLOEXEC);
	CHECK_INT(flock(fd, LOCK_EX), 0);
	CHECK_INT(tare_compact(make_dir(), &o, &done, &err), TARE_E_USAGE);
	CHECK_HAS(err.text, "another tare");
	CHECK(is_there("431-0.events"));
	close(fd);
	compact(false);
	CHECK(!is_there("431-0.events"));
}

/* A log that cannot be read stays, and is told of as before. */
TEST(a_log_that_cannot_be_read_stays)
{
	char *before, *after;
	int fd;

	init_both();
	make_log_program(&m);
	write_both();
	fd = open(make_path(make_dir(), "77-0.events"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	before = all_of(make_dir());
	compact(false);
	CHECK(is_there("77-0.events"));
	CHECK(!is_there("431-0.events"));
	after = all_of(make_dir());
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

	init_both();
	for (int i = 0; i < 20; i++)
		make_log_every_kind(&m);
	write_both();
	before = all_of(make_dir());
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
		after = all_of(make_dir());
		CHECK_STR(after, before);
		if (!rc)
			break;
		failed++;
		CHECK(err.text[0]);
		CHECK(is_there("431-0.events"));
		CHECK(!is_there("000001.segment"));
		CHECK(!is_there("000001.segment.new"));
		CHECK(!is_there(TARE_STORE_MANIFEST));
	}
	CHECK(failed > 10);
	CHECK(!is_there("431-0.events"));
}

TEST(what_an_interrupted_compaction_left_goes)
{
	static const char *const left[] = { "000001.segment", "000007.segment",
					    "000001.segment.new", "segments.json.new" };

	init_both();
	make_log_program(&m);
	write_both();
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		close(open(make_path(make_dir(), left[i]), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	compact(false);
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		CHECK(!is_there(left[i]));
	CHECK(is_there("000008.segment"));
	CHECK(is_there(TARE_STORE_MANIFEST));
}
