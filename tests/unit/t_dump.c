/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "cmd/dump_print.h"
#include "make_log.h"
#include "test.h"

#include <stdlib.h>

static struct make_log m;

/* What `tare dump` prints of the log 431-0. */
static char *dump(bool json, bool offsets)
{
	struct tare_dump d = { .name = "431-0.events", .has_offsets = offsets };
	struct tare_log_record rec;
	struct tare_str out = { 0 };
	struct tare_emit e;
	enum tare_log_step step;
	struct tare_log *log;

	CHECK_INT(tare_log_open(&log, make_path(make_dir(), "431-0.events"), NULL), 0);
	d.e = &e;
	d.info = tare_log_info(log);
	tare_emit_begin(&e, json ? TARE_EMIT_JSON_LINES : TARE_EMIT_TEXT, &out);
	tare_dump_header(&d);
	while ((step = tare_log_next(log, &rec)) != TARE_LOG_END)
		(step == TARE_LOG_GAP ? tare_dump_gap : tare_dump_record)(&d, &rec);
	tare_dump_counts(&d, tare_log_counts(log));
	tare_emit_end(&e);
	tare_log_close(log);
	return tare_str_steal(&out);
}

static void write_log(void)
{
	make_log_write(&m, make_path(make_dir(), "431-0.events"), SIZE_MAX);
}

TEST(lines)
{
	char *text;

	make_log_init(&m, 431, 0);
	strcpy(m.header.tool, "0.1.0");
	MAKE_TEXT(&m, string, STRING, "esc\x1b[2J \"quoted\"", .id = 1);
	MAKE_TEXT(&m, peer, PEER, "", .device = -1, .used = TARE_NOT_KNOWN);
	MAKE(&m, lost, LOST, .records = 5);
	MAKE(&m, lost, LOST, .records = 3, .first = 7, .last = 9, .tid = 11, .reason = TARE_LOST_NO_LANE);
	MAKE_TEXT(&m, degraded, DEGRADED, "why", .remark = 0);
	memset(m.bytes + m.records[2].position, 0, m.records[2].size);
	write_log();
	text = dump(false, true);
	CHECK_STR(text, "# 431-0.events: program program, pid 431, generation 0, started by 1; on testhost, "
	                "clock monotonic-ns, format 0, Tare 0.1.0\n"
	                "# 224 bytes in the file\n"
	                "0 @512+48 1000000000 string id=1 bytes=16 \"esc\\u001b[2J \\\"quoted\\\"\"\n"
	                "48 @560+48 1000000001 peer device=-1 pid=0 used=not-known list=0 bytes=0 \"\"\n"
	                "96 @608+48 ! 48 bytes never written\n"
	                "144 @656+48 1000000003 lost records=3 first=7 last=9 tid=11 reason=no-lane\n"
	                "192 @704+32 1000000004 degraded remark=0 bytes=3 \"why\"\n"
	                "# 4 records, 1 place (48 bytes) without a record, 3 lost\n");
	free(text);
	make_log_free(&m);
}

/* Every field of record.def is in the output, in text and in JSON. */
TEST(every_field_is_printed)
{
	struct tare_arena arena = { 0 };
	char *text, *json, *line, *rest;
	int records = 0;

	make_log_init(&m, 431, 0);
	make_log_every_kind(&m);
	write_log();
	text = dump(false, false);
	json = dump(true, true);
	for (uint16_t kind = 0; kind < TARE_KIND_NR; kind++) {
		const struct tare_kind_info *info = tare_decode_kind(kind);

		for (int i = 0; info && i < info->field_nr; i++) {
			char want[64];

			snprintf(want, sizeof(want), " %s=", info->fields[i].name);
			CHECK_HAS(text, want);
		}
	}
	for (line = strtok_r(json, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const struct tare_json_value *v;
		const struct tare_kind_info *info;
		struct tare_err err = { 0 };

		if (tare_json_parse(&arena, line, strlen(line), &v, &err))
			test_fail(__FILE__, __LINE__, "%s: %s", err.text, line);
		CHECK_STR(tare_json_get_str(v, "log"), "431-0.events");
		if (!tare_json_get_str(v, "kind"))
			continue;
		records++;
		info = tare_decode_kind_named(tare_json_get_str(v, "kind"));
		CHECK(info);
		for (int i = 0; i < info->field_nr; i++)
			CHECK(tare_json_get(v, info->fields[i].name));
		CHECK((info->tail == TARE_TAIL_TEXT) == !!tare_json_get_str(v, "text"));
		CHECK((info->tail == TARE_TAIL_PCS) == !!tare_json_get(v, "pcs.2"));
	}
	CHECK_INT(records, m.record_nr);
	tare_arena_free(&arena);
	free(text);
	free(json);
	make_log_free(&m);
}

/* A kind that only a newer version knows: as the schema of the log says. */
TEST(unknown_kinds)
{
	struct tare_rec_string flux = { .head = { .kind = 900 }, .id = 7, .bytes = 4 };
	char *text;

	make_log_init(&m, 431, 0);
	make_log_add(&m, &flux, sizeof(flux), "flow", 4);
	make_log_write_schema(&m, make_path(make_dir(), "431-0.events"),
	                      "tare schema 1\n"
	                      "900 flux TEXT EVENT flow:u32:HANDLE bytes:u32:LENGTH\n");
	text = dump(false, false);
	CHECK_HAS(text, " flux kind=900 flow=0x7 bytes=4 \"flow\"\n");
	CHECK_HAS(text, "1 record, 1 of unknown kind");
	free(text);
	text = dump(true, false);
	CHECK_HAS(text, "\"kind\": \"flux\"");
	CHECK_HAS(text, "\"flow\": \"0x7\"");
	free(text);
	make_log_free(&m);
}

TEST(words_of_two_words_stay_one_field)
{
	char *text;

	make_log_init(&m, 431, 0);
	make_log_program(&m);
	write_log();
	text = dump(false, false);
	CHECK_HAS(text, " effect=new class=\"driver start\" device=-1 flags=weighed ");
	CHECK_HAS(text, " stack id=1 depth=2 0x401100 0x401200\n");
	CHECK_HAS(text, " handle=0x7f0000000000 ");
	free(text);
	make_log_free(&m);
}
