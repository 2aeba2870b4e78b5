/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/build.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

static int find_moment(const char *name)
{
	int m = 0;

	while (m < TARE_MOMENT_NR && strcmp(tare_moment_name((enum tare_moment)m), name) != 0)
		m++;
	return m;
}

/* "oom", "oom#2" */
static bool parse_oom(const char *text, uint64_t *nth)
{
	char *end;

	*nth = 1;
	if (strncmp(text, "oom", 3) != 0)
		return false;
	if (!text[3])
		return true;
	if (text[3] != '#' || text[4] < '1' || text[4] > '9')
		return false;
	*nth = strtoull(text + 4, &end, 10);
	return !*end;
}

int tare_instant_parse(const char *text, struct tare_instant *out, struct tare_err *err)
{
	struct tare_instant at = { .kind = TARE_INSTANT_TIME,
				   .text = text,
				   .moment = find_moment(text) };

	if (at.moment != TARE_MOMENT_NR) {
		at.kind = TARE_INSTANT_MOMENT;
	} else if (parse_oom(text, &at.nth)) {
		at.kind = TARE_INSTANT_OOM;
	} else if (!strncmp(text, "snapshot:", 9) && text[9]) {
		at.kind = TARE_INSTANT_SNAPSHOT;
	} else if (!strncmp(text, "phase:", 6) && text[6]) {
		tare_phase_instant_parse(text + 6, &at);
	} else if (tare_units_parse_duration(text + (*text == '+'), &at.t_ns)) {
		return tare_err_set(
			err, TARE_E_USAGE,
			"instant '%s' is not known; say peak, peak:tensors, peak:host, end, oom, snapshot:1, "
			"seconds since the start such as 12.5s or 1500ms, or phase:NAME",
			text);
	}
	*out = at;
	return 0;
}
