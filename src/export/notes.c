/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a file that has less than there is. */
#include "export/export.h"

void tare_export_note(struct tare_export *x, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tare_str_vaddf(&x->notes, fmt, ap);
	va_end(ap);
	tare_str_add_char(&x->notes, '\n');
}

void tare_export_note_stacks(struct tare_export *x)
{
	if (x->stacks->left_out)
		tare_export_note(x,
		                 "%zu stacks with the least are one of each device, \"smaller stacks\", so that "
		                 "the file stays small: the largest %d stand on their own, and sums are whole",
		                 x->stacks->left_out, TARE_EXPORT_STACKS_MAX);
}
