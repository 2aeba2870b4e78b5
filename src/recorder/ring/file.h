/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a log, P-G.events and P-G.ring: making them, and mapping the latter. */
#ifndef TARE_RECORDER_RING_FILE_H
#define TARE_RECORDER_RING_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/format.h"

/* The ring of this process, mapped for as long as it lives. */
struct tare_ring {
	uint8_t *base; /* the whole span, most of it beyond the file's end: lanes that nobody needed yet */
	struct tare_ring_header *header;
	struct tare_lane *lanes; /* the table */
	uint64_t span;
	uint32_t lane_bytes, chunk_bytes;
	uint32_t pid, generation;
	uint64_t opened_ns;   /* CLOCK_MONOTONIC; 0: it is not */
	uint64_t retry_ns;    /* the log is not to be written before; 0: the last block was written */
	uint64_t asked_ticks; /* when it was last looked whether that is over */
	int last_error;       /* of the last block; 0: it was written */
	uint64_t going;       /* records that the process takes with it, as far as it told */
	bool has_no_file;     /* the disk had no room: memory of this process */
};
extern struct tare_ring tare_ring;

/* Makes both files and maps the ring. False: no log can be opened here. */
bool tare_ring_file_open(void);

/*
 * Gives `nr` lanes from `first` on their bytes: room on the disk, or where there is none, memory, if they need not be in
 * the file. One thread per lane calls it.
 */
bool tare_ring_file_add_lanes(uint32_t first, uint32_t nr, bool in_file);
uint8_t *tare_ring_file_lane(uint32_t index);

/*
 * In a forked child. is_in_use: this thread is in the middle of a record, in a signal handler that forked;
 * then the addresses stay, as memory of nobody's.
 */
void tare_ring_file_leave(bool is_in_use);

#endif
