/* SPDX-License-Identifier: Apache-2.0 */
/* How wide the columns of a table are on a screen that may be too narrow for it. */
#include "base/emit_text.h"

/* Down to which a text is cut: the label of a row while there is another way, and then; other texts. */
enum { LEAST_LABEL = 24, NARROW_LABEL = 12, LEAST_TEXT = 8 };

static bool may_be_cut(const struct tare_emit_table *t, size_t column)
{
	return t->columns[column].kind == TARE_COL_TEXT && !t->columns[column].is_whole;
}

size_t tare_text_total(const struct tare_emit_table *t)
{
	size_t total = 0;
	bool is_first = true;

	for (size_t c = 0; c < t->column_count; c++) {
		size_t width = t->text->widths[c].shown;

		/* A last column of nothing, such as a word behind the figures, takes no room. */
		if (!tare_text_is_shown(t, c) || (!is_first && !width))
			continue;
		total += width + (is_first ? 0 : sizeof(TARE_TEXT_GAP) - 1);
		is_first = false;
	}
	return total;
}

static size_t excess(const struct tare_emit_table *t, size_t limit)
{
	size_t total = tare_text_total(t);

	return total > limit ? total - limit : 0;
}

/* Takes up to `excess` columns from one, but leaves it `least`. */
static void narrow(struct tare_text_width *w, size_t excess, size_t least)
{
	if (w->shown > least)
		w->shown = w->shown - least > excess ? w->shown - excess : least;
}

static size_t first_shown(const struct tare_emit_table *t)
{
	size_t c = 0;

	while (c < t->column_count && !t->columns[c].head)
		c++;
	return c;
}

/* The head with the most room in it goes to two lines and more. */
static void wrap_heads(struct tare_emit_table *t, size_t limit)
{
	for (size_t left = t->column_count; left && excess(t, limit); left--) {
		size_t best = t->column_count, most = 0;

		for (size_t c = 0; c < t->column_count; c++) {
			struct tare_text_width *w = &t->text->widths[c];
			size_t least = w->widest > w->word ? w->widest : w->word;

			if (tare_text_is_shown(t, c) && w->shown > least && w->shown - least > most) {
				most = w->shown - least;
				best = c;
			}
		}
		if (best == t->column_count)
			return;
		narrow(&t->text->widths[best], excess(t, limit), t->text->widths[best].shown - most);
	}
}

/* Of the texts behind the label the widest, that may get narrower; none: the label. */
static size_t widest_text(const struct tare_emit_table *t, size_t label)
{
	size_t best = label;

	for (size_t c = label + 1; c < t->column_count; c++)
		if (tare_text_is_shown(t, c) && may_be_cut(t, c) && t->text->widths[c].shown > LEAST_TEXT &&
		    (best == label || t->text->widths[c].shown > t->text->widths[best].shown))
			best = c;
	return best;
}

/* The widest gives way until another one is as wide, and so on: none is all cut while another is whole. */
static void cut_texts(struct tare_emit_table *t, size_t limit)
{
	size_t label = first_shown(t), best;

	while (excess(t, limit) && (best = widest_text(t, label)) != label)
		t->text->widths[best].shown--;
}

static void cut_label(struct tare_emit_table *t, size_t limit, size_t least)
{
	size_t label = first_shown(t);

	if (label < t->column_count && may_be_cut(t, label))
		narrow(&t->text->widths[label], excess(t, limit), least);
}

enum importance { QUIET, ORDINARY, MAIN };

static enum importance importance_of(const struct tare_column *c)
{
	return c->is_main ? MAIN : c->is_quiet ? QUIET : ORDINARY;
}

/* From the right, what is of this importance. */
static size_t leave_out(struct tare_emit_table *t, size_t limit, enum importance importance)
{
	size_t label = first_shown(t), count = 0;

	for (size_t c = t->column_count; c-- > label + 1 && excess(t, limit);) {
		struct tare_text_width *w = &t->text->widths[c];

		if (!tare_text_is_shown(t, c) || !w->shown || importance_of(&t->columns[c]) != importance)
			continue;
		w->is_left_out = true;
		count++;
	}
	return count;
}

/* What was left out may have been wider than what there was too much: labels first, then heads. */
static void widen(struct tare_emit_table *t, size_t limit)
{
	for (size_t c = 0; c < t->column_count && tare_text_total(t) < limit; c++) {
		struct tare_text_width *w = &t->text->widths[c];
		size_t full = w->head > w->widest ? w->head : w->widest;
		size_t room = limit - tare_text_total(t);

		if (tare_text_is_shown(t, c) && w->shown < full)
			w->shown = full - w->shown > room ? w->shown + room : full;
	}
}

/* What is not on a screen may be as wide as it needs to; a tree is not, as long as its labels can give way. */
static void fit_tree(struct tare_emit_table *t, size_t limit)
{
	struct tare_text_width *label = &t->text->widths[0];

	if (label->shown < LEAST_LABEL)
		label->shown = LEAST_LABEL;
	cut_label(t, limit, LEAST_LABEL);
}

size_t tare_text_fit(struct tare_emit *e, struct tare_emit_table *t)
{
	size_t limit = (size_t)e->style.width, left_out;
	bool is_tree = t->shape == TARE_SHAPE_TREE;

	for (size_t c = 0; c < t->column_count; c++) {
		struct tare_text_width *w = &t->text->widths[c];

		w->shown = w->head > w->widest ? w->head : w->widest;
	}
	if (!e->style.is_screen) {
		if (is_tree)
			fit_tree(t, limit);
		return 0;
	}
	if (is_tree && t->text->widths[0].shown < LEAST_LABEL && tare_text_total(t) < limit)
		t->text->widths[0].shown = LEAST_LABEL;
	wrap_heads(t, limit);
	cut_label(t, limit, LEAST_LABEL);
	cut_texts(t, limit);
	left_out = leave_out(t, limit, QUIET);
	cut_label(t, limit, NARROW_LABEL);
	left_out += leave_out(t, limit, ORDINARY);
	left_out += leave_out(t, limit, MAIN);
	widen(t, limit);
	return left_out;
}
