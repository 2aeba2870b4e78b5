/* SPDX-License-Identifier: Apache-2.0 */
/* Reads line tables of code objects, in the forms of all versions of Python. */
#include "recorder/python/code.h"

/* Tables made by hand may add up to anything. */
static int add(int line, int difference)
{
	return (int)((unsigned int)line + (unsigned int)difference);
}

/* Up to 3.9: pairs of (bytes of code, lines) to go on by. */
static int by_lnotab(const uint8_t *table, size_t size, int line, int at)
{
	int address = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		address += table[i];
		if (address > at)
			break;
		line = add(line, (int8_t)table[i + 1]);
	}
	return line;
}

/* 3.10: ranges of code, each with a difference of lines; -128 says that a range has no line. */
static int by_ranges(const uint8_t *table, size_t size, int line, int at)
{
	int end = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int difference = (int8_t)table[i + 1];

		end += table[i];
		if (difference != -128)
			line = add(line, difference);
		if (at < end)
			return difference == -128 ? -1 : line;
	}
	return -1;
}

static int read_signed(const uint8_t *table, size_t size, size_t i)
{
	unsigned int value = 0, shift = 0;

	for (; i < size && shift < 30; i++, shift += 6) {
		value |= (unsigned int)(table[i] & 63) << shift;
		if (!(table[i] & 64))
			break;
	}
	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* From 3.11: entries that begin with a byte whose top bit is set, for 1 to 8 words of code each. */
static int by_locations(const uint8_t *table, size_t size, int line, int at)
{
	enum { NO_LINE = 15, LONG = 14, NO_COLUMNS = 13, ONE_LINE_0 = 10 };
	int end = 0;

	for (size_t i = 0; i < size;) {
		unsigned int code = table[i] >> 3 & 15;

		end += 2 * ((table[i] & 7) + 1);
		if (code == LONG || code == NO_COLUMNS)
			line = add(line, read_signed(table, size, i + 1));
		else if (code >= ONE_LINE_0 && code < NO_COLUMNS)
			line = add(line, (int)code - ONE_LINE_0);
		if (at < end)
			return code == NO_LINE ? -1 : line;
		for (i++; i < size && !(table[i] & 128); i++)
			;
	}
	return -1;
}

int tare_python_line(enum tare_python_lines kind, const uint8_t *table, size_t size, int first, int at)
{
	if (at < 0)
		return first;
	if (kind == TARE_PYTHON_LNOTAB)
		return by_lnotab(table, size, first, at);
	if (kind == TARE_PYTHON_LINES)
		return by_ranges(table, size, first, at);
	return by_locations(table, size, first, at);
}
