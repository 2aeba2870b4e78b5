/* SPDX-License-Identifier: Apache-2.0 */
/* An arena: pieces of memory that are cut from large blocks and freed together. */
#include "base/arena.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct tare_arena_block {
	struct tare_arena_block *next;
	size_t size;
	_Alignas(16) unsigned char data[];
};

enum { ALIGN = 16, BLOCK = 64 * 1024 };

void *tare_arena_alloc(struct tare_arena *a, size_t size)
{
	struct tare_arena_block *b = a->blocks;
	size_t at = (a->used + ALIGN - 1) & ~(size_t)(ALIGN - 1);

	if (!b || at > b->size || size > b->size - at) {
		size_t room = size > BLOCK ? size : BLOCK;

		b = tare_xcalloc(1, sizeof(*b) + room);
		b->next = a->blocks;
		b->size = room;
		a->blocks = b;
		at = 0;
	}
	a->used = at + size;
	return b->data + at;
}

char *tare_arena_strndup(struct tare_arena *a, const char *text, size_t len)
{
	char *p = tare_arena_alloc(a, len + 1);

	memcpy(p, text, len);
	return p;
}

char *tare_arena_strdup(struct tare_arena *a, const char *text)
{
	return tare_arena_strndup(a, text, strlen(text));
}

void tare_arena_free(struct tare_arena *a)
{
	for (struct tare_arena_block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (struct tare_arena){ 0 };
}
