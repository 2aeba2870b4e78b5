/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of memory snapshots of PyTorch: operations of pickle, good and malformed. */
#include "snapshot_reading.h"

#include <stdlib.h>

/* ---- operations ---- */

TEST(snapshot_runs_nothing)
{
	static const struct {
		unsigned char op;
		const char *name;
	} refused[] = {
#define X(OP, NAME, WHAT) { OP, NAME },
#include "snapshot/op.def"
#undef X
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		char file[] = "\x80\x04(]Va\nVb\n?os\nsystem\n.";

		*strchr(file, '?') = (char)refused[i].op;
		check_fails(file, sizeof(file) - 1, TARE_E_DENIED, refused[i].name);
	}
	CHECK_FAILS("\x80\x02"
	            "cos\nsystem\n(Vrm\ntR.",
	            DENIED, "GLOBAL of os.system would import a module");
	CHECK_FAILS("\x80\x04Vos\nVsystem\n\x93.", DENIED, "STACK_GLOBAL of os.system");
	CHECK_FAILS("\x80\x04\xff.", FORMAT, "0xff is no operation");
}

TEST(snapshot_malformed_operations_are_errors)
{
	CHECK_FAILS("", EMPTY, "empty");
	CHECK_FAILS("\x80", TRUNCATED, "ends in the middle");
	CHECK_FAILS("\x80\x06.", NEWER, "protocol 6");
	CHECK_FAILS("\x80\x04.", CORRUPT, "a value is missing");
	CHECK_FAILS("\x80\x04(.", CORRUPT, "a value is missing");
	CHECK_FAILS("\x80\x04N0"
	            "0.",
	            CORRUPT, "a value is missing");
	CHECK_FAILS("\x80\x04"
	            "1.",
	            CORRUPT, "an end of items has no begin");
	CHECK_FAILS("\x80\x04"
	            "e.",
	            CORRUPT, "an end of items has no begin");
	CHECK_FAILS("\x80\x04"
	            "(e.",
	            CORRUPT, "items belong to nothing");
	CHECK_FAILS("\x80\x04N(Ne.", CORRUPT, "no list");
	CHECK_FAILS("\x80\x04}(Ne.", CORRUPT, "no list");
	CHECK_FAILS("\x80\x04](NNu.", CORRUPT, "no dict");
	CHECK_FAILS("\x80\x04}(Nu.", CORRUPT, "a key has no value");
	CHECK_FAILS("\x80\x04(Nd.", CORRUPT, "a key has no value");
	CHECK_FAILS("\x80\x04](a.", CORRUPT, "a value is missing");
	CHECK_FAILS("\x80\x04}N(s.", CORRUPT, "a value is missing");
	CHECK_FAILS("\x80\x04N\x86.", CORRUPT, "a value is missing");
	CHECK_FAILS("\x80\x04\x94.", CORRUPT, "there is nothing to remember");
	CHECK_FAILS("\x80\x04(\x94.", CORRUPT, "there is nothing to remember");
	CHECK_FAILS("\x80\x04]h\x00.", CORRUPT, "was never remembered");
	CHECK_FAILS("\x80\x04]q\x01.", CORRUPT, "only 0 came before");
	CHECK_FAILS("(p0\n.", CORRUPT, "there is nothing to remember");
	CHECK_FAILS("Np\n.", CORRUPT, "has no number");
	CHECK_FAILS("Np-1\n.", CORRUPT, "has no number");
	CHECK_FAILS("Np99999999999999999999\n.", CORRUPT, "has no number");
	CHECK_FAILS("I12", TRUNCATED, "ends in the middle");
	CHECK_FAILS("Iabc\n.", CORRUPT, "'abc' is no number");
	CHECK_FAILS("\x80\x04"
	            "F1.5.5\n.",
	            CORRUPT, "is no number");
	CHECK_FAILS("\x80\x04K\x01.", FORMAT, "no memory snapshot");
	CHECK_FAILS("PK\x03\x04", FORMAT, "zip");
	CHECK_FAILS("{\"segments\": []}", FORMAT, "no pickle");
}

