/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of other versions: fields that moved, came, went or changed their width, and kinds that nobody knows. */
#include "record/schema.h"
#include "make_log.h"
#include "test.h"
#include "trace/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static struct make_log m, other; /* a log of this version, and the same as another writes it */

static struct tare_log *open_ok(const char *path)
{
	struct tare_log *log = NULL;
	struct tare_err err = { 0 };

	if (tare_log_open(&log, path, &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	return log;
}

static struct tare_schema *parse_ok(const char *text)
{
	struct tare_schema *schema = NULL;
	struct tare_err err = { 0 };

	if (tare_schema_parse(&schema, text, strlen(text), "x.events", &err))
		test_fail(__FILE__, __LINE__, "%s", err.text);
	return schema;
}

static void add_field(struct tare_str *out, const struct tare_field *f, int bytes)
{
	tare_str_addf(out, " %s:%c%d:%s", f->name, f->is_signed ? 'i' : 'u', bytes * 8, tare_decode_role(f->role)->name);
}

static const char *tail_word(const struct tare_kind_info *info)
{
	static const char *const words[] = { "NONE", "TEXT", "PCS" };

	return words[info->tail];
}

/*
 * A version to come: kinds in another order and with other ids, in each the fields the other way round and twice as
 * wide, with one that is new between them; and a kind that is new.
 */
static char *newer(void)
{
	struct tare_str out = { 0 };

	tare_str_add(&out, TARE_SCHEMA_HEAD "900 flux TEXT EVENT a:u32:NUMBER bytes:u32:LENGTH\n");
	for (uint16_t id = TARE_KIND_NR; id-- > 0;) {
		const struct tare_kind_info *info = tare_decode_kind(id);

		if (!info || !info->is_schema)
			continue;
		tare_str_addf(&out, "%d %s %s NEWCLASS", 500 + id, info->name, tail_word(info));
		for (int i = info->field_nr - 1 - (info->tail != 0); i >= 0; i--) {
			int size = info->fields[i].size;

			add_field(&out, &info->fields[i], size < 8 ? 2 * size : size);
			tare_str_addf(&out, " new_%d:u16:NEWROLE", i);
		}
		if (info->tail)
			add_field(&out, &info->fields[info->field_nr - 1], 4);
		tare_str_add_char(&out, '\n');
	}
	return tare_str_steal(&out);
}

/* All records of `m` as a version with this schema writes them. */
static void write_other(const char *text, const char *path)
{
	struct tare_schema *schema = parse_ok(text);

	make_log_init(&other, m.header.pid, 0);
	strcpy(other.header.tool, "9.8.7");
	for (int i = 0; i < m.record_nr; i++) {
		const uint8_t *bytes = m.bytes + m.records[i].position;
		const struct tare_record *head = (const struct tare_record *)(const void *)bytes;
		const struct tare_kind_info *info = tare_decode_kind(head->kind);
		const struct tare_schema_kind *kind = info ? tare_schema_kind_of(schema, info) : NULL;
		uint64_t said[256] = { 0 };
		size_t tail = 0;

		if (!kind)
			continue;
		if (info->tail)
			tail = tare_decode_tail_length(info, bytes) * (info->tail == TARE_TAIL_PCS ? 8 : 1);
		tare_schema_write(kind, bytes, said);
		make_log_add(&other, said, kind->said.fixed, bytes + info->fixed, tail);
	}
	tare_schema_free(schema);
	make_log_write_schema(&other, path, text);
}

/* The next record of the log that this version knows. */
static bool next(struct tare_log *log, struct tare_log_record *rec)
{
	enum tare_log_step step;

	while ((step = tare_log_next(log, rec)) == TARE_LOG_RECORD)
		if (rec->info)
			return true;
	CHECK_INT(step, TARE_LOG_END);
	return false;
}

static void check_same(const struct tare_log_record *want, const struct tare_log_record *got)
{
	CHECK(want->info == got->info);
	CHECK(want->rec.head->stamp == got->rec.head->stamp);
	CHECK_INT(got->rec.head->kind, want->rec.head->kind);
	for (int i = 0; i < want->info->field_nr; i++) {
		const struct tare_field *f = &want->info->fields[i];

		if (tare_decode_value(f, want->rec.head) != tare_decode_value(f, got->rec.head))
			test_fail(__FILE__, __LINE__, "%s.%s is another", want->info->name, f->name);
	}
	CHECK_INT(want->text != NULL, got->text != NULL);
	CHECK_INT(want->text_len, got->text_len);
	CHECK(!want->text || !memcmp(want->text, got->text, want->text_len));
	CHECK_INT(want->depth, got->depth);
	CHECK(!want->pcs || !memcmp(want->pcs, got->pcs, want->depth * 8));
}

TEST(a_newer_version_is_read_by_names)
{
	const char *ours = make_path(make_dir(), "1-0.events"), *theirs = make_path(make_dir(), "2-0.events");
	char *text = newer();
	struct tare_log *a, *b;
	struct tare_log_record want, got;
	int n = 0;

	make_log_init(&m, 1, 0);
	make_log_every_kind(&m);
	make_log_program(&m);
	make_log_write(&m, ours, SIZE_MAX);
	write_other(text, theirs);
	a = open_ok(ours);
	b = open_ok(theirs);
	for (; next(a, &want); n++) {
		CHECK(next(b, &got));
		check_same(&want, &got);
	}
	CHECK(!next(b, &got));
	CHECK(n > 35);
	CHECK_INT(tare_log_counts(b)->repaired, 0);
	CHECK_INT(tare_log_info(b)->is_header_damaged, false);
	tare_log_close(a);
	tare_log_close(b);
	free(text);
}

/* A kind that only the newer version has is counted, and its fields can be named. */
TEST(an_unknown_kind_is_skipped)
{
	const char *path = make_path(make_dir(), "2-0.events");
	struct tare_rec_string flux = { .head = { .kind = 900 }, .id = 7, .bytes = 4 };
	struct tare_log_record rec;
	struct tare_log *log;
	char *text = newer();

	make_log_init(&other, 1, 0);
	make_log_add(&other, &flux, sizeof(flux), "flow", 4);
	make_log_write_schema(&other, path, text);
	log = open_ok(path);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK(!rec.info);
	CHECK_STR(rec.said->name, "flux");
	CHECK_INT(tare_decode_value(&rec.said->fields[0], rec.rec.head), 7);
	CHECK(rec.text && !memcmp(rec.text, "flow", 4));
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_END);
	CHECK_INT(tare_log_counts(log)->unknown, 1);
	tare_log_close(log);
	free(text);
}

/* What an older version did not write is what the role of the field says; what is too narrow for a value is its end. */
TEST(what_is_missing_has_the_value_of_its_role)
{
	static const char text[] =
		TARE_SCHEMA_HEAD "4 event NONE EVENT handle:u32:HANDLE device:i8:DEVICE before:u32:BYTES gone:u64:NUMBER\n"
						 "45 tensor NONE EVENT bytes:i32:AMOUNT device:i32:DEVICE\n"
						 "40 line NONE TABLE id:u32:ID\n"
						 "8 degraded NONE KEPT reserved0:u32:RESERVED\n"
						 "10 end TEXT EVENT tid:u32:TID bytes:u32:LENGTH\n";
	const char *path = make_path(make_dir(), "2-0.events");
	struct tare_log_record rec;
	struct tare_log *log;
	struct {
		struct tare_record head;
		uint32_t handle;
		int8_t device;
		uint8_t before[4], gone[8];
	} event = { .head = { .kind = 4 }, .handle = 0xabcd, .device = -1 };
	struct {
		struct tare_record head;
		int32_t bytes, device;
	} tensor = { .head = { .kind = 45 }, .bytes = -5, .device = 40000 };
	struct tare_rec_degraded degraded = { .head = { .kind = 8 } };
	struct tare_rec_string end = { .head = { .kind = 10 }, .id = 3, .bytes = 2 };

	memset(event.before, 0xff, sizeof(event.before)); /* not known, in that width */
	make_log_init(&other, 1, 0);
	make_log_add(&other, &event, 16 + 17, NULL, 0);
	make_log_add(&other, &tensor, 16 + 8, NULL, 0);
	make_log_add(&other, &degraded, sizeof(degraded), NULL, 0);
	make_log_add(&other, &end, sizeof(end), "hi", 2);
	make_log_write_schema(&other, path, text);
	log = open_ok(path);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_INT(rec.rec.event->handle, 0xabcd);
	CHECK_INT(rec.rec.event->device, -1);
	CHECK(rec.rec.event->before == TARE_NOT_KNOWN);
	CHECK(rec.rec.event->after == TARE_NOT_KNOWN);
	CHECK_INT(rec.rec.event->asked, 0);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_INT(rec.rec.tensor->bytes, -5);
	CHECK_INT(rec.rec.tensor->device, 32767);
	CHECK_INT(rec.rec.tensor->block, 0);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK(rec.text);
	CHECK_INT(rec.text_len, 0);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_INT(rec.rec.end->tid, 3);
	CHECK(!rec.text);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_END);
	tare_log_close(log);
}

