/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind the name of a GPU that is not there, wherever people read it. */
#ifndef TARE_BASE_SIMULATED_H
#define TARE_BASE_SIMULATED_H

#include <stdbool.h>

/* … and how a sentence names it. */
#define TARE_SIMULATED_WORDS "a simulated GPU"

static inline const char *tare_simulated_mark(bool is_simulated)
{
	return is_simulated ? " (simulated)" : "";
}

#endif
