/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What valgrind's massif writes: snapshots, each with a time, the bytes of the heap, of what malloc has around it and of
 * the stacks; some with a tree of the places that asked for the heap. In a tree the callers of malloc come first, and
 * below each its own callers, so a path down is a stack from the innermost frame out.
 *
 * heaptrack_print -M writes the same, and counts less exactly: times are seconds, the head may stand behind the
 * snapshots, a node may have fewer children than it says, and these more bytes than the node has.
 */
#include "base/map.h"
#include "base/str.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "import/heap.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = TARE_IMPORT_FRAMES_MAX };
#define TIME_MAX    (INT64_C(1) << 62)
#define SECONDS_MAX 4e9

/* A node on the path to the line that was read last. */
struct node {
	uint64_t rest; /* bytes that none of its children has so far */
	uint32_t children, frame;
};

struct snapshot {
	int64_t t_ns;
	uint64_t heap, extra, stacks;
	bool has_time, has_heap, has_extra, has_stacks, has_tree, is_by_place;
};

struct reader {
	struct tare_import_job *job;
	struct tare_err *err;
	struct tare_import_heap *heap;
	struct tare_strmap places; /* ids of frames, as text → id */
	struct snapshot now;
	struct node path[DEPTH_MAX + 1];
	size_t depth;    /* of the path */
	bool is_in_tree; /* its root is not read, or a child of one on the path */
	int64_t unit_ns;
	char unit[8];
	uint64_t extra, stacks; /* as told */
	uint64_t trees, placed; /* bytes of the last tree that have a place */
	bool is_heaptrack;
};

#define HEAPTRACK_BEGIN "#-----------\nsnapshot=" /* where the head stands behind */

static int bad(struct reader *r, const char *what, const char *line)
{
	return tare_err_set(r->err, TARE_E_CORRUPT, "%s:%llu: %s: \"%.60s\"", tare_import_in_path(r->job->in),
	                    (unsigned long long)tare_import_in_line_nr(r->job->in), what, line);
}

/* A number with nothing but `end` behind it; where that is. NULL: none, negative, or more than `most`. */
static const char *number(const char *text, char end, uint64_t most, uint64_t *out)
{
	uint64_t value = 0;
	const char *at = text;

	for (; isdigit((unsigned char)*at); at++) {
		if (value > (most - (uint64_t)(*at - '0')) / 10)
			return NULL;
		value = value * 10 + (uint64_t)(*at - '0');
	}
	if (at == text || *at != end)
		return NULL;
	*out = value;
	return at;
}

/* ---- the tree ---- */

/* "main (SOURCE:12)", "??? (in /usr/lib/libc.so.6)": its frame. */
static uint32_t frame_of(struct reader *r, const char *text)
{
	char function[TARE_IMPORT_LINE], *at, *colon, *end;
	uint64_t line = 0;

	memcpy(function, text, strlen(text) + 1);
	at = strrchr(function, '(');
	end = at ? strrchr(at, ')') : NULL;
	if (!at || at == function || at[-1] != ' ' || !end)
		return tare_import_heap_frame(r->heap, "", function, 0);
	at[-1] = *end = '\0';
	at++;
	if (!strncmp(at, "in ", 3) || !strncmp(at, "within ", 7)) {
		at = strchr(at, ' ') + 1;
	} else {
		colon = strrchr(at, ':');
		if (colon && number(colon + 1, '\0', UINT32_MAX, &line))
			*colon = '\0';
	}
	return tare_import_heap_frame(r->heap, strcmp(at, "???") != 0 ? at : "",
	                              strcmp(function, "???") != 0 ? function : "", (uint32_t)line);
}

/* The place that the path down to `depth` is. */
static uint32_t place_of(struct reader *r, size_t depth)
{
	TARE_FREED_BY(tare_str_free) struct tare_str key = { 0 };
	uint32_t frames[DEPTH_MAX];
	size_t count = 0;
	uint64_t *place;
	bool is_new;

	for (size_t i = 1; i < depth; i++) /* the first is malloc itself */
		if (r->path[i].frame) {
			frames[count++] = r->path[i].frame;
			tare_str_addf(&key, "%x ", r->path[i].frame);
		}
	place = tare_strmap_put(&r->places, tare_str_text(&key), &is_new);
	if (is_new)
		*place = tare_import_heap_place(r->heap, frames, count);
	return (uint32_t)*place;
}

