/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_COMPACT_MAKE_H
#define TARE_COMPACT_MAKE_H

#include "compact/compact.h"
#include "store/manifest.h"
#include "trace/recording.h"

/* What is to be made into segments. */
struct tare_segment_plan {
	const char *folder;
	struct tare_recording *recording;
	char *const *names;       /* of the logs, by the index of their processes; NULL: leave it alone */
	uint32_t number;          /* of the first segment */
	uint64_t segment_records; /* of a segment; 0: as many as is usual */
	bool drops_events;
	bool is_begin; /* the recording is still written, and these are the begins of its logs */
	uint64_t (*whole)(void *arg, const char *log); /* as in struct tare_compact_options; NULL: nobody writes them */
	void *arg;
};

/*
 * Writes segments, which are whole, on the disk, and have their names afterwards, and adds their numbers to `named`, also those
 * that were made before an error. The manifest is not touched.
 */
int tare_make_segments(const struct tare_segment_plan *plan, struct tare_manifest *named, struct tare_compacted *out,
                       struct tare_err *err);

#endif
