/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVIDIA's tegrastats prints on a Jetson, once per interval: "RAM 936/3964MB (lfb 366x4MB) SWAP 0/4096MB …", which may
 * stand behind "SECONDS::" or a date. The board has one memory, so RAM becomes the memory of one device. Its MB are MiB.
 */
#include "base/units.h"
#include "import/import_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB         (UINT64_C(1) << 20)
#define MIB_MAX     (UINT64_C(1) << 30) /* a larger figure is no board's */
#define SECOND_NS   INT64_C(1000000000)
#define SECONDS_MAX 1e10

struct sample {
	uint64_t used, total;           /* MiB */
	uint64_t swap_used, swap_total; /* the same; total 0: it does not say */
	uint64_t block_nr, block;       /* free blocks of the largest size, and that size in MiB; 0: it does not say */
	double seconds;                 /* since 1970; negative: it has no time */
};

struct reader {
	struct tare_import_job *job;
	int device;
	uint64_t first_unreadable;
	int64_t last_ns;
	double first_seconds; /* negative: no line has had a time */
	uint64_t without_time;
	uint64_t total; /* of the first sample */
	struct sample most_swap;
	uint64_t least_block_bytes; /* MiB */
	bool has_block;
};

/* "936/3964MB" behind `word`. */
static bool pair_behind(const char *text, const char *word, uint64_t *used, uint64_t *total)
{
	const char *at = strstr(text, word);
	char *end;

	if (!at)
		return false;
	at += strlen(word);
	if (*at < '0' || *at > '9')
		return false;
	*used = strtoull(at, &end, 10);
	if (*end != '/' || end[1] < '0' || end[1] > '9')
		return false;
	*total = strtoull(end + 1, &end, 10);
	return strncmp(end, "MB", 2) == 0 && *used <= MIB_MAX && *total <= MIB_MAX;
}

/* "(lfb 366x4MB)": the largest free blocks. */
static void take_block(const char *text, struct sample *s)
{
	const char *at = strstr(text, "(lfb ");
	unsigned long long nr, size;

	if (!at || sscanf(at, "(lfb %9llux%9lluMB)", &nr, &size) != 2)
		return;
	s->block_nr = nr;
	s->block = size;
}

/* "1750866190.748999::", "06-25-2025 09:43:10 ", or both, in front of "RAM ". */
static double time_before(const char *text, const char *ram)
{
	struct tm date = { .tm_isdst = -1 };
	int month, day, year, hour, minute, second;
	char *end;
	double seconds = strtod(text, &end);

	if (end != text && end[0] == ':' && end[1] == ':' && seconds > 0 && seconds < SECONDS_MAX)
		return seconds;
	if (ram - text < 19 ||
	    sscanf(ram - 20, "%2d-%2d-%4d %2d:%2d:%2d", &month, &day, &year, &hour, &minute, &second) != 6)
		return -1;
	date.tm_year = year - 1900;
	date.tm_mon = month - 1;
	date.tm_mday = day;
	date.tm_hour = hour;
	date.tm_min = minute;
	date.tm_sec = second;
	return (double)timegm(&date);
}

static bool parse(const char *text, struct sample *s)
{
	const char *ram = strstr(text, "RAM ");

	*s = (struct sample){ .seconds = -1 };
	if (!ram || !pair_behind(ram, "RAM ", &s->used, &s->total) || s->used > s->total)
		return false;
	if (!pair_behind(ram, "SWAP ", &s->swap_used, &s->swap_total))
		s->swap_used = s->swap_total = 0;
	take_block(ram, s);
	s->seconds = time_before(text, ram);
	return true;
}

static int64_t time_of(struct reader *r, const struct sample *s)
{
	int64_t t = r->last_ns + (r->job->result->taken ? SECOND_NS : 0);

	if (s->seconds < 0) {
		r->without_time++;
		return t;
	}
	if (r->first_seconds < 0)
		r->first_seconds = s->seconds - (double)r->last_ns / 1e9;
	return (int64_t)((s->seconds - r->first_seconds) * 1e9);
}

