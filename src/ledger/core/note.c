/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences that a reader of the ledger has to know, each once. */
#include "ledger/core/fold.h"

#include "base/array.h"
#include "base/str.h"

void tare_fold_note(struct tare_fold *f, const char *fmt, ...)
{
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&s, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < f->note_nr; i++) {
		if (!strcmp(f->notes[i], tare_str_text(&s)))
			return;
	}
	TARE_APPEND(f->notes, f->note_nr, f->note_cap) = tare_arena_strdup(&f->arena, tare_str_text(&s));
}
