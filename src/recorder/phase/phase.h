/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases that the program marks. A PHASE record each, as it comes; what a phase changed is worked out
 * by the ledger.
 *
 * A program that never calls the driver gets no log, so phases that begin before that wait here, and
 * those that end before that are forgotten: there was no memory to speak of in them.
 */
#ifndef TARE_RECORDER_PHASE_H
#define TARE_RECORDER_PHASE_H

#include <stdint.h>

#include "recorder/recorder.h"
#include "record/format.h"

struct tare_phase {
	enum tare_phase_what what;
	enum tare_phase_source source;
	const char *name;   /* NULL at pop and end */
	const char *domain; /* NULL: none */
	uint64_t id;        /* begin, end */
};

/* Records it, if phases are recorded here and now. */
void tare_phase_add(const struct tare_phase *phase);

/* An id for a range, never 0 and never given twice by this process. */
uint64_t tare_phase_new_id(void);

/* The log is open, or about to be: what waited for it goes there. */
extern uint32_t tare_phase_waiting;
void tare_phase_flush(void);
static inline void tare_phase_log_opens(void)
{
	if (unlikely(__atomic_load_n(&tare_phase_waiting, __ATOMIC_RELAXED)))
		tare_phase_flush();
}

#endif
