/* SPDX-License-Identifier: Apache-2.0 */
/* Makes pages of recordings in a process of its own, and keeps them for a while. */
#include "serve/pages.h"

#include "base/now.h"
#include "base/private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PAGE_MOST = 32 << 20, /* bytes of one page … */
	ALL_MOST = 128 << 20, /* … and of all that are kept */
	MAKE_S = 120,         /* a page that takes longer is given up */
	FRESH_S = 30,         /* of a live recording it is made again after so long … */
	SHARE = 20,           /* … or so many times as long as it took */
	NICE = 10,
};
#define SECOND INT64_C(1000000000)

/* ---- what is kept ---- */

static bool is_of(const struct tare_page_kept *p, const struct tare_serve_entry *e)
{
	return p->device == e->device && p->inode == e->inode;
}

static bool is_fresh(const struct tare_page_kept *p, const struct tare_serve_entry *e)
{
	int64_t age = tare_now_ns(CLOCK_MONOTONIC) - p->made_ns, good = FRESH_S * SECOND;

	if (p->is_of_ended && !e->follow && p->status == 200)
		return true;
	if (p->is_of_ended != !e->follow)
		return false;
	return age < (p->cost_ns * SHARE > good ? p->cost_ns * SHARE : good);
}

const struct tare_page_kept *tare_pages_get(struct tare_pages *p, const struct tare_serve_entry *e)
{
	for (size_t i = 0; i < p->count; i++)
		if (is_of(&p->kept[i], e) && is_fresh(&p->kept[i], e)) {
			p->kept[i].used = ++p->asked;
			return &p->kept[i];
		}
	return NULL;
}

static void drop(struct tare_pages *p, size_t i)
{
	tare_str_free(&p->kept[i].text);
	p->kept[i] = p->kept[--p->count];
}

static size_t bytes_of(const struct tare_pages *p)
{
	size_t sum = 0;

	for (size_t i = 0; i < p->count; i++)
		sum += p->kept[i].text.cap;
	return sum;
}

/* The one that was not asked for longest goes first. */
static void make_room(struct tare_pages *p, size_t need)
{
	while (p->count && (p->count == TARE_PAGES_KEPT || bytes_of(p) + need > ALL_MOST)) {
		size_t oldest = 0;

		for (size_t i = 1; i < p->count; i++)
			if (p->kept[i].used < p->kept[oldest].used)
				oldest = i;
		drop(p, oldest);
	}
}

static void keep(struct tare_pages *p, struct tare_page_kept *page)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->kept[i].device == page->device && p->kept[i].inode == page->inode) {
			drop(p, i);
			break;
		}
	make_room(p, page->text.cap);
	page->used = ++p->asked;
	p->kept[p->count++] = *page;
	*page = (struct tare_page_kept){ 0 };
}

/* ---- making one ---- */

static void become_report(const char *path, bool is_confidential, int out)
{
	const char *argv[] = { "tare", "report", path, "--html", "-", "--no-source", NULL, NULL };
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	if (is_confidential)
		argv[6] = "--confidential";
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpriority(PRIO_PROCESS, 0, NICE);
	dup2(null, STDIN_FILENO);
	dup2(null, STDERR_FILENO);
	dup2(out, STDOUT_FILENO);
	tare_private_end();
	execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
	_exit(127);
}

bool tare_pages_begin(struct tare_pages *p, const struct tare_serve_entry *e)
{
	int ends[2];

	if (p->job.pid > 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return false;
	p->job.page = (struct tare_page_kept){
		.device = e->device, .inode = e->inode, .is_of_ended = !e->follow, .made_ns = tare_now_ns(CLOCK_MONOTONIC)
	};
	p->job.is_too_large = false;
	p->job.fd = ends[0];
	p->job.pid = fork();
	if (p->job.pid == 0) {
		fcntl(ends[1], F_SETFL, 0); /* the report writes and waits */
		become_report(e->path, p->is_confidential, ends[1]);
	}
	close(ends[1]);
	if (p->job.pid > 0)
		return true;
	close(ends[0]);
	p->job.pid = 0;
	return false;
}

static void say(struct tare_str *text, const char *what)
{
	tare_str_free(text);
	tare_str_addf(
		text,
		"<!doctype html><meta charset=\"utf-8\"><title>tare</title><p>There is no page of this recording: %s. "
		"<code>tare report</code> on it says more.",
		what);
}

static void end_job(struct tare_pages *p, const char *failure)
{
	int status = 0;

	kill(p->job.pid, SIGKILL);
	while (waitpid(p->job.pid, &status, 0) < 0 && errno == EINTR)
		;
	close(p->job.fd);
	if (!failure && (!WIFEXITED(status) || WEXITSTATUS(status)))
		failure = "it could not be read";
	p->job.pid = 0;
	p->job.page.cost_ns = tare_now_ns(CLOCK_MONOTONIC) - p->job.page.made_ns;
	p->job.page.made_ns += p->job.page.cost_ns;
	p->job.page.status = failure ? 500 : 200;
	if (failure)
		say(&p->job.page.text, failure);
	keep(p, &p->job.page);
}

/* The end of its output is not its end: it is waited for, which it would be killed for if it did not exit. */
static bool wait_for_end(struct tare_pages *p)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)p->job.pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

bool tare_pages_turn(struct tare_pages *p)
{
	char part[65536];
	ssize_t n;

	if (p->job.pid <= 0)
		return false;
	while ((n = read(p->job.fd, part, sizeof(part))) > 0) {
		if (p->job.page.text.len + (size_t)n > PAGE_MOST) {
			end_job(p, "its page would be too large");
			return true;
		}
		tare_str_add_n(&p->job.page.text, part, (size_t)n);
	}
	if (n == 0 && wait_for_end(p)) {
		end_job(p, NULL);
		return true;
	}
	if (tare_now_ns(CLOCK_MONOTONIC) - p->job.page.made_ns > MAKE_S * SECOND) {
		end_job(p, "it took too long");
		return true;
	}
	return false;
}

void tare_pages_free(struct tare_pages *p)
{
	if (p->job.pid > 0)
		end_job(p, "");
	while (p->count)
		drop(p, p->count - 1);
}
