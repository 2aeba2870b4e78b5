/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/format.h"

int tare_format_choose(const struct tare_format_options *o, const char *command,
		       enum tare_emit_format *out, struct tare_err *err)
{
	if ((o->name >= 0) + o->json + o->csv > 1)
		return tare_err_set(err, TARE_E_USAGE,
				    "%s: --format, --json and --csv exclude each other", command);
	*out = o->name >= 0 ? (enum tare_emit_format)o->name
	       : o->json    ? TARE_EMIT_JSON
	       : o->csv     ? TARE_EMIT_CSV
			    : TARE_EMIT_TEXT;
	return 0;
}
