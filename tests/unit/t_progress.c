/* SPDX-License-Identifier: Apache-2.0 */
/* The line that shows how far a command is, on a terminal of the test's own. */
#include "base/print.h"
#include "base/progress.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static int kept_stderr;

/* Its other end; standard error is the terminal. */
static int begin_terminal(int columns)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), end;
	struct winsize size = { .ws_row = 24, .ws_col = (unsigned short)columns };

	CHECK(fd >= 0);
	CHECK_INT(grantpt(fd), 0);
	CHECK_INT(unlockpt(fd), 0);
	end = open(ptsname(fd), O_RDWR | O_NOCTTY);
	CHECK(end >= 0);
	CHECK_INT(ioctl(end, TIOCSWINSZ, &size), 0);
	kept_stderr = dup(STDERR_FILENO);
	dup2(end, STDERR_FILENO);
	close(end);
	setenv("TERM", "xterm", 1);
	return fd;
}

static void end_terminal(int fd)
{
	dup2(kept_stderr, STDERR_FILENO);
	close(kept_stderr);
	close(fd);
}

/* What is written to one end of a terminal comes to the other a little later: waited for until nothing more comes. */
static size_t written(int fd, char *text, size_t size, bool is_expected)
{
	struct pollfd more = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	ssize_t n;

	while (len + 1 < size && poll(&more, 1, is_expected && !len ? 5000 : 50) > 0) {
		n = read(fd, text + len, size - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
	return len;
}

static void sleep_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static int64_t ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int count(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

TEST(a_bar_from_the_first_second_on)
{
	char text[65536];
	int fd = begin_terminal(60);
	int64_t begin, most;

	tare_progress_begin("reading");
	tare_progress_at(1, 10);
	CHECK_INT(written(fd, text, sizeof(text), false), 0);
	sleep_ms(800);
	begin = ms();
	for (int i = 0; i < 60; i++) {
		tare_progress_at(4, 10);
		sleep_ms(10);
	}
	most = 2 + (ms() - begin) / 100; /* ten times a second at most */
	written(fd, text, sizeof(text), true);
	CHECK(count(text, "tare: reading  [##") >= 1 && count(text, "tare: reading  [##") <= most);
	CHECK(strstr(text, "]  40 %"));
	CHECK(strcspn(strstr(text, "tare: reading"), "\r") < 60);
	tare_progress_at(2, 10); /* once more through the same */
	sleep_ms(150);
	written(fd, text, sizeof(text), true);
	CHECK(strstr(text, "\r\033[Ktare: reading (2)  ["));
	tare_say("a sentence");
	sleep_ms(150);
	written(fd, text, sizeof(text), true);
	CHECK(strstr(text, "\r\033[Ktare: a sentence\r\n"));
	tare_progress_begin("compacting"); /* the next part: at once, also where nobody says how far it is */
	sleep_ms(150);
	written(fd, text, sizeof(text), true);
	CHECK(strstr(text, "tare: compacting, "));
	tare_progress_end();
	written(fd, text, sizeof(text), true);
	CHECK_STR(strrchr(text, '\r'), "\r\033[K");
	tare_progress_at(9, 10);
	tare_progress_end();
	CHECK_INT(written(fd, text, sizeof(text), false), 0);
	end_terminal(fd);
}

/* The last line that was drawn, up to where it is drawn anew; NULL: none. */
static const char *last_line(char *text)
{
	char *line = NULL;

	for (char *at = text; (at = strstr(at, "tare:")); at++)
		line = at;
	if (line)
		line[strcspn(line, "\r")] = '\0';
	return line;
}

/* As wide as the screen, and 80 columns at most; what does not fit at all is not there. */
TEST(no_wider_than_the_screen)
{
	static const int widths[] = { 300, 80, 40, 20, 8 };
	int fd = begin_terminal(300);

	tare_progress_begin("reading");
	sleep_ms(1000);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		struct winsize size = { .ws_row = 24, .ws_col = (unsigned short)widths[i] };
		int most = widths[i] < 80 ? widths[i] : 80;
		char text[4096];
		const char *line;

		CHECK_INT(ioctl(STDERR_FILENO, TIOCSWINSZ, &size), 0);
		tare_progress_at(77, 100);
		sleep_ms(150);
		written(fd, text, sizeof(text), most > 20);
		sleep_ms(150);
		written(fd, text, sizeof(text), most > 20);
		line = last_line(text);
		CHECK(!line || (int)strlen(line) < most);
		CHECK((line != NULL) == (most > 20 || i == 3));
		CHECK(i > 1 || strlen(line) == 79);
	}
	tare_progress_end();
	end_terminal(fd);
}

/* Whatever the thread does at that moment: no lock is left closed in the child, which shows nothing, also where it begins anew. */
TEST(a_child_is_silent_and_does_not_wait)
{
	int fd = begin_terminal(80), status;

	setenv("TARE_TEST_PROGRESS_MS", "0", 1);
	for (int i = 0; i < 200; i++) {
		pid_t pid;

		tare_progress_begin("reading");
		pid = fork();
		if (!pid) {
			alarm(20);
			tare_progress_at(1, 2);
			tare_say("a sentence");
			tare_progress_begin("once more");
			_exit(tare_progress_is_on);
		}
		CHECK_INT(waitpid(pid, &status, 0), pid);
		CHECK_INT(status, 0);
		CHECK(tare_progress_is_on);
		tare_progress_end();
		tcflush(fd, TCIFLUSH);
	}
	unsetenv("TARE_TEST_PROGRESS_MS");
	end_terminal(fd);
}

TEST(nothing_where_there_is_no_terminal)
{
	int ends[2], kept = dup(STDERR_FILENO), fd;
	char text[16];

	CHECK_INT(pipe2(ends, O_NONBLOCK), 0);
	dup2(ends[1], STDERR_FILENO);
	tare_progress_begin("reading");
	CHECK(!tare_progress_is_on && !tare_progress_is_due());
	tare_progress_at(1, 2);
	tare_progress_end();
	dup2(kept, STDERR_FILENO);
	CHECK(read(ends[0], text, sizeof(text)) < 0);
	fd = begin_terminal(80);
	setenv("TERM", "dumb", 1);
	tare_progress_begin("reading");
	CHECK(!tare_progress_is_on);
	end_terminal(fd);
}
