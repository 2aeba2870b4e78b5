/* SPDX-License-Identifier: Apache-2.0 */
/* Follows which operators and functions a thread of a trace is in, as lines of stacks. */
#include "import/kineto_spans.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/str.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* So that a trace of any length is read in bounded memory. */
#define SPANS_MAX      (UINT64_C(2) << 20)
#define NAME_BYTES_MAX (UINT64_C(32) << 20)
#define NAME_MAX       1024 /* bytes of one: the rest is cut */

enum { DEPTH_MAX = 128 }; /* of spans that are open at once on a thread: inner ones are left out */

struct tare_kineto_span {
	int64_t begin_ns, end_ns;
	uint32_t name;
	uint32_t thread : 30, what : 2;
};

struct tare_kineto_thread {
	struct tare_kineto_span *open[DEPTH_MAX];
	size_t depth;
};

uint32_t tare_kineto_spans_id(struct tare_kineto_spans *s, const char *name)
{
	char kept[NAME_MAX];
	size_t size;
	uint64_t *id;
	bool is_new;

	size = strnlen(name, sizeof(kept) - 1);
	memcpy(kept, name, size);
	kept[size] = '\0';
	id = tare_strmap_get(&s->name_ids, kept);
	if (id)
		return (uint32_t)*id;
	if (s->name_bytes + size > NAME_BYTES_MAX)
		return 0;
	s->name_bytes += size + 64;
	id = tare_strmap_put(&s->name_ids, kept, &is_new);
	*id = s->name_ids.count;
	if (!s->name_nr)
		TARE_APPEND(s->names, s->name_nr, s->name_cap) = NULL; /* ids begin at 1 */
	TARE_APPEND(s->names, s->name_nr, s->name_cap) = tare_xstrdup(kept);
	return (uint32_t)*id;
}

const char *tare_kineto_spans_name(const struct tare_kineto_spans *s, uint32_t id)
{
	return id ? s->names[id] : "";
}

uint32_t tare_kineto_spans_next_module(const struct tare_kineto_spans *s, uint32_t id)
{
	while (++id <= s->name_ids.count)
		if (tare_map_get(&s->modules, id))
			return id;
	return 0;
}

/* From 1; 0: there are too many. */
static uint32_t thread_of(struct tare_kineto_spans *s, int64_t tid)
{
	uint64_t *id = tare_map_get(&s->thread_ids, (uint64_t)tid);

	if (id)
		return (uint32_t)*id;
	if (s->thread_nr == 1 << 14)
		return 0;
	TARE_APPEND(s->threads, s->thread_nr, s->thread_cap) = (struct tare_kineto_thread){ 0 };
	*tare_map_put(&s->thread_ids, (uint64_t)tid, NULL) = s->thread_nr;
	return (uint32_t)s->thread_nr;
}

void tare_kineto_spans_add(struct tare_kineto_spans *s, enum tare_kineto_what what, int64_t tid, int64_t begin_ns,
                           int64_t end_ns, const char *name)
{
	uint32_t thread = thread_of(s, tid), id = tare_kineto_spans_id(s, name);

	if (s->count == SPANS_MAX || !thread || !id) {
		s->left_out++;
		return;
	}
	if (what == TARE_KINETO_MODULE)
		*tare_map_put(&s->modules, id, NULL) = true;
	TARE_APPEND(s->items, s->count, s->cap) = (struct tare_kineto_span){
		.begin_ns = begin_ns, .end_ns = end_ns, .name = id, .thread = thread & 0x3fffffff, .what = (unsigned)what & 3
	};
}

void tare_kineto_spans_shift(struct tare_kineto_spans *s, int64_t by_ns)
{
	for (size_t i = 0; i < s->count; i++) {
		s->items[i].begin_ns -= by_ns;
		s->items[i].end_ns -= by_ns;
	}
}

/* Of two that begin at once, the longer one is around the other. */
TARE_COMPARATOR(by_begin, struct tare_kineto_span,
                TARE_RISING(begin_ns) TARE_FALLING(end_ns) TARE_FALLING(what) TARE_RISING(name))

void tare_kineto_spans_begin(struct tare_kineto_spans *s, struct tare_import_out *out)
{
	s->out = out;
	TARE_SORT(s->items, s->count, by_begin);
}

/* ---- lines ---- */

