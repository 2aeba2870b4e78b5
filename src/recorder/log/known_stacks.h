/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stacks are in the log, and under which ids: of native frames and of lines, each by a hash of 64 bits that tells
 * it from all others. A table of a fixed size, without locks: where there is no room, one that was there before is
 * forgotten, and would merely be written again.
 */
#ifndef TARE_RECORDER_LOG_KNOWN_STACKS_H
#define TARE_RECORDER_LOG_KNOWN_STACKS_H

#include <stdbool.h>
#include <stdint.h>

/* 0: it is not known in this log. */
uint32_t tare_known_stack(uint64_t hash, uint32_t epoch);
/* Called after the record was written, so that nobody refers to an id before the log explains it. */
void tare_known_stack_keep(uint64_t hash, uint32_t epoch, uint32_t id);

/* At the start: every allocation will have one, or some will. Takes 16 MiB of zero pages, or one, where without there are 128 KiB. */
void tare_known_stacks_expect(bool are_all);

#endif
