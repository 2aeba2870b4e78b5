/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the ranks of a job on this machine, waits for them, and ends all when one fails. */
#include "cmd/start_ranks.h"

#include "base/print.h"
#include "cmd/cmd.h"
#include "session/child.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The last word of a path, or a module behind Python's -m. */
static const char *const starters[] = {
	"torchrun",
	"torch.distributed.run",
	"torch.distributed.launch",
	"accelerate",
	"accelerate.commands.launch",
	"deepspeed",
	"mpirun",
	"mpiexec",
	"srun",
};

static bool is_starter(const char *word)
{
	const char *slash = strrchr(word, '/');

	for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++)
		if (!strcmp(slash ? slash + 1 : word, starters[i]))
			return true;
	return false;
}

bool tare_starts_ranks(char *const *argv)
{
	if (is_starter(argv[0]))
		return true;
	for (size_t i = 1; argv[i] && argv[i + 1]; i++)
		if (!strcmp(argv[i], "-m"))
			return is_starter(argv[i + 1]);
	return false;
}

/* A port of this machine that nobody has; 0: none. Rank 0 takes it. */
static int free_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = 0;

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)) && !getsockname(fd, (struct sockaddr *)&at, &len))
		port = ntohs(at.sin_port);
	if (fd >= 0)
		close(fd);
	return port;
}

static void set_number(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	setenv(name, text, 1);
}

static void set_job(int count)
{
	set_number("WORLD_SIZE", count);
	set_number("LOCAL_WORLD_SIZE", count);
	set_number("MASTER_PORT", free_port());
	setenv("MASTER_ADDR", "127.0.0.1", 1);
	setenv("OMP_NUM_THREADS", "1", 0); /* as torchrun has it: the ranks share the processors */
}

static pid_t start(int rank, char **argv)
{
	pid_t parent = getpid(), child = fork();

	setpgid(child, child); /* of both, whichever is first: what a rank starts ends with it */
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(TARE_EXIT_FAILED);
	set_number("RANK", rank);
	set_number("LOCAL_RANK", rank);
	execvp(argv[0], argv);
	tare_say("%s: %s", argv[0], strerror(errno));
	_exit(errno == ENOENT ? TARE_EXIT_NOT_FOUND : TARE_EXIT_FAILED);
}

static pid_t ranks[TARE_START_RANKS_MOST]; /* 0: it has ended */

static void signal_all(int number)
{
	for (size_t i = 0; i < TARE_START_RANKS_MOST; i++)
		if (ranks[i] > 0)
			kill(-ranks[i], number);
}

/* After SIGTERM a rank has ten seconds; SIGALRM is the end of them. */
static void pass_on(int number)
{
	signal_all(number == SIGALRM ? SIGKILL : number);
}

static int wait_for_all(int started)
{
	int code = 0, status;

	while (started > 0) {
		pid_t ended = wait(&status);

		if (ended < 0 && errno == EINTR)
			continue;
		if (ended < 0)
			break;
		for (size_t i = 0; i < TARE_START_RANKS_MOST; i++)
			if (ranks[i] == ended)
				ranks[i] = 0;
		started--;
		if (!status || code)
			continue;
		code = tare_child_exit_code(status);
		signal_all(SIGTERM);
		alarm(10);
	}
	return code;
}

int tare_start_ranks(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[1]) : 0, started = 0;
	struct sigaction act = { .sa_handler = pass_on };

	if (count < 1 || count > TARE_START_RANKS_MOST)
		return TARE_EXIT_USAGE;
	set_job(count);
	for (; started < count; started++)
		if ((ranks[started] = start(started, argv + 2)) < 0)
			break;
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	if (started == count)
		return wait_for_all(started);
	tare_say("rank %d cannot be started: %s", started, strerror(errno));
	signal_all(SIGTERM);
	wait_for_all(started);
	return TARE_EXIT_FAILED;
}
