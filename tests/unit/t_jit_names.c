/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that were made at run time: /tmp/perf-PID.map, and how its names are shown. */
#include "ledger/frame.h"
#include "session/jit_names.h"
#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static const char *path_of_own(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	return path;
}

static void write_map(const char *text)
{
	FILE *file = fopen(path_of_own(), "w");

	CHECK(file != NULL);
	fputs(text, file);
	fclose(file);
}

static void check_name(const struct tare_jit_names *names, uint64_t address, const char *expected, uint64_t into)
{
	uint64_t offset = 0;

	CHECK_STR(tare_jit_names_find(names, address, &offset), expected);
	CHECK_INT(offset, into);
}

TEST(the_function_that_was_made_last_has_the_address)
{
	struct tare_jit_names *names;
	uint64_t offset;

	write_map("1000 100 JS:~a /x.js:1:1\n"
	          "2000 20 Builtin:Push\n"
	          "nonsense\n"
	          "9 \n"
	          "ffffffffffffffff 10 wraps\n"
	          "1080 40 JS:*b /x.js:2:1\n");
	names = tare_jit_names_open((uint32_t)getpid(), 0);
	unlink(path_of_own());
	CHECK(names != NULL);
	check_name(names, 0x1000, "JS:~a /x.js:1:1", 0);
	check_name(names, 0x1090, "JS:*b /x.js:2:1", 0x10);
	check_name(names, 0x10ff, "JS:~a /x.js:1:1", 0xff);
	check_name(names, 0x201f, "Builtin:Push", 0x1f);
	CHECK(!tare_jit_names_find(names, 0x2020, &offset));
	CHECK(!tare_jit_names_find(names, 0xfff, &offset));
	tare_jit_names_close(names);
}

/* Another process had this number; a link may lead anywhere; and there is mostly none. */
TEST(a_file_of_somebody_else_is_not_read)
{
	const struct timeval old[2] = { { 1000, 0 }, { 1000, 0 } };
	char link[80];

	CHECK(!tare_jit_names_open((uint32_t)getpid(), 0));
	write_map("1000 100 a\n");
	CHECK(utimes(path_of_own(), old) == 0);
	CHECK(!tare_jit_names_open((uint32_t)getpid(), 1));
	snprintf(link, sizeof(link), "%s.old", path_of_own());
	CHECK(rename(path_of_own(), link) == 0 && symlink(link, path_of_own()) == 0);
	CHECK(!tare_jit_names_open((uint32_t)getpid(), 0));
	unlink(path_of_own());
	unlink(link);
}

static void check_shown(const char *name, const char *expected)
{
	struct tare_str out = { 0 };

	tare_frame_add_jit(&out, name, false);
	CHECK_STR(tare_str_text(&out), expected);
	tare_str_free(&out);
}

TEST(names_are_shown_as_people_read_them)
{
	check_shown("JS:*grow /home/me/leak.js:3:15", "leak.js:3 in grow");
	check_shown("JS:~ file:///home/me/a b.mjs:30:1", "a b.mjs:30 in a function without a name");
	check_shown("LazyCompile:*grow leak.js:3", "leak.js:3 in grow");
	check_shown("JS:*push node:internal/hooks:3:1", "node:internal/hooks:3 in push");
	check_shown("py::grow:/home/me/leak.py", "leak.py in grow");
	check_shown("Builtin:ArrayPrototypePush", "Builtin:ArrayPrototypePush, made at run time");
	check_shown("JS:*", "JS:*, made at run time");
	check_shown("py::", "py::, made at run time");
}
