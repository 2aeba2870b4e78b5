/* SPDX-License-Identifier: Apache-2.0 */
/* The tree as lines of a screen, and what keys change about them. */
#ifndef TARE_TOP_DRAW_H
#define TARE_TOP_DRAW_H

#include "base/print.h"
#include "top/tree.h"

struct tare_top_view {
	uint64_t selected;      /* key of a row; 0: none yet */
	size_t top;             /* the first visible row that is shown */
	struct tare_map turned; /* key → 1: opened, 2: closed by the user */
	enum tare_top_sort sort;
	struct tare_str filter;
	bool is_typing, is_help, is_paused;
	int64_t interval_ns;
};

/* Of one moment. */
struct tare_top_picture {
	const struct tare_top_tree *tree;
	const struct tare_top_machine *machine;
	const struct tare_finder *found;
	int64_t realtime_ns;
};

enum { TARE_TOP_COLUMNS_LEAST = 40, TARE_TOP_LINES_LEAST = 10 };

/* Exactly `nr` lines, none wider than the style's width; the view's `top` follows what is selected. */
void tare_top_draw(const struct tare_top_picture *p, struct tare_top_view *view, const struct tare_text_style *style,
                   struct tare_str *lines, size_t nr);
/* All rows that are open, as lines of text. */
void tare_top_print(const struct tare_top_picture *p, const struct tare_top_view *view,
                    const struct tare_text_style *style, struct tare_str *out);

/* False: the key asks to end. `lines`: of the screen, for pages. */
bool tare_top_key(struct tare_top_view *view, const struct tare_top_tree *tree, int key, size_t lines);
void tare_top_view_free(struct tare_top_view *view);

/* The rows that no closed row stands above; the caller frees it. */
size_t *tare_top_visible(const struct tare_top_tree *tree, const struct tare_top_view *view, size_t *count);
bool tare_top_is_open(const struct tare_top_view *view, const struct tare_top_row *row);

#endif
