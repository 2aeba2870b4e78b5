/* SPDX-License-Identifier: Apache-2.0 */
/* What `tare sweep` says on stderr while it runs. */
#ifndef TARE_CMD_SWEEP_PRINT_H
#define TARE_CMD_SWEEP_PRINT_H

#include "sweep/run.h"

/* On a terminal one line that changes below those of the runs; elsewhere lines only. */
struct tare_sweep_printer {
	bool is_terminal;
	bool has_line;     /* the changing line is there */
	bool is_simulated; /* figures are of a GPU that is not there */
};
void tare_sweep_printer_begin(struct tare_sweep_printer *p, struct tare_sweep_watch *watch, bool is_simulated);
void tare_sweep_printer_end(struct tare_sweep_printer *p);

#endif
