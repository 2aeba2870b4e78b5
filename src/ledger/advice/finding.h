/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done about the memory of a device: rows of advice.def that hold for a recording. */
#ifndef TARE_LEDGER_FINDING_H
#define TARE_LEDGER_FINDING_H

#include "ledger/account.h"

#define TARE_ADVICE(KEY, key, account, share, known, finding, less) TARE_ADVICE_##KEY,
enum tare_advice {
#include "ledger/advice/advice.def"
	TARE_ADVICE_NR
};

enum tare_known { TARE_KNOWN_MEASURED, TARE_KNOWN_COMPUTED, TARE_KNOWN_AT_MOST };
const char *tare_known_name(enum tare_known known);

struct tare_advice_info {
	const char *key;
	enum tare_account account;
	int share; /* ten-thousandths of the device's memory */
	enum tare_known known;
	const char *finding, *less;
};
extern const struct tare_advice_info tare_advices[TARE_ADVICE_NR];

struct tare_finding {
	enum tare_advice advice;
	/* account of the advice; of ACCOUNT: the account that the finding is about */
	enum tare_account account;
	int64_t bytes;    /* what would be saved */
	int64_t pid;      /* -1: of several processes, or none */
	const char *name; /* name of a kernel, an owner or a program; never NULL */
	uint64_t count;
	int64_t each, next; /* bytes */
};

/* What would make the memory less: the sentence of the advice, or of the account. */
const char *tare_finding_less(const struct tare_finding *finding);

#endif
