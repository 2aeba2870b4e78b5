/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs of this process are to look smaller than they are, and how much of such a card is used. */
#ifndef TARE_RECORDER_VRAM_CARD_H
#define TARE_RECORDER_VRAM_CARD_H

#include <stdint.h>

#include "record/vram.h"

/* The card that a device of this process stands for, NULL: itself. */
struct tare_vram_card *tare_vram_card(int ordinal);
struct tare_vram_card *tare_vram_card_of_uuid(const uint8_t uuid[16]);

static inline uint64_t tare_vram_room(const struct tare_vram_card *card)
{
	return card->total - card->reserved;
}

/*
 * What counts as used on the card: what the device has in use, by whomever, less what does not count.
 * TARE_NOT_KNOWN where nobody can say.
 */
uint64_t tare_vram_used(const struct tare_vram_card *card, int ordinal);
/* The same from a reading of the device that somebody took: NVML's, without the driver's reserve. */
uint64_t tare_vram_used_from(const struct tare_vram_card *card, uint64_t device_used);

/* What is never to be counted although the device has it, or is to be counted although it has not. */
void tare_vram_add_uncounted(struct tare_vram_card *card, int ordinal, int64_t bytes);

/* Our part of what is under way, so that others can give it back if we are killed. */
void tare_vram_under_way(struct tare_vram_card *card, int64_t units);
/* Gives back what processes that are gone had under way. */
void tare_vram_reclaim(void);

#endif
