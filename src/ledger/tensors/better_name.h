/* SPDX-License-Identifier: Apache-2.0 */
/* Which variable's name a tensor has, where a later scan finds another one: it may know more, or less. */
#ifndef TARE_LEDGER_BETTER_NAME_H
#define TARE_LEDGER_BETTER_NAME_H

#include "base/owned.h"
#include "ledger/core/fold_state.h"

#include <string.h>

struct tare_better_name {
	const struct tare_fold *f;
	/* by name of a variable: how many of the tensors that this scan finds it keeps, and how many of them it kept before */
	TARE_OWNED struct tare_map now, before;
};

/* What every method calls its object is no name. */
static inline bool tare_is_self(const char *name)
{
	return name && !strcmp(name, "self");
}

/* Is the variable that a scan finds a better name than the one that is known? Both are texts of the fold. */
bool tare_better_name(const struct tare_better_name *b, uint32_t name, uint32_t known);
TARE_FREES(tare_better_name_free, tare_better_name);

#endif
