/* SPDX-License-Identifier: Apache-2.0 */
/* Older traces have no addresses: an end is taken for that of the block of its size that came last. */
#ifndef TARE_IMPORT_KINETO_MATCH_H
#define TARE_IMPORT_KINETO_MATCH_H

#include "base/map.h"
#include "base/owned.h"

#include <stdint.h>

struct tare_kineto_slot;

/* Addresses that are made up: each is of blocks of one size only. {0} has none. */
struct tare_kineto_match {
	TARE_OWNED struct tare_kineto_slot *slots;
	size_t count, cap;
	TARE_OWNED struct tare_map used, unused; /* bytes → the slot of that size that was told last */
	uint64_t end;                            /* behind the last slot */
};

uint64_t tare_kineto_match_begin(struct tare_kineto_match *m, uint64_t bytes);
/* Where none of this size is, it is a block that was there before. */
uint64_t tare_kineto_match_end(struct tare_kineto_match *m, uint64_t bytes);
TARE_FREES(tare_kineto_match_free, tare_kineto_match);

#endif
