/* SPDX-License-Identifier: Apache-2.0 */
/* tare run --live: what is drawn below the program, by a process of its own (session/live.h). */
#ifndef TARE_CMD_RUN_LIVE_H
#define TARE_CMD_RUN_LIVE_H

#include "session/session.h"

/* Where it is asked for and there is a terminal for it; NULL, and what there is to say is said. */
tare_live_maker *tare_run_live(bool is_wanted);
/* After the end: why lines were missing, of which the user may wonder. */
void tare_run_live_say(const struct tare_session_result *result);

#endif
