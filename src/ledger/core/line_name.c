/* SPDX-License-Identifier: Apache-2.0 */
/* What a line of a ledger is called: after its place in the program, or after an account that has none. */
#include "ledger/core/fold.h"

#include "base/str.h"
#include "ledger/line.h"

static const char *take(struct tare_arena *memory, struct tare_str *text)
{
	const char *copy = tare_arena_strdup(memory, tare_str_text(text));

	tare_str_cut(text, 0);
	return copy;
}

static void name_python(const struct tare_line_stack *stack, struct tare_arena *memory,
			struct tare_ledger_line *l)
{
	const struct tare_line *line = tare_line_of_user(stack);
	struct tare_str text = { 0 };

	tare_line_add(&text, line, true);
	l->label = take(memory, &text);
	tare_line_add(&text, line, false);
	l->short_label = take(memory, &text);
	tare_line_add_stack(&text, stack, true);
	l->stack = take(memory, &text);
	tare_line_add_stack(&text, stack, false);
	l->short_stack = take(memory, &text);
	l->file = tare_arena_strdup(memory, line->file);
	l->function = tare_arena_strdup(memory, line->function);
	l->line = line->line;
	tare_str_free(&text);
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

void tare_fold_line_name(const struct tare_fold *f, uint32_t at, enum tare_account account,
			 struct tare_arena *memory, struct tare_ledger_line *l)
{
	const struct tare_site *site = at ? &f->sites[at] : NULL;
	struct tare_str text = { 0 };

	if (site && site->python) {
		name_python(site->python, memory, l);
		return;
	}
	if (site)
		tare_fold_site_add_native(&text, site);
	else if (account == TARE_ACCOUNT_NONE)
		tare_str_add(&text, "no line");
	else
		tare_str_add(&text, tare_accounts[account].label);
	l->label = l->short_label = l->stack = l->short_stack = take(memory, &text);
	tare_str_free(&text);
}
