/* SPDX-License-Identifier: Apache-2.0 */
/* A program on one simulated card: recorded by a process of its own, then read at its worst moment. */
#include "cmd/predict.h"

#include "base/now.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/str.h"
#include "base/temp_folder.h"
#include "cmd/cmd.h"
#include "session/profiles.h"
#include "cmd/start_ranks.h"
#include "session/child.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Waits for `tare record`; after `most_ns` it is told to end, and passes that on to the program. */
static int wait_for(pid_t child, int64_t most_ns, int *status, struct tare_err *err)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	const int64_t grace = INT64_C(10) * 1000000000, began = tare_now_ns(CLOCK_MONOTONIC);
	pid_t ended;

	while ((ended = waitpid(child, status, most_ns ? WNOHANG : 0)) != child) {
		if (ended < 0 && errno != EINTR)
			return tare_err_set_errno(err, errno, "predict: the end of the program cannot be waited for; run it again");
		if (!most_ns)
			continue;
		if (tare_now_ns(CLOCK_MONOTONIC) - began > most_ns + grace)
			kill(child, SIGKILL);
		else if (tare_now_ns(CLOCK_MONOTONIC) - began > most_ns)
			kill(child, SIGTERM);
		nanosleep(&pause, NULL);
	}
	return 0;
}

static bool own_path(char *path, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", path, size - 1);

	path[len < 0 ? 0 : len] = 0;
	return len > 0;
}

/* `tare record` in a child. Its stdout is ours to answer on, so the program's goes to stderr. */
static int record(const struct tare_predict_options *o, const char *sim, const char *recording, const char *caches,
                  const struct tare_predict_convolutions *convolutions, int *status, struct tare_err *err)
{
	size_t n = 0, count = 0;
	char **argv, part[48], ranks[24], self[PATH_MAX];
	pid_t child;
	int rc;

	while (o->argv[count])
		count++;
	if (!own_path(self, sizeof(self)))
		return tare_err_set_errno(err, errno, "predict: /proc/self/exe");
	argv = calloc(count + 17 + 2 * o->answers_at->count, sizeof(*argv));
	if (!argv)
		return tare_err_set_errno(err, ENOMEM, "predict: there is no memory for the command; shorten it");
	argv[n++] = (char *)"record";
	argv[n++] = (char *)"--sim";
	argv[n++] = (char *)sim;
	argv[n++] = (char *)"--quiet";
	if (o->answers) {
		argv[n++] = (char *)"--answers";
		argv[n++] = (char *)o->answers;
	}
	for (size_t i = 0; i < o->answers_at->count; i++) {
		argv[n++] = (char *)"--answer-at";
		argv[n++] = (char *)o->answers_at->items[i];
	}
	if (o->part.part) {
		snprintf(part, sizeof(part), "%lld of %lld", (long long)o->part.part, (long long)o->part.whole);
		argv[n++] = (char *)"--ranks-simulated";
		argv[n++] = part;
	}
	argv[n++] = (char *)"-f";
	argv[n++] = (char *)"-o";
	argv[n++] = (char *)recording;
	argv[n++] = (char *)"--";
	if (o->ranks) {
		snprintf(ranks, sizeof(ranks), "%lld", (long long)o->ranks);
		argv[n++] = self;
		argv[n++] = (char *)TARE_START_RANKS;
		argv[n++] = ranks;
	}
	memcpy(argv + n, o->argv, count * sizeof(*argv));
	n += count;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		tare_temp_folder_writer(0);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		if (caches)
			tare_predict_caches_use(caches);
		tare_predict_convolutions_use(convolutions);
		_exit(o->record((int)n, argv));
	}
	free(argv);
	if (child < 0)
		return tare_err_set_errno(
			err, errno, "predict: the program cannot be started as a new process; raise the limit (ulimit -u)");
	tare_temp_folder_writer(child);
	rc = wait_for(child, o->most_ns, status, err);
	tare_temp_folder_writer(0);
	return rc;
}

/* The same, in a folder of its own, with empty caches of what frameworks compile unless it is to have its own. */
static int record_fresh(const struct tare_predict_options *o, const char *sim, const char *recording,
                        struct tare_predict_convolutions *convolutions, int *status, struct tare_err *err)
{
	char *folder;
	int rc = tare_temp_folder_make(NULL, "tare-predict-caches-XXXXXX", &folder, err);

