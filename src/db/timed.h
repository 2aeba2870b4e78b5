/* SPDX-License-Identifier: Apache-2.0 */
/* What of a run's time counts: all of it, or that of one phase of its program. */
#ifndef TARE_DB_TIMED_H
#define TARE_DB_TIMED_H

#include "db/db.h"

/*
 * Makes the view run_times(run, whole_ns, ns), for this connection only: `ns` is how long the run was in the
 * phase, all its repeats together (of several processes the longest), or `whole_ns` where no phase is meant.
 * `phase`: its name, with or without the key=value behind it, or its path; NULL: as the sweep was told.
 * TARE_E_USAGE where runs were measured and none has such a phase.
 */
int tare_db_time_by(struct tare_db *db, const char *phase, struct tare_err *err);

#endif
