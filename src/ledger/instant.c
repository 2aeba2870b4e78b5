/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/build.h"

#include "base/units.h"

#include <string.h>

int tare_instant_parse(const char *text, struct tare_instant *out, struct tare_err *err)
{
	struct tare_instant at = { .kind = TARE_INSTANT_TIME, .text = text };

	if (!strcmp(text, "peak")) {
		at.kind = TARE_INSTANT_PEAK;
	} else if (!strcmp(text, "end")) {
		at.kind = TARE_INSTANT_END;
	} else if (!strncmp(text, "snapshot:", 9) && text[9]) {
		at.kind = TARE_INSTANT_SNAPSHOT;
	} else if (!strncmp(text, "phase:", 6) && text[6]) {
		tare_phase_instant_parse(text + 6, &at);
	} else if (tare_units_parse_duration(text + (*text == '+'), &at.t_ns)) {
		return tare_err_set(err, TARE_E_USAGE,
				    "instant '%s' is not known; say peak, end, snapshot:1, seconds "
				    "since the start such as 12.5s or 1500ms, or phase:NAME",
				    text);
	}
	*out = at;
	return 0;
}
