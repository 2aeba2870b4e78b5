/* SPDX-License-Identifier: Apache-2.0 */
/* The smaller cards that devices stand for (--vram, --card). */
#ifndef TARE_LEDGER_CARDS_H
#define TARE_LEDGER_CARDS_H

#include "ledger/core/fold.h"

struct tare_refusal_fold {
	uint64_t owner;
	const char *api;
	uint64_t count, largest, missing;
	int64_t first_ns;
};

/* The smaller card that a device stands for. */
struct tare_card_fold {
	bool is_there, has_profile;
	const char *name;
	uint64_t total, reserved, context;
	uint32_t multiprocessors, threads_per_multiprocessor;
	TARE_SAVED_AS_MANY(uncounted_nr)
	int64_t *uncounted_by_process; /* by process: bytes that do not count on the card */
	size_t uncounted_nr, uncounted_cap;
	int64_t uncounted;               /* their sum */
	uint32_t moment[TARE_MOMENT_NR]; /* kept[m] is as of this moment of the device */
	int64_t kept[TARE_MOMENT_NR];
	struct tare_refusal_fold *refusals;
	size_t refusal_nr, refusal_cap;
};

/* The part. */
struct tare_cards_part {
	TARE_SAVED_AS_MANY(device_nr) struct tare_card_fold *items; /* by device */
	int device_nr;
};

void tare_cards_begin(struct tare_cards_part *p, const struct tare_fold *f);
void tare_cards_event(struct tare_cards_part *p, struct tare_fold *f, struct tare_device_fold *d,
                      const struct tare_event *e);
/* A call had no room; in the order in which calls ended, whenever they are settled. */
void tare_cards_refused(struct tare_cards_part *p, struct tare_fold *f, const struct tare_device_fold *d,
                        const struct tare_event *e);
/* A process has left the books of a device. */
void tare_cards_left(struct tare_cards_part *p, const struct tare_fold *f, const struct tare_device_fold *d,
                     int process);
void tare_cards_device_rows(const struct tare_cards_part *p, const struct tare_fold *f,
                            const struct tare_device_fold *d, enum tare_moment m, int64_t t, struct tare_arena *memory,
                            struct tare_device_ledger *out);
const char *tare_cards_check(const struct tare_cards_part *p, const struct tare_fold *f);

#endif
