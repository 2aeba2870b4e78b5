/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's string functions, beside libc's. */
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define OWN(name) own_##name
void *own_memcpy(void *to, const void *from, size_t n);
void *own_memmove(void *to, const void *from, size_t n);
void *own_memset(void *to, int byte, size_t n);
int own_memcmp(const void *a, const void *b, size_t n);
size_t own_strlen(const char *text);
size_t own_strnlen(const char *text, size_t most);
int own_strncmp(const char *a, const char *b, size_t n);
int own_strcmp(const char *a, const char *b);
char *own_strncat(char *to, const char *from, size_t n);
char *own_strrchr(const char *text, int c);
char *own_strstr(const char *text, const char *part);
#include "../../src/recorder/base/bytes.c"

enum { SIZES = 300, BIG = 70000, EDGE = 64 };

static unsigned char a[BIG + 4 * EDGE], b[BIG + 4 * EDGE], wanted[BIG + 4 * EDGE];

static void fill(void)
{
	size_t i;

	for (i = 0; i < sizeof(a); i++) {
		a[i] = (unsigned char)(i * 7 + i / 251);
		b[i] = wanted[i] = (unsigned char)(0xa5 ^ i);
	}
}

static void check_copy(size_t to, size_t from, size_t n)
{
	fill();
	CHECK(own_memcpy(b + to, a + from, n) == b + to);
	memcpy(wanted + to, a + from, n);
	CHECK(memcmp(b, wanted, sizeof(b)) == 0);
}

TEST(memory_is_copied_whatever_its_size_and_place)
{
	static const size_t large[] = { 2047, 2048, 2049, 4096, 4097, BIG };
	size_t n, at, i;

	for (n = 0; n < SIZES; n++)
		for (at = 0; at < 3; at++)
			check_copy(EDGE + at, EDGE - at * 5, n);
	for (i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		check_copy(EDGE + 1, EDGE, large[i]);
}

static void check_move(size_t to, size_t from, size_t n)
{
	fill();
	memcpy(wanted, b, sizeof(b));
	CHECK(own_memmove(b + to, b + from, n) == b + to);
	memmove(wanted + to, wanted + from, n);
	CHECK(memcmp(b, wanted, sizeof(b)) == 0);
}

TEST(memory_is_moved_up_and_down_over_itself)
{
	size_t n, apart;

	for (n = 0; n < SIZES; n++)
		for (apart = 0; apart < 40; apart += 3) {
			check_move(EDGE + apart, EDGE, n);
			check_move(EDGE, EDGE + apart, n);
		}
	check_move(EDGE + 1, EDGE, BIG);
	check_move(EDGE, EDGE + 1, BIG);
}

TEST(memory_is_set)
{
	size_t n;

	for (n = 0; n < 5000; n += n < SIZES ? 1 : 97) {
		fill();
		CHECK(own_memset(b + EDGE + n % 7, (int)n + 0x180, n) == b + EDGE + n % 7);
		memset(wanted + EDGE + n % 7, (int)n + 0x180, n);
		CHECK(memcmp(b, wanted, sizeof(b)) == 0);
	}
}

static int sign(int value)
{
	return (value > 0) - (value < 0);
}

TEST(memory_is_compared_by_its_first_difference)
{
	size_t n, at;

	for (n = 1; n < 40; n++)
		for (at = 0; at < n; at++) {
			fill();
			memcpy(b, a, n);
			CHECK_INT(own_memcmp(a, b, n), 0);
			b[at] ^= 0x80;
			CHECK_INT(sign(own_memcmp(a, b, n)), sign(memcmp(a, b, n)));
		}
}

TEST(texts_have_the_length_that_libc_says)
{
	char text[128];
	size_t n, at;

	for (n = 0; n < 80; n++)
		for (at = 0; at < 16; at++) {
			memset(text, 0x81 + (int)at, sizeof(text));
			text[at + n] = '\0';
			CHECK_INT((int)own_strlen(text + at), (int)n);
			CHECK_INT((int)own_strnlen(text + at, 40), (int)strnlen(text + at, 40));
		}
}

TEST(texts_are_compared_joined_and_searched)
{
	static const char *const texts[] = { "", "a", "ab", "abc", "b", "\xff", "libcuda.so.1", "/a/b/c", "aab" };
	size_t nr = sizeof(texts) / sizeof(texts[0]), i, k, n;

	for (i = 0; i < nr; i++)
		for (k = 0; k < nr; k++) {
			char joined[64] = "", as_libc[64] = "";

			CHECK_INT(sign(own_strcmp(texts[i], texts[k])), sign(strcmp(texts[i], texts[k])));
			CHECK(own_strstr(texts[i], texts[k]) == strstr(texts[i], texts[k]));
			CHECK(own_strrchr(texts[i], texts[k][0]) == strrchr(texts[i], texts[k][0]));
			for (n = 0; n < 5; n++) {
				CHECK_INT(sign(own_strncmp(texts[i], texts[k], n)), sign(strncmp(texts[i], texts[k], n)));
				own_strncat(joined, texts[i], n);
				strncat(as_libc, texts[i], n);
				CHECK(strcmp(joined, as_libc) == 0);
			}
		}
}
