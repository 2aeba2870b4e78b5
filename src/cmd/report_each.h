/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_CMD_REPORT_EACH_H
#define TARE_CMD_REPORT_EACH_H

#include "cmd/report_print.h"

/*
 * Several recordings are read as one without states (docs/RANKS.md, "Past the cap"). Where one has dropped events, what its states
 * say is missing in all sums: then each recording is reported alone, one after another.
 */
bool tare_report_is_of_each(const struct tare_recording *recording, const struct tare_report_options *options);
/* Returns 0, or the first error; RANGE: in another form than text, which has one report. */
int tare_report_print_each(const struct tare_recording *recording, const struct tare_report_options *options,
                           struct tare_err *err);
/* RANGE: there is no picture of all of them. */
int tare_report_check_picture(const struct tare_recording *recording, struct tare_err *err);

#endif
