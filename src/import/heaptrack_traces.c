/* SPDX-License-Identifier: Apache-2.0 */
/* Reads strings, modules, addresses and traces from a file of heaptrack. */
#include "import/heaptrack_traces.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/comparator.h"
#include "base/map.h"
#include "base/str.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { MODULES_MAX = 1 << 16 };

struct pointer {
	uint32_t first, count; /* of its frames in `frames` */
};

struct trace {
	uint32_t pointer, caller; /* 1 + their indices, 0: none */
	uint32_t place;           /* 1 + it; 0: not asked for so far */
};

struct module {
	uint64_t begin, end, base;
	uint32_t path; /* 1 + its index in `strings` */
};

struct tare_heaptrack_traces {
	struct tare_import_heap *heap;
	uint64_t version;
	bool is_raw, is_sorted;
	char *program;
	char **strings;
	size_t string_nr, string_cap;
	struct pointer *pointers;
	size_t pointer_nr, pointer_cap;
	uint32_t *frames;
	size_t frame_nr, frame_cap;
	struct trace *traces;
	size_t trace_nr, trace_cap;
	struct module *modules; /* of a raw file, by address once they are sorted */
	size_t module_nr, module_cap;
	struct tare_map pointer_of; /* of a raw file: address → 1 + its index */
};

struct tare_heaptrack_traces *tare_heaptrack_traces_new(uint64_t version)
{
	struct tare_heaptrack_traces *t = tare_xcalloc(1, sizeof(*t));

	t->version = version;
	return t;
}

void tare_heaptrack_traces_of(struct tare_heaptrack_traces *t, struct tare_import_heap *heap)
{
	t->heap = heap;
}

void tare_heaptrack_traces_free(struct tare_heaptrack_traces *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->string_nr; i++)
		free(t->strings[i]);
	tare_map_free(&t->pointer_of);
	free(t->program);
	free(t->strings);
	free(t->pointers);
	free(t->frames);
	free(t->traces);
	free(t->modules);
	free(t);
}

bool tare_heaptrack_number(const char **text, uint64_t *out)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = *text + strspn(*text, " ");
	size_t count = strspn(at, digits);

	if (!count || count > 16 || (at[count] && at[count] != ' '))
		return false;
	*out = 0;
	for (size_t i = 0; i < count; i++)
		*out = *out << 4 | (uint64_t)(strchr(digits, at[i]) - digits);
	*text = at + count;
	return true;
}

bool tare_heaptrack_is_raw(const struct tare_heaptrack_traces *t)
{
	return t->is_raw;
}

size_t tare_heaptrack_trace_nr(const struct tare_heaptrack_traces *t)
{
	return t->trace_nr;
}

/* ---- strings ---- */

/* From version 3 on their length stands before them. What is behind the string; NULL: there is none. */
static const char *string_end(const struct tare_heaptrack_traces *t, const char **text)
{
	uint64_t length;

	*text += **text == ' ';
	if (t->version < 3)
		return *text + strlen(*text);
	if (!tare_heaptrack_number(text, &length) || *(*text)++ != ' ' || length > strlen(*text))
		return NULL;
	return *text + length;
}

static uint32_t add_string(struct tare_heaptrack_traces *t, const char *text, size_t length)
{
	TARE_APPEND(t->strings, t->string_nr, t->string_cap) = tare_xstrndup(text, length);
	return (uint32_t)t->string_nr;
}

bool tare_heaptrack_string(struct tare_heaptrack_traces *t, const char *text)
{
	const char *end = string_end(t, &text);

	if (!end || *end || t->string_nr >= TARE_HEAPTRACK_MANY)
		return false;
	add_string(t, text, (size_t)(end - text));
	return true;
}

static const char *string_of(const struct tare_heaptrack_traces *t, uint64_t index)
{
	return index && index <= t->string_nr ? t->strings[index - 1] : "";
}

/* ---- modules of a raw file ---- */

bool tare_heaptrack_program(struct tare_heaptrack_traces *t, const char *text)
{
	const char *end = string_end(t, &text);

	if (!end)
		return false;
	free(t->program);
	t->program = tare_xstrndup(text, (size_t)(end - text));
	t->is_raw = true;
	return true;
}

/* "PATH BASE [BEGIN SIZE]…"; the path "-": all that were told are gone; "x": the program. */
bool tare_heaptrack_module(struct tare_heaptrack_traces *t, const char *text)
{
	const char *end;
	uint64_t base, begin, size;
	uint32_t path;

	text += *text == ' ';
	end = t->version < 3 ? text + strcspn(text, " ") : string_end(t, &text);
	if (!end)
		return false;
	t->is_raw = true;
	if (end == text + 1 && *text == '-') {
		t->module_nr = 0;
		return true;
	}
	if (t->string_nr >= TARE_HEAPTRACK_MANY)
		return false;
	path = end == text + 1 && *text == 'x' && t->program ? add_string(t, t->program, strlen(t->program))
	                                                     : add_string(t, text, (size_t)(end - text));
	if (!tare_heaptrack_number(&end, &base))
		return false;
	while (tare_heaptrack_number(&end, &begin)) {
		if (!tare_heaptrack_number(&end, &size) || t->module_nr >= MODULES_MAX)
			return false;
		TARE_APPEND(t->modules, t->module_nr, t->module_cap) =
			(struct module){ base + begin, base + begin + size, base, path };
		t->is_sorted = false;
	}
	return *end == '\0';
}

