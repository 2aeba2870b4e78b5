/* SPDX-License-Identifier: Apache-2.0 */
/* Prints stacks as a tree, innermost frames first. */
#include "view/stack_tree.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/xalloc.h"
#include "ledger/line.h"
#include "view/passing_frame.h"

#include <stdlib.h>
#include <string.h>

enum {
	LEAST = 52429, /* bytes: what does not show as 0.0 MiB */
	SHARE = 500,   /* … and is not less than a five hundredth of all */
	WORTH = 100,   /* … or has a hundredth of all that was ever handed out */
	DEEPEST = 10,  /* level; deeper ones stand there, too */
};

/* A stack in one column, of whose frames those are shown that do more than pass a call on; at least the innermost. */
struct tare_stack_item {
	const struct tare_by_row *row;
	int column;
	int *shown, shown_nr; /* places of its frames */
};

/* Stacks that have the same frames up to one of them. */
struct group {
	size_t first, end; /* of the items */
	struct tare_by_row *sums;
	int64_t weight;
};

struct shown {
	const struct tare_stack_tree *tree;
	tare_stack_tree_row *show;
	void *arg;
	int64_t ever_bytes; /* of all */
	int64_t least;      /* that is worth a row */
};

struct text {
	const char *at;
	size_t len;
};

/* ---- frames ---- */

static int frames_of(const struct tare_by_row *row)
{
	return row->line && row->line->frame_nr && row->label == row->line->stack ? row->line->frame_nr : 1;
}

static struct text cut(const char *text, const uint32_t *ends, int at)
{
	size_t from = at ? ends[at - 1] + sizeof(TARE_LINE_BETWEEN) - 1 : 0;

	return (struct text){ text + from, ends[at] - from };
}

static struct text frame(const struct tare_by_row *row, int at, bool is_full)
{
	const struct tare_ledger_line *l = row->line;

	if (frames_of(row) == 1) {
		const char *text = is_full || !l || row->label != l->stack ? row->label : l->short_stack;

		return (struct text){ text, strlen(text) };
	}
	return is_full ? cut(l->stack, l->frame_ends, at) : cut(l->short_stack, l->short_frame_ends, at);
}

static bool passes_on(const struct tare_by_row *row, int at)
{
	struct text whole = frame(row, at, true);

	return tare_frame_passes_on(whole.at, whole.len);
}

static int shown_frames(const struct tare_by_row *row, int **out)
{
	int nr = 0, all = frames_of(row);

	*out = tare_xcalloc((size_t)all, sizeof(**out));
	for (int i = 0; i < all; i++)
		if (!passes_on(row, i))
			(*out)[nr++] = i;
	return nr ? nr : 1;
}

/* Of the frames that are shown, one. */
static struct text shown_frame(const struct tare_stack_item *item, int at, bool is_full)
{
	return frame(item->row, item->shown[at], is_full);
}

