/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the names and the lines of a code object. */
#include "recorder/python/code.h"

enum { TABLE_MAX = 1 << 26 }; /* more than any code object has */

int tare_python_code_line(const struct tare_python_layout *l, const struct tare_python_code *code, int at,
                          enum tare_python_trust trust)
{
	uint64_t size;
	int line;

	if (!tare_python_load(code->table + TARE_PYTHON_SIZE, &size, trust) || size > TABLE_MAX ||
	    !tare_python_may_load(code->table + TARE_PYTHON_BYTES, size, trust))
		return 0;
	line = tare_python_line((enum tare_python_lines)l->lines, (const uint8_t *)(code->table + TARE_PYTHON_BYTES), size,
	                        code->first, at);
	return line > 0 ? line : 0;
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = 0xfffd; /* a byte of a file name that was no UTF-8 */
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

bool tare_python_text(const struct tare_python_layout *l, uintptr_t text, char *out, size_t size,
                      enum tare_python_trust trust)
{
	unsigned int width;
	size_t bytes, n = 0, i;
	uintptr_t at;

	if (!tare_python_characters(l, text, &at, &bytes, &width, trust))
		return false;
	for (i = 0; i < bytes && n + 5 <= size; i += width) {
		uint32_t c = width == 1   ? *(const uint8_t *)(at + i)
		             : width == 2 ? *(const uint16_t *)(at + i)
		                          : *(const uint32_t *)(at + i);

		n += put_utf8(out + n, c);
	}
	out[n] = '\0';
	return true;
}
