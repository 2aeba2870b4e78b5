/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What mprof, of memory_profiler, keeps in its .dat file: "MEM 813.7 1754557693.89", what was resident in MiB and when,
 * and "FUNC name 12.5 1754557690.1 88.0 1754557692.3" for each call of a function that is decorated with @profile, which
 * becomes a phase. Lines of functions stand where they ended, so all are sorted before they are written.
 */
#include "base/array.h"
#include "base/comparator.h"
#include "base/map.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "import/import_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 1e10
#define MIB_MAX     1e9
enum { MOMENTS_MAX = 10 * 1000 * 1000 }; /* eleven days of readings, ten a second */

enum what { END, READING, BEGIN }; /* of those at one time, in this order */

struct moment {
	double seconds, other; /* other: when the function ended (BEGIN) or began (END) */
	uint64_t resident;
	enum what what;
	uint32_t function; /* 1 + its index in names */
};

struct reader {
	struct tare_import_job *job;
	struct moment *items;
	size_t count, cap;
	const char **names; /* of `name_ids` */
	size_t name_nr, name_cap;
	struct tare_strmap name_ids; /* 1 + the index in names */
	char *command;
	uint64_t first_unreadable, child_readings, left_out;
	double most_of_child; /* MiB */
};

static void add(struct reader *r, struct moment m)
{
	if (r->count >= MOMENTS_MAX) {
		r->left_out++;
		return;
	}
	TARE_APPEND(r->items, r->count, r->cap) = m;
}

static uint64_t bytes_of(double mib)
{
	return (uint64_t)(mib * 1048576 + 0.5);
}

static bool is_size(double mib)
{
	return mib >= 0 && mib <= MIB_MAX;
}

static bool is_time(double seconds)
{
	return seconds > 0 && seconds <= SECONDS_MAX;
}

static uint32_t name_of(struct reader *r, const char *text, size_t length)
{
	char *name = tare_xstrndup(text, length);
	bool is_new;
	uint64_t *id = tare_strmap_put(&r->name_ids, name, &is_new);

	if (!is_new) {
		free(name);
		return (uint32_t)*id;
	}
	TARE_APPEND(r->names, r->name_nr, r->name_cap) = name;
	return (uint32_t)(*id = r->name_nr);
}

static bool take_reading(struct reader *r, const char *text)
{
	double mib, seconds;

	if (sscanf(text, "%lf %lf", &mib, &seconds) != 2 || !is_size(mib) || !is_time(seconds))
		return false;
	add(r, (struct moment){ .seconds = seconds, .resident = bytes_of(mib), .what = READING });
	return true;
}

static bool take_function(struct reader *r, const char *text)
{
	size_t length = strcspn(text, " \t");
	double from, to, begin, end;
	uint32_t function;

	if (!length || sscanf(text + length, "%lf %lf %lf %lf", &from, &begin, &to, &end) != 4 || !is_size(from) ||
	    !is_size(to) || !is_time(begin) || !is_time(end) || end < begin)
		return false;
	function = name_of(r, text, length);
	add(r, (struct moment){ begin, end, bytes_of(from), BEGIN, function });
	add(r, (struct moment){ end, begin, bytes_of(to), END, function });
	return true;
}

/* "CHLD NUMBER MIB SECONDS": another process, which has no name. */
static bool take_child(struct reader *r, const char *text)
{
	double mib, seconds;

	if (sscanf(text, "%*s %lf %lf", &mib, &seconds) != 2 || !is_size(mib) || !is_time(seconds))
		return false;
	r->child_readings++;
	if (mib > r->most_of_child)
		r->most_of_child = mib;
	return true;
}

