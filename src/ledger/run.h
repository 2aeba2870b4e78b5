/* SPDX-License-Identifier: Apache-2.0 */
/* The fold: its loop over the events, its begin and its end. */
#ifndef TARE_LEDGER_RUN_H
#define TARE_LEDGER_RUN_H

#include "ledger/rows/rows.h"
#include "ledger/save/save.h"
#include "ledger/settle/settle.h"

/* take.c: the two passes over the events */
void tare_fold_look_ahead(struct tare_fold *f);
void tare_fold_run(struct tare_fold *f);
void tare_fold_run_until(struct tare_fold *f, int64_t until); /* stops at `until` */

/* build.c: the fold without its last step; the caller frees the fold */
void tare_fold_begin(struct tare_fold *f, const struct tare_ledger_source *source,
		     const struct tare_ledger_opts *opts);
void tare_fold_end(struct tare_fold *f);

#endif