/* Nodes whose children were all read are done: what these have not is the node's own. */
static void close_nodes(struct reader *r)
{
	while (r->depth && !r->path[r->depth - 1].children) {
		uint64_t rest = r->path[r->depth - 1].rest;

		uint32_t place = rest ? place_of(r, r->depth) : 0;

		if (rest)
			tare_import_heap_add(r->heap, place, (int64_t)rest);
		r->placed += place ? rest : 0;
		r->depth--;
	}
}

/* The nodes below that depth have no more children, whatever they say. A tree has a root, though. */
static void end_nodes(struct reader *r, size_t depth)
{
	if (!r->depth)
		return;
	while (r->depth > depth) {
		r->path[r->depth - 1].children = 0;
		close_nodes(r);
	}
	r->is_in_tree = r->depth > 0;
}

/* "  n2: 4711 0x40053C: main (SOURCE:12)", as deep as it is indented. */
static int take_node(struct reader *r, const char *line)
{
	size_t indent = strspn(line, " ");
	const char *at = line + indent;
	uint64_t children, bytes;
	struct node *n;

	if (r->is_heaptrack && indent)
		end_nodes(r, indent);
	n = &r->path[r->depth];
	if (*at != 'n' || !(at = number(at + 1, ':', UINT32_MAX, &children)) || at[1] != ' ' ||
	    !(at = number(at + 2, ' ', TARE_IMPORT_HEAP_MAX, &bytes)))
		return bad(r, "no node of a tree, as `n1: 4711 0x40053C: main (SOURCE:12)` is", line);
	at++;
	if (indent != r->depth)
		return bad(r, "is not indented as a child of the node above it", line);
	if (r->depth == DEPTH_MAX)
		return bad(r, "the tree is deeper than 1024 frames", line);
	if (r->is_heaptrack && r->depth && bytes > n[-1].rest)
		bytes = n[-1].rest;
	if (r->depth ? bytes > n[-1].rest : bytes > r->now.heap)
		return bad(r, "has more bytes than what it is a part of has left", line);
	if (r->depth) {
		n[-1].rest -= bytes;
		n[-1].children--;
	} else {
		tare_import_heap_add(r->heap, 0, (int64_t)(r->now.heap - bytes));
	}
	*n = (struct node){ .rest = bytes, .children = (uint32_t)children };
	if (r->depth && !strncmp(at, "0x", 2) && strstr(at, ": "))
		n->frame = frame_of(r, strstr(at, ": ") + 2);
	r->depth++;
	close_nodes(r);
	r->is_in_tree = r->depth > 0;
	return 0;
}

/* ---- snapshots ---- */

static void tell_account(struct reader *r, enum tare_class class, uint64_t *told, uint64_t bytes)
{
	if (*told != bytes)
		tare_import_change(r->job->out, tare_import_now(r->job->out) + 1, tare_import_heap_device(r->heap),
		                   &(struct tare_import_change){ .class = class, .bytes = (int64_t)(bytes - *told) });
	*told = bytes;
}

/* What falls first: no sum in between is more than before and after. */
static void tell_snapshot(struct reader *r)
{
	const struct snapshot *s = &r->now;

	tare_import_change(r->job->out, s->t_ns, tare_import_heap_device(r->heap),
	                   &(struct tare_import_change){ .class = TARE_CLASS_HEAP });
	tell_account(r, TARE_CLASS_HEAP_EXTRA, &r->extra, s->extra < r->extra ? s->extra : r->extra);
	tell_account(r, TARE_CLASS_STACKS, &r->stacks, s->stacks < r->stacks ? s->stacks : r->stacks);
	tare_import_heap_tell(r->heap, s->t_ns);
	tell_account(r, TARE_CLASS_HEAP_EXTRA, &r->extra, s->extra);
	tell_account(r, TARE_CLASS_STACKS, &r->stacks, s->stacks);
	r->job->result->taken++;
	r->trees += s->is_by_place && r->placed;
}

static int end_snapshot(struct reader *r, const char *line)
{
	if (!r->now.has_time)
		return 0;
	if (!r->now.has_tree || r->is_in_tree)
		return bad(r, "the snapshot above is not whole", line);
	tell_snapshot(r);
	r->now = (struct snapshot){ 0 };
	return 0;
}