/* Nothing says how its records lie, and it is not of this version. */
TEST(a_log_without_a_schema_is_not_read)
{
	const char *path = make_path(make_dir(), "1-0.events");
	struct tare_err err = { 0 };
	struct tare_log *log;

	make_log_init(&other, 1, 0);
	other.header.schema = 0;
	strcpy(other.header.tool, "0.0.9");
	MAKE(&other, reading, READING, .used = 5);
	make_log_write(&other, path, SIZE_MAX);
	CHECK_INT(tare_log_open(&log, path, &err), TARE_E_FORMAT);
	CHECK_HAS(err.text, "was written by Tare 0.0.9");
}

static void check_refused(const char *text, const char *why)
{
	struct tare_schema *schema;
	struct tare_err err = { 0 };

	CHECK_INT(tare_schema_parse(&schema, text, strlen(text), "x.events", &err), TARE_E_FORMAT);
	CHECK_HAS(err.text, "x.events: its schema");
	CHECK_HAS(err.text, why);
}

TEST(malformed_schemas_are_a_sentence)
{
	struct tare_str many = { 0 };

	check_refused("", "it is not one");
	check_refused("tare schema 2\n", "it is not one");
	check_refused(TARE_SCHEMA_HEAD "4 event NONE EVENT", "cut off");
	check_refused(TARE_SCHEMA_HEAD "\n", "id of a kind");
	check_refused(TARE_SCHEMA_HEAD "0 event NONE EVENT\n", "id of a kind");
	check_refused(TARE_SCHEMA_HEAD "65536 event NONE EVENT\n", "id of a kind");
	check_refused(TARE_SCHEMA_HEAD "4 Event NONE EVENT\n", "a name");
	check_refused(TARE_SCHEMA_HEAD "4  NONE EVENT\n", "a name");
	check_refused(TARE_SCHEMA_HEAD "4 event SOME EVENT\n", "a tail");
	check_refused(TARE_SCHEMA_HEAD "4 event NONE EVENT a:u24:NUMBER\n", "a type");
	check_refused(TARE_SCHEMA_HEAD "4 event NONE EVENT a:f64:NUMBER\n", "a type");
	check_refused(TARE_SCHEMA_HEAD "4 event NONE EVENT a\n", "a type");
	check_refused(TARE_SCHEMA_HEAD "4 event NONE EVENT a:u8:X a:u8:X\n", "one name");
	check_refused(TARE_SCHEMA_HEAD "4 a NONE EVENT\n4 b NONE EVENT\n", "one id");
	check_refused(TARE_SCHEMA_HEAD "4 a NONE EVENT\n5 a NONE EVENT\n", "one name");
	check_refused(TARE_SCHEMA_HEAD "4 a TEXT EVENT\n", "length of a tail");
	check_refused(TARE_SCHEMA_HEAD "4 a TEXT EVENT n:u64:LENGTH\n", "length of a tail");
	check_refused(TARE_SCHEMA_HEAD "61 x NONE EVENT\n", "part of the format");
	check_refused(TARE_SCHEMA_HEAD "4 lane NONE EVENT\n", "part of the format");
	tare_str_add(&many, TARE_SCHEMA_HEAD "4 event NONE EVENT");
	for (int i = 0; i < 130; i++)
		tare_str_addf(&many, " f%d:u64:NUMBER", i);
	tare_str_add(&many, "\n");
	check_refused(many.data, "too many fields");
	tare_str_free(&many);
}

