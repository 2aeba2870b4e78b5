/* SPDX-License-Identifier: Apache-2.0 */
/* What memory is for, and how its size is known. */
#ifndef TARE_LEDGER_ACCOUNT_H
#define TARE_LEDGER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

enum tare_evidence {
	TARE_EVIDENCE_EXACT,    /* the size the driver or an allocator returned */
	TARE_EVIDENCE_WEIGHED,  /* the driver's own counter around one call */
	TARE_EVIDENCE_INFERRED, /* by a rule that is named */
	TARE_EVIDENCE_WITNESS,  /* somebody else's word: NVML's list of processes */
};
const char *tare_evidence_name(enum tare_evidence evidence);

#define TARE_ACCOUNT(id, key, path, label, parent, evidence, elastic, why, less) TARE_ACCOUNT_##key = id,
enum tare_account {
#include "ledger/core/accounts.def"
	TARE_ACCOUNT_NR
};

struct tare_account_info {
	const char *key, *label, *why, *less;
	enum tare_account parent;
	enum tare_evidence evidence;
	bool elastic;
};
extern const struct tare_account_info tare_accounts[TARE_ACCOUNT_NR];

#endif
