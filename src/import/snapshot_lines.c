/* SPDX-License-Identifier: Apache-2.0 */
/* Makes lines and stacks of the frames of a snapshot. */
#include "base/xalloc.h"
#include "import/snapshot_records.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 512 /* lines of a stack: the innermost */

enum { IS_KNOWN = 1, IS_WRITTEN = 2, HAS_PYTHON = 4, HAS_NATIVE = 8, IS_BACKWARD = 16 };

void tare_snapshot_lines_begin(struct tare_snapshot_lines *l, const struct tare_snapshot *snapshot,
                               struct tare_import_out *out)
{
	*l = (struct tare_snapshot_lines){ .snapshot = snapshot, .out = out };
	l->stacks = tare_xcalloc(tare_snapshot_stack_count(snapshot) + 1, sizeof(*l->stacks));
	l->frames = tare_xcalloc(tare_snapshot_frame_count(snapshot) + 1, sizeof(*l->frames));
}

/* Frames of C++ have a library, a file of C++, or "??". */
static bool is_python(const struct tare_snapshot *s, const struct tare_snapshot_frame *frame)
{
	const char *file = tare_snapshot_text(s, frame->file);
	size_t len = strlen(file);

	return *file == '<' || (len > 3 && !strcmp(file + len - 3, ".py"));
}

static uint8_t *look(struct tare_snapshot_lines *l, uint32_t stack)
{
	struct tare_snapshot_frame frame;
	uint8_t *known = &l->stacks[stack];

	if (*known)
		return known;
	*known = IS_KNOWN;
	for (size_t at = 0; tare_snapshot_frame(l->snapshot, stack, at, &frame); at++) {
		if (is_python(l->snapshot, &frame))
			*known |= HAS_PYTHON;
		else
			*known |= HAS_NATIVE;
		if (strstr(tare_snapshot_text(l->snapshot, frame.name), "autograd::Engine::thread"))
			*known |= IS_BACKWARD;
	}
	return known;
}

static uint64_t line_of(struct tare_snapshot_lines *l, uint32_t number, const struct tare_snapshot_frame *frame)
{
	struct tare_rec_line rec = { .head = { .kind = TARE_KIND_LINE }, .id = number + 1 };

	if (!l->frames[number]) {
		l->frames[number] = true;
		rec.file = tare_import_string(l->out, tare_snapshot_text(l->snapshot, frame->file));
		rec.function = tare_import_string(l->out, tare_snapshot_text(l->snapshot, frame->name));
		rec.line = frame->line > 0 && frame->line < UINT32_MAX ? (uint32_t)frame->line : 0;
		tare_import_add(l->out, 0, &rec, sizeof(rec), NULL, 0);
	}
	return rec.id;
}

/* Of a stack with Python its lines of Python, as tare run has them; of another its functions of C++. */
static void write_stack(struct tare_snapshot_lines *l, uint32_t stack, bool has_python)
{
	struct tare_rec_line_stack rec = { .head = { .kind = TARE_KIND_LINE_STACK }, .id = stack };
	uint64_t lines[DEPTH_MAX];
	struct tare_snapshot_frame frame;

	for (size_t at = 0; rec.depth < DEPTH_MAX && tare_snapshot_frame(l->snapshot, stack, at, &frame); at++)
		if (!has_python || is_python(l->snapshot, &frame))
			lines[rec.depth++] = line_of(l, tare_snapshot_frame_number(l->snapshot, stack, at), &frame);
	tare_import_add(l->out, 0, &rec, sizeof(rec), lines, rec.depth * sizeof(*lines));
}

bool tare_snapshot_lines_are_backward(struct tare_snapshot_lines *l, uint32_t stack)
{
	return *look(l, stack) & IS_BACKWARD;
}

uint32_t tare_snapshot_lines_of(struct tare_snapshot_lines *l, uint32_t stack)
{
	uint8_t *known = look(l, stack);

	if (!(*known & HAS_PYTHON) && (*known & IS_BACKWARD || !(*known & HAS_NATIVE)))
		return 0;
	if (!(*known & IS_WRITTEN))
		write_stack(l, stack, *known & HAS_PYTHON);
	*known |= IS_WRITTEN;
	return stack;
}

/* Behind all ids of the file. */
uint32_t tare_snapshot_lines_of_none(struct tare_snapshot_lines *l)
{
	struct tare_rec_line line = { .head = { .kind = TARE_KIND_LINE },
		                          .id = tare_snapshot_frame_count(l->snapshot) + 1 };
	struct tare_rec_line_stack stack = { .head = { .kind = TARE_KIND_LINE_STACK },
		                                 .id = tare_snapshot_stack_count(l->snapshot),
		                                 .depth = 1 };
	uint64_t id = line.id;

	if (l->has_none)
		return stack.id;
	l->has_none = true;
	line.file = tare_import_string(l->out, "no line in the snapshot");
	line.function = tare_import_string(l->out, "");
	tare_import_add(l->out, 0, &line, sizeof(line), NULL, 0);
	tare_import_add(l->out, 0, &stack, sizeof(stack), &id, sizeof(id));
	return stack.id;
}
