/* SPDX-License-Identifier: Apache-2.0 */
/* Tuples, of which only ids of pools mean something. */
#include "snapshot/pickle.h"

#include "base/array.h"

/* Two numbers are the ids of a pool, which PyTorch counts from 1. */
static struct tare_pickle_value pool_of(struct tare_snapshot *s, int64_t a, int64_t b)
{
	struct tare_pickle_value value = { .kind = TARE_PICKLE_IS_OTHER };
	uint64_t *number;
	bool is_new;

	if (a < 0 || b < 0 || a > UINT32_MAX || b > UINT32_MAX)
		return value;
	number = tare_map_put(&s->pool_numbers, (uint64_t)a << 32 | (uint64_t)b, &is_new);
	if (is_new) {
		TARE_APPEND(s->pools, s->pool_count, s->pool_cap) = (struct tare_snapshot_pool){ a, b };
		*number = s->pool_count - 1;
	}
	value.kind = TARE_PICKLE_IS_PAIR;
	value.ref = (uint32_t)*number;
	return value;
}

int tare_pickle_tuple(struct tare_snapshot *s, size_t from)
{
	struct tare_pickle_value value = { .kind = TARE_PICKLE_IS_OTHER };
	const struct tare_pickle_value *item = &s->stack[from];
	size_t at;
	int rc = tare_pickle_complete_lists(s, from);

	if (rc)
		return rc;
	if (s->stack_count - from == 2 && item[0].kind == TARE_PICKLE_IS_INT && item[1].kind == TARE_PICKLE_IS_INT)
		value = pool_of(s, item[0].i, item[1].i);
	for (at = from; at < s->stack_count; at++) {
		struct tare_pickle_value part = s->stack[at];

		rc = tare_pickle_complete(s, SIZE_MAX, &part);
		s->stack[at] = (struct tare_pickle_value){ .kind = TARE_PICKLE_IS_OTHER };
		tare_pickle_drop(s, &part);
		if (rc)
			return rc;
	}
	s->stack_count = from;
	return tare_pickle_push(s, value);
}
