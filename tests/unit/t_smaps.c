/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "witness/smaps.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8 };

struct seen {
	struct tare_smaps_mapping items[MOST];
	char names[MOST][64];
	int count;
};

static void see(void *arg, const struct tare_smaps_mapping *m)
{
	struct seen *s = arg;

	CHECK(s->count < MOST);
	s->items[s->count] = *m;
	snprintf(s->names[s->count], sizeof(s->names[0]), "%s", m->name);
	s->count++;
}

static int parse(const char *text, struct seen *s)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	int rc;

	CHECK(file);
	*s = (struct seen){ 0 };
	rc = tare_smaps_parse(file, see, s);
	fclose(file);
	return rc;
}

TEST(a_mapping_has_its_line_and_its_values)
{
	struct seen s;

	CHECK_INT(parse("7f00-7f02 rw-p 00001000 fe:00 247134      /a b/libc.so.6 (deleted)\n"
	                "Size:   8 kB\nRss:   7 kB\nPss:   3 kB\nSwap: 4 kB\nSwapPss: 2 kB\n"
	                "THPeligible:    1\nVmFlags: rd wr pf \n"
	                "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\nSize: 4 kB\n"
	                "b6cac000-b6cce000 rw-p 00000000 00:00 0 \nSwap: 4 kB\nVmFlags: io",
	                &s),
	          0);
	CHECK_INT(s.count, 3);
	CHECK_INT(s.items[0].start, 0x7f00);
	CHECK_INT(s.items[0].inode, 247134);
	CHECK_STR(s.items[0].perms, "rw-p");
	CHECK_STR(s.names[0], "/a b/libc.so.6 (deleted)");
	CHECK_INT(s.items[0].bytes[TARE_SMAPS_PSS], 3 << 10);
	CHECK_INT(tare_smaps_swap(&s.items[0]), 2 << 10);
	CHECK(s.items[0].is_pfn && !s.items[0].is_io);
	CHECK(!tare_smaps_tells(&s.items[0], TARE_SMAPS_PSS_ANON));
	CHECK_STR(s.names[1], "[vsyscall]");
	CHECK(s.items[1].end == 0xffffffffff601000);
	CHECK_STR(s.names[2], "");
	CHECK_INT(tare_smaps_swap(&s.items[2]), 4 << 10); /* before Linux 4.3 */
	CHECK(s.items[2].is_io && !s.items[2].is_pfn);
}

TEST(what_is_no_smaps_is_refused)
{
	struct seen s;

	CHECK_INT(parse("Rss: 8 kB\n", &s), -EINVAL);
	CHECK_INT(parse("<html>\n", &s), -EINVAL);
	CHECK_INT(parse("7f00-7f02 rw-p\nRss: 8 kB\n", &s), -EINVAL);
	CHECK_INT(parse("7f02-7f00 rw-p 00001000 fe:00 247134\n", &s), -EINVAL);
	CHECK_INT(s.count, 0);
	CHECK_INT(parse("\n", &s), -EINVAL);
}

TEST(values_that_cannot_be_are_nothing)
{
	struct seen s;

	CHECK_INT(parse("1-2 rw-p 0 0:0 0\nRss: 99999999999999999999999 kB\nPss: x\nNo colon\n:\n", &s), 0);
	CHECK_INT(s.items[0].bytes[TARE_SMAPS_RSS], 0);
	CHECK_INT(s.items[0].bytes[TARE_SMAPS_PSS], 0);
}

TEST(of_a_real_process)
{
	struct tare_smaps_mapping sum;
	struct seen s = { 0 };

	CHECK_INT(tare_smaps_rollup("", getpid(), &sum), 0);
	CHECK_STR(sum.name, "[rollup]");
	CHECK(sum.bytes[TARE_SMAPS_PSS] > 0 && sum.bytes[TARE_SMAPS_PSS] <= sum.bytes[TARE_SMAPS_RSS]);
	CHECK_INT(tare_smaps_read("/nowhere", 1, see, &s), -ESRCH);
	CHECK_INT(tare_smaps_read("", 0x7ffffff0, see, &s), -ESRCH);
}
