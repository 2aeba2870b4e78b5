/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_ARRAY_H
#define TARE_BASE_ARRAY_H

#include "base/xalloc.h"

#include <stdint.h>
#include <string.h>

/*
 * Makes room in a growing array, doubling. Never fails. The caller keeps items, count and cap. One item more, which is assigned to:
 *
 *     TARE_APPEND(a->items, a->count, a->cap) = item;
 *
 * The item may not say a->count. Of TARE_ADD() it may, which is where the new item is:
 *
 *     return TARE_ADD(a->items, a->count, a->cap, item);
 */
#define TARE_APPEND(ITEMS, COUNT, CAP)                                                                                 \
	(*((ITEMS) = tare_array_reserve((ITEMS), &(CAP), (size_t)(COUNT) + 1, sizeof(*(ITEMS))), &(ITEMS)[(COUNT)++]))
#define TARE_ADD(ITEMS, COUNT, CAP, ...)                                                                               \
	((ITEMS) = tare_array_reserve((ITEMS), &(CAP), (size_t)(COUNT) + 1, sizeof(*(ITEMS))),                             \
	 (ITEMS)[(COUNT)] = (__VA_ARGS__), &(ITEMS)[(COUNT)++])

static inline void *tare_array_reserve(void *items, size_t *cap, size_t need, size_t item_size)
{
	size_t n = *cap ? *cap : 8;

	if (need <= *cap)
		return items;
	while (n < need)
		n = need > SIZE_MAX / 2 ? need : n * 2;
	*cap = n;
	return tare_xrealloc(items, n, item_size);
}

/* `had` items become `need` and one more, the new ones zeros; fewer than `had` never. */
static inline void *tare_array_widen(void *items, size_t had, size_t need, size_t item_size)
{
	need = (need > had ? need : had) + 1;
	items = tare_xrealloc(items, need, item_size);
	memset((char *)items + had * item_size, 0, (need - had) * item_size);
	return items;
}

#endif
