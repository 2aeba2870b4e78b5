/* SPDX-License-Identifier: Apache-2.0 */
/* A source file beside what its lines hold, as memory_profiler prints one. */
#ifndef TARE_VIEW_ANNOTATE_H
#define TARE_VIEW_ANNOTATE_H

#include "base/emit.h"
#include "base/err.h"
#include "ledger/ledger.h"

/*
 * The file that `text`, the end of a name, means, as the ledgers name it. Returns 0, or TARE_E_NOT_FOUND where
 * there is none or several.
 */
int tare_annotate_find(const struct tare_ledger *const *ledgers, int ledger_nr, const char *text, const char **file,
                       struct tare_err *err);

/*
 * A table for each device; `source` is the file's text, NULL: not to be had, and then only lines with
 * something to show. `note`: what is to be said of the source, or NULL. JSON: "file" and "rows".
 */
void tare_annotate_show(struct tare_emit *e, const struct tare_ledger *ledger, const char *file, const char *source,
                        const char *note);

#endif
