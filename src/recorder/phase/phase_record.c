/* SPDX-License-Identifier: Apache-2.0 */
/* Exports the function that tare.h and Python mark phases with. */
#include "recorder/phase/phase.h"
#include "recorder/recorder.h"

/*
 * What tare.h and the Python module look for. `what` is one of enum tare_phase_what; the answer is the
 * id of a range that begins, 0 otherwise. Unknown values of a newer header do nothing.
 */
TARE_EXPORT uint64_t tare_phase_record(uint32_t what, uint64_t id, const char *name);

uint64_t tare_phase_record(uint32_t what, uint64_t id, const char *name)
{
	struct tare_phase phase = { .source = TARE_PHASE_BY_TARE_H, .name = name ? name : "" };

	tare_start_once();
	if (what < TARE_PHASE_PUSH || what > TARE_PHASE_MARK)
		return 0;
	phase.what = (enum tare_phase_what)what;
	phase.id = what == TARE_PHASE_BEGIN ? tare_phase_new_id() : id;
	if (what == TARE_PHASE_POP || what == TARE_PHASE_END)
		phase.name = NULL;
	tare_phase_add(&phase);
	return what == TARE_PHASE_BEGIN ? phase.id : 0;
}
