/* SPDX-License-Identifier: Apache-2.0 */
/* The table of views, expanded from by.def: nothing that a view calls is in this file. */
#include "view/by.h"

#define TARE_BY(KEY, NAME, VIEW, FLAGS, HELP) { NAME, HELP, NULL, FLAGS, VIEW##_is_any, VIEW##_show },
#define TARE_BY_EVENTS(KEY, NAME, EVENTS, MAKER, VIEW, FLAGS, HELP)                                                    \
	{ NAME, HELP, EVENTS, FLAGS, VIEW##_is_any, VIEW##_show },
const struct tare_by_info tare_by_infos[TARE_BY_NR] = {
#include "view/by.def"
};

bool tare_by_is_any(const struct tare_by_ask *ask)
{
	return tare_by_infos[ask->by].is_any(ask);
}

void tare_by_show(struct tare_emit *e, const struct tare_by_ask *ask)
{
	const char *why_not = tare_by_why_not_on_cpu(ask);
	struct tare_by_ask shown = *ask;

	if (why_not && tare_emit_is_for_people(e)) {
		tare_emit_paragraph(e, "%s; see --by line, --by category, --by tensor, --by phase and --by time", why_not);
		return;
	}
	if (e->format == TARE_EMIT_JSON)
		shown.ledger_nr = 1;
	tare_emit_str(e, "by", tare_by_infos[ask->by].name);
	(tare_by_is_any(ask) ? tare_by_infos[ask->by].show : tare_by_rows_show)(e, &shown);
}