static int begin_tree(struct reader *r, const char *kind, const char *line)
{
	struct snapshot *s = &r->now;
	bool is_detailed = !strcmp(kind, "detailed") || !strcmp(kind, "peak");

	if (!is_detailed && strcmp(kind, "empty") != 0)
		return bad(r, "a tree is empty, detailed or peak", line);
	if (!s->has_time || !s->has_heap || !s->has_extra || !s->has_stacks)
		return bad(r, "a time or a size is missing above", line);
	s->has_tree = true;
	/* Without a tree the last one still holds, as far as the heap has not become less than that. */
	if (is_detailed || s->heap < r->placed) {
		tare_import_heap_clear(r->heap);
		r->placed = 0;
	}
	if (!is_detailed)
		tare_import_heap_add(r->heap, 0, (int64_t)(s->heap - tare_import_heap_bytes(r->heap)));
	s->is_by_place = is_detailed;
	r->is_in_tree = is_detailed;
	return 0;
}

static int take_size(struct reader *r, const char *text, uint64_t *out, bool *has, const char *line)
{
	if (*has || !number(text, '\0', TARE_IMPORT_HEAP_MAX, out))
		return bad(r, "is no size of a heap in bytes, or there are two", line);
	*has = true;
	return 0;
}

/* "0.067", "1.23e+06" */
static int take_seconds(struct reader *r, const char *text, const char *line)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0 && seconds < SECONDS_MAX))
		return bad(r, "is no time", line);
	r->now.t_ns = (int64_t)(seconds * 1e9 + 0.5);
	r->now.has_time = true;
	return 0;
}

static int take_time(struct reader *r, const char *text, const char *line)
{
	uint64_t time;

	if (r->is_heaptrack)
		return take_seconds(r, text, line);
	if (!number(text, '\0', (uint64_t)(TIME_MAX / r->unit_ns), &time))
		return bad(r, "is no time", line);
	r->now.t_ns = (int64_t)time * r->unit_ns;
	r->now.has_time = true;
	return 0;
}

static void begin(struct reader *r, const char *command)
{
	if (r->heap)
		return;
	tare_import_about(r->job->out,
	                  &(struct tare_import_about){ .program = command,
	                                               .pid = tare_import_pid_of(tare_import_in_path(r->job->in)) });
	r->heap = tare_import_heap_new(r->job->out);
}

static int take_unit(struct reader *r, const char *unit, const char *line)
{
	bool is_seconds = !strcmp(unit, "s");

	if (!is_seconds && strcmp(unit, "i") != 0 && strcmp(unit, "ms") != 0 && strcmp(unit, "B") != 0)
		return bad(r, "a time is in i, ms, B or s", line);
	if (r->unit_ns && r->is_heaptrack != is_seconds)
		return bad(r, "times above were taken for another unit", line);
	r->is_heaptrack = is_seconds;
	r->unit_ns = strcmp(unit, "ms") != 0 ? 1 : 1000000;
	snprintf(r->unit, sizeof(r->unit), "%s", unit);
	return 0;
}

/* The head stands behind the snapshots: only heaptrack writes it there. */
static void begin_without_head(struct reader *r)
{
	begin(r, NULL);
	r->is_heaptrack = true;
	r->unit_ns = 1;
}

/* Of a head: "desc:", "cmd:", "time_unit:". */
static int take_head(struct reader *r, const char *line)
{
	if (r->is_heaptrack)
		end_nodes(r, 0);
	if (!strncmp(line, "cmd: ", 5)) {
		if (r->heap)
			tare_import_remark(r->job->out, "the program was %s", line + 5);
		begin(r, line + 5);
	}
	return strncmp(line, "time_unit: ", 11) != 0 ? 0 : take_unit(r, line + 11, line);
}

static bool is_head(const char *line)
{
	return !strncmp(line, "desc: ", 6) || !strncmp(line, "cmd: ", 5) || !strncmp(line, "time_unit: ", 11);
}

