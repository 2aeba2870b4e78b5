/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What heaptrack writes, all numbers in hex: strings (s), instruction pointers with their frames (i), traces (t: a pointer
 * and the trace of its caller), sizes at traces (a), of which + is one more and - one less, times (c, in ms) and resident
 * pages (R). Indices count from 1 but for those of `a`. Raw files (heaptrack --raw), and those of version 0, have
 * addresses instead of `a`; raw ones have modules (m) and addresses in `t`. Versions 0 to 3.
 */
#include "base/array.h"
#include "base/map.h"
#include "base/str.h"
#include "base/units.h"
#include "import/heaptrack_traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_MAX = 3, PAGE_MAX = 1 << 20 };
#define MS_MAX (UINT64_C(1) << 43)

struct size {
	uint64_t bytes, live, trace; /* live: how many there are */
};

struct reader {
	struct tare_import_job *job;
	struct tare_import_heap *heap;        /* NULL: only the program was told so far */
	struct tare_heaptrack_traces *traces; /* NULL: the first line is to come */
	uint64_t version, page, ms;
	struct size *sizes;
	size_t size_nr, size_cap;
	struct tare_map bytes_at, trace_at; /* by address, where there are addresses */
	uint64_t made, unseen;              /* unseen: given back, and not known to be there */
	bool is_attached;
};

/* ---- what comes and goes ---- */

static bool take_size(struct reader *r, const char *text)
{
	struct size s = { 0 };

	if (!tare_heaptrack_number(&text, &s.bytes) || !tare_heaptrack_number(&text, &s.trace) || *text ||
	    s.trace > tare_heaptrack_trace_nr(r->traces) || s.bytes > TARE_IMPORT_HEAP_MAX ||
	    r->size_nr >= TARE_HEAPTRACK_MANY)
		return false;
	TARE_APPEND(r->sizes, r->size_nr, r->size_cap) = s;
	return true;
}

static bool make(struct reader *r, uint64_t bytes, uint64_t trace)
{
	if (bytes > TARE_IMPORT_HEAP_MAX || tare_import_heap_bytes(r->heap) > TARE_IMPORT_HEAP_MAX - bytes)
		return false;
	tare_import_heap_add(r->heap, tare_heaptrack_place(r->traces, trace), (int64_t)bytes);
	r->made++;
	return true;
}

static void take_back(struct reader *r, uint64_t bytes, uint64_t trace)
{
	tare_import_heap_add(r->heap, tare_heaptrack_place(r->traces, trace), -(int64_t)bytes);
}

static bool change_size(struct reader *r, char what, const char *text)
{
	struct size *s;
	uint64_t index;

	if (!tare_heaptrack_number(&text, &index) || *text || index >= r->size_nr)
		return false;
	s = &r->sizes[index];
	if (what == '+') {
		s->live++;
		return make(r, s->bytes, s->trace);
	}
	r->unseen += !s->live;
	if (s->live) {
		s->live--;
		take_back(r, s->bytes, s->trace);
	}
	return true;
}

/* False: nothing is known to be there. */
static bool take_back_at(struct reader *r, uint64_t address)
{
	uint64_t bytes, trace;

	if (!tare_map_remove(&r->bytes_at, address, &bytes) || !tare_map_remove(&r->trace_at, address, &trace))
		return false;
	take_back(r, bytes, trace);
	return true;
}

/* "SIZE TRACE ADDRESS", or "ADDRESS" */
static bool change_address(struct reader *r, char what, const char *text)
{
	uint64_t bytes, trace, address;

	if (what == '-') {
		if (!tare_heaptrack_number(&text, &address) || *text)
			return false;
		r->unseen += !take_back_at(r, address);
		return true;
	}
	if (!tare_heaptrack_number(&text, &bytes) || !tare_heaptrack_number(&text, &trace) ||
	    !tare_heaptrack_number(&text, &address) || *text || trace > tare_heaptrack_trace_nr(r->traces))
		return false;
	take_back_at(r, address); /* its end was not seen */
	if (!make(r, bytes, trace))
		return false;
	*tare_map_put(&r->bytes_at, address, NULL) = bytes;
	*tare_map_put(&r->trace_at, address, NULL) = trace;
	return true;
}

static bool take_change(struct reader *r, char what, const char *text)
{
	if (r->version == 0 || tare_heaptrack_is_raw(r->traces))
		return change_address(r, what, text);
	return change_size(r, what, text);
}

/* ---- time ---- */

static bool take_time(struct reader *r, const char *text)
{
	uint64_t ms;

	if (!tare_heaptrack_number(&text, &ms) || *text || ms > MS_MAX)
		return false;
	r->ms = ms > r->ms ? ms : r->ms;
	tare_import_heap_tell(r->heap, (int64_t)(r->ms * 1000000));
	return true;
}

static bool take_resident(struct reader *r, const char *text)
{
	uint64_t pages;

	if (!tare_heaptrack_number(&text, &pages) || *text || pages > TARE_IMPORT_HEAP_MAX / PAGE_MAX)
		return false;
	if (pages)
		tare_import_resident(r->job->out, (int64_t)(r->ms * 1000000), pages * r->page);
	return true;
}

static bool take_page(struct reader *r, const char *text)
{
	uint64_t page;

	if (!tare_heaptrack_number(&text, &page) || !page || page > PAGE_MAX)
		return false;
	r->page = page;
	return true;
}

/* ---- lines ---- */

static bool take_command(struct reader *r, const char *text)
{
	if (r->heap)
		return false;
	tare_import_about(r->job->out, &(struct tare_import_about){
									   .program = text, .pid = tare_import_pid_of(tare_import_in_path(r->job->in)) });
	return true;
}

