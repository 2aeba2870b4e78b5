/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What torch.profiler's export_memory_timeline() writes: bytes of tensors by what they are for. Two layouts, which have
 * lists of whole numbers and nothing else: with .raw.json.gz [[ns, action, bytes, category], …], else
 * [[µs, …], [[0, bytes of each category …], …]]. With .html it is a picture, which has no figures.
 */
#include "base/array.h"
#include "base/str.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "import/kineto_gpu.h"
#include "import/kineto_match.h"
#include "import/kineto_spans.h"
#include "import/torch_library.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TITLE     "<title>GPU Memory Timeline HTML</title>"
#define TIMES_MAX (UINT64_C(1) << 24)
#define TIME_MAX  (INT64_C(1) << 61) /* ns */

enum { ROW_MAX = 64 };

/* In the order of PyTorch's _CATEGORY_TO_COLORS. */
static const char *const categories[] = { "parameter",  "optimizer state", "input",           "temporary",
	                                      "activation", "gradient",        "autograd detail", "unknown" };

enum { CATEGORIES = sizeof(categories) / sizeof(categories[0]), COLUMNS = CATEGORIES + 1 };

struct reader {
	struct tare_import_job *job;
	struct tare_err *err;
	char bytes[1 << 16];
	size_t size, at;
	int64_t number; /* the last token */
	int64_t *times; /* of the first list */
	size_t time_nr, time_cap;
	struct tare_kineto_spans spans; /* names of lines */
	struct tare_kineto_gpu gpu;
	struct tare_kineto_match match[CATEGORIES];
	uint32_t lines[CATEGORIES];
	int64_t first_ns;
	uint64_t rows, ends, most;
	bool has_begun;
};

/* ---- brackets and numbers ---- */

enum token { TOKEN_OPEN, TOKEN_CLOSE, TOKEN_NUMBER, TOKEN_END, TOKEN_WRONG };

static int next_byte(struct reader *r)
{
	if (r->at == r->size) {
		int64_t n = tare_import_in_read(r->job->in, r->bytes, sizeof(r->bytes), r->err);

		r->at = 0;
		r->size = n > 0 ? (size_t)n : 0;
		if (!r->size)
			return n < 0 ? (int)n : 0;
	}
	return (unsigned char)r->bytes[r->at++];
}

static enum token read_number(struct reader *r, int c)
{
	char text[24], *end;
	size_t n = 0;

	for (; c > 0 && (isdigit(c) || c == '-') && n + 1 < sizeof(text); c = next_byte(r))
		text[n++] = (char)c;
	text[n] = '\0';
	if (c > 0)
		r->at--;
	errno = 0;
	r->number = strtoll(text, &end, 10);
	return c < 0 || !n || *end || errno ? TOKEN_WRONG : TOKEN_NUMBER;
}

static enum token next(struct reader *r)
{
	int c;

	do
		c = next_byte(r);
	while (c > 0 && strchr(" ,\n\t\r", c));
	if (c == '[')
		return TOKEN_OPEN;
	if (c == ']')
		return TOKEN_CLOSE;
	if (c == 0)
		return TOKEN_END;
	return c > 0 ? read_number(r, c) : TOKEN_WRONG;
}

static int wrong(struct reader *r, const char *what)
{
	if (r->err->code)
		return r->err->code;
	return tare_err_set(r->err, TARE_E_FORMAT, "%s: byte %llu: %s", tare_import_in_path(r->job->in),
	                    (unsigned long long)(tare_import_in_offset(r->job->in) - (r->size - r->at)), what);
}

/* Behind its `[`; how many numbers, or -1. */
static int read_row(struct reader *r, int64_t *row)
{
	int n = 0;
	enum token t;

	while ((t = next(r)) == TOKEN_NUMBER) {
		if (n == ROW_MAX)
			return -1;
		row[n++] = r->number;
	}
	return t == TOKEN_CLOSE ? n : -1;
}

/* ---- what is told ---- */

/* Blocks of a category have addresses of their own. */
static uint64_t address_in(int category, uint64_t at)
{
	return ((uint64_t)category + 1) << 52 | at;
}

static void begin(struct reader *r, int64_t first_ns)
{
	struct tare_import_out *out = r->job->out;

	r->has_begun = true;
	r->first_ns = first_ns;
	tare_import_about(out, &(struct tare_import_about){ .started_realtime_ns = first_ns });
	tare_kineto_spans_begin(&r->spans, out);
	tare_torch_library_name(out);
	tare_kineto_gpu_begin(&r->gpu, out, tare_import_device(out, "", -1, TARE_NOT_KNOWN), TARE_NOT_KNOWN, 0);
	for (int i = 0; i < CATEGORIES; i++)
		r->lines[i] = tare_kineto_spans_saying(&r->spans, categories[i]);
}

