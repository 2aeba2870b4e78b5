/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_SORTED_H
#define TARE_BASE_SORTED_H

#include "base/map.h"

/*
 * A set of numbers that can be asked for the greatest one up to a given number, in a few look-ups however many there
 * are. {0} is an empty set.
 *
 * Numbers are told apart six bits at a time: level 0 has a word of 64 bits for each 64 numbers that has any of them, a
 * level above has a bit for each word of the level below that is not 0.
 */
enum { TARE_SORTED_BITS = 6, TARE_SORTED_LEVELS = 11 /* of 64 bits */ };

struct tare_sorted {
	struct tare_map words[TARE_SORTED_LEVELS];
};

void tare_sorted_add(struct tare_sorted *s, uint64_t number);
void tare_sorted_remove(struct tare_sorted *s, uint64_t number); /* one that is not there, too */
/* False: all are greater. */
bool tare_sorted_last_up_to(const struct tare_sorted *s, uint64_t number, uint64_t *found);
void tare_sorted_free(struct tare_sorted *s);

#endif