TEST(snapshot_lengths_beyond_the_file_are_errors)
{
	CHECK_FAILS("\x80\x04\x8c\xff"
	            "ab",
	            TRUNCATED, "ends in the middle");
	CHECK_FAILS("\x80\x04X\xff\xff\xff\xff"
	            "ab",
	            TRUNCATED, "ends in the middle");
	CHECK_FAILS("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
	            "ab",
	            TRUNCATED, "ends in the middle");
	CHECK_FAILS("\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f"
	            "ab",
	            TRUNCATED, "ends in the middle");
	CHECK_FAILS("\x80\x04\x8b\xff\xff\xff\x7f"
	            "ab",
	            TRUNCATED, "ends in the middle");
	CHECK_FAILS("\x80\x04\x8a\x05"
	            "ab",
	            TRUNCATED, "ends in the middle");
	CHECK_FAILS("\x80\x04G\x00\x01", TRUNCATED, "ends in the middle");
	/* What a frame says of its length is not believed. */
	CHECK_TOLD("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff" SEGMENTS(""), "");
}

/* Protocols 0 to 5 differ in operations only; whatever is around the list of a device is looked through. */
TEST(snapshot_numbers_of_all_kinds)
{
#define NUMBERS(ADDR, SIZE) TRACE("}(Vaction\nValloc\nVaddr\n" ADDR "Vsize\n" SIZE "u")
	CHECK_TOLD(NUMBERS("K\x05", "M\x00\x02"), "event 0 action 0 5+512 stream 0 time 0\n");
	CHECK_TOLD(NUMBERS("J\xff\xff\xff\x7f", "I7\n"), "event 0 action 0 2147483647+7 stream 0 time 0\n");
	CHECK_TOLD(NUMBERS("J\xff\xff\xff\xff", "L7L\n"), "event 0 action 0 18446744073709551615+7 stream 0 time 0\n");
	CHECK_TOLD(NUMBERS("\x8a\x00", "\x8a\x02\x00\x02"), "event 0 action 0 0+512 stream 0 time 0\n");
	CHECK_TOLD(NUMBERS("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80", "\x8b\x01\x00\x00\x00\x07"),
	           "event 0 action 0 9223372036854775808+7 stream 0 time 0\n");
	CHECK_TOLD(NUMBERS("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00", "I7\n"),
	           "event 0 action 0 9223372036854775808+7 stream 0 time 0\n");
	CHECK_TOLD(NUMBERS("I9223372036854775808\n", "I7\n"), "event 0 action 0 9223372036854775808+7 stream 0 time 0\n");
	CHECK_FAILS(NUMBERS("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01", "I7\n"), CORRUPT,
	            "'addr' of the dict that ends here is no whole number of 64 bits");
	CHECK_FAILS(NUMBERS("I99999999999999999999999\n", "I7\n"), CORRUPT, "'addr' of");
	CHECK_FAILS(NUMBERS("I5\n", "I-5\n"), CORRUPT, "'size' of the dict that ends here is -5 bytes");
	CHECK_FAILS(NUMBERS("I5\n", "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00"), CORRUPT,
	            "is 9223372036854775808 bytes");
	CHECK_FAILS(NUMBERS("I5\n", "I18446744073709551615\n"), CORRUPT, "is 18446744073709551615 bytes");
	CHECK_FAILS(NUMBERS("I5\n", "\x88"), CORRUPT, "'size' of the dict that ends here is no whole number");
	CHECK_FAILS(NUMBERS("I5\n", "I01\n"), CORRUPT, "'size' of the dict that ends here is no whole number");
	CHECK_FAILS(NUMBERS("I5\n", "F512.0\n"), CORRUPT, "'size' of the dict that ends here is no whole number");
	CHECK_FAILS(NUMBERS("V5\n", "I7\n"), CORRUPT, "'addr' of the dict that ends here is no whole number");
	CHECK_FAILS(NUMBERS("]", "I7\n"), CORRUPT, "'addr' of the dict that ends here is no whole number");
}