static void note_most(struct reader *r)
{
	if (r->gpu.allocated > r->most)
		r->most = r->gpu.allocated;
}

static bool is_size(int64_t bytes)
{
	return bytes > -(int64_t)TARE_KINETO_BYTES_MAX && bytes < (int64_t)TARE_KINETO_BYTES_MAX;
}

static bool is_time(int64_t t, int64_t unit)
{
	return t >= -1 && t < TIME_MAX / unit;
}

/* Each tensor by itself: one that comes has bytes above 0, whatever the action is called. */
static int take_event(struct reader *r, const int64_t *row, int n)
{
	struct tare_kineto_from from = { .tid = 1 };
	struct tare_kineto_match *match;
	int category = n == 4 && row[3] >= 0 && row[3] < CATEGORIES ? (int)row[3] : -1;

	if (category < 0 || !is_time(row[0], 1) || !is_size(row[2]))
		return wrong(r, "an event has a time, an action, bytes and a category");
	if (!r->has_begun && row[0] >= 0)
		begin(r, row[0]);
	else if (!r->has_begun)
		begin(r, 0);
	if (!r->first_ns && row[0] > 0)
		r->first_ns = row[0];
	from.t_ns = row[0] > r->first_ns ? row[0] - r->first_ns : 0;
	from.python = r->lines[category];
	match = &r->match[category];
	r->rows++;
	if (match->end >= UINT64_C(1) << 51)
		return wrong(r, "there are more different tensors than any memory has");
	if (row[2] > 0)
		tare_kineto_gpu_block(&r->gpu, &from, address_in(category, tare_kineto_match_begin(match, (uint64_t)row[2])),
		                      (uint64_t)row[2]);
	else if (row[2] < 0 &&
	         !tare_kineto_gpu_block_gone(&r->gpu, &from,
	                                     address_in(category, tare_kineto_match_end(match, (uint64_t)-row[2]))))
		r->ends++;
	note_most(r);
	return 0;
}

/* The bytes that each category has from here on: those that become less go first. */
static int take_step(struct reader *r, const int64_t *row, int n)
{
	struct tare_kineto_from from = { .tid = 1 };
	int64_t t;

	if (n != COLUMNS || r->rows >= r->time_nr)
		return wrong(r, "a step has 9 sizes and a time");
	t = r->times[r->rows++] * 1000;
	if (!r->has_begun)
		begin(r, t > 0 ? t : 0);
	from.t_ns = t > r->first_ns ? t - r->first_ns : 0;
	for (int is_more = 0; is_more < 2; is_more++)
		for (int i = 0; i < CATEGORIES; i++) {
			uint64_t at = address_in(i, UINT64_C(1) << 32), now = (uint64_t)row[i + 1];
			const uint64_t *known = tare_map_get(&r->gpu.blocks, at);

			if (row[i + 1] < 0 || !is_size(row[i + 1]))
				return wrong(r, "a size cannot be that");
			if ((known ? *known : 0) == now || (now > (known ? *known : 0)) != is_more)
				continue;
			from.python = r->lines[i];
			tare_kineto_gpu_block_gone(&r->gpu, &from, at);
			if (now)
				tare_kineto_gpu_block(&r->gpu, &from, at, now);
		}
	note_most(r);
	return 0;
}

/* ---- the file ---- */

static int read_rows(struct reader *r, int (*take)(struct reader *, const int64_t *, int))
{
	int64_t row[ROW_MAX];
	enum token t;
	int n, rc = 0;

	while (!rc && (t = next(r)) == TOKEN_OPEN) {
		n = read_row(r, row);
		rc = n < 0 ? wrong(r, "a list of numbers does not end") : take(r, row, n);
	}
	return rc || t == TOKEN_CLOSE ? rc : wrong(r, "a list was expected, or its end");
}

/* The first event was read as if it were times, and the number with which the second one begins. */
static int read_events(struct reader *r)
{
	int64_t row[1 + ROW_MAX] = { r->number };
	int rc = take_event(r, r->times, r->time_nr < ROW_MAX ? (int)r->time_nr : ROW_MAX);
	int n = rc ? 0 : read_row(r, row + 1);

	if (n < 0)
		return wrong(r, "a list of numbers does not end");
	if (!rc)
		rc = take_event(r, row, 1 + n);
	return rc ? rc : read_rows(r, take_event);
}

