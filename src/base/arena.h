/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_ARENA_H
#define TARE_BASE_ARENA_H

#include "base/owned.h"

#include <stddef.h>

/* Memory that is given back all at once. {0} is an empty arena. Addresses stay put. */
struct tare_arena {
	struct tare_arena_block *blocks; /* newest first */
	size_t used;                     /* of the newest block */
};

void *tare_arena_alloc(struct tare_arena *a, size_t size); /* zeroed, aligned to 16 */
char *tare_arena_strndup(struct tare_arena *a, const char *text, size_t len);
char *tare_arena_strdup(struct tare_arena *a, const char *text);
void tare_arena_free(struct tare_arena *a);

#endif