/* Whatever a damaged schema says, it is refused or reads. */
TEST(damaged_schemas_never_crash)
{
	const char *path = make_path(make_dir(), "2-0.events");
	char *text = newer();
	size_t size = strlen(text);
	int refused = 0;

	make_log_init(&m, 1, 0);
	make_log_every_kind(&m);
	write_other(text, path);
	srand(1);
	for (int i = 0; i < 2000; i++) {
		char *damaged = strdup(text);
		struct tare_log_record rec;
		struct tare_err err = { 0 };
		struct tare_log *log;

		CHECK(damaged);
		for (int k = rand() % 3; k >= 0; k--)
			damaged[(size_t)rand() % size] = "0123456789:u \nabcTEXT"[rand() % 21];
		make_log_write_schema(&other, path, damaged);
		if (tare_log_open(&log, path, &err)) {
			CHECK_HAS(err.text, "schema");
			refused++;
		} else {
			while (tare_log_next(log, &rec) != TARE_LOG_END)
				;
			tare_log_close(log);
		}
		free(damaged);
	}
	CHECK(refused > 100);
	free(text);
}

/* The text does not fit its sum, or is not there. */
TEST(a_schema_that_is_lost)
{
	const char *path = make_path(make_dir(), "2-0.events");
	struct tare_err err = { 0 };
	struct tare_log *log;
	char *text = newer();

	make_log_init(&m, 1, 0);
	make_log_program(&m);
	write_other(text, path);
	text[strlen(text) / 2] ^= 1;
	other.header.schema = 77;
	make_log_write_schema(&other, path, text);
	CHECK_INT(tare_log_open(&log, path, &err), TARE_E_FORMAT);
	CHECK_HAS(err.text, "open it with Tare 9.8.7");
	make_log_free(&m);
	make_log_init(&m, 1, 0); /* the same of a log of this version: its sum was damaged */
	make_log_program(&m);
	strcpy(m.header.tool, TARE_VERSION);
	m.header.schema = 77;
	make_log_write(&m, path, SIZE_MAX);
	log = open_ok(path);
	CHECK(tare_log_info(log)->is_header_damaged);
	tare_log_close(log);
	free(text);
}