static void take(struct reader *r, const struct sample *s)
{
	struct tare_import_out *out = r->job->out;
	int64_t t;

	if (!r->job->result->taken) {
		tare_import_about(out, &(struct tare_import_about){ .program = "the whole board",
		                                                    .started_realtime_ns =
		                                                        s->seconds > 0 ? (int64_t)(s->seconds * 1e9) : 0 });
		r->total = s->total;
		r->device = tare_import_board(out, "Jetson (one memory for CPU and GPU)", s->total * MIB);
	}
	t = time_of(r, s);
	t = t > r->last_ns || !r->job->result->taken ? t : r->last_ns + 1;
	tare_import_used(out, t, r->device, s->used * MIB);
	r->last_ns = t;
	if (s->swap_used >= r->most_swap.swap_used)
		r->most_swap = *s;
	if (s->block && (!r->has_block || s->block_nr * s->block < r->least_block_bytes)) {
		r->has_block = true;
		r->least_block_bytes = s->block_nr * s->block;
	}
	r->job->result->taken++;
}

/* A line that says no figure, and is none that tegrastats cut short: a date, a prompt, nothing. */
static bool is_other(const char *text)
{
	return !strstr(text, "RAM ") && !strstr(text, "SWAP ") && !strstr(text, "EMC_FREQ ");
}

static void add_notes(struct reader *r)
{
	struct tare_import_out *out = r->job->out;
	char n[TARE_UNITS_TEXT_MAX];

	tare_import_remark(out,
	                   "read from %s: RAM as tegrastats prints it, of all programs, the kernel "
	                   "and the GPU together; what was in use between two lines is not known",
	                   tare_import_in_path(r->job->in));
	if (r->most_swap.swap_total)
		tare_import_remark(out, "swap, which RAM does not count: at most %llu of %llu MiB in use",
		                   (unsigned long long)r->most_swap.swap_used, (unsigned long long)r->most_swap.swap_total);
	if (r->has_block)
		tare_import_remark(out,
		                   "the blocks of the largest size that were free (lfb) came to no "
		                   "less than %llu MiB",
		                   (unsigned long long)r->least_block_bytes);
	if (r->without_time)
		tare_import_remark(out,
		                   "%s of the lines have no time: each stands for a second, which "
		                   "is what tegrastats waits if nobody says otherwise",
		                   tare_units_count(n, r->without_time));
	if (r->job->result->unreadable)
		tare_import_left_out(out,
		                     "%s of the lines cannot be read, the first is line %llu; they were "
		                     "left out",
		                     tare_units_count(n, r->job->result->unreadable), (unsigned long long)r->first_unreadable);
}

int tare_import_read_tegrastats(struct tare_import_job *job, struct tare_err *err)
{
	struct reader r = { .job = job, .first_seconds = -1 };
	struct sample s;
	char *line;
	int rc;

	while ((rc = tare_import_in_line(job->in, &line, err)) > 0) {
		if (parse(line, &s) && (!job->result->taken || s.total == r.total))
			take(&r, &s);
		else if (!is_other(line) && !job->result->unreadable++)
			r.first_unreadable = tare_import_in_line_nr(job->in);
	}
	if (rc < 0)
		return rc;
	if (!job->result->taken)
		return tare_err_set(err, TARE_E_EMPTY, "%s: no line begins as those of tegrastats do: RAM 936/3964MB",
		                    tare_import_in_path(job->in));
	add_notes(&r);
	return 0;
}

static bool has_figures(const char *line)
{
	struct sample s;

	return parse(line, &s) && (s.swap_total || s.block);
}

bool tare_import_is_tegrastats(const char *head, size_t size)
{
	return tare_import_any_line(head, size, has_figures);
}
