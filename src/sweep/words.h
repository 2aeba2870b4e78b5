/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_SWEEP_WORDS_H
#define TARE_SWEEP_WORDS_H

#include "sweep/grid.h"

/*
 * {name} in a word becomes the parameter's value, {{name}} stays as {name}; other braces are left
 * alone. A {name} that is no parameter is TARE_E_USAGE. The caller frees *out.
 */
int tare_words_fill(char **out, const char *word, const struct tare_grid *grid, size_t cell, struct tare_err *err);

/* Does any of the words have {name} of this parameter? */
bool tare_words_use(const char *const *words, const struct tare_grid *grid, size_t param);

#endif
