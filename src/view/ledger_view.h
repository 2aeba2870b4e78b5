/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger as text, JSON and CSV, and the sections of it that are files of their own. */
#ifndef TARE_VIEW_LEDGER_VIEW_H
#define TARE_VIEW_LEDGER_VIEW_H

#include "base/emit.h"
#include "ledger/driver_time.h"
#include "ledger/ledger.h"

#include <stddef.h>

/*
 * What stands at the end of a run: per GPU its rows with one column per ledger, then
 * the host memory of each process and what stands out. The ledgers are of one recording at different
 * instants, at least one.
 */
void tare_ledger_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr);

/*
 * Adds the members of one ledger to the object that is open, as docs/JSON.md describes them:
 * scripts rely on them, so members are added and never changed.
 */
void tare_ledger_json(struct tare_emit *e, const struct tare_ledger *ledger);

/*
 * One table for everything a spreadsheet may want: per ledger and device what the device says
 * (kind total, reserved, used), every row of the tree (kind parent or leaf) and what is unexplained.
 * The leaves and `unexplained` of one device and instant sum to its `used`.
 */
void tare_ledger_csv(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr);

/*
 * Adds what can be done about the memory, a handful of lines with the bytes they save, and then what
 * is wrong, one "! " sentence each: what is unexplained, what was recorded as degraded. Nothing if
 * there is nothing.
 */
void tare_advice_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr);

/* The latter alone: what was recorded as degraded; before it, where imported figures come from. */
void tare_degraded_text(struct tare_emit *e, const struct tare_ledger *ledger);

/* Adds what was found, with its placeholders filled in. */
void tare_advice_finding(struct tare_str *out, const struct tare_finding *finding);

/* What grows: by how much a step or a second, since when, and from which line. Nothing where nothing grows. */
void tare_growth_text(struct tare_emit *e, const struct tare_ledger *ledger);
void tare_growth_json(struct tare_emit *e, const struct tare_ledger *ledger); /* "growth" */

/* Memory of the CPU that programs asked for: rows of processes, beside what is resident of them. */

/* The path of a row of a process: "process:431/tensors", with a category below it or NULL. */
void tare_host_path(struct tare_str *out, const struct tare_host_ledger *host, const char *account,
                    const char *category);

/* The member `accounts` of a process. */
void tare_host_json(struct tare_emit *e, const struct tare_host_ledger *host);

/* The member `shared` of a ledger: tensors in shared memory, once, by the line that made them. */
void tare_host_shared_json(struct tare_emit *e, const struct tare_ledger *ledger);

/* A table of the processes with most in tensors, and an empty line; nothing where there are none. */
void tare_host_text(struct tare_emit *e, const struct tare_ledger *const *ledgers, int ledger_nr);

/* Does any process have tensors in the memory of the CPU, worth a row? */
bool tare_host_has_tensors(const struct tare_ledger *const *ledgers, int ledger_nr);

/* Records that are missing: a line above everything that is shown, and what scripts read. */
void tare_loss_text(struct tare_emit *e, const struct tare_ledger *ledger);
void tare_loss_json(struct tare_emit *e, const struct tare_ledger *ledger); /* member `losses` */

/* Moments at which memory ran out: what was asked for, what there was, what would have had to give; or nothing. */
void tare_oom_text(struct tare_emit *e, const struct tare_ledger *ledger);
void tare_oom_json(struct tare_emit *e, const struct tare_ledger *ledger); /* the member "out_of_memory" */

/* The first step of training beside the others, and what the most of its tensors grows with. Nothing where no steps are known. */
void tare_training_text(struct tare_emit *e, const struct tare_ledger *ledger);
void tare_training_json(struct tare_emit *e, const struct tare_ledger *ledger); /* the member "training" */

/*
 * The ledger as one process sees it: every other recorded process becomes a single row, so that the
 * books still balance. `out` borrows everything from `in` but its own arrays; free it first.
 */
void tare_filter_process(const struct tare_ledger *in, int64_t pid, struct tare_ledger *out);
void tare_filter_free(struct tare_ledger *out);

/* `--cost time`: one table, in the format of `e`. Text shows the longest dozen and adds the rest up. */
void tare_time_view(struct tare_emit *e, const struct tare_time_rows *rows);

/* How many of `count` rows are shown where there should be no more than `most`: not "1 more", it takes a line, too. */
static inline size_t tare_view_most(size_t count, size_t most)
{
	return count > most + 1 ? most : count;
}

#endif