static int compare_text(struct text a, struct text b)
{
	int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_frames(const void *a, const void *b)
{
	const struct tare_stack_item *x = a, *y = b;
	int x_nr = x->shown_nr, y_nr = y->shown_nr;

	for (int i = 0; i < x_nr && i < y_nr; i++) {
		int order = compare_text(shown_frame(x, i, true), shown_frame(y, i, true));

		if (order)
			return order;
	}
	return x_nr != y_nr ? (x_nr > y_nr) - (x_nr < y_nr) : x->column - y->column;
}

/* ---- groups ---- */

static void add_to(struct tare_by_row *sum, const struct tare_by_row *row)
{
	sum->ledger = row->ledger;
	sum->device = row->device;
	sum->bytes += row->bytes;
	sum->count += row->count;
	sum->driver_ns += row->driver_ns;
	sum->host_anon += row->host_anon;
	sum->host_file += row->host_file;
	sum->unexplained += row->unexplained;
	sum->tensors.bytes += row->tensors.bytes;
	sum->tensors.count += row->tensors.count;
	sum->tensors.ever += row->tensors.ever;
	sum->tensors.ever_bytes += row->tensors.ever_bytes;
	if (row->evidence > sum->evidence)
		sum->evidence = row->evidence;
}

static int64_t weight_of(const struct tare_by_row *sums, int column_nr)
{
	int64_t most = 0;

	for (int i = 0; i < column_nr; i++) {
		int64_t host = sums[i].host_anon + sums[i].host_file;

		most = sums[i].bytes > most ? sums[i].bytes : most;
		most = sums[i].tensors.bytes > most ? sums[i].tensors.bytes : most;
		most = host > most ? host : most;
		most = sums[i].unexplained > most ? sums[i].unexplained : most;
	}
	return most;
}

static struct group make_group(const struct tare_stack_tree *t, size_t first, size_t end)
{
	struct group g = { first, end, tare_xcalloc((size_t)t->column_nr, sizeof(*g.sums)), 0 };

	for (size_t i = first; i < end; i++)
		add_to(&g.sums[t->items[i].column], t->items[i].row);
	g.weight = weight_of(g.sums, t->column_nr);
	return g;
}

TARE_COMPARATOR(by_weight, struct group, TARE_FALLING(weight) TARE_RISING(first))

/* The items first … end, which are the same up to a frame, by the next one. Those that end there are in no group. */
static size_t split(const struct tare_stack_tree *t, size_t first, size_t end, int depth, struct group **out)
{
	size_t count = 0, cap = 0;

	*out = NULL;
	while (first < end && t->items[first].shown_nr <= depth)
		first++;
	while (first < end) {
		struct text text = shown_frame(&t->items[first], depth, true);
		size_t next = first + 1;

		while (next < end && !compare_text(shown_frame(&t->items[next], depth, true), text))
			next++;
		TARE_APPEND(*out, count, cap) = make_group(t, first, next);
		first = next;
	}
	TARE_SORT(*out, count, by_weight);
	return count;
}

static void free_groups(struct group *groups, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(groups[i].sums);
	free(groups);
}

/* ---- rows ---- */

/* Where two files have the same name, frames have their folders. */
static bool is_alike(const struct shown *s, const struct group *groups, size_t count, size_t at, int depth)
{
	struct text text = shown_frame(&s->tree->items[groups[at].first], depth, false);

	for (size_t i = 0; i < count; i++)
		if (i != at && !compare_text(shown_frame(&s->tree->items[groups[i].first], depth, false), text))
			return true;
	return false;
}

static void show_row(const struct shown *s, struct text text, const struct tare_by_row *sums, size_t level)
{
	struct tare_row_look look = { .level = level > DEEPEST ? DEEPEST : level, .is_whole = true };
	TARE_FREED_HERE char *label = tare_xstrndup(text.at, text.len);

	if (!sums) {
		look.is_blank = true;
		look.tone = TARE_TONE_QUIET;
	}
	s->show(s->arg, label, sums, look);
}

static bool is_worth_a_row(const struct shown *s, const struct group *g)
{
	if (g->weight >= s->least)
		return true;
	for (int i = 0; i < s->tree->column_nr; i++)
		if (g->sums[i].tensors.ever_bytes && g->sums[i].tensors.ever_bytes >= s->ever_bytes / WORTH)
			return true;
	return false;
}

static void show_rest(const struct shown *s, const struct group *groups, size_t count, size_t level)
{
	TARE_FREED_HERE struct tare_by_row *sums = tare_xcalloc((size_t)s->tree->column_nr, sizeof(*sums));
	TARE_FREED_BY(tare_str_free) struct tare_str label = { 0 };

	for (size_t i = 0; i < count; i++)
		for (int c = 0; c < s->tree->column_nr; c++)
			if (groups[i].sums[c].ledger)
				add_to(&sums[c], &groups[i].sums[c]);
	tare_str_addf(&label, "%zu smaller ones", count);
	s->show(s->arg, tare_str_text(&label), sums,
	        (struct tare_row_look){ .level = level > DEEPEST ? DEEPEST : level, .tone = TARE_TONE_QUIET });
}

static void show_below(struct shown *s, size_t first, size_t end, int depth, size_t level)
{
	struct group *groups;
	size_t count = split(s->tree, first, end, depth, &groups), shown = 0;

	while (depth && count == 1 && groups[0].first == first) {                        /* one caller, of all of them */
		show_row(s, shown_frame(&s->tree->items[first], depth, false), NULL, level); /* its sums are in the row above */
		free_groups(groups, count);
		count = split(s->tree, first, end, ++depth, &groups);
	}
	while (shown < count && is_worth_a_row(s, &groups[shown]))
		shown++;
	if (count - shown == 1) /* "1 smaller one" takes a line, too */
		shown++;
	for (size_t i = 0; i < shown; i++) {
		const struct tare_stack_item *item = &s->tree->items[groups[i].first];
		bool is_full = is_alike(s, groups, count, i, depth);

		show_row(s, shown_frame(item, depth, is_full), groups[i].sums, level);
		show_below(s, groups[i].first, groups[i].end, depth + 1, level + 1);
	}
	if (shown < count)
		show_rest(s, groups + shown, count - shown, level);
	free_groups(groups, count);
}

void tare_stack_tree_add(struct tare_stack_tree *tree, const struct tare_by_row *row, int column)
{
	struct tare_stack_item item = { .row = row, .column = column };

	item.shown_nr = shown_frames(row, &item.shown);
	TARE_APPEND(tree->items, tree->count, tree->cap) = item;
	tree->leaves_out |= item.shown_nr < frames_of(row);
}

void tare_stack_tree_show(struct tare_stack_tree *tree, tare_stack_tree_row *show, void *arg)
{
	struct shown s = { .tree = tree, .show = show, .arg = arg };
	struct group all;

	if (!tree->count)
		return;
	all = make_group(tree, 0, tree->count);
	s.least = all.weight / SHARE > LEAST ? all.weight / SHARE : LEAST;
	for (int i = 0; i < tree->column_nr; i++)
		s.ever_bytes += all.sums[i].tensors.ever_bytes;
	free(all.sums);
	TARE_SORT(tree->items, tree->count, by_frames);
	show_below(&s, 0, tree->count, 0, 1);
}

void tare_stack_tree_note(struct tare_emit *e, bool leaves_out)
{
	if (leaves_out)
		tare_emit_note(e, "frames that only pass a call on are left out; --csv and --json have them");
}

void tare_stack_tree_free(struct tare_stack_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		free(tree->items[i].shown);
	free(tree->items);
	*tree = (struct tare_stack_tree){ 0 };
}
