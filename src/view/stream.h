/* SPDX-License-Identifier: Apache-2.0 */
/* `--by stream`: what PyTorch's allocator has for each stream, and what of it the others cannot use. */
#ifndef TARE_VIEW_STREAM_H
#define TARE_VIEW_STREAM_H

#include "base/emit.h"
#include "ledger/ledger.h"
#include "view/by.h"
#include "view/segment_sum.h"

/* Segments of one stream of one process. */
struct tare_stream_group {
	struct tare_stream stream;
	int64_t pid, generation;
	struct tare_segment_sum sum;
};

struct tare_stream_groups {
	struct tare_stream_group *items;
	size_t count, cap;
	bool is_several; /* that are known, of one process */
	bool has_pids;   /* of several */
};

void tare_stream_label(struct tare_str *out, const struct tare_stream *stream);

/* The table of a device, and what is cached where; nothing where there is only one stream, unless it is asked for. */
void tare_streams_table(struct tare_emit *e, const char *title, const struct tare_device_ledger *device, bool is_asked);
/* The table `name` of --by pool and --by stream. */
void tare_streams_rows(struct tare_emit *e, const char *name, const struct tare_by_ask *ask);

#endif
