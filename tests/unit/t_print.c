/* SPDX-License-Identifier: Apache-2.0 */
#include "base/print.h"
#include "test.h"

#include <errno.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What arrives at the other end of a terminal, or of a pipe, when `text` is printed there. */
static const char *printed(bool is_terminal, const char *text)
{
	static char got[256];
	struct tare_str s = { 0 };
	int fds[2];
	FILE *out;
	ssize_t n;

	CHECK_INT(is_terminal ? openpty(&fds[0], &fds[1], NULL, NULL, NULL) : pipe(fds), 0);
	out = fdopen(fds[1], "w");
	tare_str_add(&s, text);
	CHECK_INT(tare_print(out, &s), 0);
	n = read(fds[0], got, sizeof(got) - 1);
	got[n > 0 ? n : 0] = '\0';
	fclose(out);
	close(fds[0]);
	tare_str_free(&s);
	return got;
}

TEST(nothing_that_steers_gets_through)
{
	CHECK_STR(printed(false, "a\033]0;x\a\033[2Jb\r\xc2\x9b"
	                         "c\xff\n\td"),
	          "a?]0;x??[2Jb??c?\n\td");
	CHECK_STR(printed(false, "\033[1mbold\033[0m"), "?[1mbold?[0m");
}

TEST(a_terminal_gets_tones_and_no_other_sequence)
{
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	CHECK_STR(printed(true, "\033[1ma\033[0m\033[2mb\033[33mc\033[0m"), "\033[1ma\033[0m\033[2mb\033[33mc\033[0m");
	CHECK_STR(printed(true, "\033[31ma\033[2Jb\033"), "?[31ma?[2Jb?");
	setenv("NO_COLOR", "1", 1);
	CHECK_STR(printed(true, "\033[1ma\033[0m"), "?[1ma?[0m");
}

TEST(a_full_disk_is_told)
{
	FILE *full = fopen("/dev/full", "w");
	struct tare_str s = { 0 };

	tare_str_add(&s, "x");
	CHECK_INT(tare_print(full, &s), -ENOSPC);
	tare_str_free(&s);
	fclose(full);
}
