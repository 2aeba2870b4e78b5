/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a terminal into a screen of lines, draws what changed, reads keys, and turns it back. */
#include "base/screen.h"

#include "base/file.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Another page, no cursor, no wrapping at the right edge; and back, with the tones that may be on. */
#define BEGIN "\033[?1049h\033[?25l\033[?7l\033[2J"
#define END   "\033[0m\033[?7h\033[?25h\033[?1049l"

enum { COLUMNS_MOST = 1000, LINES_MOST = 500, ESCAPE_MS = 25 };

/* One, for signal handlers must find it. */
static struct {
	volatile sig_atomic_t is_on; /* the terminal is not as it was */
	volatile sig_atomic_t is_resized, signal;
	bool is_begun, is_exit_known, is_called;
	int in, out, own; /* own: to be closed; -1 */
	int calls;        /* an eventfd, which stays open: a thread may call at any time */
	struct termios before, during;
	size_t columns, lines;
	char **shown, **wanted;
	size_t line_nr;
} screen = { .in = -1, .out = -1, .own = -1, .calls = -1 };

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT },
				 crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* ---- on and off: only what may be called in a signal handler ---- */

static void turn_off(void)
{
	if (!screen.is_on)
		return;
	screen.is_on = 0;
	(void)!write(screen.out, END, sizeof(END) - 1);
	tcsetattr(screen.in, TCSADRAIN, &screen.before);
}

static void turn_on(void)
{
	tcsetattr(screen.in, TCSADRAIN, &screen.during);
	screen.is_on = 1;
	screen.is_resized = 1;
	(void)!write(screen.out, BEGIN, sizeof(BEGIN) - 1);
}

static void on_end(int signal)
{
	screen.signal = signal;
}

static void on_resize(int signal)
{
	(void)signal;
	screen.is_resized = 1;
}

/* The handler was set with SA_RESETHAND, so the raised signal ends the program as it would have without us. */
static void on_crash(int signal)
{
	turn_off();
	raise(signal);
}

/* Ctrl-Z: the shell gets its terminal, and when the program goes on it takes it again. */
static void on_stop(int signal)
{
	int before = errno;

	(void)signal;
	turn_off();
	kill(getpid(), SIGSTOP);
	if (screen.is_begun)
		turn_on();
	errno = before;
}