	if (rc)
		return rc;
	tare_predict_convolutions_begin(convolutions, folder);
	rc = record(o, sim, recording, o->has_own_caches ? NULL : folder, convolutions, status, err);
	tare_predict_convolutions_end(convolutions);
	tare_temp_folder_remove(folder);
	return rc;
}

/* NAME or the path of a profile, without what cannot stand in a file's name. */
static void name_recording(struct tare_str *out, const char *folder, const char *card)
{
	const char *slash = strrchr(card, '/');

	tare_str_addf(out, "%s/%s.tare", folder, slash ? slash + 1 : card);
}

/* On a terminal a line says which run is under way; what the program prints stands below it. */
static void tell_progress(const struct tare_predict_options *o, const char *card)
{
	TARE_FREED_BY(tare_str_free) struct tare_str values = { 0 };

	if (!tare_progress_has_terminal())
		return;
	for (size_t i = 0; i < o->what_nr; i++)
		tare_str_addf(&values, " %s=%s", o->what[i].name, o->what[i].text);
	if (o->answers)
		tare_str_addf(&values, ", with %s for what no kernel computes", o->answers);
	tare_say("predict: running on %s%s …", card, tare_str_text(&values));
}

/* What ranks that do not run would do otherwise than those that do is not in it. */
static void assume_ranks(const struct tare_predict_options *o, struct tare_arena *memory,
                         struct tare_predict_card *card)
{
	const int most = (int)(sizeof(card->assumed) / sizeof(card->assumed[0]));
	TARE_FREED_BY(tare_str_free) struct tare_str rule = { 0 };

	if (o->part.part == o->part.whole || card->assumed_nr >= most)
		return;
	tare_str_addf(&rule, "%lld of %lld run, and what the others would send is what these do", (long long)o->part.part,
	              (long long)o->part.whole);
	card->assumed[card->assumed_nr++] =
		(struct tare_predict_assumed){ "ranks", tare_arena_strdup(memory, tare_str_text(&rule)), 0 };
}

int tare_predict_run(const struct tare_predict_options *o, const char *card, struct tare_arena *memory,
                     struct tare_predict_card *out, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str recording = { 0 }, sim = { 0 };
	struct tare_profile profile;
	char *folder = NULL;
	int rc = tare_profiles_open("--card", card, &profile, err), status = 0;

	*out = (struct tare_predict_card){ .card = card, .refused = -1, .missing = -1, .step = -1 };
	if (rc)
		return rc;
	out->is_measured = profile.measured;
	out->name = tare_arena_strdup(memory, profile.name);
	out->total = (int64_t)profile.total;
	out->room = (int64_t)(profile.total - profile.reserved);
	if (!o->keep)
		rc = tare_temp_folder_make(NULL, "tare-predict-XXXXXX", &folder, err);
	if (rc)
		return rc;
	name_recording(&recording, o->keep ? o->keep : folder, card);
	tare_str_add(&sim, card);
	if (o->gpus > 1)
		tare_str_addf(&sim, ":%lld", (long long)o->gpus);
	tell_progress(o, card);
	out->ns = tare_now_ns(CLOCK_MONOTONIC);
	rc = record_fresh(o, tare_str_text(&sim), tare_str_text(&recording), &out->convolutions, &status, err);
	out->ns = tare_now_ns(CLOCK_MONOTONIC) - out->ns;
	out->exit_code = tare_child_exit_code(status);
	if (!rc && out->exit_code >= TARE_EXIT_FAILED && out->exit_code <= TARE_EXIT_NOT_FOUND &&
	    access(tare_str_text(&recording), F_OK) != 0)
		rc = tare_err_set(err, TARE_E_NOT_FOUND, "predict: %s could not be run", o->argv[0]);
	tare_progress_begin("predict: reading what was recorded");
	if (!rc)
		rc = tare_predict_read(tare_str_text(&recording), out, memory, err);
	if (!rc) {
		assume_ranks(o, memory, out);
		tare_predict_find_settings(tare_str_text(&recording), out, memory);
		tare_predict_read_versions(tare_str_text(&recording), out, memory);
	}
	tare_progress_end();
	if (o->keep)
		out->recording = tare_arena_strdup(memory, tare_str_text(&recording));
	else
		tare_temp_folder_remove(folder);
	return rc;
}