static int read_steps(struct reader *r)
{
	int64_t row[ROW_MAX];
	int n, rc;

	for (size_t i = 0; i < r->time_nr; i++)
		if (!is_time(r->times[i], 1000))
			return wrong(r, "a time cannot be that");
	n = read_row(r, row);
	if (n < 0)
		return wrong(r, "a list of numbers does not end");
	rc = take_step(r, row, n);
	return rc ? rc : read_rows(r, take_step);
}

/* The first list is an event, or has the times of all steps. */
static int read_all(struct reader *r)
{
	enum token t;

	if (next(r) != TOKEN_OPEN || next(r) != TOKEN_OPEN)
		return wrong(r, "two lists begin such a file");
	while ((t = next(r)) == TOKEN_NUMBER) {
		if (r->time_nr == TIMES_MAX)
			return wrong(r, "there are too many steps");
		TARE_APPEND(r->times, r->time_nr, r->time_cap) = r->number;
	}
	if (t != TOKEN_CLOSE)
		return wrong(r, "a list of numbers does not end");
	t = next(r);
	if (t == TOKEN_CLOSE && r->time_nr == 4)
		return take_event(r, r->times, 4);
	if (t == TOKEN_OPEN)
		t = next(r);
	if (t == TOKEN_NUMBER)
		return read_events(r);
	if (t == TOKEN_OPEN)
		return read_steps(r);
	return t == TOKEN_CLOSE ? 0 : wrong(r, "a list was expected, or its end");
}

static void add_notes(struct reader *r)
{
	struct tare_import_out *out = r->job->out;
	char n[TARE_UNITS_TEXT_MAX];

	tare_import_remark(
		out,
		"read from %s, a memory timeline of torch.profiler: bytes of tensors on one device, by what PyTorch took them for "
		"(--by line), and nothing else; which device, lines, addresses and what the allocator holds are not in it",
		tare_import_in_path(r->job->in));
	if (r->ends)
		tare_import_left_out(out, "%s tensors end in it and never began", tare_units_count(n, r->ends));
}

static int finish(struct reader *r)
{
	struct tare_str text = { 0 };
	char n[2][TARE_UNITS_TEXT_MAX];

	if (!r->rows)
		return tare_err_set(r->err, TARE_E_EMPTY, "%s: the timeline has no memory of its device",
		                    tare_import_in_path(r->job->in));
	add_notes(r);
	tare_str_addf(&text, "%s change%s, tensors of up to %s bytes", tare_units_count(n[0], r->rows),
	              r->rows == 1 ? "" : "s", tare_units_count(n[1], r->most));
	r->job->result->said = tare_str_steal(&text);
	r->job->result->taken = r->rows;
	return 0;
}

static bool is_picture(const char *head, size_t size)
{
	return memmem(head, size, TITLE, sizeof(TITLE) - 1) != NULL;
}

int tare_import_read_memory_timeline(struct tare_import_job *job, struct tare_err *err)
{
	TARE_FREED_HERE struct reader *r = tare_xcalloc(1, sizeof(*r));
	struct tare_err mine = { 0 };
	int c, rc;

	r->job = job;
	r->err = err ? err : &mine;
	c = next_byte(r);
	r->at -= c > 0;
	if (is_picture(r->bytes, r->size))
		rc = tare_err_set(err, TARE_E_FORMAT,
		                  "%s: is a picture and has no figures: export_memory_timeline() writes these to a "
		                  "file whose name ends with .raw.json.gz",
		                  tare_import_in_path(job->in));
	else
		rc = read_all(r);
	if (!rc)
		rc = finish(r);
	if (r->has_begun)
		tare_kineto_gpu_end(&r->gpu);
	for (int i = 0; i < CATEGORIES; i++)
		tare_kineto_match_free(&r->match[i]);
	tare_kineto_spans_free(&r->spans);
	free(r->times);
	return rc;
}

/* "[[", then a number; or the page with the picture. */
bool tare_import_is_memory_timeline(const char *head, size_t size)
{
	size_t at = 0, open = 0;

	for (; at < size && (head[at] == '[' || isspace((unsigned char)head[at])); at++)
		open += head[at] == '[';
	return (open == 2 && at < size && (isdigit((unsigned char)head[at]) || head[at] == '-')) || is_picture(head, size);
}