static void catch_signal(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

/* ---- begin and end ---- */

bool tare_screen_is_there(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static void read_size(void)
{
	struct winsize size = { 0 };

	if (ioctl(screen.out, TIOCGWINSZ, &size) != 0 || !size.ws_col || !size.ws_row)
		size = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	screen.columns = size.ws_col < COLUMNS_MOST ? size.ws_col : COLUMNS_MOST;
	screen.lines = size.ws_row < LINES_MOST ? size.ws_row : LINES_MOST;
}

static void forget_lines(char **lines)
{
	for (size_t i = 0; i < screen.line_nr; i++) {
		free(lines[i]);
		lines[i] = NULL;
	}
}

/* Of all lines nothing is shown. */
static void settle_size(void)
{
	forget_lines(screen.shown);
	forget_lines(screen.wanted);
	read_size();
	free(screen.shown);
	free(screen.wanted);
	screen.line_nr = screen.lines;
	screen.shown = tare_xcalloc(screen.line_nr, sizeof(*screen.shown));
	screen.wanted = tare_xcalloc(screen.line_nr, sizeof(*screen.wanted));
}

int tare_screen_open(struct tare_err *err)
{
	screen.out = STDOUT_FILENO;
	screen.in = STDIN_FILENO;
	if (!isatty(screen.in))
		screen.in = screen.own = open("/dev/tty", O_RDWR | O_CLOEXEC);
	if (screen.in < 0 || tcgetattr(screen.in, &screen.before) != 0)
		return tare_err_set_errno(err, errno, "the terminal");
	screen.during = screen.before;
	screen.during.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	screen.during.c_cc[VMIN] = 0;
	screen.during.c_cc[VTIME] = 0;
	screen.signal = 0;
	for (size_t i = 0; i < NR(ends); i++)
		catch_signal(ends[i], on_end, 0);
	for (size_t i = 0; i < NR(crashes); i++)
		catch_signal(crashes[i], on_crash, (int)(SA_RESETHAND | SA_NODEFER));
	catch_signal(SIGTSTP, on_stop, 0);
	catch_signal(SIGWINCH, on_resize, 0);
	signal(SIGPIPE, SIG_IGN);
	if (!screen.is_exit_known)
		atexit(turn_off);
	if (screen.calls < 0)
		screen.calls = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	screen.is_exit_known = screen.is_begun = true;
	turn_on();
	settle_size();
	screen.is_resized = 0;
	return 0;
}

void tare_screen_close(void)
{
	if (!screen.is_begun)
		return;
	screen.is_begun = false;
	turn_off();
	forget_lines(screen.shown);
	forget_lines(screen.wanted);
	free(screen.shown);
	free(screen.wanted);
	screen.shown = screen.wanted = NULL;
	screen.line_nr = 0;
	if (screen.own >= 0)
		close(screen.own);
	screen.own = -1;
	for (size_t i = 0; i < NR(ends); i++)
		catch_signal(ends[i], SIG_DFL, 0);
	for (size_t i = 0; i < NR(crashes); i++)
		catch_signal(crashes[i], SIG_DFL, 0);
	catch_signal(SIGTSTP, SIG_DFL, 0);
	catch_signal(SIGWINCH, SIG_DFL, 0);
}

int tare_screen_signal(void)
{
	return screen.signal;
}

void tare_screen_size(size_t *columns, size_t *lines)
{
	*columns = screen.columns;
	*lines = screen.lines;
}

/* ---- keys ---- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void tare_screen_call(void)
{
	const uint64_t one = 1;

	(void)!write(screen.calls, &one, sizeof(one));
}

static void take_call(void)
{
	uint64_t nr;

	screen.is_called |= read(screen.calls, &nr, sizeof(nr)) == sizeof(nr);
}

/* A byte, 0: none within that time, or a signal or a call came; -1: the terminal is gone. */
static int next_byte(int wait_ms, bool takes_calls)
{
	struct pollfd fds[] = { { .fd = screen.in, .events = POLLIN }, { .fd = screen.calls, .events = POLLIN } };
	unsigned char byte;
	ssize_t n;
	int rc = poll(fds, takes_calls ? 2 : 1, wait_ms);

	if (rc <= 0)
		return rc < 0 && errno != EINTR ? -1 : 0;
	if (fds[1].revents)
		take_call();
	if (!fds[0].revents)
		return 0;
	n = read(screen.in, &byte, 1);
	if (n == 1)
		return byte ? byte : 1;
	return n < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : -1;
}

static int named_key(int last, int number)
{
	static const struct {
		char last;
		int number, key;
	} names[] = {
		{ 'A', 0, TARE_KEY_UP },        { 'B', 0, TARE_KEY_DOWN }, { 'C', 0, TARE_KEY_RIGHT },
		{ 'D', 0, TARE_KEY_LEFT },      { 'H', 0, TARE_KEY_HOME }, { 'F', 0, TARE_KEY_END },
		{ '~', 1, TARE_KEY_HOME },      { '~', 4, TARE_KEY_END },  { '~', 5, TARE_KEY_PAGE_UP },
		{ '~', 6, TARE_KEY_PAGE_DOWN }, { '~', 7, TARE_KEY_HOME }, { '~', 8, TARE_KEY_END },
	};

	for (size_t i = 0; i < NR(names); i++)
		if (names[i].last == last && (last != '~' || names[i].number == number))
			return names[i].key;
	return TARE_KEY_OTHER;
}

/* What follows an escape: CSI or SS3, numbers, a last byte. Alone it is the key of that name. */
static int after_escape(void)
{
	int byte = next_byte(ESCAPE_MS, false), number = 0, first = 0;
	bool is_first = true;

	if (byte == 0 || byte == '\033')
		return TARE_KEY_ESCAPE;
	if (byte != '[' && byte != 'O')
		return TARE_KEY_OTHER;
	for (int i = 0; i < 32; i++) {
		byte = next_byte(ESCAPE_MS, false);
		if (byte >= '0' && byte <= '9' && number < 1000) {
			number = 10 * number + (byte - '0');
			first = is_first ? number : first;
		} else if (byte == ';') {
			is_first = false;
		} else {
			break;
		}
	}
	return byte >= '@' ? named_key(byte, first) : TARE_KEY_OTHER;
}

int tare_screen_key(int wait_ms)
{
	int64_t until = now_ms() + wait_ms;

	for (;;) {
		int64_t left = until - now_ms();
		int byte;

		if (screen.signal)
			return TARE_KEY_GONE;
		if (screen.is_resized) {
			screen.is_resized = 0;
			settle_size();
			return TARE_KEY_RESIZE;
		}
		if (screen.is_called) {
			screen.is_called = false;
			return TARE_KEY_CALLED;
		}
		byte = next_byte(left > 0 ? (int)left : 0, true);
		if (byte < 0)
			return TARE_KEY_GONE;
		if (byte)
			return byte == '\033' ? after_escape() : byte;
		if (!screen.signal && !screen.is_resized && !screen.is_called && now_ms() >= until)
			return TARE_KEY_NONE;
	}
}

/* ---- lines ---- */

void tare_screen_line(size_t number, const struct tare_str *text)
{
	if (number >= screen.line_nr)
		return;
	free(screen.wanted[number]);
	screen.wanted[number] = tare_xstrdup(tare_str_text(text));
}

int tare_screen_show(void)
{
	TARE_FREED_BY(tare_str_free) struct tare_str out = { 0 };
	int rc;

	for (size_t i = 0; i < screen.line_nr; i++) {
		const char *wanted = screen.wanted[i] ? screen.wanted[i] : "";

		if (screen.shown[i] && !strcmp(screen.shown[i], wanted))
			continue;
		/* Cleared before and not behind: where a line is full, the cursor stands on its last column. */
		tare_str_addf(&out, "\033[%zu;1H\033[2K%s", i + 1, wanted);
		free(screen.shown[i]);
		screen.shown[i] = tare_xstrdup(wanted);
	}
	rc = out.len ? tare_file_write_all(screen.out, out.data, out.len) : 0;
	return rc > 0 ? -rc : rc;
}
