/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is written may be read. Who gives something of it back to the disk asks whether somebody reads it: readers
 * hold its page `control`, shared, until they are done. A hold goes with its descriptor, or the process.
 */
#ifndef TARE_TRACE_HOLD_H
#define TARE_TRACE_HOLD_H

/* To read; waits some ms at most. -1: without a hold, where there is no such page, or the file system has no locks. */
int tare_hold_to_read(const char *folder);
/* To give back. -1: somebody reads; -2: nobody can be asked. */
int tare_hold_to_change(const char *folder);
void tare_hold_end(int hold);

#endif
