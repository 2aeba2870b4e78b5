/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the time until an exec. Not the stack, for threads may have 16 KiB of it; and not a mapping
 * for each call, for one that a child of vfork makes is its parent's too, and stays when the child execs.
 */
#ifndef TARE_RECORDER_ROOM_H
#define TARE_RECORDER_ROOM_H

#include <stddef.h>

/* NULL: there is no memory. */
void *tare_room_take(size_t size);
void tare_room_give(void *at);

#endif
