/* SPDX-License-Identifier: Apache-2.0 */
/* Finding laws for the cells and terms of a fit, before anything is said of how far they hold. */
#ifndef TARE_FIT_FOUND_H
#define TARE_FIT_FOUND_H

#include "fit/fit.h"

/* At most so many laws per quantity as a search ever looks for. */
#define TARE_FIT_ALL_LAWS ((size_t)TARE_LAWS_MAX)

/* Sets laws and rivals, by f->data and f->terms. */
void tare_fit_search(struct tare_fitted *f, size_t laws_max);

/* Of f->laws: what predictions need of them (basis), and their errors on cells left out. */
void tare_fit_measure(struct tare_fitted *f);

#endif
