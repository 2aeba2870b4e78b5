/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the process that reads debug information, and asks it. */
#include "dwarf/helper.h"

#include "dwarf/reader.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY_FILES = 1 << 16 };

static struct {
	pid_t pid; /* 0: there is none */
	int fd;
	uint32_t number;
	bool has_exit;
} helper;

/* ---- both ends ---- */

static bool send_all(int fd, const void *bytes, size_t size)
{
	const char *p = bytes;

	while (size) {
		ssize_t n = send(fd, p, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

/* `patience` in ms for each part, -1: without end. */
static bool receive_all(int fd, void *bytes, size_t size, int patience)
{
	char *p = bytes;

	while (size) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		ssize_t n = poll(&ready, 1, patience);

		if (n > 0)
			n = read(fd, p, size);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

/* ---- the helper ---- */

struct answering {
	struct tare_str text;
	int frames;
};

static void add_text(struct tare_str *out, const char *text, uint32_t len)
{
	if (text)
		tare_str_add_n(out, text, len);
}

static uint32_t length_of(const char *text)
{
	return text ? (uint32_t)strnlen(text, 1 << 13) : UINT32_MAX;
}

static void add_frame(void *arg, const struct tare_dwarf_frame *frame)
{
	struct answering *a = arg;
	struct tare_dwarf_answer answer = { frame->line, length_of(frame->function), length_of(frame->file) };

	if (a->frames++ >= TARE_DWARF_FRAMES)
		return;
	tare_str_add_n(&a->text, (const char *)&answer, sizeof(answer));
	add_text(&a->text, frame->function, answer.function_len);
	add_text(&a->text, frame->file, answer.file_len);
}

static struct tare_dwarf_reader **reader_of(const struct tare_dwarf_question *q, int fd)
{
	static struct tare_dwarf_reader **readers;
	static size_t nr;
	char *path;

	if (q->file >= MANY_FILES || q->path_len > TARE_DWARF_ANSWER)
		_exit(1);
	if (q->file >= nr) {
		readers = realloc(readers, (q->file + 1) * sizeof(struct tare_dwarf_reader *));
		if (!readers)
			_exit(1);
		memset(readers + nr, 0, (q->file + 1 - nr) * sizeof(struct tare_dwarf_reader *));
		nr = q->file + 1;
	}
	if (!q->path_len)
		return &readers[q->file];
	path = calloc(1, (size_t)q->path_len + 1);
	if (!path || !receive_all(fd, path, q->path_len, -1))
		_exit(1);
	readers[q->file] = tare_dwarf_reader_open(path);
	free(path);
	return &readers[q->file];
}

static void serve(int fd)
{
	struct tare_dwarf_question q;

	while (receive_all(fd, &q, sizeof(q), -1)) {
		struct tare_dwarf_reader *reader = *reader_of(&q, fd);
		struct answering a = { 0 };
		uint32_t len;

		if (reader)
			tare_dwarf_reader_find(reader, q.address, add_frame, &a);
		len = (uint32_t)a.text.len;
		if (!send_all(fd, &len, sizeof(len)) || !send_all(fd, tare_str_text(&a.text), a.text.len))
			break;
		tare_str_free(&a.text);
	}
}

/* What tare does about signals is not for this process, and a crash of it is nobody's business. */
static void become(int fd, pid_t parent)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM };
	const struct rlimit none = { 0, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		signal(faults[i], SIG_DFL);
	signal(SIGINT, SIG_IGN); /* which a terminal sends to all; the parent ends */
	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CORE, &none);
	serve(fd);
	_exit(0);
}

/* ---- the process that asks the helper ---- */

static bool start(void)
{
	int fds[2];
	pid_t pid, parent = getpid();

	if (!tare_dwarf_can_read || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return false;
	if (!helper.has_exit) {
		atexit(tare_dwarf_helper_end);
		helper.has_exit = true;
	}
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		become(fds[1], parent);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return false;
	}
	helper.pid = pid;
	helper.fd = fds[0];
	helper.number++;
	return true;
}

void tare_dwarf_helper_end(void)
{
	pid_t pid = helper.pid;

	if (!pid)
		return;
	helper.pid = 0;
	close(helper.fd);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

uint32_t tare_dwarf_helper_number(void)
{
	if (!helper.pid && !start())
		return 0;
	return helper.number;
}

static bool receive(struct tare_str *answer)
{
	uint32_t len;
	char *bytes;
	bool is_there;

	if (!receive_all(helper.fd, &len, sizeof(len), TARE_DWARF_PATIENCE) || len > TARE_DWARF_ANSWER)
		return false;
	bytes = calloc(1, (size_t)len + 1);
	is_there = bytes && receive_all(helper.fd, bytes, len, TARE_DWARF_PATIENCE);
	if (is_there)
		tare_str_add_n(answer, bytes, len);
	free(bytes);
	return is_there;
}

bool tare_dwarf_ask(const struct tare_dwarf_question *question, const char *path, struct tare_str *answer)
{
	if (!helper.pid)
		return false;
	if (send_all(helper.fd, question, sizeof(*question)) && send_all(helper.fd, path, question->path_len) &&
	    receive(answer))
		return true;
	tare_dwarf_helper_end();
	return false;
}