TEST(snapshot_texts_may_have_any_bytes)
{
#define TEXT(BYTES) TRACE(EVENT("Vuser_metadata\n" BYTES))
#define SAID        "event 0 action 0 4096+512 stream 0 time 0 metadata "
	CHECK_TOLD(TEXT("Vab\\u00e9\\U0001f600\n"), SAID "ab\xc3\xa9\xf0\x9f\x98\x80\n");
	CHECK_TOLD(TEXT("V\\u12\\uzzzz\\\n"), SAID "\\u12\\uzzzz\\\n"); /* no escapes */
	CHECK_TOLD(TEXT("V\\u-001\\u 123\\u0x12\n"), SAID "\\u-001\\u 123\\u0x12\n");
	CHECK_TOLD(TEXT("V\\Uffffffff\n"), SAID "\xef\xbf\xbd\n"); /* no character */
	CHECK_TOLD(TEXT("S'a\\x41\\n\\'b'\n"), SAID "aA\n'b\n");
	CHECK_TOLD(TEXT("\x8c\x03"
	                "a\xff\xfe"),
	           SAID "a\xff\xfe\n");
	CHECK_TOLD(TEXT("\x8c\x03\xed\xa0\x80"), SAID "\xed\xa0\x80\n");
	CHECK_TOLD(TEXT("X\x02\x00\x00\x00"
	                "ab"),
	           SAID "ab\n");
	CHECK_TOLD(TEXT("\x8d\x02\x00\x00\x00\x00\x00\x00\x00"
	                "ab"),
	           SAID "ab\n");
	CHECK_TOLD(TEXT("U\x02"
	                "ab"),
	           SAID "ab\n");
}

/* ---- the memo ---- */

TEST(snapshot_what_is_remembered_is_fetched)
{
	/* The list of frames of one event is that of the next, also where it has its place not yet. */
	CHECK_TOLD(TRACE(EVENT("Vframes\n" STACK "\x94") EVENT("Vframes\nh\x00")),
	           "event 0 action 0 4096+512 stream 0 time 0 a.py:3:f\n"
	           "event 0 action 0 4096+512 stream 0 time 0 a.py:3:f\n");
	CHECK_TOLD(TRACE(EVENT("Vother\n" STACK "\x94Vframes\nh\x00")),
	           "event 0 action 0 4096+512 stream 0 time 0 a.py:3:f\n");
	/* A frame, and a list that is remembered when it is whole, as PyTorch's own pickler does. */
	CHECK_TOLD(TRACE(EVENT("Vframes\n](}(Vfilename\nVa.py\nVline\nI3\nuq\x00h\x00"
	                       "eq\x01") EVENT("Vframes\nh\x01")),
	           "event 0 action 0 4096+512 stream 0 time 0 a.py:3: a.py:3:\n"
	           "event 0 action 0 4096+512 stream 0 time 0 a.py:3: a.py:3:\n");
	/* Each number is what was remembered last. */
	CHECK_TOLD(TRACE(EVENT("Vx\np0\np1\n0Va\np0\n0Vuser_metadata\ng0\n")),
	           "event 0 action 0 4096+512 stream 0 time 0 metadata a\n");
}