static void begin(struct reader *r)
{
	if (r->heap)
		return;
	r->heap = tare_import_heap_new(r->job->out);
	tare_heaptrack_traces_of(r->traces, r->heap);
}

/* # and S say nothing of memory. */
static bool take_line(struct reader *r, const char *line)
{
	const char *text = line[0] && line[1] == ' ' ? line + 1 : "";

	if (line[0] && strchr("ita+-cR", line[0]))
		begin(r);
	switch (line[0]) {
	case 's':
		return tare_heaptrack_string(r->traces, text);
	case 'i':
		return tare_heaptrack_pointer(r->traces, text);
	case 't':
		return tare_heaptrack_trace(r->traces, text);
	case 'x':
		return tare_heaptrack_program(r->traces, text);
	case 'm':
		return tare_heaptrack_module(r->traces, text);
	case 'a':
		return take_size(r, text);
	case '+':
	case '-':
		return take_change(r, line[0], text);
	case 'c':
		return take_time(r, text);
	case 'R':
		return take_resident(r, text);
	case 'I':
		return take_page(r, text);
	case 'X':
		return take_command(r, text + (*text == ' '));
	case 'A':
		r->is_attached = true;
		return true;
	case '#':
	case 'S':
	case '\0':
		return true;
	default:
		return false;
	}
}

/* "v 10550 3": of heaptrack itself, and of the file */
static int take_version(struct reader *r, const char *line, struct tare_err *err)
{
	const char *text = line + 1;
	uint64_t own = 0;

	if (line[0] != 'v' || !tare_heaptrack_number(&text, &own))
		return tare_err_set(err, TARE_E_FORMAT, "%s:1: a file of heaptrack begins with its version, as `v 10550 3`",
		                    tare_import_in_path(r->job->in));
	if (!tare_heaptrack_number(&text, &r->version))
		r->version = own == 0x10200; /* which did not say it */
	if (r->version > VERSION_MAX)
		return tare_err_set(err, TARE_E_NEWER, "%s:1: is version %llu of heaptrack's format; this Tare reads 0 to 3",
		                    tare_import_in_path(r->job->in), (unsigned long long)r->version);
	r->traces = tare_heaptrack_traces_new(r->version);
	return 0;
}

/* A line that cannot be read is damage, because all that follows counts from it; unless the file was cut there. */
static int look_behind(struct reader *r, const char *line, struct tare_err *err)
{
	unsigned long long nr = tare_import_in_line_nr(r->job->in);
	char kept[64], *next;
	int rc;

	snprintf(kept, sizeof(kept), "%s", line);
	rc = tare_import_in_line(r->job->in, &next, err);
	if (rc < 0)
		return rc;
	if (rc)
		return tare_err_set(err, TARE_E_CORRUPT,
		                    "%s:%llu: is no line of heaptrack, points to one that is not there, or "
		                    "makes the heap larger than 16 TiB: \"%s\"",
		                    tare_import_in_path(r->job->in), nr, kept);
	begin(r);
	tare_import_left_out(r->job->out, "the last line of the file, %llu, is not whole", nr);
	r->job->result->unreadable++;
	return 0;
}

static int read_lines(struct reader *r, struct tare_err *err)
{
	char *line;
	int rc;

	while ((rc = tare_import_in_line(r->job->in, &line, err)) > 0) {
		if (!r->traces)
			rc = take_version(r, line, err);
		else if (!take_line(r, line))
			return look_behind(r, line, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

static void add_notes(const struct reader *r)
{
	struct tare_import_out *out = r->job->out;
	char n[TARE_UNITS_TEXT_MAX];

	tare_import_remark(out,
	                   "read from %s: what the program asked malloc for, whether it touched it or "
	                   "not; what happened within 10 ms stands at their end%s",
	                   tare_import_in_path(r->job->in),
	                   tare_heaptrack_is_raw(r->traces)
	                       ? "; the file is raw, so functions have no names (heaptrack_interpret gives it names)"
	                       : "");
	if (r->is_attached)
		tare_import_left_out(out, "heaptrack was attached to a running program: what it had "
		                          "before is not in the file");
	if (r->unseen)
		tare_import_left_out(out, "%s were given back that the file does not know; they were left out",
		                     tare_units_count(n, r->unseen));
}

static int finish(struct reader *r, struct tare_err *err)
{
	struct tare_str said = { 0 };
	char n[TARE_UNITS_TEXT_MAX];

	if (!r->made)
		return tare_err_set(err, TARE_E_EMPTY, "%s: the program asked for nothing, in %llu lines",
		                    tare_import_in_path(r->job->in), (unsigned long long)tare_import_in_line_nr(r->job->in));
	tare_import_heap_tell(r->heap, (int64_t)(r->ms * 1000000));
	add_notes(r);
	r->job->result->taken = r->made;
	tare_str_addf(&said, "%s allocation%s", tare_units_count(n, r->made), r->made == 1 ? "" : "s");
	r->job->result->said = tare_str_steal(&said);
	return 0;
}

int tare_import_read_heaptrack(struct tare_import_job *job, struct tare_err *err)
{
	struct reader r = { .job = job, .page = 4096 };
	int rc = read_lines(&r, err);

	if (!rc)
		rc = finish(&r, err);
	tare_heaptrack_traces_free(r.traces);
	tare_import_heap_free(r.heap);
	tare_map_free(&r.bytes_at);
	tare_map_free(&r.trace_at);
	free(r.sizes);
	return rc;
}

bool tare_import_is_heaptrack(const char *head, size_t size)
{
	const char *end = size ? memchr(head, '\n', size) : NULL;

	return end && head[0] == 'v' && head[1] == ' ' && end + 2 < head + size && strchr("xXI#", end[1]) && end[2] == ' ';
}
