/* SPDX-License-Identifier: Apache-2.0 */
/* `tare report --svg`: the course of memory that a picture draws. */
#include "cmd/report.h"

#include "base/str.h"
#include "base/xalloc.h"
#include "cmd/output.h"
#include "ledger/build.h"
#include "trace/recording.h"
#include "view/by.h"
#include "view/picture.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 3 };

/* What a run is made of, as long as the picture needs it. */
struct run {
	struct tare_ledger ledger;
	struct tare_memory_history history;
	struct tare_str title;
};

/* Of a rank's name what all ranks of its program have in common. */
static int length_of_program(const char *name)
{
	const char *rank = strstr(name, " rank ");

	return (int)(rank ? (size_t)(rank - name) : strlen(name));
}

static bool is_named_before(const struct tare_ledger *l, int host)
{
	int length = length_of_program(l->hosts[host].name);

	for (int i = 0; i < host; i++)
		if (length_of_program(l->hosts[i].name) == length &&
		    !strncmp(l->hosts[i].name, l->hosts[host].name, (size_t)length))
			return true;
	return false;
}

/* Its programs, and the recording. */
void tare_report_title(struct tare_str *out, const struct tare_ledger *l, const char *const *paths, size_t path_nr)
{
	const char *path = paths[0];
	size_t len = strlen(path), from;
	int names = 0;

	for (int i = 0; i < l->host_nr; i++) {
		if (is_named_before(l, i) || names++ >= NAMES_MAX)
			continue;
		tare_str_addf(out, "%s%.*s", names > 1 ? ", " : "", length_of_program(l->hosts[i].name), l->hosts[i].name);
	}
	if (names > NAMES_MAX)
		tare_str_add(out, " …");
	if (l->rank_nr > 1)
		tare_str_addf(out, " · %d ranks", l->rank_nr);
	while (len > 1 && path[len - 1] == '/')
		len--;
	for (from = len; from > 0 && path[from - 1] != '/';)
		from--;
	tare_str_addf(out, "%s%.*s", out->len ? " · " : "", (int)(len - from), path + from);
	if (path_nr > 1)
		tare_str_addf(out, " and %zu more", path_nr - 1);
}

/* A heap as one block says little: by line, unless accounts were asked for. */
static void tell_heap_apart(struct tare_recording *recording, const struct tare_ledger *peak,
                            struct tare_memory_history *history)
{
	static const struct tare_instant at = { .moment = TARE_MOMENT_PEAK, .text = "peak" };
	const struct tare_ledger_opts opts = { .lines_of_heap = history, .without_tensors = true };
	struct tare_ledger ledger;
	bool is_heap = false;

	for (int i = 0; i < peak->device_nr; i++)
		is_heap |= peak->devices[i].is_heap;
	if (!is_heap)
		return;
	tare_ledger_of_recording(recording, &opts, &at, 1, &ledger);
	tare_ledger_free(&ledger);
}

void tare_report_history(struct tare_recording *recording, int by, struct tare_ledger *peak,
                         struct tare_memory_history *out)
{
	static const struct tare_instant at = { .moment = TARE_MOMENT_PEAK, .text = "peak" };
	struct tare_memory_history first;
	struct tare_ledger_opts opts = { .history = out };

	tare_ledger_of_recording(recording, &opts, &at, 1, peak);
	/* Of a program that used no GPU there are only tensors: what they are for says most. */
	if (by != TARE_BY_CATEGORY && (by >= 0 || peak->opened_gpu))
		return;
	first = *out;
	opts.history_by_category = &first;
	tare_ledger_free(peak);
	tare_ledger_of_recording(recording, &opts, &at, 1, peak);
	tare_memory_history_free(&first);
}

static int open_run(struct run *run, const char *const *paths, size_t path_nr, const char *job, int by,
                    struct tare_err *err)
{
	struct tare_recording *recording;
	int rc = tare_recording_open_all(&recording, paths, path_nr, job, err);

	if (rc)
		return rc;
	rc = tare_report_check_picture(recording, err);
	if (rc) {
		tare_recording_close(recording);
		return rc;
	}
	tare_report_history(recording, by, &run->ledger, &run->history);
	if (by < 0 || by == TARE_BY_LINE)
		tell_heap_apart(recording, &run->ledger, &run->history);
	tare_report_title(&run->title, &run->ledger, paths, path_nr);
	tare_recording_close(recording);
	return 0;
}

/* The paths of one group, in their order. */
static size_t select_group(const char *const *paths, const size_t *group, size_t n, size_t wanted, const char **out)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (group[i] == wanted)
			out[count++] = paths[i];
	return count;
}

static int draw(const char *file, const struct run *runs, size_t n, struct tare_err *err)
{
	TARE_FREED_HERE struct tare_picture_run *shown = tare_xcalloc(n, sizeof(*shown));
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	for (size_t i = 0; i < n; i++)
		shown[i] = (struct tare_picture_run){ tare_str_text(&runs[i].title), &runs[i].ledger, &runs[i].history };
	tare_picture(&text, shown, (int)n);
	return tare_cmd_write_file(file, &text, err);
}

int tare_report_picture(const char *file, const char *const *paths, size_t path_nr, const char *job, int by,
                        struct tare_err *err)
{
	size_t *group = tare_xcalloc(path_nr, sizeof(*group)), run_nr = 1;
	const char **own = tare_xcalloc(path_nr, sizeof(*own));
	struct run *runs;
	int rc = 0;

	if (!job)
		run_nr = tare_recording_group(paths, path_nr, group);
	runs = tare_xcalloc(run_nr, sizeof(*runs));
	for (size_t i = 0; i < run_nr && !rc; i++) {
		size_t count = select_group(paths, group, path_nr, i, own);

		rc = open_run(&runs[i], own, count, job, by, err);
		if (rc)
			tare_err_prefix(err, "%s", own[0]);
	}
	if (!rc)
		rc = draw(file, runs, run_nr, err);
	for (size_t i = 0; i < run_nr; i++) {
		tare_ledger_free(&runs[i].ledger);
		tare_memory_history_free(&runs[i].history);
		tare_str_free(&runs[i].title);
	}
	free(runs);
	free(own);
	free(group);
	return rc;
}