static int take_line(struct reader *r, const char *line)
{
	const char *value = strchr(line, '=');

	if (is_head(line))
		return take_head(r, line);
	if (line[0] == '#' && r->is_heaptrack)
		end_nodes(r, 0);
	if (line[0] == '#' || !line[0])
		return 0;
	if (!strncmp(line, "snapshot=", 9) && !r->heap && !r->unit_ns)
		begin_without_head(r);
	if (!r->unit_ns || !r->heap)
		return bad(r, "stands before the lines `cmd:` and `time_unit:`", line);
	if (!strncmp(line, "snapshot=", 9))
		return end_snapshot(r, line);
	if (r->is_in_tree)
		return take_node(r, line);
	value = value ? value + 1 : line;
	if (!strncmp(line, "time=", 5))
		return take_time(r, value, line);
	if (!strncmp(line, "mem_heap_B=", 11))
		return take_size(r, value, &r->now.heap, &r->now.has_heap, line);
	if (!strncmp(line, "mem_heap_extra_B=", 17))
		return take_size(r, value, &r->now.extra, &r->now.has_extra, line);
	if (!strncmp(line, "mem_stacks_B=", 13))
		return take_size(r, value, &r->now.stacks, &r->now.has_stacks, line);
	if (!strncmp(line, "heap_tree=", 10))
		return begin_tree(r, value, line);
	return bad(r, "is no line of massif", line);
}

static void add_notes(struct reader *r, bool is_cut)
{
	struct tare_import_out *out = r->job->out;

	tare_import_remark(out,
	                   "read from %s: what the program asked malloc for at %llu moments, by place "
	                   "at %llu of them; what came behind such a one has no place until the "
	                   "next. Between two moments it is not known, and what was resident neither",
	                   tare_import_in_path(r->job->in), (unsigned long long)r->job->result->taken,
	                   (unsigned long long)r->trees);
	if (r->unit_ns == 1 && !r->is_heaptrack)
		tare_import_remark(out, "times are %s: a billion of them stand for a second",
		                   r->unit[0] == 'i' ? "instructions" : "bytes asked for and given back");
	if (is_cut)
		tare_import_left_out(out,
		                     "the file ends in the middle of a snapshot, at line %llu: that "
		                     "one was left out",
		                     (unsigned long long)tare_import_in_line_nr(r->job->in));
	if (r->is_heaptrack && !r->unit[0])
		tare_import_left_out(out, "the file ends before its last line, `time_unit: s`: snapshots are missing, "
		                          "or a part of the last one");
}

static int finish(struct reader *r)
{
	struct tare_str said = { 0 };
	char n[TARE_UNITS_TEXT_MAX];
	bool is_whole;

	if (r->is_heaptrack)
		end_nodes(r, 0);
	is_whole = r->now.has_tree && !r->is_in_tree;
	if (is_whole)
		tell_snapshot(r);
	if (!r->job->result->taken)
		return tare_err_set(r->err, TARE_E_EMPTY, "%s: has no whole snapshot, at %llu lines",
		                    tare_import_in_path(r->job->in), (unsigned long long)tare_import_in_line_nr(r->job->in));
	add_notes(r, r->now.has_time && !is_whole);
	tare_str_addf(&said, "%s snapshots", tare_units_count(n, r->job->result->taken));
	tare_str_addf(&said, ", %s of them by place", tare_units_count(n, r->trees));
	r->job->result->said = tare_str_steal(&said);
	return 0;
}

int tare_import_read_massif(struct tare_import_job *job, struct tare_err *err)
{
	TARE_FREED_HERE struct reader *r = tare_xcalloc(1, sizeof(*r));
	char *line;
	int rc;

	r->job = job;
	r->err = err;
	while ((rc = tare_import_in_line(job->in, &line, err)) > 0)
		if ((rc = take_line(r, line)) < 0)
			break;
	if (!rc)
		rc = finish(r);
	tare_import_heap_free(r->heap);
	tare_strmap_free(&r->places);
	return rc;
}

bool tare_import_is_massif(const char *head, size_t size)
{
	static const char unit[] = "\ntime_unit: ";

	if (size >= sizeof(HEAPTRACK_BEGIN) - 1 && !memcmp(head, HEAPTRACK_BEGIN, sizeof(HEAPTRACK_BEGIN) - 1))
		return true;
	return size > 6 && !memcmp(head, "desc: ", 6) && memmem(head, size, unit, sizeof(unit) - 1);
}
