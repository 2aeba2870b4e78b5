/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells that do the same work cut in another way: batch 4 × seq 256 and batch 1 × seq 1024, all else alike. Where a law has a
 * term of the product, it says the same of both; by how much they differ is by how much it must be wrong, and whether always the same
 * way says why.
 */
#ifndef TARE_FIT_TWINS_H
#define TARE_FIT_TWINS_H

#include "base/str.h"
#include "fit/fit.h"

/* A sentence for each pair of parameters that has such cells, through `say`. */
void tare_fit_twins(const struct tare_fitted *f, void (*say)(void *arg, const char *sentence), void *arg);

#endif
