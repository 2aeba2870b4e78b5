/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_COMPARATOR_H
#define TARE_BASE_COMPARATOR_H

#include <stdlib.h>
#include <string.h>

/*
 * Comparators of qsort(), by fields of which the first that differs decides:
 *
 *     TARE_COMPARATOR(by_size, struct row, TARE_FALLING(bytes) TARE_ALPHABETIC(label))
 *
 * is `static int by_size(const void *, const void *)`: the largest first, of the same size by label. One that needs more than
 * fields is written by hand.
 */
#define TARE_COMPARATOR(NAME, TYPE, FIELDS)                                                                            \
	static int NAME(const void *first, const void *second)                                                             \
	{                                                                                                                  \
		const TYPE *x = first, *y = second;                                                                            \
                                                                                                                       \
		FIELDS return 0;                                                                                               \
	}

/* What is sorted are pointers to a TYPE. */
#define TARE_COMPARATOR_OF_POINTERS(NAME, TYPE, FIELDS)                                                                \
	static int NAME(const void *first, const void *second)                                                             \
	{                                                                                                                  \
		const TYPE *x = *(const TYPE *const *)first, *y = *(const TYPE *const *)second;                                \
                                                                                                                       \
		FIELDS return 0;                                                                                               \
	}

/* What is sorted are numbers, the smallest first. */
#define TARE_SCALAR_COMPARATOR(NAME, TYPE)                                                                             \
	static int NAME(const void *first, const void *second)                                                             \
	{                                                                                                                  \
		TYPE x = *(const TYPE *)first, y = *(const TYPE *)second;                                                      \
                                                                                                                       \
		return (x > y) - (x < y);                                                                                      \
	}

/* The same, the largest first. */
#define TARE_FALLING_SCALAR_COMPARATOR(NAME, TYPE)                                                                     \
	static int NAME(const void *first, const void *second)                                                             \
	{                                                                                                                  \
		TYPE x = *(const TYPE *)first, y = *(const TYPE *)second;                                                      \
                                                                                                                       \
		return (x < y) - (x > y);                                                                                      \
	}

#define TARE_RISING(FIELD)                                                                                             \
	if (x->FIELD != y->FIELD)                                                                                          \
		return x->FIELD < y->FIELD ? -1 : 1;
#define TARE_FALLING(FIELD)                                                                                            \
	if (x->FIELD != y->FIELD)                                                                                          \
		return x->FIELD > y->FIELD ? -1 : 1;
/* A text; NULL is "". */
#define TARE_ALPHABETIC(FIELD)                                                                                         \
	if (tare_compare_texts(x->FIELD, y->FIELD))                                                                        \
		return tare_compare_texts(x->FIELD, y->FIELD);
/* The same of a key that is worked out of an item, `it`: TARE_FALLING_BY(llabs(it->bytes)). */
#define TARE_RISING_BY(KEY)  TARE_BY_KEY(KEY, x, y)
#define TARE_FALLING_BY(KEY) TARE_BY_KEY(KEY, y, x)
#define TARE_BY_KEY(KEY, SMALLER, LARGER)                                                                              \
	{                                                                                                                  \
		__typeof__(x) it = SMALLER;                                                                                    \
		__typeof__((KEY) + 0) smaller = (KEY), larger;                                                                 \
                                                                                                                       \
		it = LARGER;                                                                                                   \
		larger = (KEY);                                                                                                \
		if (smaller != larger)                                                                                         \
			return smaller < larger ? -1 : 1;                                                                          \
	}
#define TARE_ALPHABETIC_BY(KEY)                                                                                        \
	{                                                                                                                  \
		__typeof__(x) it = x;                                                                                          \
		const char *text = (KEY);                                                                                      \
                                                                                                                       \
		it = y;                                                                                                        \
		TARE_COMPARED(tare_compare_texts(text, KEY))                                                                   \
	}
/* What another comparison of x and y says. */
#define TARE_COMPARED(ORDER)                                                                                           \
	{                                                                                                                  \
		int compared = ORDER;                                                                                          \
                                                                                                                       \
		if (compared)                                                                                                  \
			return compared;                                                                                           \
	}

/* Sorts an array, which may be empty and NULL then: qsort() may not be asked that. */
#define TARE_SORT(ITEMS, COUNT, COMPARATOR) tare_sort((ITEMS), (size_t)(COUNT), sizeof(*(ITEMS)), COMPARATOR)

static inline void tare_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count)
		qsort(items, count, size, compare);
}

static inline int tare_compare_texts(const char *x, const char *y)
{
	return strcmp(x ? x : "", y ? y : "");
}

#endif