/* "train.py(12): step" is a line of a file; anything else stands for itself. */
static void write_line(struct tare_kineto_spans *s, uint32_t name)
{
	const char *text = s->names[name], *colon = strstr(text, "): ");
	struct tare_rec_line rec = { .head = { .kind = TARE_KIND_LINE }, .id = name };
	const char *open = colon;
	TARE_FREED_BY(tare_str_free) struct tare_str file = { 0 };
	bool is_new;

	*tare_map_put(&s->lines, name, &is_new) = true;
	if (!is_new)
		return;
	while (open && open > text && *open != '(')
		open--;
	if (open && *open == '(') {
		tare_str_add_n(&file, text, (size_t)(open - text));
		rec.line = (uint32_t)strtoul(open + 1, NULL, 10);
		text = colon + 3;
	}
	rec.file = tare_import_string(s->out, file.len ? tare_str_text(&file) : text);
	rec.function = tare_import_string(s->out, file.len ? text : "");
	tare_import_add(s->out, 0, &rec, sizeof(rec), NULL, 0);
}

/* `lines`: names, innermost first. The outer lines decide which stack it is, one after the other. */
static uint32_t stack_of(struct tare_kineto_spans *s, const uint64_t *lines, uint32_t depth)
{
	struct tare_rec_line_stack rec = { .head = { .kind = TARE_KIND_LINE_STACK }, .depth = depth };
	uint64_t *known = NULL, outer = 0;

	for (uint32_t i = depth; i-- > 0; outer = *known) {
		bool is_new;

		write_line(s, (uint32_t)lines[i]);
		known = tare_map_put(&s->stacks, outer << 32 | lines[i], &is_new);
		if (!is_new)
			continue;
		rec.id = ++s->stack_nr;
		rec.depth = depth - i;
		*known = rec.id;
		tare_import_add(s->out, 0, &rec, sizeof(rec), lines + i, rec.depth * sizeof(*lines));
	}
	return (uint32_t)outer;
}

uint32_t tare_kineto_spans_saying(struct tare_kineto_spans *s, const char *text)
{
	uint64_t id = tare_kineto_spans_id(s, text);

	return id ? stack_of(s, &id, 1) : 0;
}

/* ---- what is open ---- */

static void open_until(struct tare_kineto_spans *s, int64_t t_ns)
{
	for (; s->next < s->count && s->items[s->next].begin_ns <= t_ns; s->next++) {
		struct tare_kineto_span *span = &s->items[s->next];
		struct tare_kineto_thread *thread = &s->threads[span->thread - 1];

		while (thread->depth && thread->open[thread->depth - 1]->end_ns < span->begin_ns)
			thread->depth--;
		if (thread->depth < DEPTH_MAX)
			thread->open[thread->depth++] = span;
	}
}

/* What every operator calls to have memory says nothing of which one it is. */
static bool only_allocates(const char *name)
{
	return !strncmp(name, "aten::empty", 11) || !strcmp(name, "aten::resize_");
}

/* Of Python where there is some, as tare run has it; else operators. */
static uint32_t lines_of(const struct tare_kineto_spans *s, const struct tare_kineto_thread *thread, int64_t t_ns,
                         enum tare_kineto_what what, uint64_t *lines)
{
	uint32_t depth = 0;

	for (size_t i = thread->depth; i-- > 0;) {
		const struct tare_kineto_span *span = thread->open[i];

		if (span->what != (unsigned)what || span->end_ns < t_ns)
			continue;
		if (depth == 1 && only_allocates(s->names[lines[0]]))
			depth = 0;
		lines[depth++] = span->name;
	}
	return depth;
}

struct tare_kineto_place tare_kineto_spans_at(struct tare_kineto_spans *s, int64_t tid, int64_t t_ns)
{
	const uint64_t *id = tare_map_get(&s->thread_ids, (uint64_t)tid);
	struct tare_kineto_place place = { 0 };
	const struct tare_kineto_thread *thread;
	uint64_t lines[DEPTH_MAX];
	uint32_t depth;

	open_until(s, t_ns);
	if (!id)
		return place;
	thread = &s->threads[*id - 1];
	if (lines_of(s, thread, t_ns, TARE_KINETO_MODULE, lines))
		place.module = (uint32_t)lines[0];
	depth = lines_of(s, thread, t_ns, TARE_KINETO_PYTHON, lines);
	if (!depth)
		depth = lines_of(s, thread, t_ns, TARE_KINETO_OPERATOR, lines);
	place.python = depth ? stack_of(s, lines, depth) : 0;
	return place;
}
