/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a whole something is. */
#ifndef TARE_BASE_PART_H
#define TARE_BASE_PART_H

#include "base/str.h"

#include <math.h>

/* "15.7 %"; of what is more than ten times the whole, as a damaged file may say, how many times: "30570 times". */
static inline void tare_part_add(struct tare_str *out, double part)
{
	if (fabs(part) < 10)
		tare_str_addf(out, "%.1f %%", part * 100);
	else
		tare_str_addf(out, "%.0f times", part);
}

#endif