/* Of a ring without its file the schema is known by its sum only. Its header may be anything. */
TEST(a_ring_alone)
{
	const char *path = make_path(make_dir(), "3-0.ring");
	struct tare_err err = { 0 };
	struct tare_log_record rec;
	struct tare_log *log;

	make_log_init(&m, 3, 0);
	make_log_program(&m);
	m.header.header_bytes = TARE_LOG_BEGIN;
	make_log_write_ring(&m, path, 0, true);
	log = open_ok(path);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_INT(tare_log_next(log, &rec), TARE_LOG_RECORD);
	CHECK_STR(rec.info->name, "string");
	tare_log_close(log);
	strcpy(m.header.tool, "9.8.7");
	m.header.schema = 77;
	for (uint32_t begin = 0; begin < 2000; begin += 500) {
		m.header.header_bytes = begin;
		make_log_write_ring(&m, path, 0, true);
		CHECK_INT(tare_log_open(&log, path, &err), TARE_E_FORMAT);
		CHECK_HAS(err.text, "open it with Tare 9.8.7");
	}
}

/* What a lane of another version's ring lost is told as its own records are. */
TEST(a_ring_of_a_newer_version)
{
	const char *path = make_path(make_dir(), "2-0.events"), *ring = make_path(make_dir(), "2-0.ring");
	struct tare_log_record rec;
	char *text = newer();
	struct tare_log *log;
	int at, fd, n = 0;

	make_log_init(&m, 2, 0);
	make_log_program(&m);
	write_other(text, path);
	other.header.schema = tare_schema_sum(text, strlen(text));
	make_log_write_ring(&other, ring, 0, false);
	fd = open(ring, O_WRONLY);
	at = TARE_RING_HEADER_BYTES + (int)offsetof(struct tare_lane, lost);
	CHECK(pwrite(fd, &(uint64_t){ 12 }, 8, at) == 8);
	close(fd);
	CHECK(truncate(path, (off_t)(TARE_HEADER_BYTES + (strlen(text) + 16) / 16 * 16)) == 0);
	log = open_ok(path);
	while (tare_log_next(log, &rec) == TARE_LOG_RECORD)
		n += rec.info->kind == TARE_KIND_EVENT;
	CHECK_INT(n, 3);
	CHECK_INT(tare_log_counts(log)->lost, 12);
	CHECK_INT(tare_log_counts(log)->gaps, 0);
	tare_log_close(log);
	free(text);
}

static void check_id(const struct tare_schema *schema, uint16_t kind, int id)
{
	const struct tare_schema_kind *found = tare_schema_kind_of(schema, tare_decode_kind(kind));

	CHECK(found != NULL);
	CHECK_INT(found->said.kind, id);
}

TEST(kinds_that_had_another_name_are_read)
{
	struct tare_schema *schema = parse_ok(TARE_SCHEMA_HEAD "700 probe NONE EVENT at:u64:ADDRESS role:u16:WORD(probe)\n"
	                                                       "701 sweep NONE EVENT objects:u64:COUNT\n"
	                                                       "702 aside NONE EVENT bytes:i64:AMOUNT\n");

	check_id(schema, TARE_KIND_SCANNED, 700);
	check_id(schema, TARE_KIND_SCAN, 701);
	check_id(schema, TARE_KIND_UNCOUNTED, 702);
	tare_schema_free(schema);
}
