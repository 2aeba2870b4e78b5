/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a checkpoint of Tare 0.1.0. */
#ifndef TARE_LEDGER_SAVE_H
#define TARE_LEDGER_SAVE_H

#include "ledger/settle/settle.h"

/* Numbers of buckets in CARRY records that are no accounts. */
enum {
	TARE_CARRY_UNEXPLAINED = 247,
	TARE_CARRY_COLLECTED = 248,
	TARE_CARRY_TRIED = 249,
	TARE_CARRY_EVER_ALLOCATED = 250,
	TARE_CARRY_HELD = 251,
	TARE_CARRY_PARTLY = 252,
	TARE_CARRY_TENSOR = 253,
	TARE_CARRY_PINNED = 254,
	TARE_CARRY_REGISTERED = 255
};
void tare_load_carry(struct tare_fold *f, struct tare_device_fold *d, const struct tare_event *e);
void tare_load_step(struct tare_fold *f, struct tare_device_fold *d, const struct tare_step *s);
void tare_load_reading(struct tare_fold *f, struct tare_device_fold *d, int64_t t, uint64_t used,
		       int source);

#endif
