/* SPDX-License-Identifier: Apache-2.0 */
/* Adds to and frees the list of spans of which there are no events any more. */
#include "base/extent.h"

#include "base/array.h"
#include "base/xalloc.h"

#include <stdlib.h>

void tare_extent_add(struct tare_extent_list *list, const struct tare_extent *extent)
{
	struct tare_extent *own;

	own = &TARE_APPEND(list->items, list->nr, list->cap);
	*own = *extent;
	own->what = extent->what ? tare_xstrdup(extent->what) : NULL;
}
