/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds the stamps of heap blocks in segments down to steps of time, so that they take less room. */
#include "compact/coarse.h"

enum { STEP_NS = 1000, OVER = 1000 /* steps by which the clock is measured */ };

/* A step is the largest power of two of ticks that is no longer than STEP_NS. */
static void begin(struct tare_coarse *c, const struct tare_recording *recording, const struct tare_process *process,
                  uint64_t stamp)
{
	int64_t now = tare_recording_time_ns(recording, process, stamp);
	uint64_t later = tare_recording_stamp(recording, process, now + STEP_NS * OVER);
	uint64_t ticks = later > stamp ? (later - stamp) / OVER : 1;

	c->step = ticks > 1 ? UINT64_C(1) << (63 - __builtin_clzll(ticks)) : 1;
	c->apart = ticks / STEP_NS + 1;
}

/* Two changes at the same moment would be one in the ledger of that moment, and two in a picture. */
static uint64_t coarse_of(const struct tare_coarse *c, uint64_t stamp)
{
	uint64_t coarse = stamp & ~(c->step - 1);

	if (stamp <= c->last + c->apart || stamp >= c->until)
		return stamp;
	return coarse > c->last + c->apart ? coarse : c->last + c->apart;
}

uint64_t tare_coarse_stamp(struct tare_coarse *c, const struct tare_recording *recording,
                           const struct tare_process *process, const struct tare_record *record)
{
	bool is_of_heap = record->kind == TARE_KIND_HEAP_BLOCK || record->kind == TARE_KIND_HEAP_FREED;
	uint64_t stamp = record->stamp;

	if (!c->step)
		begin(c, recording, process, stamp);
	if (is_of_heap)
		stamp = coarse_of(c, stamp);
	c->last = stamp > c->last ? stamp : c->last;
	return stamp;
}