/* Most frames are fetched, one right after the other, and become a stack at once. */
TEST(snapshot_a_stack_is_fetched_frame_by_frame)
{
#define FRAME(LINE) "}(Vfilename\nVa.py\nVline\nI" LINE "\nu\x94"
#define LONG(NR)    "j" NR "\0\0\0"
	CHECK_TOLD(TRACE(EVENT("Vframes\n](" FRAME("3") FRAME("4") FRAME("5") "e")
	                     EVENT("Vframes\n](" LONG("\2") LONG("\0") LONG("\0") "h\1" LONG("\1") "e")),
	           "event 0 action 0 4096+512 stream 0 time 0 a.py:3: a.py:4: a.py:5:\n"
	           "event 0 action 0 4096+512 stream 0 time 0 a.py:5: a.py:3: a.py:3: a.py:4: a.py:4:\n");
	/* Some at once, some alone; what is no frame is not of the stack. */
	CHECK_TOLD(TRACE(EVENT("Vframes\n](" FRAME("3") FRAME("4") "e(" LONG("\1") LONG("\0") "eh\1a(Nh\0Ne")),
	           "event 0 action 0 4096+512 stream 0 time 0 a.py:3: a.py:4: a.py:4: a.py:3: a.py:4: a.py:3:\n");
	CHECK_FAILS("\x80\x04N\x94](" LONG("\0") LONG("\0") LONG("\5") "e.", CORRUPT,
	            "byte 16: number 5 is fetched, but was never remembered");
	CHECK_FAILS("\x80\x04N\x94](" LONG("\0") "j\0\0\0", TRUNCATED, "");
}

TEST(snapshot_what_cannot_be_fetched_is_an_error)
{
	CHECK_FAILS("\x80\x04]\x94h\x00"
	            "a.",
	            CORRUPT, "added to a list that was fetched before");
	CHECK_FAILS("\x80\x04}\x94Va\nh\x00s.", CORRUPT, "no circles");
	CHECK_FAILS(TRACE("}\x94(Vaction\nValloc\nVaddr\nI1\nVsize\nI1\nuh\x00"), CORRUPT, "has its place already");
	/* A list that is gone; another one has its place among those that are open. */
	CHECK_FAILS("\x80\x04]\x94"
	            "0]h\x00.",
	            CORRUPT, "not complete, or has its place already");
	/* A list of two names has the second. */
	CHECK_FAILS("\x80\x04]\x94\x94h\x00.", CORRUPT, "not complete");
}

/* Fetching one of many open lists takes no longer than fetching one of few. */
TEST(snapshot_open_lists_are_fetched_at_once)
{
	struct tare_str file = { 0 };
	struct reading r;

	tare_str_add(&file, "(");
	for (int i = 0; i < 60000; i++)
		tare_str_add(&file, "]");
	for (int i = 0; i < 200000; i++)
		tare_str_addf(&file, "]p%d\ng%d\n00", i, i);
	tare_str_add(&file, ".");
	read_bytes(&r, file.data, file.len);
	CHECK_INT(r.rc, 0);
	reading_free(&r);
	tare_str_free(&file);
}

/* Lists of frames that wait for one place: of a dict, of a list, of a tuple. */
TEST(snapshot_several_stacks_in_one_place)
{
#define OTHER "](}(Vfilename\nVb.py\nVline\nI4\nu}(Vfilename\nVc.py\nVline\nI5\nue"
#define LINES "event 0 action 0 4096+512 stream 0 time 0 a.py:3:f\n"
	CHECK_TOLD(TRACE(EVENT("Vcpp_frames\n" OTHER "Vframes\n" STACK)), LINES);
	CHECK_TOLD(TRACE(EVENT("Vframes\n" STACK "Vcpp_frames\n" OTHER)), LINES);
	CHECK_TOLD(TRACE(EVENT("Vall\n](" OTHER OTHER "eVframes\n" STACK)), LINES);
	CHECK_TOLD(TRACE(EVENT("Vall\n" OTHER OTHER OTHER "\x87Vframes\n" STACK)), LINES);
	CHECK_TOLD(TRACE(EVENT("Vall\n](" OTHER "\x94" STACK "\x94"
	                       "eVframes\nh\x01")),
	           LINES);
}

/* ---- limits ---- */

static void check_many(const char *first, const char *item, int count, const char *says)
{
	struct tare_str file = { 0 };

	tare_str_add(&file, first);
	for (int i = 0; i < count; i++)
		tare_str_add(&file, item);
	check_fails(file.data, file.len, TARE_E_LIMIT, says);
	tare_str_free(&file);
}

