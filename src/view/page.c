/* SPDX-License-Identifier: Apache-2.0 */
/* The page that is inside the program, with a title and data where it has marks. */
#include "view/page.h"

#include "base/text.h"

#include <string.h>

/* web/dist/page.html, as bytes. */
static const char asset[] = {
#include "page_asset.inc"
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

void tare_page(struct tare_str *out, const struct tare_page *page)
{
	struct tare_str data = { 0 };
	const char *rest = add_until(out, asset, "@TARE_TITLE@");

	tare_text_add_markup(out, page->is_confidential ? "a recording" : page->title, SIZE_MAX);
	rest = add_until(out, rest, "@TARE_DATA@");
	tare_page_data(&data, page);
	if (page->is_confidential)
		tare_page_leave_names_out(&data);
	add_data(out, &data);
	tare_str_add(out, rest);
	tare_str_free(&data);
}
