/* SPDX-License-Identifier: Apache-2.0 */
/* `--at oom#2`: the moment at which memory ran out, of the second row. */
#include "ledger/build.h"

#include "base/str.h"
#include "base/units.h"

static int not_found(const struct tare_instant *at, const struct tare_ledger *ledger, struct tare_err *err)
{
	char text[TARE_UNITS_TEXT_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str known = { 0 };

	if (!ledger->oom_nr)
		return tare_err_set(err, TARE_E_NOT_FOUND, "%s: memory never ran out in this recording", at->text);
	for (int i = 0; i < ledger->oom_nr; i++)
		tare_str_addf(&known, "%soom#%d at %s", i ? ", " : "", i + 1, tare_units_duration(text, ledger->ooms[i].t_ns));
	tare_err_set(err, TARE_E_NOT_FOUND, "%s: there is only %s", at->text, tare_str_text(&known));
	return TARE_E_NOT_FOUND;
}

int tare_oom_instants_settle(struct tare_recording *recording, struct tare_instant *instants, int nr,
                             struct tare_err *err)
{
	const struct tare_instant end = { .moment = TARE_MOMENT_END, .text = "end" };
	TARE_FREED_BY(tare_ledger_free) struct tare_ledger ledger = { 0 };
	int rc = 0;

	for (int i = 0; i < nr && !rc; i++) {
		if (instants[i].kind != TARE_INSTANT_OOM)
			continue;
		if (!ledger.memory)
			tare_ledger_of_recording(recording, NULL, &end, 1, &ledger);
		if (instants[i].nth > (uint64_t)ledger.oom_nr) {
			rc = not_found(&instants[i], &ledger, err);
			continue;
		}
		instants[i].kind = TARE_INSTANT_TIME;
		instants[i].t_ns = ledger.ooms[instants[i].nth - 1].t_ns;
	}
	return rc;
}
