/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_STRENGTH_H
#define TARE_FIT_STRENGTH_H

#include "fit/fit.h"

/*
 * Is there a law at all? Sets strength, explained and the middle of a fit that was measured. Where there is none, the laws become
 * the middle, and the errors are those of the middle.
 */
void tare_fit_judge(struct tare_fitted *f);

#endif
