/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static void write_sample(struct tare_json *j)
{
	tare_json_open(j, NULL, '{');
	tare_json_u64(j, "tare", 1);
	tare_json_open(j, "list", '[');
	tare_json_i64(j, NULL, -5);
	tare_json_u64(j, NULL, UINT64_MAX);
	tare_json_number(j, NULL, .5);
	tare_json_number(j, NULL, NAN);
	tare_json_close(j);
	tare_json_open(j, "empty", '{');
	tare_json_close(j);
	tare_json_str(j, "s", "a\"b\\\n\x01ü");
	tare_json_str(j, "none", NULL);
	tare_json_bool(j, "yes", true);
	tare_json_close(j);
}

TEST(writes_compact)
{
	struct tare_str s = { 0 };
	struct tare_json j = { .out = &s };

	write_sample(&j);
	CHECK_STR(tare_str_text(&s), "{\"tare\": 1, \"list\": [-5, 18446744073709551615, 0.5, null], \"empty\": {}, "
	                             "\"s\": \"a\\\"b\\\\\\n\\u0001ü\", \"none\": null, \"yes\": true}\n");
	tare_str_free(&s);
}

TEST(writes_pretty)
{
	struct tare_str s = { 0 };
	struct tare_json j = { .out = &s, .is_pretty = true };

	tare_json_open(&j, NULL, '{');
	tare_json_open(&j, "a", '[');
	tare_json_u64(&j, NULL, 1);
	tare_json_open(&j, NULL, '[');
	tare_json_close(&j);
	tare_json_close(&j);
	tare_json_close(&j);
	CHECK_STR(tare_str_text(&s), "{\n  \"a\": [\n    1,\n    []\n  ]\n}\n");
	tare_str_free(&s);
}

TEST(bad_utf8_is_replaced)
{
	struct tare_str s = { 0 };
	struct tare_json j = { .out = &s };

	tare_json_str(&j, NULL, "\xff|\xc0\x80|\xed\xa0\x80|\xe2\x82|\xf0\x9f\x98\x80");
	CHECK_STR(tare_str_text(&s), "\"\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|"
	                             "\xef\xbf\xbd\xef\xbf\xbd|\xf0\x9f\x98\x80\"");
	tare_str_free(&s);
}

static struct tare_arena arena;
static struct tare_err err;

static const struct tare_json_value *parse(const char *text)
{
	const struct tare_json_value *v = NULL;

	err.code = 0;
	tare_json_parse(&arena, text, strlen(text), &v, &err);
	return v;
}

TEST(reads_what_it_writes)
{
	struct tare_str s = { 0 };
	struct tare_json j = { .out = &s, .is_pretty = true };
	const struct tare_json_value *v;
	uint64_t u = 0;
	int64_t i = 0;

	write_sample(&j);
	v = parse(tare_str_text(&s));
	CHECK(v);
	CHECK(tare_json_get_u64(v, "tare", &u) && u == 1);
	CHECK(tare_json_get_i64(v, "list.0", &i) && i == -5);
	CHECK(tare_json_get_u64(v, "list.1", &u) && u == UINT64_MAX);
	CHECK(!tare_json_get_i64(v, "list.1", &i));
	CHECK(!tare_json_get_u64(v, "list.0", &u));
	CHECK(!tare_json_get_u64(v, "list.2", &u));
	CHECK(tare_json_get(v, "list.2")->number == .5);
	CHECK(!tare_json_get(v, "list.4") && !tare_json_get(v, "list.x"));
	CHECK_STR(tare_json_get_str(v, "s"), "a\"b\\\n\x01ü");
	CHECK(!tare_json_get_str(v, "none") && !tare_json_get_str(v, "tare.deeper"));
	CHECK(tare_json_get_bool(v, "yes", false) && tare_json_get_bool(v, "nope", true));
	CHECK(!tare_json_get(NULL, "a"));
	tare_arena_free(&arena);
	tare_str_free(&s);
}

TEST(decodes_escapes)
{
	CHECK_STR(parse("\"\\u00fc\\ud83d\\ude00\\ud83dx\\/\"")->text, "ü\xf0\x9f\x98\x80\xef\xbf\xbdx/");
	CHECK_INT(parse("\"a\\u0000b\"")->text_len, 3);
	CHECK(parse("1e400")->type == TARE_JSON_NUMBER);
	CHECK(!parse("99999999999999999999")->is_integer);
	CHECK(parse(" [ ] ")->count == 0);
	tare_arena_free(&arena);
}

TEST(garbage_is_an_error_with_a_place)
{
	static const char *const bad[] = {
		"",         " ",          "{",     "[",   "[1",   "[1,",    "[1,]",    "{\"a\"}",
		"{\"a\":}", "{\"a\":1,}", "{a:1}", "\"",  "\"\\", "\"\\\"", "\"\\x\"", "\"\\u12\"",
		"\"\\u12",  "\"\n\"",     "tru",   "nul", "-",    "01",     "1.",      ".5",
		"1e",       "1e+",        "+1",    "1 2", "[]]",  "'a'",    "\x01",    "{\"a\":1 \"b\":2}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!parse(bad[i]));
		CHECK_INT(err.code, TARE_E_FORMAT);
	}
	CHECK(!parse("{\n  \"a\": x\n}"));
	CHECK_STR(err.text, "line 2, column 8: a value was expected");
	tare_arena_free(&arena);
}

TEST(depth_is_bounded)
{
	enum { DEEP = 100000 };
	char *text = malloc(DEEP + 1);

	memset(text, '[', DEEP);
	text[DEEP] = '\0';
	CHECK(!parse(text));
	CHECK_HAS(err.text, "nested too deeply");
	free(text);
	tare_arena_free(&arena);
}

/* Every prefix of a good text, and every single byte changed, must be survived. */
TEST(damaged_texts_never_crash)
{
	static const char good[] = "{\"a\": [1, -2.5e3, \"x\\u00e4\\ud83d\\ude00\", true, null], \"b\": {}}";
	char text[sizeof(good)];
	const struct tare_json_value *v;

	for (size_t n = 0; n < sizeof(good) - 1; n++) {
		char *exact = malloc(n ? n : 1);

		memcpy(exact, good, n);
		CHECK(tare_json_parse(&arena, exact, n, &v, &err) == TARE_E_FORMAT);
		free(exact);
	}
	for (size_t n = 0; n < sizeof(good) - 1; n++) {
		for (int c = 0; c < 256; c++) {
			memcpy(text, good, sizeof(good));
			text[n] = (char)c;
			tare_json_parse(&arena, text, sizeof(good) - 1, &v, &err);
		}
		tare_arena_free(&arena);
	}
}
