/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TRACE_CHUNK_FILES_H
#define TARE_TRACE_CHUNK_FILES_H

#include "record/chunk.h"

#include <stddef.h>

/* The files of a log on disk, by the path of the first of them, FOLDER/P-G.events. */

/* One behind the first. */
struct tare_chunk_file {
	uint32_t number;
	uint64_t bytes;
};

struct tare_chunk_list {
	struct tare_chunk_file *items; /* by number */
	size_t nr, cap;
};

void tare_chunk_list_read(struct tare_chunk_list *out, const char *log);
void tare_chunk_list_free(struct tare_chunk_list *list);

/* "FOLDER/P-G.events.3"; of 0 the log itself. The caller frees it. */
char *tare_chunk_path(const char *log, uint64_t number);

/* Of "P-G.events.3" the length of "P-G.events"; 0: it is the name of no chunk. `number` may be NULL. */
size_t tare_chunk_name(const char *name, uint32_t *number);

#endif
