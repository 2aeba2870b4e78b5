/* SPDX-License-Identifier: Apache-2.0 */
/* What programs take of a card in which order, and what they needed on top of what stays: `--by serving`. */
#ifndef TARE_LEDGER_COMING_H
#define TARE_LEDGER_COMING_H

#include "record/format.h"

#include <stdint.h>

enum tare_account;

#define TARE_COMING(KEY, key, label) TARE_COMING_##KEY,
enum tare_coming {
#include "ledger/coming.def"
	TARE_COMING_NR
};

const char *tare_coming_key(unsigned what);
const char *tare_coming_label(unsigned what);

/* What a row of that account is of, by its owner (NULL: none); of PyTorch's memory TENSORS. */
enum tare_coming tare_coming_of(enum tare_account account, const char *owner);

/* A stretch of time of a device, and what the recorded processes needed in it: see ledger/needs/needs.h. */
struct tare_need {
	int64_t from_ns;
	int64_t most, most_ns; /* and when first */
	int64_t least, last;
	int64_t fall, fall_ns; /* the most that came and went again, and when it was there */
};

/* The stretch that follows becomes part of the first. */
void tare_need_join(struct tare_need *first, const struct tare_need *next);

#endif
