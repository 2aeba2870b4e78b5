/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_COMPACT_COMPACT_H
#define TARE_COMPACT_COMPACT_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes segments of the logs of a recording that nobody writes, and removes the files of those logs. A reader reads the
 * same before, meanwhile and afterwards, wherever it is interrupted:
 *
 *   1. the segments are written under other names, and on the disk before they get their own;
 *   2. the manifest that names them replaces the one before by rename: from here on they count;
 *   3. the files of the logs go, and segments that no manifest names.
 *
 * Where there is nothing left to do only the third step is done, so what was interrupted is finished by doing it again.
 */
struct tare_compacted {
	uint64_t records;
	uint64_t raw_bytes; /* of the logs, as they were */
	uint64_t segment_bytes;
	uint32_t segments;
	bool was_done;     /* all logs were in segments already */
	bool is_cut_short; /* a log has more than was asked for */
};

struct tare_compact_options {
	bool keeps_raw;           /* leave step 3 out */
	uint64_t segment_records; /* of a segment; 0: as many as is usual */
	/*
	 * Not NULL: the recording is still written, and only the begins of its logs become segments. The position below
	 * which nobody writes the log of that path any more, found before the log is read.
	 */
	uint64_t (*below)(void *arg, const char *log, bool has_ring);
	/* Then: no record that its files do not have yet is older than that stamp (session/settled.h). */
	uint64_t (*whole)(void *arg, const char *log);
	void *arg;
	uint64_t most; /* then: of each log about so many bytes; 0: all */
	/* Of a recording that is written: events are not kept, only told as lost, which takes a fraction of the time. */
	bool drops_events;
	bool is_pressed; /* room is needed: nobody waits for those who read the recording now */
	bool is_locked;  /* by the caller */
	bool is_forced;  /* also if the recording was not closed in order; the caller knows that nobody writes it */
};

/*
 * One at a time makes segments in a folder. The lock goes with the descriptor, or the process; where a file system has none
 * `lock` is -1. USAGE: another has it.
 */
int tare_compact_lock(const char *folder, int *lock, struct tare_err *err);

/*
 * Removes files of logs that the segments have, and segments and states that the manifest does not name. Where somebody reads a
 * recording that is written, it is left for the next time, unless the caller does not wait for readers: they then find a
 * part missing.
 */
void tare_compact_clean(const char *folder, bool keeps_raw, bool waits_for_readers);

/* `folder`: of one recording, without a slash at its end. Before step 2 the recording stays as it is on any error, a full disk for example. */
int tare_compact(const char *folder, const struct tare_compact_options *o, struct tare_compacted *out,
                 struct tare_err *err);

#endif