TEST(snapshot_hostile_files_reach_a_limit)
{
	check_many("]", "]", 70000, "lists and dicts are not complete");
	check_many("(", "(", 300, "nested more than");
	check_many("(", "N", 1100000, "values wait");
	check_many("}", "I1\nI2\ns", 600000, "dicts that are not complete have more than");
	check_many("]", "}(Vsize\nI1\nVstate\nVinactive\nua", 1100000, "a segment has more than");
	check_many("(V", "xxxxxxxxxxxxxxxx", 10000, "a line does not end");
}

TEST(snapshot_a_text_that_is_too_long_is_left_out)
{
	struct tare_str file = { 0 };
	struct reading r;

	tare_str_add(&file, "}(Vsegments\n]X");
	tare_str_add_n(&file, "\x00\x00\x04\x00", 4);
	for (int i = 0; i < 1 << 14; i++)
		tare_str_add(&file, "xxxxxxxxxxxxxxxx");
	tare_str_add(&file, "Nu.");
	read_bytes(&r, file.data, file.len);
	CHECK_INT(r.rc, 0);
	CHECK_INT(tare_snapshot_facts(r.s)->lost_texts, 1);
	reading_free(&r);
	tare_str_free(&file);
}

TEST(snapshot_devices_are_counted)
{
	struct tare_str file = { 0 };

	tare_str_add(&file, "}(Vdevice_traces\n](");
	for (int i = 0; i < 129; i++)
		tare_str_add(&file, "](" EVENT("") "e");
	tare_str_add(&file, "eu.");
	check_fails(file.data, file.len, TARE_E_LIMIT, "traces of more than 128 devices");
	tare_str_free(&file);
}

/* ---- parts of files ---- */

#define WHOLE                                                                                                          \
	"\x80\x04}(Vsegments\n](" SEGMENT("Vsegment_pool_id\nI4\nI0\n\x86",                                                \
	                                  BLOCK("Vframes\n" STACK "\x94") BLOCK(                                           \
										  "Vframes\nh\x00")) "eVdevice_traces\n](](" EVENT("Vframes\n" STACK "\x94")   \
		EVENT(                                                                                                         \
			"Vtime_us\n\x8a\x03"                                                                                       \
			"abc") "ee"                                                                                                \
				   "Vallocator_settings\n}(Vmax_split_size\nJ\x01\x02\x03\x04Vroundup_power2_divisions\n}V1\nI4\nsuu."

TEST(snapshot_every_part_of_a_file_is_an_error)
{
	static const char file[] = WHOLE;

	for (size_t size = 0; size < sizeof(file) - 1; size++) {
		char *part = malloc(size + 1); /* so that a read beyond it is found */
		struct reading r;

		memcpy(part, file, size);
		read_bytes(&r, part, size);
		CHECK(r.rc < 0);
		reading_free(&r);
		free(part);
	}
}

struct piecewise {
	const char *at, *end;
};

static int64_t read_one(void *arg, void *bytes, size_t size)
{
	struct piecewise *p = arg;

	if (p->at == p->end || !size)
		return 0;
	*(char *)bytes = *p->at++;
	return 1;
}

TEST(snapshot_a_file_may_come_byte_by_byte)
{
	static const char file[] = WHOLE;
	struct piecewise pieces = { file, file + sizeof(file) - 1 };
	struct tare_snapshot_source source = { .arg = &pieces, .read = read_one };
	struct reading whole, r = { .s = tare_snapshot_new() };
	struct tare_snapshot_sink sink = reading_sink(&r);

	READ(&whole, WHOLE);
	CHECK_STR(whole.err.text, "");
	CHECK_INT(tare_snapshot_read_from(r.s, &source, &sink, &r.err), 0);
	CHECK_STR(tare_str_text(&r.told), tare_str_text(&whole.told));
	CHECK(strstr(tare_str_text(&r.told), "a.py:3:f") != NULL);
	reading_free(&r);
	reading_free(&whole);
}
