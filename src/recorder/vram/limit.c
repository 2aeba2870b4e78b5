/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses a call of the driver that would pass the limit of a smaller card. */
#include "recorder/vram/limit.h"

#include <errno.h>

#include "recorder/base/fork.h"
#include "recorder/base/sys.h"
#include "recorder/cuda/context.h"
#include "recorder/cuda/devices.h"
#include "recorder/recorder.h"

/* How long a call waits for others that are under way, before it is told that there is no room. */
#define PATIENCE_NS 5000000u

/* Inside one of our calls: what the driver calls of itself is part of it. */
static TARE_TLS bool is_inside;
static TARE_TLS struct {
	uint64_t needed, missing;
	bool is_set;
} refusal;

static uint64_t units_of(uint64_t bytes)
{
	uint64_t units = bytes / TARE_VRAM_UNIT + (bytes % TARE_VRAM_UNIT != 0);

	return units < TARE_VRAM_UNITS_MASK / 2 ? units : TARE_VRAM_UNITS_MASK / 2;
}

static uint64_t bytes_under_way(uint64_t word)
{
	return (word & TARE_VRAM_UNITS_MASK) * TARE_VRAM_UNIT;
}

static bool fits(const struct tare_vram_card *card, uint64_t used, uint64_t bytes)
{
	uint64_t room = tare_vram_room(card);

	return used <= room && bytes <= room - used;
}

static void refuse(const struct tare_vram_card *card, uint64_t used, uint64_t bytes)
{
	uint64_t room = tare_vram_room(card), left = used < room ? room - used : 0;

	if (tare_thread.depth == 0)
		return; /* nobody records it */
	refusal.needed = bytes;
	refusal.missing = bytes - left;
	refusal.is_set = true;
}

bool tare_limit_take_refusal(uint64_t *needed, uint64_t *missing)
{
	if (likely(!refusal.is_set))
		return false;
	refusal.is_set = false;
	*needed = refusal.needed;
	*missing = refusal.missing;
	return true;
}

/*
 * Another call is under way that may end with less than it was given, or in an error. False: enough
 * of waiting. Neither a lock nor a promise: whoever waits goes on by itself.
 */
static bool wait_for_others(const struct tare_vram_card *card, uint64_t word, uint64_t *since)
{
	uint64_t now = tare_sys_now_ns(CLOCK_MONOTONIC);

	if (!*since)
		*since = now;
	while (now - *since < PATIENCE_NS) {
		if (__atomic_load_n(&card->word, __ATOMIC_ACQUIRE) != word)
			return true;
		tare_sys6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		now = tare_sys_now_ns(CLOCK_MONOTONIC);
	}
	return false;
}

static bool take(struct tare_limit *limit, uint64_t word, uint64_t bytes, uint64_t tight)
{
	/* One unit at least, so that other threads see that a call is under way. */
	uint64_t units = (bytes ? units_of(bytes) : 1) + tight;

	limit->is_alone = !(word & (TARE_VRAM_TURN - 1));
	if (!__atomic_compare_exchange_n(&limit->card->word, &word, word + units, false, __ATOMIC_ACQ_REL,
	                                 __ATOMIC_ACQUIRE))
		return false;
	limit->units = units;
	limit->word = word + units;
	limit->is_tight = tight != 0;
	tare_vram_under_way(limit->card, (int64_t)units);
	return true;
}

enum verdict { AGAIN, GO, NO };

static enum verdict decide(struct tare_limit *limit, uint64_t least, uint64_t most, uint64_t *since, bool *is_reclaimed)
{
	struct tare_vram_card *card = limit->card;
	uint64_t word = __atomic_load_n(&card->word, __ATOMIC_ACQUIRE), under_way = bytes_under_way(word);
	uint64_t used = limit->before = tare_limit_used(limit);

	if (used == TARE_NOT_KNOWN) {
		limit->card = NULL; /* no counter, no limit */
		return GO;
	}
	if (!most || fits(card, used + under_way, most))
		return take(limit, word, most, 0) ? GO : AGAIN;
	if (least && !fits(card, used, least)) {
		refuse(card, used, least);
		return NO;
	}
	/* By at most a page, and one at a time. */
	if (least != most && !(word & TARE_VRAM_TIGHT) && (!least || fits(card, used + under_way, least)))
		return take(limit, word, least, TARE_VRAM_TIGHT) ? GO : AGAIN;
	if (wait_for_others(card, word, since))
		return AGAIN;
	if (!*is_reclaimed) {
		*is_reclaimed = true;
		tare_vram_reclaim();
		*since = 0;
		return AGAIN;
	}
	refuse(card, used + under_way, least ? least : most);
	return NO;
}

bool tare_limit_begin(struct tare_limit *limit, int device, uint64_t least, uint64_t most)
{
	int saved_errno = errno;
	enum verdict verdict = AGAIN;
	bool is_reclaimed = false;
	uint64_t since = 0;

	*limit = (struct tare_limit){ .device = device };
	if (is_inside)
		return true;
	tare_fork_check();
	if (tare_is_vfork_child())
		return true;
	tare_devices_start();
	limit->card = tare_vram_card(device);
	limit->is_open = most == TARE_LIMIT_OPEN;
	while (limit->card && verdict == AGAIN)
		verdict = decide(limit, least, limit->is_open ? least : most, &since, &is_reclaimed);
	is_inside = verdict != NO && limit->card;
	errno = saved_errno;
	return verdict != NO;
}

uint64_t tare_limit_used(const struct tare_limit *limit)
{
	return tare_vram_used(limit->card, limit->device);
}

uint64_t tare_limit_growth(const struct tare_limit *limit)
{
	uint64_t used = limit->card ? tare_limit_used(limit) : TARE_NOT_KNOWN;

	if (!limit->is_alone || used == TARE_NOT_KNOWN || used < limit->before ||
	    __atomic_load_n(&limit->card->word, __ATOMIC_ACQUIRE) != limit->word)
		return 0;
	return used - limit->before;
}

/*
 * What others have under way was admitted by a reading that did not hold what this call took, so it
 * counts as if it was taken already.
 */
bool tare_limit_is_passed(const struct tare_limit *limit, CUresult result)
{
	const struct tare_vram_card *card = limit->card;
	uint64_t used, others, word, since = 0;
	int saved_errno = errno;
	bool is_passed = false;

	if (!card || result != CUDA_SUCCESS || !(limit->is_tight || limit->is_open))
		return false;
	do {
		word = __atomic_load_n(&card->word, __ATOMIC_ACQUIRE);
		used = tare_limit_used(limit);
		others = bytes_under_way(word) - bytes_under_way(limit->units);
		if (used == TARE_NOT_KNOWN || used <= limit->before || fits(card, used, others))
			break;
		is_passed = !fits(card, used, 0) || !wait_for_others(card, word, &since);
	} while (!is_passed);
	if (is_passed)
		refuse(card, limit->before, used - limit->before);
	errno = saved_errno;
	return is_passed;
}

void tare_limit_end(struct tare_limit *limit)
{
	if (!limit->card)
		return;
	is_inside = false;
	tare_vram_under_way(limit->card, -(int64_t)limit->units);
	__atomic_fetch_add(&limit->card->word, TARE_VRAM_TURN - limit->units, __ATOMIC_ACQ_REL);
}

int tare_limit_device(void)
{
	return tare_context_device(tare_context_current());
}
