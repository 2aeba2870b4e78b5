/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the texts of a section of the page, and writes them. */
#include "view/page_texts.h"

#include "base/array.h"

#include <stdlib.h>

int tare_page_texts_number(struct tare_page_texts *texts, const char *text)
{
	bool is_new;
	uint64_t *number;

	if (!text)
		return -1;
	number = tare_strmap_put(&texts->numbers, text, &is_new);
	if (is_new) {
		*number = texts->nr;
		TARE_APPEND(texts->items, texts->nr, texts->cap) = text;
	}
	return (int)*number;
}

void tare_page_texts_emit(struct tare_emit *e, const char *key, struct tare_page_texts *texts)
{
	tare_emit_open(e, key, '[');
	for (size_t i = 0; i < texts->nr; i++)
		tare_emit_str(e, NULL, texts->items[i]);
	tare_emit_close(e);
	tare_strmap_free(&texts->numbers);
	free(texts->items);
}
