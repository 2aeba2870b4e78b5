/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a run that waits until it was written down. */
#include "sweep/run_private.h"

#include "base/print.h"
#include "base/private.h"
#include "base/self_path.h"
#include "sweep/machine.h"
#include "sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct argv {
	struct tare_sweep_words words;
	struct tare_arena memory;
};

static int build_argv(struct argv *out, const struct tare_sweep *s, size_t cell, const char *folder,
                      struct tare_err *err)
{
	char self[PATH_MAX];
	int rc = tare_self_dir(self, sizeof(self) - sizeof("/tare"));

	if (rc)
		return tare_err_set_errno(err, -rc, "tare does not find itself");
	strcat(self, "/tare");
	for (size_t i = 0; i < s->launcher.count; i++)
		tare_sweep_words_add(&out->words, s->launcher.items[i], &out->memory);
	tare_sweep_words_add(&out->words, self, &out->memory);
	tare_sweep_words_add(&out->words, "record", &out->memory);
	tare_sweep_words_add(&out->words, "--quiet", &out->memory);
	tare_sweep_words_add(&out->words, "--into", &out->memory);
	tare_sweep_words_add(&out->words, folder, &out->memory);
	for (size_t i = 0; i < s->options.count; i++)
		tare_sweep_words_add(&out->words, s->options.items[i], &out->memory);
	tare_sweep_words_add(&out->words, "--", &out->memory);
	for (size_t i = 0; i < s->command.count && !rc; i++) {
		char *word = NULL;

		rc = tare_words_fill(&word, s->command.items[i], &s->grid, cell, err);
		if (!rc)
			tare_sweep_words_add(&out->words, word, &out->memory);
		free(word);
	}
	return rc;
}

static int open_output(const char *folder, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
}

/* Only what may be called between fork and exec in a process without other threads. */
static void run_child(const struct tare_sweep *s, size_t cell, char *const *argv, const int fds[3], const char *gpus,
                      int go, pid_t parent)
{
	sigset_t none;
	int errnum;
	char byte;

	setpgid(0, 0);
	/* Where `tare sweep` is killed, its runs get the SIGTERM that it cannot send any more. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || read(go, &byte, 1) != 1)
		_exit(125);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			_exit(125);
	for (size_t i = 0; i < s->grid.param_nr; i++)
		setenv(s->grid.params[i].name, s->grid.cells[cell][i], 1);
	if (gpus)
		setenv("CUDA_VISIBLE_DEVICES", gpus, 1);
	tare_private_end();
	execvp(argv[0], argv);
	errnum = errno;
	tare_say("%s: %s", argv[0], strerror(errnum));
	_exit(errnum == ENOENT ? 127 : 126);
}

static int make_folder(const char *folder, struct tare_err *err)
{
	int rc = tare_machine_remove(folder);

	if (rc)
		return tare_err_set_errno(err, -rc, "%s: what an earlier attempt left there cannot be removed", folder);
	if (mkdir(folder, 0700) != 0)
		return tare_err_set_errno(err, errno, "%s: cannot be made", folder);
	return 0;
}

static int start(struct tare_start *out, const struct tare_sweep *s, size_t cell, char *const *argv, const int fds[3],
                 const char *gpus, struct tare_err *err)
{
	pid_t parent = getpid();
	int go[2];

	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0 || pipe2(go, O_CLOEXEC) != 0)
		return tare_err_set_errno(err, errno, "the run's files cannot be opened");
	out->pid = fork();
	if (out->pid == 0) {
		close(go[1]);
		run_child(s, cell, argv, fds, gpus, go[0], parent);
	}
	close(go[0]);
	out->go = go[1];
	if (out->pid < 0) {
		close(go[1]);
		return tare_err_set_errno(err, errno, "no further process can be started");
	}
	setpgid(out->pid, out->pid); /* parent and child both do this: either may come first */
	return 0;
}

int tare_start_prepare(struct tare_start *out, const struct tare_sweep *s, size_t cell, const char *folder,
                       const char *gpus, struct tare_err *err)
{
	struct argv argv = { 0 };
	int rc = build_argv(&argv, s, cell, folder, err);

	if (!rc)
		rc = make_folder(folder, err);
	if (!rc) {
		int fds[3] = { open("/dev/null", O_RDONLY | O_CLOEXEC), open_output(folder, "stdout"),
			           open_output(folder, "stderr") };

		rc = start(out, s, cell, (char *const *)argv.words.items, fds, gpus, err);
		for (int i = 0; i < 3; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
	free(argv.words.items);
	tare_arena_free(&argv.memory);
	return rc;
}

void tare_start_go(struct tare_start *start)
{
	char byte = 0;
	ssize_t n = write(start->go, &byte, 1);

	(void)n; /* the child was killed already: waitpid() will tell */
	close(start->go);
}

void tare_start_drop(struct tare_start *start)
{
	close(start->go);
	waitpid(start->pid, NULL, 0);
}
