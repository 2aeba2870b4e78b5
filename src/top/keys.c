/* SPDX-License-Identifier: Apache-2.0 */
/* What keys do: which row is chosen, what is open, the filter. */
#include "base/screen.h"
#include "base/xalloc.h"
#include "top/draw.h"

#include <stdlib.h>
#include <string.h>

enum { OPENED = 1, CLOSED, FILTER_MOST = 60 };
#define SECOND         INT64_C(1000000000)
#define INTERVAL_LEAST (SECOND / 10)
#define INTERVAL_MOST  (60 * SECOND)

bool tare_top_is_open(const struct tare_top_view *view, const struct tare_top_row *row)
{
	const uint64_t *turned = tare_map_get(&view->turned, row->key);

	return turned ? *turned == OPENED : !row->is_closed_at_first;
}

size_t *tare_top_visible(const struct tare_top_tree *tree, const struct tare_top_view *view, size_t *count)
{
	size_t *list = tare_xcalloc(tree->count + 1, sizeof(*list));
	int hidden = -1; /* rows below this level are, until one of it comes */

	*count = 0;
	for (size_t i = 0; i < tree->count; i++) {
		const struct tare_top_row *row = &tree->rows[i];

		if (hidden >= 0 && row->level > hidden)
			continue;
		hidden = row->has_children && !tare_top_is_open(view, row) ? row->level : -1;
		list[(*count)++] = i;
	}
	return list;
}

static void turn(struct tare_top_view *view, const struct tare_top_row *row, bool is_open)
{
	*tare_map_put(&view->turned, row->key, NULL) = is_open ? OPENED : CLOSED;
}

/* All programs: closed if any is open. */
static void turn_all(struct tare_top_view *view, const struct tare_top_tree *tree)
{
	bool is_any = false;

	for (size_t i = 0; i < tree->count; i++)
		is_any = is_any || (tree->rows[i].kind == TARE_TOP_PROCESS && tree->rows[i].has_children &&
		                    tare_top_is_open(view, &tree->rows[i]));
	for (size_t i = 0; i < tree->count; i++)
		if (tree->rows[i].kind == TARE_TOP_PROCESS && tree->rows[i].has_children)
			turn(view, &tree->rows[i], !is_any);
}

static void type(struct tare_top_view *view, int key)
{
	if (key == '\r' || key == '\n') {
		view->is_typing = false;
	} else if (key == TARE_KEY_ESCAPE) {
		tare_str_cut(&view->filter, 0);
		view->is_typing = false;
	} else if (key == 127 || key == 8) {
		size_t len = view->filter.len;

		while (len && (view->filter.data[len - 1] & 0xc0) == 0x80)
			len--; /* the rest of a character of UTF-8 */
		tare_str_cut(&view->filter, len ? len - 1 : 0);
	} else if (key >= ' ' && key < 256 && view->filter.len < FILTER_MOST) {
		tare_str_add_char(&view->filter, (char)key);
	}
}

/* Left: closes, or goes to the row above. Right: opens. */
static void close_or_leave(struct tare_top_view *view, const struct tare_top_tree *tree, const struct tare_top_row *row)
{
	if (row->has_children && tare_top_is_open(view, row))
		turn(view, row, false);
	else if (row->parent >= 0)
		view->selected = tree->rows[row->parent].key;
}

static void on_row(struct tare_top_view *view, const struct tare_top_tree *tree, const struct tare_top_row *row,
                   int key)
{
	switch (key) {
	case '\r':
	case '\n':
	case ' ':
		if (row->has_children)
			turn(view, row, !tare_top_is_open(view, row));
		break;
	case TARE_KEY_LEFT:
		close_or_leave(view, tree, row);
		break;
	case TARE_KEY_RIGHT:
		if (row->has_children)
			turn(view, row, true);
		break;
	default:
		break;
	}
}

/* By how many rows a key goes on; 0: it is none of these. */
static long way_of(int key, size_t lines, size_t count)
{
	long page = lines > 4 ? (long)lines - 4 : 1;

	switch (key) {
	case TARE_KEY_UP:
	case 'k':
		return -1;
	case TARE_KEY_DOWN:
	case 'j':
		return 1;
	case TARE_KEY_PAGE_UP:
		return -page;
	case TARE_KEY_PAGE_DOWN:
		return page;
	case TARE_KEY_HOME:
	case 'g':
		return -(long)count;
	case TARE_KEY_END:
	case 'G':
		return (long)count;
	default:
		return 0;
	}
}

static void move(struct tare_top_view *view, const struct tare_top_tree *tree, int key, size_t lines)
{
	size_t count, *visible = tare_top_visible(tree, view, &count);
	long way = way_of(key, lines, count), at = 0;

	for (size_t i = 0; i < count; i++)
		if (tree->rows[visible[i]].key == view->selected)
			at = (long)i;
	if (count && way) {
		at += way;
		at = at < 0 ? 0 : at >= (long)count ? (long)count - 1 : at;
		view->selected = tree->rows[visible[at]].key;
	} else if (count) {
		on_row(view, tree, &tree->rows[visible[at]], key);
	}
	free(visible);
}

bool tare_top_key(struct tare_top_view *view, const struct tare_top_tree *tree, int key, size_t lines)
{
	if (view->is_typing && key < 256 + 64 && key != TARE_KEY_UP && key != TARE_KEY_DOWN) {
		type(view, key);
		return true;
	}
	if (key == 'q' || key == 'Q')
		return false;
	if (view->is_help || key == '?' || key == 'h') {
		view->is_help = !view->is_help;
		return true;
	}
	switch (key) {
	case 's':
		view->sort = (view->sort + 1) % TARE_TOP_SORT_NR;
		break;
	case '/':
		view->is_typing = true;
		break;
	case 'p':
		view->is_paused = !view->is_paused;
		break;
	case 'a':
		turn_all(view, tree);
		break;
	case '+':
		view->interval_ns = view->interval_ns * 2 < INTERVAL_MOST ? view->interval_ns * 2 : INTERVAL_MOST;
		break;
	case '-':
		view->interval_ns = view->interval_ns / 2 > INTERVAL_LEAST ? view->interval_ns / 2 : INTERVAL_LEAST;
		break;
	case TARE_KEY_ESCAPE:
		tare_str_cut(&view->filter, 0);
		break;
	default:
		move(view, tree, key, lines);
	}
	return true;
}

void tare_top_view_free(struct tare_top_view *view)
{
	tare_map_free(&view->turned);
	tare_str_free(&view->filter);
}
