/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The string functions that the compiler calls by itself and that the recorder calls by name. They are
 * hidden, so that nobody's function of the same name is called instead, nor this one by anybody else.
 */
#include "recorder/base/bytes.h"

#include <stdint.h>

#undef memcmp
#undef memcpy
#undef memmove
#undef memset
#undef strlen

#ifndef OWN
#define OWN(name) name /* tests give them other names */
#endif

/* A loop that copies must not be made into a call of what it is. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

enum { LARGE = 2048 }; /* from here on the processor's own copying is faster */

struct __attribute__((packed, may_alias)) block {
	uint64_t low, high;
};
struct __attribute__((packed, may_alias)) word {
	uint64_t value;
};
struct __attribute__((packed, may_alias)) half {
	uint32_t value;
};

/* Ends that overlap: every size from 4 on is two loads, then two stores. */
static void copy_short(uint8_t *to, const uint8_t *from, size_t n)
{
	if (n >= 16) {
		struct block first = *(const struct block *)from, last = *(const struct block *)(from + n - 16);

		*(struct block *)to = first;
		*(struct block *)(to + n - 16) = last;
	} else if (n >= 8) {
		struct word first = *(const struct word *)from, last = *(const struct word *)(from + n - 8);

		*(struct word *)to = first;
		*(struct word *)(to + n - 8) = last;
	} else if (n >= 4) {
		struct half first = *(const struct half *)from, last = *(const struct half *)(from + n - 4);

		*(struct half *)to = first;
		*(struct half *)(to + n - 4) = last;
	} else if (n) {
		uint8_t first = from[0], middle = from[n / 2], last = from[n - 1];

		to[0] = first;
		to[n / 2] = middle;
		to[n - 1] = last;
	}
}

/* Also where they overlap and `to` lies below: what is overwritten was read before. */
static void copy_up(uint8_t *to, const uint8_t *from, size_t n)
{
	struct block last = *(const struct block *)(from + n - 16);
	uint8_t *end = to + n - 16;

	for (; to < end; to += 16, from += 16)
		*(struct block *)to = *(const struct block *)from;
	*(struct block *)end = last;
}

static void copy_down(uint8_t *to, const uint8_t *from, size_t n)
{
	struct block first = *(const struct block *)from;

	for (; n > 16; n -= 16)
		*(struct block *)(to + n - 16) = *(const struct block *)(from + n - 16);
	*(struct block *)to = first;
}

static void copy_large(uint8_t *to, const uint8_t *from, size_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
	copy_up(to, from, n);
#endif
}

void *OWN(memcpy)(void *to, const void *from, size_t n)
{
	if (n <= 32)
		copy_short(to, from, n);
	else if (n >= LARGE)
		copy_large(to, from, n);
	else
		copy_up(to, from, n);
	return to;
}

void *OWN(memmove)(void *to, const void *from, size_t n)
{
	if (n <= 32)
		copy_short(to, from, n);
	else if ((uintptr_t)to - (uintptr_t)from < n)
		copy_down(to, from, n);
	else
		copy_up(to, from, n);
	return to;
}

void *OWN(memset)(void *to, int byte, size_t n)
{
	uint64_t value = (uint8_t)byte * UINT64_C(0x0101010101010101);
	struct block full = { value, value };
	uint8_t *at = to, *end = at + n;

#if defined(__x86_64__)
	if (n >= LARGE) {
		__asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(byte) : "memory");
		return to;
	}
#endif
	if (n < 16) {
		while (at < end)
			*at++ = (uint8_t)byte;
		return to;
	}
	for (; (size_t)(end - at) > 16; at += 16)
		*(struct block *)at = full;
	*(struct block *)(end - 16) = full;
	return to;
}

int OWN(memcmp)(const void *a, const void *b, size_t n)
{
	const uint8_t *p = a, *q = b;

	for (; n >= 8 && ((const struct word *)p)->value == ((const struct word *)q)->value; n -= 8)
		p += 8, q += 8;
	for (; n > 0; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

/* ---- texts ---- */
static size_t bytes_to_zero(uint64_t word)
{
	return (size_t)__builtin_ctzll(word) / 8;
}

/* Whole words, none of which lies across two pages; ones stand where the bytes before the text are. */
__attribute__((no_sanitize("address"))) size_t OWN(strlen)(const char *text)
{
	const struct word *at = (const struct word *)((uintptr_t)text & ~(uintptr_t)7);
	unsigned int skip = (unsigned int)((uintptr_t)text & 7) * 8;
	uint64_t word = at->value | ((UINT64_C(1) << skip) - 1), zero;

	while (!(zero = (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080)))
		word = (++at)->value;
	return (size_t)((const char *)at - text) + bytes_to_zero(zero);
}

size_t OWN(strnlen)(const char *text, size_t most)
{
	size_t n = 0;

	while (n < most && text[n])
		n++;
	return n;
}

int OWN(strncmp)(const char *a, const char *b, size_t n)
{
	for (; n > 0; n--, a++, b++)
		if (*a != *b || !*a)
			return (uint8_t)*a - (uint8_t)*b;
	return 0;
}

int OWN(strcmp)(const char *a, const char *b)
{
	return OWN(strncmp)(a, b, SIZE_MAX);
}

char *OWN(strncat)(char *to, const char *from, size_t n)
{
	size_t length = OWN(strnlen)(from, n), at = OWN(strlen)(to);

	OWN(memcpy)(to + at, from, length);
	to[at + length] = '\0';
	return to;
}

char *OWN(strrchr)(const char *text, int c)
{
	const char *found = NULL;

	do
		if (*text == (char)c)
			found = text;
	while (*text++);
	return (char *)(uintptr_t)found;
}

char *OWN(strstr)(const char *text, const char *part)
{
	size_t length = OWN(strlen)(part);

	for (;; text++) {
		if (strncmp(text, part, length) == 0)
			return (char *)(uintptr_t)text;
		if (!*text)
			return NULL;
	}
}
