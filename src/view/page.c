/* SPDX-License-Identifier: Apache-2.0 */
/* The pages that are inside the program, with a title and data where they have marks. */
#include "view/page.h"

#include "base/text.h"

#include <string.h>

/* web/dist/page.html, as bytes. */
static const char asset[] = {
#include "page_asset.inc"
	, 0
};

/* web/dist/compare.html, as bytes. */
static const char compare_asset[] = {
#include "compare_asset.inc"
	, 0
};

/* Adds the asset up to the mark, and returns what follows it. */
static const char *add_until(struct tare_str *out, const char *from, const char *mark)
{
	const char *at = strstr(from, mark);

	if (!at)
		return from;
	tare_str_add_n(out, from, (size_t)(at - from));
	return at + strlen(mark);
}

/* JSON inside of a page: "<" begins no tag there. It stands in strings only, where it may be written so. */
static void add_data(struct tare_str *out, const struct tare_str *data)
{
	const char *p = tare_str_text(data), *end = p + data->len;

	while (p < end) {
		const char *at = memchr(p, '<', (size_t)(end - p));
		size_t len = (size_t)((at ? at : end) - p);

		tare_str_add_n(out, p, len);
		if (at)
			tare_str_add(out, "\\u003c");
		p += len + (at != NULL);
	}
}

/* `data` is freed. */
static void fill(struct tare_str *out, const char *from, const char *title, struct tare_str *data, bool is_confidential)
{
	const char *rest = add_until(out, from, "@TARE_TITLE@");

	tare_text_add_markup(out, title, SIZE_MAX);
	rest = add_until(out, rest, "@TARE_DATA@");
	if (is_confidential)
		tare_page_leave_names_out(data);
	add_data(out, data);
	tare_str_add(out, rest);
	tare_str_free(data);
}

void tare_page(struct tare_str *out, const struct tare_page *page)
{
	struct tare_str data = { 0 };

	tare_page_data(&data, page);
	fill(out, asset, page->is_confidential ? "a recording" : page->title, &data, page->is_confidential);
}

void tare_page_compare(struct tare_str *out, const struct tare_page_compare *page)
{
	struct tare_str data = { 0 }, title = { 0 };

	for (int i = 0; i < page->side_nr && !page->is_confidential; i++)
		tare_str_addf(&title, "%s%s", i ? " · " : "", page->sides[i].source);
	tare_page_compare_data(&data, page);
	fill(out, compare_asset, title.len ? tare_str_text(&title) : "recordings compared", &data, page->is_confidential);
	tare_str_free(&title);
}
