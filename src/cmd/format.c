/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the format of a report by --format, --json and --csv. */
#include "cmd/format.h"

#include "base/hint.h"

int tare_format_choose(const struct tare_format_options *o, const char *command, enum tare_emit_format *out,
                       struct tare_err *err)
{
	if ((o->name >= 0) + o->json + o->csv > 1)
		return tare_err_set(err, TARE_E_USAGE, "%s: --format, --json and --csv exclude each other", command);
	*out = o->name >= 0 ? (enum tare_emit_format)o->name
	       : o->json    ? TARE_EMIT_JSON
	       : o->csv     ? TARE_EMIT_CSV
	                    : TARE_EMIT_TEXT;
	return 0;
}

int tare_format_check_sort(const struct tare_emit *e, struct tare_err *err)
{
	const char *names = tare_str_text(&e->sort_names);
	TARE_FREED_BY(tare_str_free) struct tare_str hint = { 0 };

	if (!e->sort || e->is_sorted)
		return 0;
	tare_hint_word(&hint, e->sort + (e->sort[0] == '-'), names);
	tare_err_set(err, TARE_E_USAGE, "--sort %s: no table of this report has such a column; there is %s%s", e->sort,
	             names[0] ? names : "no table", tare_str_text(&hint));
	return TARE_E_USAGE;
}
