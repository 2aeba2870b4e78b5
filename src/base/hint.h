/* SPDX-License-Identifier: Apache-2.0 */
/* "; did you mean X?", behind the sentence on what is not there; nothing where no X is near enough to be a slip of the hand. */
#ifndef TARE_BASE_HINT_H
#define TARE_BASE_HINT_H

#include "base/str.h"

#include <stdbool.h>

/* X is a word of `list`, "a|b|c" or "a, b, c". Says whether there is one. */
bool tare_hint_word(struct tare_str *out, const char *word, const char *list);

/*
 * X is what stands before `ending` in the name of a file of `folder`.
 */
bool tare_hint_file(struct tare_str *out, const char *folder, const char *name, const char *ending);

/* X is a path beside `path`, which is not there, that ends with `ending`; `path` need not. */
bool tare_hint_path(struct tare_str *out, const char *path, const char *ending);

#endif
