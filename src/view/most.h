/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_MOST_H
#define TARE_VIEW_MOST_H

#include <stddef.h>

/* How many of `count` rows are shown where there should be no more than `most`: not "1 more", it takes a line, too. */
static inline size_t tare_view_most(size_t count, size_t most)
{
	return count > most + 1 ? most : count;
}

#endif
