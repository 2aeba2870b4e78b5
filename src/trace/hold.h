/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a recording as it is while somebody reads it. Readers lock the file `control` of the recording, shared, until they are
 * done; a process that is going to trim logs or to remove segments asks for the lock first. A lock ends with its descriptor, or
 * with the process.
 */
#ifndef TARE_TRACE_HOLD_H
#define TARE_TRACE_HOLD_H

/* To read; waits 5 s at most. -1: there is no lock, for want of the file or because the file system has none. */
int tare_hold_to_read(const char *folder);
/* To remove something. -1: somebody reads; -2: there is no lock. */
int tare_hold_to_change(const char *folder);
void tare_hold_end(int hold);

#endif
