/* SPDX-License-Identifier: Apache-2.0 */
/* Collapsed stacks: a line for each, "outermost;…;innermost BYTES". flamegraph.pl, inferno and speedscope read it. */
#include "export/export.h"

#include <inttypes.h>

/* What parts frames stands in no frame. */
static void add_frame(struct tare_str *out, const char *text)
{
	size_t start = out->len;

	tare_str_add(out, text);
	for (size_t i = start; i < out->len; i++)
		if (out->data[i] == ';')
			out->data[i] = ',';
}

int tare_export_collapsed(struct tare_str *out, struct tare_export *x, struct tare_err *err)
{
	(void)err;
	for (size_t i = 0; i < x->stacks->nr; i++) {
		const struct tare_export_sample *s = &x->stacks->samples[i];

		if (s->bytes < 0)
			tare_export_note(x,
			                 "%" PRId64 " bytes that are explained beyond what is in "
			                 "use have no line: a flame graph has no negative ones",
			                 -s->bytes);
		if (s->bytes <= 0)
			continue;
		for (uint32_t f = 0; f < s->frame_nr; f++) {
			if (f)
				tare_str_add_char(out, ';');
			add_frame(out, x->stacks->frames[s->frames[f]].text);
		}
		tare_str_addf(out, " %" PRId64 "\n", s->bytes);
	}
	tare_export_note_stacks(x);
	return 0;
}
