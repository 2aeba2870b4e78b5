/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host that a process pinned: what it took, what was asked for, at which lines, and what its mapping takes of the card. */
#ifndef TARE_VIEW_PINNED_H
#define TARE_VIEW_PINNED_H

#include "base/emit.h"
#include "ledger/ledger.h"

/* The member `pinned` of a process: `row` is its tare_host_ledger. */
void tare_pinned_json(struct tare_emit *e, const char *key, const void *row);

/* For people: nothing where it is too little for a row. */
void tare_pinned_text(struct tare_emit *e, const struct tare_host_ledger *host);

#endif
