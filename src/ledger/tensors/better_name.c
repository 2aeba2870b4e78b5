/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the variable that keeps a tensor now with the one that earlier scans found. */
#include "ledger/tensors/better_name.h"

#include "ledger/tensors/tensors.h"

#include <string.h>

enum { FEW = 8 };

static uint64_t count(const struct tare_map *map, uint32_t name)
{
	const uint64_t *found = tare_map_get(map, name);

	return found ? *found : 0;
}

/*
 * The function that had the variable has returned, and another one keeps what it kept. But where it had a few tensors and the other has
 * many, they were put into that, as a batch into a memory.
 */
static bool is_heir(const struct tare_better_name *b, uint32_t name, uint32_t known)
{
	uint64_t had = count(&b->before, known);

	return !count(&b->now, known) && (had > FEW || 2 * had >= count(&b->now, name));
}

static bool is_self(const struct tare_better_name *b, uint32_t name)
{
	return tare_is_self(tare_fold_text_of(b->f, name));
}

bool tare_better_name(const struct tare_better_name *b, uint32_t name, uint32_t known)
{
	if (!known || name == known)
		return true;
	return is_self(b, known) || (!is_self(b, name) && !is_heir(b, name, known));
}