TARE_COMPARATOR(by_begin, struct module, TARE_RISING(begin))

static const struct module *module_at(struct tare_heaptrack_traces *t, uint64_t address)
{
	size_t low = 0;

	if (!t->is_sorted && t->module_nr)
		TARE_SORT(t->modules, t->module_nr, by_begin);
	t->is_sorted = true;
	TARE_BISECT(low, t->module_nr, i, t->modules[i].begin <= address);
	return low && address < t->modules[low - 1].end ? &t->modules[low - 1] : NULL;
}

/* ---- instruction pointers ---- */

static bool add_frame(struct tare_heaptrack_traces *t, const char *file, const char *function, uint64_t line)
{
	if (line > UINT32_MAX || t->frame_nr >= TARE_HEAPTRACK_MANY)
		return false;
	TARE_APPEND(t->frames, t->frame_nr, t->frame_cap) = tare_import_heap_frame(t->heap, file, function, (uint32_t)line);
	return true;
}

/* Of what has no name: where it is in its module. */
static bool add_address(struct tare_heaptrack_traces *t, const char *module, uint64_t address)
{
	TARE_FREED_BY(tare_str_free) struct tare_str function = { 0 };

	tare_str_addf(&function, "0x%llx", (unsigned long long)address);
	return add_frame(t, module, tare_str_text(&function), 0);
}

static bool add_pointer(struct tare_heaptrack_traces *t, size_t first)
{
	if (t->pointer_nr >= TARE_HEAPTRACK_MANY)
		return false;
	TARE_APPEND(t->pointers, t->pointer_nr, t->pointer_cap) =
		(struct pointer){ (uint32_t)first, (uint32_t)(t->frame_nr - first) };
	return true;
}

/* "ADDRESS MODULE [FUNCTION [FILE LINE]]…": from the innermost inlined function out. */
bool tare_heaptrack_pointer(struct tare_heaptrack_traces *t, const char *text)
{
	uint64_t address, module, function, file, line;
	size_t first = t->frame_nr;

	if (!tare_heaptrack_number(&text, &address) || !tare_heaptrack_number(&text, &module))
		return false;
	while (tare_heaptrack_number(&text, &function)) {
		bool has_file = tare_heaptrack_number(&text, &file);

		if (has_file && !tare_heaptrack_number(&text, &line))
			return false;
		if (!add_frame(t, string_of(t, has_file ? file : module), string_of(t, function), has_file ? line : 0))
			return false;
	}
	if (*text || (t->frame_nr == first && !add_address(t, string_of(t, module), address)))
		return false;
	return add_pointer(t, first);
}

/* Of a raw file: 1 + the index of the pointer there; 0: there are too many. */
static uint64_t pointer_at(struct tare_heaptrack_traces *t, uint64_t address)
{
	const struct module *m;
	bool is_new;
	uint64_t *known = tare_map_put(&t->pointer_of, address, &is_new);

	if (!is_new)
		return *known;
	m = module_at(t, address);
	if (add_address(t, m ? string_of(t, m->path) : "", address - (m ? m->base : 0)) && add_pointer(t, t->frame_nr - 1))
		*known = t->pointer_nr;
	return *known;
}

/* ---- traces ---- */

/* A caller's trace stands before those that it calls, so every chain of them ends. */
bool tare_heaptrack_trace(struct tare_heaptrack_traces *t, const char *text)
{
	uint64_t pointer, caller;

	if (!tare_heaptrack_number(&text, &pointer) || !tare_heaptrack_number(&text, &caller) || *text ||
	    caller > t->trace_nr || t->trace_nr >= TARE_HEAPTRACK_MANY)
		return false;
	if (t->is_raw)
		pointer = pointer_at(t, pointer);
	if (pointer > t->pointer_nr)
		return false;
	TARE_APPEND(t->traces, t->trace_nr, t->trace_cap) = (struct trace){ (uint32_t)pointer, (uint32_t)caller, 0 };
	return true;
}

static size_t add_frames(const struct tare_heaptrack_traces *t, const struct trace *trace, uint32_t *frames,
                         size_t depth)
{
	const struct pointer *p = trace->pointer ? &t->pointers[trace->pointer - 1] : NULL;

	for (uint32_t i = 0; p && i < p->count && depth < TARE_IMPORT_FRAMES_MAX; i++)
		frames[depth++] = t->frames[p->first + i];
	return depth;
}

uint32_t tare_heaptrack_place(struct tare_heaptrack_traces *t, uint64_t index)
{
	struct trace *first = index ? &t->traces[index - 1] : NULL;
	uint32_t frames[TARE_IMPORT_FRAMES_MAX];
	size_t depth = 0;

	if (!first)
		return 0;
	if (first->place)
		return first->place - 1;
	for (size_t i = 0; index && i < TARE_IMPORT_FRAMES_MAX; i++) {
		depth = add_frames(t, &t->traces[index - 1], frames, depth);
		index = t->traces[index - 1].caller;
	}
	first->place = 1 + tare_import_heap_place(t->heap, frames, depth);
	return first->place - 1;
}
