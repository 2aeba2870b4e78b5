/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that a section of the page names by number, so that each stands in it once. */
#ifndef TARE_VIEW_PAGE_TEXTS_H
#define TARE_VIEW_PAGE_TEXTS_H

#include "base/emit.h"
#include "base/map.h"

/* In the order in which they came; {0} has none. */
struct tare_page_texts {
	struct tare_strmap numbers;
	const char **items;
	size_t nr, cap;
};

/* The number of the text, a new one if it has none; -1: there is no text. The text is not copied. */
int tare_page_texts_number(struct tare_page_texts *texts, const char *text);
/* Writes them as an array, and frees the list. */
void tare_page_texts_emit(struct tare_emit *e, const char *key, struct tare_page_texts *texts);

#endif
