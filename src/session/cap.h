/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping a recording under its cap while it is made: the older part of every log is replaced by a
 * short list of records that mean the same (checkpoint.events), and its bytes are given back to the
 * disk. Ledgers stay exact; only single events of that span are gone.
 */
#ifndef TARE_SESSION_CAP_H
#define TARE_SESSION_CAP_H

#include <stdint.h>

struct tare_file_header;

/* Bytes that the logs in `folder` take on disk. */
uint64_t tare_cap_used(const char *folder);

/*
 * Folds all but the last `keep_ns`, or, if that is negative, all but the last quarter. `header` is that
 * of the checkpoint file. Returns 0, or a negative errno; the recording is whole either way.
 */
int tare_cap_fold(const char *folder, const struct tare_file_header *header, int64_t keep_ns);

#endif
