/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes frames that people can read of the return addresses of a stack: names, lines, inlined functions, and what kind
 * of function each is.
 */
#include "ledger/frame.h"

#include "base/array.h"
#include "base/demangle.h"
#include "base/demangle_rust.h"
#include "base/text.h"
#include "dwarf/dwarf.h"
#include "ledger/line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum kind { PROGRAM, CONTAINER, ALLOCATOR };

/* ---- what a function is, by its name ---- */

static bool begins(const char *name, const char *begin)
{
	size_t len = strlen(begin);

	if (begin[len - 1] == '!')
		return strlen(name) == len - 1 && !strncmp(name, begin, len - 1);
	return !strncmp(name, begin, len);
}

static enum kind kind_by_begin(const char *function)
{
#define TARE_LIBRARY_FUNCTION(BEGIN, KIND) { BEGIN, KIND },
	static const struct {
		const char *begin;
		enum kind kind;
	} known[] = {
#include "ledger/core/library_functions.def"
	};
#undef TARE_LIBRARY_FUNCTION

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (begins(function, known[i].begin))
			return known[i].kind;
	return PROGRAM;
}

/* Names of Rust begin with what is the same in all crates: they are compared as people see them. */
static enum kind kind_of(const char *function)
{
	enum kind kind = function ? kind_by_begin(function) : PROGRAM;
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

	if (function && kind == PROGRAM && tare_demangle_rust_add(&name, function))
		kind = kind_by_begin(tare_str_text(&name));
	return kind;
}

/* ---- from return addresses to frames ---- */

static void add(struct tare_frames *out, const struct tare_frame *frame)
{
	TARE_APPEND(out->items, out->count, out->cap) = *frame;
}

/* A call is in the line and the inlined functions of its last byte, which is in front of the address that it returns to. */
static bool add_lines(struct tare_frames *out, const struct tare_object *object, const struct tare_frame *last,
                      uint64_t pc)
{
	const struct tare_dwarf_frame *lines;
	size_t count = object->path ? tare_dwarf_find(object->path, object->build_id, pc - 1 - object->base, &lines) : 0;

	for (size_t i = 0; i < count; i++) {
		struct tare_frame frame = *last;

		if (i + 1 < count || !frame.function)
			frame.function = lines[i].function;
		frame.file = lines[i].file;
		frame.line = lines[i].line;
		add(out, &frame);
	}
	return count > 0;
}

static void add_address(struct tare_frames *out, const struct tare_process *process, const struct tare_stack *stack,
                        uint64_t pc)
{
	const struct tare_object *object = tare_process_object(process, stack, pc - 1);
	const struct tare_symbol *symbol = tare_process_symbol(process, stack, pc);
	struct tare_frame frame = { .object = object ? object->path : NULL };

	if (symbol) {
		frame.function = symbol->name;
		frame.offset = symbol->offset;
	} else {
		frame.offset = pc - (object ? object->base : 0);
	}
	if (!object || !add_lines(out, object, &frame, pc))
		add(out, &frame);
}

/* What stands between the kernel and main, or the function of a thread. */
static bool is_start(const struct tare_frame *frame)
{
	if (frame->function && !strcmp(frame->function, "_start"))
		return true;
	return frame->object && (!strncmp(tare_text_last_part(frame->object), "libc.so", 7) ||
	                         !strncmp(tare_text_last_part(frame->object), "libc-2.", 7) ||
	                         !strncmp(tare_text_last_part(frame->object), "libpthread", 10) ||
	                         !strncmp(tare_text_last_part(frame->object), "libstdc++", 9) ||
	                         !strncmp(tare_text_last_part(frame->object), "ld-", 3));
}

static enum kind kind_of_frame(const struct tare_frame *frame)
{
	enum kind kind = kind_of(frame->function);

	if (kind == PROGRAM && frame->file && tare_line_is_library(frame->file))
		return CONTAINER;
	return kind;
}

/* How many frames at the front are of no kind above `most`. */
static size_t skip(const struct tare_frames *frames, enum kind most)
{
	size_t i = 0;

	while (i < frames->count && kind_of_frame(&frames->items[i]) > most)
		i++;
	return i < frames->count ? i : 0;
}

/* What stands between the kernel and a function of the program: libc, and the library of the language. */
static void leave_out_start(struct tare_frames *frames)
{
	size_t count = frames->count;

	/* Rust marks the place by a function of this name. */
	for (size_t i = 1; i < count; i++)
		if (frames->items[i].function && strstr(frames->items[i].function, "__rust_begin_short_backtrace"))
			count = i;
	while (count > 1 && (is_start(&frames->items[count - 1]) || kind_of_frame(&frames->items[count - 1]) != PROGRAM))
		count--;
	frames->count = count;
}

static void leave_out(struct tare_frames *frames)
{
	size_t first;

	leave_out_start(frames);
	first = skip(frames, PROGRAM);
	if (!first)
		first = skip(frames, CONTAINER);
	frames->count -= first;
	memmove(frames->items, frames->items + first, frames->count * sizeof(*frames->items));
}

void tare_frames_read(struct tare_frames *out, const struct tare_process *process, const struct tare_stack *stack,
                      uint64_t pc)
{
	uint32_t i = 0;

	*out = (struct tare_frames){ 0 };
	while (i < stack->depth && stack->pcs[i] != pc)
		i++;
	for (; i < stack->depth; i++)
		add_address(out, process, stack, stack->pcs[i]);
	if (!out->count)
		add_address(out, process, stack, pc);
	leave_out(out);
}

void tare_frames_free(struct tare_frames *frames)
{
	free(frames->items);
	*frames = (struct tare_frames){ 0 };
}

/* ---- what they are called ---- */

void tare_frame_add(struct tare_str *out, const struct tare_frame *frame, bool is_full)
{
	const char *object = frame->object ? tare_text_last_part(frame->object) : NULL;

	if (frame->file) {
		tare_str_add(out, is_full ? frame->file : tare_text_last_part(frame->file));
		if (frame->line)
			tare_str_addf(out, ":%" PRIu32, frame->line);
		tare_str_add(out, " in ");
	}
	if (!object && !frame->file) {
		if (frame->function)
			tare_frame_add_jit(out, frame->function, is_full);
		else
			tare_str_add(out, "code of no file");
		return;
	}
	if (frame->function)
		tare_demangle_add(out, frame->function);
	if (frame->file)
		return;
	if (frame->function)
		tare_str_addf(out, "+0x%" PRIx64 " in %s", frame->offset, object);
	else
		tare_str_addf(out, "%s+0x%" PRIx64, object, frame->offset);
}
