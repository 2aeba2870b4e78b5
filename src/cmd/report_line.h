/* SPDX-License-Identifier: Apache-2.0 */
/* `tare report --line FILE:N --parts` and `--annotate FILE`. */
#ifndef TARE_CMD_REPORT_LINE_H
#define TARE_CMD_REPORT_LINE_H

#include "cmd/report_print.h"

/* Appends one of them, a table for each ledger. Returns 0, TARE_E_USAGE or TARE_E_NOT_FOUND. */
int tare_report_line(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr,
                     const struct tare_recording *recording, const struct tare_report_options *o, struct tare_err *err);

#endif
