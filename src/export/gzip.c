/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a gzip file (RFC 1952) whose content is stored, not compressed (RFC 1951): readers of pprof's files ask for
 * gzip, and zlib would be one more library in a program that needs none but libc.
 */
#include "export/gzip.h"

#include <stdint.h>

enum { STORED_MAX = 65535 };

static uint32_t crc_of(const unsigned char *p, size_t len)
{
	uint32_t table[256], crc = UINT32_MAX;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xEDB88320) : 0);
	}
	for (size_t i = 0; i < len; i++)
		crc = crc >> 8 ^ table[(crc ^ p[i]) & 255];
	return ~crc;
}

static void add_number(struct tare_str *out, uint32_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		tare_str_add_char(out, (char)(value >> 8 * i));
}

void tare_gzip(struct tare_str *out, const struct tare_str *text)
{
	static const char head[] = { 0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, (char)255 };
	const char *p = tare_str_text(text);
	size_t left = text->len;

	tare_str_add_n(out, head, sizeof(head));
	do {
		uint32_t n = left < STORED_MAX ? (uint32_t)left : STORED_MAX;

		add_number(out, n == left, 1);
		add_number(out, n, 2);
		add_number(out, ~n, 2);
		tare_str_add_n(out, p, n);
		p += n;
		left -= n;
	} while (left);
	add_number(out, crc_of((const unsigned char *)tare_str_text(text), text->len), 4);
	add_number(out, (uint32_t)text->len, 4);
}
