/* SPDX-License-Identifier: Apache-2.0 */
/* What a line of a ledger is called: after its place in the program, or after an account that has none. */
#include "ledger/core/fold.h"

#include "base/demangle.h"
#include "base/str.h"
#include "ledger/frame.h"
#include "ledger/line.h"
#include "ledger/line_names.h"

static const char *take(struct tare_arena *memory, struct tare_str *text)
{
	const char *copy = tare_arena_strdup(memory, tare_str_text(text));

	tare_str_cut(text, 0);
	return copy;
}

/* The text of a stack, and where each of its frames ends in it. */
struct stack_text {
	struct tare_str text;
	uint32_t *ends;
	int nr;
};

static struct tare_str *begin_frame(struct stack_text *s)
{
	if (s->nr)
		tare_str_add(&s->text, TARE_LINE_BETWEEN);
	return &s->text;
}

static void end_frame(struct stack_text *s)
{
	s->ends[s->nr++] = (uint32_t)s->text.len;
}

static void take_stack(struct stack_text *s, bool is_full, struct tare_arena *memory, struct tare_ledger_line *l)
{
	*(is_full ? &l->stack : &l->short_stack) = take(memory, &s->text);
	*(is_full ? &l->frame_ends : &l->short_frame_ends) = s->ends;
	l->frame_nr = s->nr;
	tare_str_free(&s->text);
}

static void stack_of_python(const struct tare_line_stack *stack, bool is_full, struct tare_arena *memory,
                            struct tare_ledger_line *l)
{
	struct stack_text s = { .ends = tare_arena_alloc(memory, stack->depth * sizeof(*s.ends)) };

	for (uint32_t i = 0; i < stack->depth; i++) {
		tare_line_add(begin_frame(&s), &stack->lines[i], is_full);
		end_frame(&s);
	}
	take_stack(&s, is_full, memory, l);
}

static void leave_stack_out(struct tare_ledger_line *l)
{
	l->stack = l->label;
	l->short_stack = l->short_label;
}

static void name_python(const struct tare_fold *f, const struct tare_line_stack *stack, struct tare_arena *memory,
                        struct tare_ledger_line *l)
{
	const struct tare_line *line = tare_line_of_user(stack);
	struct tare_str text = { 0 };

	tare_line_add(&text, line, true);
	l->label = take(memory, &text);
	tare_line_add(&text, line, false);
	l->short_label = take(memory, &text);
	tare_str_free(&text);
	if (f->without_stacks) {
		leave_stack_out(l);
	} else {
		stack_of_python(stack, true, memory, l);
		stack_of_python(stack, false, memory, l);
	}
	l->file = tare_arena_strdup(memory, line->file);
	l->function = tare_arena_strdup(memory, line->function);
	l->line = line->line;
}

static void stack_of_frames(const struct tare_frames *frames, bool is_full, struct tare_arena *memory,
                            struct tare_ledger_line *l)
{
	struct stack_text s = { .ends = tare_arena_alloc(memory, frames->count * sizeof(*s.ends)) };

	for (size_t i = 0; i < frames->count; i++) {
		tare_frame_add(begin_frame(&s), &frames->items[i], is_full);
		end_frame(&s);
	}
	take_stack(&s, is_full, memory, l);
}

static void name_native(const struct tare_fold *f, const struct tare_site *site, struct tare_arena *memory,
                        struct tare_ledger_line *l)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	struct tare_frames frames;
	const struct tare_frame *line;

	tare_frames_read(&frames, site->process, site->stack, site->pc);
	line = &frames.items[0];
	tare_frame_add(&text, line, true);
	l->label = take(memory, &text);
	tare_frame_add(&text, line, false);
	l->short_label = take(memory, &text);
	if (line->file) {
		l->file = tare_arena_strdup(memory, line->file);
		tare_demangle_add(&text, line->function ? line->function : "");
		l->function = take(memory, &text);
		l->line = line->line;
	}
	if (f->without_stacks) {
		leave_stack_out(l);
	} else {
		stack_of_frames(&frames, true, memory, l);
		stack_of_frames(&frames, false, memory, l);
	}
	tare_frames_free(&frames);
}

bool tare_fold_is_same_line(const struct tare_fold *f, uint32_t a, uint32_t b)
{
	const struct tare_line *x, *y;

	if (a == b)
		return true;
	if (!a || !b || !f->sites[a].python || !f->sites[b].python)
		return false;
	x = tare_line_of_user(f->sites[a].python);
	y = tare_line_of_user(f->sites[b].python);
	return x && y && x->line == y->line && !strcmp(x->file, y->file);
}

static void name_line(const struct tare_fold *f, uint32_t at, enum tare_account account, struct tare_arena *memory,
                      struct tare_ledger_line *l)
{
	const struct tare_site *site = at ? &f->sites[at] : NULL;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (site && site->python) {
		name_python(f, site->python, memory, l);
		return;
	}
	if (site && site->stack) {
		name_native(f, site, memory, l);
		return;
	}
	if (site)
		tare_fold_site_add_native(&text, site, true);
	else if (account == TARE_ACCOUNT_NONE)
		tare_str_add(&text, "no line");
	else
		tare_str_add(&text, tare_accounts[account].label);
	l->label = l->short_label = l->stack = l->short_stack = take(memory, &text);
}

/* As a ledger of this fold was told, or is told now. */
static const struct tare_ledger_line *known_name(const struct tare_fold *f, uint32_t at)
{
	struct tare_line_names *names = f->line_names;
	uint64_t *known = tare_map_put(&names->by_site, at, NULL);
	struct tare_ledger_line *line;

	if (!*known) {
		line = tare_arena_alloc(&names->memory, sizeof(*line));
		*line = (struct tare_ledger_line){ 0 };
		name_line(f, at, TARE_ACCOUNT_NONE, &names->memory, line);
		*known = (uint64_t)(uintptr_t)line;
	}
	return (const struct tare_ledger_line *)(uintptr_t)*known;
}

void tare_fold_line_name(const struct tare_fold *f, uint32_t at, enum tare_account account, struct tare_arena *memory,
                         struct tare_ledger_line *l)
{
	const struct tare_ledger_line *name;

	if (!at || !f->line_names) {
		name_line(f, at, account, memory, l);
		return;
	}
	name = known_name(f, at);
	l->label = name->label;
	l->short_label = name->short_label;
	l->stack = name->stack;
	l->short_stack = name->short_stack;
	l->frame_ends = name->frame_ends;
	l->short_frame_ends = name->short_frame_ends;
	l->frame_nr = name->frame_nr;
	l->file = name->file;
	l->function = name->function;
	l->line = name->line;
}
