/* SPDX-License-Identifier: Apache-2.0 */
/* How much may be written into logs under a cap. */
#include "session/roll.h"

#include "test.h"
#include "trace/format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MIB UINT64_C(1048576)

static char folder[] = "/tmp/tare-roll-XXXXXX";

static int make(const char *path, const struct tare_roll_wish *wish)
{
	(void)path;
	(void)wish;
	return 0;
}

/* Takes room and writes nothing. */
static void has_file(const char *name, uint64_t bytes)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	if (fallocate(fd, 0, 0, (off_t)bytes) != 0)
		SKIP("the file system cannot reserve so much");
	close(fd);
}

static uint64_t allowed(uint64_t cap, uint64_t written)
{
	struct tare_control control = { .log_written = written };

	tare_roll_free(tare_roll_new(folder, cap, &control, make));
	return control.log_limit - written;
}

static void remove_all(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	CHECK_INT(system(command), 0);
}

TEST(logs_may_have_what_is_missing_to_seven_eighths_of_the_cap)
{
	CHECK(mkdtemp(folder) != NULL);
	CHECK_INT(allowed(8 * MIB, 5000), 7 * MIB + 1);
	has_file("000001.segment", 2 * MIB);
	CHECK_INT(allowed(8 * MIB, 5000), 5 * MIB + 1);
	has_file("1-0.events", 5 * MIB);
	CHECK_INT(allowed(8 * MIB, 0), 1); /* 0 would be: any number */
	has_file("2-0.events", 5 * MIB);
	CHECK_INT(allowed(8 * MIB, 0), 1);
	remove_all();
}

TEST(logs_never_have_more_than_is_read_in_seconds)
{
	CHECK(mkdtemp(folder) != NULL);
	has_file("000001.segment", 100 * MIB);
	CHECK_INT(allowed(4096 * MIB, 0), 512 * MIB + 1);
	has_file("1-0.events.7", 500 * MIB);
	/* Blocks that say where its blocks are count, too. */
	CHECK(allowed(4096 * MIB, 0) <= 12 * MIB + 1 && allowed(4096 * MIB, 0) > 11 * MIB);
	has_file("1-0.events.8", 16 * MIB);
	CHECK_INT(allowed(4096 * MIB, 0), 1);
	remove_all();
}
