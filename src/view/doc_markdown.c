/* SPDX-License-Identifier: Apache-2.0 */
#include "view/doc.h"

static void add_table(struct tare_str *out, const struct tare_doc_block *b)
{
	for (size_t r = 0; r <= b->row_nr; r++) {
		tare_str_add_char(out, '|');
		for (size_t c = 0; c < b->column_nr; c++) {
			bool is_strong = r && b->rows[r - 1].tone == TARE_TONE_STRONG &&
					 b->rows[r - 1].cells[c][0];

			tare_str_add(out, is_strong ? " **" : " ");
			tare_text_add_markdown(out,
					       r ? b->rows[r - 1].cells[c] : b->columns[c].head,
					       false);
			tare_str_add(out, is_strong ? "** |" : " |");
		}
		tare_str_add_char(out, '\n');
		if (r)
			continue;
		tare_str_add_char(out, '|');
		for (size_t c = 0; c < b->column_nr; c++)
			tare_str_add(out, b->columns[c].is_number ? "--:|" : "---|");
		tare_str_add_char(out, '\n');
	}
}

void tare_doc_markdown(struct tare_str *out, const struct tare_doc *d)
{
	for (size_t i = 0; i < d->block_nr; i++) {
		const struct tare_doc_block *b = &d->blocks[i];

		if (b->kind == TARE_DOC_BARS)
			continue;
		if (i && !(b->kind == TARE_DOC_ITEM && d->blocks[i - 1].kind == TARE_DOC_ITEM))
			tare_str_add_char(out, '\n');
		if (b->kind == TARE_DOC_TABLE) {
			add_table(out, b);
			continue;
		}
		tare_str_add(out, b->kind == TARE_DOC_TITLE     ? "# "
				  : b->kind == TARE_DOC_HEADING ? "## "
				  : b->kind == TARE_DOC_ITEM    ? "- "
								: "");
		tare_text_add_markdown(out, b->text, true);
		tare_str_add_char(out, '\n');
	}
}
