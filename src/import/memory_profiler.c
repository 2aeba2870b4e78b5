/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What memory_profiler prints for a function with @profile: a line of source, what was resident behind it, the increment
 * and, since 0.58, how often it ran. Each such line becomes a phase from (resident - increment) to resident; the lines
 * stand in the order of the source, which need not be that of time.
 */
#include "base/str.h"
#include "base/text.h"
#include "base/units.h"
#include "import/import_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB_MAX 1e9
#define STEP_NS INT64_C(1000000) /* a line stands for so long */

struct row {
	unsigned long line;
	bool has_figures;
	double resident, increment; /* MiB */
	const char *source;
};

struct reader {
	struct tare_import_job *job;
	char file[256];
	bool is_in_table;
	int memory;
	int64_t t;
	uint64_t first_unreadable;
};

/* "25.19141 MiB"; false: no such figure is there. */
static bool figure(const char **text, double *mib)
{
	char *end;
	double value = strtod(*text, &end);

	if (end == *text || value != value || value > MIB_MAX || value < -MIB_MAX)
		return false;
	end += strspn(end, " ");
	if (strncmp(end, "MiB", 3) != 0)
		return false;
	*mib = value;
	*text = end + 3;
	return true;
}

/* "    17  25.19922 MiB   0.00781 MiB      1   filename = …"; false: it is no line of a table. */
static bool parse(const char *text, struct row *row)
{
	char *end;

	*row = (struct row){ 0 };
	row->line = strtoul(text, &end, 10);
	if (end == text || *text == '-' || (*end && *end != ' '))
		return false;
	text = row->source = end;
	if (!figure(&text, &row->resident))
		return true;
	if (!figure(&text, &row->increment) || row->resident < 0)
		return false;
	row->has_figures = true;
	row->source = text + strspn(text, " ");
	strtoul(row->source, &end, 10);
	if (end != row->source && *end == ' ') /* how often */
		row->source = end;
	row->source += strspn(row->source, " ");
	return true;
}

static uint64_t bytes_of(double mib)
{
	return mib > 0 ? (uint64_t)(mib * 1048576 + 0.5) : 0;
}

static void take(struct reader *r, const struct row *row)
{
	struct tare_import_out *out = r->job->out;
	struct tare_str name = { 0 };

	tare_str_addf(&name, "%s:%lu  %s", tare_text_last_part(r->file), row->line, row->source);
	if (!r->job->result->taken)
		r->memory = tare_import_board(out, "resident memory of the process", TARE_NOT_KNOWN);
	tare_import_used(out, r->t, r->memory, bytes_of(row->resident - row->increment));
	tare_import_phase(out, r->t + 1, TARE_PHASE_PUSH, tare_str_text(&name));
	r->t += STEP_NS;
	tare_import_used(out, r->t - 2, r->memory, bytes_of(row->resident));
	tare_import_phase(out, r->t - 1, TARE_PHASE_POP, NULL);
	tare_str_free(&name);
	r->job->result->taken++;
}

/* What stands in a table without figures: its head, rulers, lines of source that did not run. */
static void take_line(struct reader *r, const char *line)
{
	struct row row;

	if (strncmp(line, "Filename: ", 10) == 0) {
		snprintf(r->file, sizeof(r->file), "%s", line + 10);
		r->is_in_table = false;
	} else if (strncmp(line, "Line #", 6) == 0) {
		r->is_in_table = true;
	} else if (r->is_in_table && line[0] && line[0] != '=') {
		if (!parse(line, &row)) {
			if (strstr(line, "MiB") && !r->job->result->unreadable++)
				r->first_unreadable = tare_import_in_line_nr(r->job->in);
		} else if (row.has_figures) {
			take(r, &row);
		}
	}
}

int tare_import_read_memory_profiler(struct tare_import_job *job, struct tare_err *err)
{
	struct reader r = { .job = job, .file = "source" };
	char n[TARE_UNITS_TEXT_MAX];
	char *line;
	int rc;

	while ((rc = tare_import_in_line(job->in, &line, err)) > 0)
		take_line(&r, line);
	if (rc < 0)
		return rc;
	if (!job->result->taken)
		return tare_err_set(err, TARE_E_EMPTY, "%s: no line of the report has figures, such as `17  25.2 MiB  0.1 MiB`",
		                    tare_import_in_path(job->in));
	tare_import_remark(job->out,
	                   "read from %s: lines stand in the order of the source, each for a millisecond; "
	                   "what was resident is that of the process, all its libraries included",
	                   tare_import_in_path(job->in));
	if (job->result->unreadable)
		tare_import_left_out(job->out, "%s of the lines cannot be read, the first is line %llu; they were left out",
		                     tare_units_count(n, job->result->unreadable), (unsigned long long)r.first_unreadable);
	return 0;
}

/* Its head is the only line that no other program prints. */
bool tare_import_is_memory_profiler(const char *head, size_t size)
{
	static const char mark[] = "Line #    Mem usage    Increment";

	return memmem(head, size, mark, sizeof(mark) - 1) != NULL;
}