static bool take_line(struct reader *r, const char *line)
{
	if (strncmp(line, "MEM ", 4) == 0)
		return take_reading(r, line + 4);
	if (strncmp(line, "FUNC ", 5) == 0)
		return take_function(r, line + 5);
	if (strncmp(line, "CHLD ", 5) == 0)
		return take_child(r, line + 5);
	if (strncmp(line, "CMDLINE ", 8) == 0) {
		free(r->command);
		r->command = tare_xstrdup(line + 8);
		return true;
	}
	return line[strspn(line, " \t\r")] == '\0';
}

/* At one time the inner function ends first, and begins last. */
TARE_COMPARATOR(in_time, struct moment, TARE_RISING(seconds) TARE_RISING(what) TARE_FALLING(other))

static void write_all(struct reader *r)
{
	struct tare_import_out *out = r->job->out;
	double first = r->items[0].seconds;
	int memory;

	tare_import_about(out, &(struct tare_import_about){ .program = r->command,
	                                                    .started_realtime_ns = (int64_t)(first * 1e9) });
	memory = tare_import_board(out, "resident memory of the process", TARE_NOT_KNOWN);
	for (size_t i = 0; i < r->count; i++) {
		const struct moment *m = &r->items[i];
		/* Moments at one time keep their order. */
		int64_t t = (int64_t)((m->seconds - first) * 1e9) + (int64_t)i * 2;

		/* At one time and in this order, the figures of a peak and of any other instant are one line's. */
		tare_import_used(out, t, memory, m->resident);
		tare_import_resident(out, t, m->resident);
		if (m->what == BEGIN)
			tare_import_phase(out, t + 1, TARE_PHASE_PUSH, r->names[m->function - 1]);
		else if (m->what == END)
			tare_import_phase(out, t + 1, TARE_PHASE_POP, NULL);
	}
}

static void add_notes(const struct reader *r)
{
	struct tare_import_out *out = r->job->out;
	char n[TARE_UNITS_TEXT_MAX];

	tare_import_remark(out,
	                   "read from %s: what was resident when mprof looked; what was between two "
	                   "looks is not known",
	                   tare_import_in_path(r->job->in));
	if (r->child_readings)
		tare_import_left_out(out,
		                     "the file has %s readings of child processes, the largest %.1f MiB: "
		                     "they are not in the recording",
		                     tare_units_count(n, r->child_readings), r->most_of_child);
	if (r->job->result->unreadable)
		tare_import_left_out(out, "%s of the lines cannot be read, the first is line %llu; they were left out",
		                     tare_units_count(n, r->job->result->unreadable), (unsigned long long)r->first_unreadable);
	if (r->left_out)
		tare_import_left_out(out, "the file has more lines than are imported: %s were left out",
		                     tare_units_count(n, r->left_out));
}

static void free_reader(struct reader *r)
{
	for (size_t i = 0; i < r->name_nr; i++)
		free((void *)r->names[i]);
	tare_strmap_free(&r->name_ids);
	free(r->names);
	free(r->items);
	free(r->command);
}

int tare_import_read_mprof(struct tare_import_job *job, struct tare_err *err)
{
	struct reader r = { .job = job };
	char *line;
	int rc;

	while ((rc = tare_import_in_line(job->in, &line, err)) > 0) {
		if (!take_line(&r, line) && !job->result->unreadable++)
			r.first_unreadable = tare_import_in_line_nr(job->in);
	}
	job->result->taken = r.count;
	if (!rc && !r.count)
		rc = tare_err_set(err, TARE_E_EMPTY, "%s: no line is a reading, as `MEM 813.7 1754557693.89` is",
		                  tare_import_in_path(job->in));
	if (!rc) {
		TARE_SORT(r.items, r.count, in_time);
		write_all(&r);
		add_notes(&r);
	}
	free_reader(&r);
	return rc;
}

bool tare_import_is_mprof(const char *head, size_t size)
{
	return (size > 8 && memcmp(head, "CMDLINE ", 8) == 0) ||
	       (size > 4 && memcmp(head, "MEM ", 4) == 0 && head[4] >= '0' && head[4] <= '9');
}
