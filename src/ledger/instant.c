/* SPDX-License-Identifier: Apache-2.0 */
/* Parses an instant that --at takes: a moment by its name, a time, a phase, a snapshot, or an out-of-memory error. */
#include "ledger/build.h"

#include "base/hint.h"
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

/* "phse:forward" is not far from "phase:forward", whatever the phase is called. */
static bool add_near(struct tare_str *out, const char *text)
{
	const char *colon = strchr(text, ':');
	struct tare_str head = { 0 };
	bool is_found = tare_hint_word(out, text, "peak|peak:tensors|peak:host|end|oom");

	if (!is_found && colon) {
		tare_str_add_n(&head, text, (size_t)(colon - text));
		is_found = tare_hint_word(out, tare_str_text(&head), "phase|snapshot");
		if (is_found) {
			tare_str_cut(out, out->len - 1);
			tare_str_addf(out, "%s?", colon);
		}
		tare_str_free(&head);
	}
	return is_found;
}

static int not_known(const char *text, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str hint = { 0 };

	if (!add_near(&hint, text))
		tare_str_add(&hint, "; say peak, peak:tensors, peak:host, end, oom, snapshot:1, "
		                    "seconds since the start such as 12.5s or 1500ms, or phase:NAME");
	tare_err_set(err, TARE_E_USAGE, "instant '%s' is not known%s", text, tare_str_text(&hint));
	return TARE_E_USAGE;
}

int tare_instant_parse(const char *text, struct tare_instant *out, struct tare_err *err)
{
	struct tare_instant at = { .kind = TARE_INSTANT_TIME, .text = text, .moment = find_moment(text) };

	if (at.moment != TARE_MOMENT_NR) {
		at.kind = TARE_INSTANT_MOMENT;
	} else if (parse_oom(text, &at.nth)) {
		at.kind = TARE_INSTANT_OOM;
	} else if (!strncmp(text, "snapshot:", 9) && text[9]) {
		at.kind = TARE_INSTANT_SNAPSHOT;
	} else if (!strncmp(text, "phase:", 6) && text[6]) {
		tare_phase_instant_parse(text + 6, &at);
	} else if (tare_units_parse_duration(text + (*text == '+'), &at.t_ns)) {
		return not_known(text, err);
	}
	*out = at;
	return 0;
}
