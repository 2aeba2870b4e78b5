/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* For what hangs: so long that a busy machine does not come to it. */
enum { LIMIT_S = 450, SKIP_STATUS = 77 };

static struct test_case *first, **last = &first;

void test_register(struct test_case *tc)
{
	*last = tc;
	last = &tc->next;
}

/* Every line of a message carries '#', so that it stays a TAP comment. */
static void print_comment(const char *text)
{
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n");

		printf("# %.*s\n", (int)n, p);
		p += n + (p[n] == '\n');
	}
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	char text[8192];
	va_list ap;
	int n = snprintf(text, sizeof(text), "%s:%d: ", file, line);

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	print_comment(text);
	fflush(stdout);
	_exit(1);
}

int test_rounds(int whole)
{
#ifdef TEST_IS_SLOW
	return (whole + 7) / 8;
#else
	return whole;
#endif
}

void test_skip(const char *why)
{
	printf("# skip: %s\n", why);
	fflush(stdout);
	_exit(SKIP_STATUS);
}

/* exit(), not _exit(), so that a leak checker sees the child. What a test leaves running ends with it. */
static int run_in_child(struct test_case *tc)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		alarm(LIMIT_S);
		tc->fn();
		fflush(stdout);
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	kill(-pid, SIGKILL);
	return status;
}

int main(int argc, char **argv)
{
	int count = 0, failed = 0;

	if (argc > 1) {
		for (struct test_case *tc = first; tc; tc = tc->next) {
			if (!strstr(tc->name, argv[1]))
				continue;
			printf("# %s\n", tc->name);
			tc->fn();
		}
		return 0;
	}
	for (struct test_case *tc = first; tc; tc = tc->next)
		count++;
	printf("1..%d\n", count);
	count = 0;
	for (struct test_case *tc = first; tc; tc = tc->next) {
		int status = run_in_child(tc);
		int is_skip = WIFEXITED(status) && WEXITSTATUS(status) == SKIP_STATUS;

		if (status == 0 || is_skip) {
			printf("ok %d - %s%s\n", ++count, tc->name, is_skip ? " # SKIP" : "");
			continue;
		}
		if (WIFSIGNALED(status))
			printf("# killed by signal %d\n", WTERMSIG(status));
		printf("not ok %d - %s\n", ++count, tc->name);
		failed++;
	}
	return failed > 0;
}
