/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables and layouts of Python, also ones that no Python makes. */
#include "recorder/python/layout.h"
#include "recorder/python/code.h"
#include "test.h"

#include <string.h>

#define LINE(kind, table, first, at)                                                                                   \
	tare_python_line(TARE_PYTHON_##kind, (const uint8_t *)(table), sizeof(table) - 1, first, at)

TEST(pairs_up_to_3_9)
{
	/* 6 bytes of code on line 10, 50 on 12, 300 (255 + 45) further on 11. */
	static const char table[] = "\6\2\62\0\377\0\55\377";

	CHECK_INT(LINE(LNOTAB, table, 10, -1), 10);
	CHECK_INT(LINE(LNOTAB, table, 10, 0), 10);
	CHECK_INT(LINE(LNOTAB, table, 10, 5), 10);
	CHECK_INT(LINE(LNOTAB, table, 10, 6), 12);
	CHECK_INT(LINE(LNOTAB, table, 10, 355), 12);
	CHECK_INT(LINE(LNOTAB, table, 10, 356), 11);
	CHECK_INT(LINE(LNOTAB, table, 10, 100000), 11);
	CHECK_INT(LINE(LNOTAB, "", 7, 4), 7);
	CHECK_INT(LINE(LNOTAB, "\1", 7, 4), 7);
}

TEST(ranges_of_3_10)
{
	/* 4 bytes on line 10, 2 without a line, 6 on 9, nothing on 12, 2 on 13. */
	static const char table[] = "\4\0\2\200\6\377\0\3\2\1";

	CHECK_INT(LINE(LINES, table, 10, 0), 10);
	CHECK_INT(LINE(LINES, table, 10, 3), 10);
	CHECK_INT(LINE(LINES, table, 10, 4), -1);
	CHECK_INT(LINE(LINES, table, 10, 6), 9);
	CHECK_INT(LINE(LINES, table, 10, 11), 9);
	CHECK_INT(LINE(LINES, table, 10, 12), 13);
	CHECK_INT(LINE(LINES, table, 10, 14), -1);
	CHECK_INT(LINE(LINES, "", 10, 0), -1);
}

TEST(locations_from_3_11)
{
	/* 2 words on 10 (short form), 1 on 12 (one line, +2), 8 on 5 (no columns, -7), 1 without a line,
	 * 1 on 1005 (long form, +1000: 2000 = 16 + 31 * 64). */
	static const char table[] = "\201\21\340\1\2\357\17\370\360\120\37\0\1\2";

	CHECK_INT(LINE(LOCATIONS, table, 10, 0), 10);
	CHECK_INT(LINE(LOCATIONS, table, 10, 2), 10);
	CHECK_INT(LINE(LOCATIONS, table, 10, 4), 12);
	CHECK_INT(LINE(LOCATIONS, table, 10, 6), 5);
	CHECK_INT(LINE(LOCATIONS, table, 10, 21), 5);
	CHECK_INT(LINE(LOCATIONS, table, 10, 22), -1);
	CHECK_INT(LINE(LOCATIONS, table, 10, 24), 1005);
	CHECK_INT(LINE(LOCATIONS, table, 10, 26), -1);
	CHECK_INT(LINE(LOCATIONS, "", 10, 0), -1);
	CHECK_INT(LINE(LOCATIONS, "\357", 10, 0), 10); /* cut off where the difference should be */
}

TEST(tables_of_noise)
{
	uint8_t table[256];
	uint64_t state = 1;

	for (int turn = 0; turn < 20000; turn++) {
		size_t size = (size_t)turn % sizeof(table);

		for (size_t i = 0; i < size; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			table[i] = (uint8_t)(state >> 56);
		}
		for (int kind = TARE_PYTHON_LNOTAB; kind <= TARE_PYTHON_LOCATIONS; kind++)
			tare_python_line((enum tare_python_lines)kind, table, size, 1 << 30, turn * 7 % 5000);
	}
}

TEST(versions_that_tell_their_offsets)
{
	static uint64_t words[512];
	struct tare_python_layout l;

	CHECK_INT(tare_python_layout_of(11, NULL, &l), TARE_PYTHON_OK);
	CHECK_INT(l.minor, 11);
	CHECK_INT(tare_python_layout_of(5, NULL, &l), TARE_PYTHON_UNKNOWN_VERSION);
	CHECK_INT(tare_python_layout_of(15, words, &l), TARE_PYTHON_UNKNOWN_VERSION);
	CHECK_INT(tare_python_layout_of(13, NULL, &l), TARE_PYTHON_BAD_OFFSETS);
	CHECK_INT(tare_python_layout_of(13, words, &l), TARE_PYTHON_BAD_OFFSETS);
	memcpy(words, "xdebugpy", 8);
	words[1] = 0x030e00f0;
	CHECK_INT(tare_python_layout_of(13, words, &l), TARE_PYTHON_BAD_OFFSETS); /* it says 3.14 */
	words[22 + 4] = 72;
	words[31 + 1] = 8;
	words[39 + 9] = 208;
	CHECK_INT(tare_python_layout_of(14, words, &l), TARE_PYTHON_OK);
	CHECK_INT(l.frame, 72);
	CHECK_INT(l.back, 8);
	CHECK_INT(l.instructions, 208);
	words[31 + 1] = UINT64_MAX;
	CHECK_INT(tare_python_layout_of(14, words, &l), TARE_PYTHON_BAD_OFFSETS);
	words[31 + 1] = 8;
	words[2] = 1;
	CHECK_INT(tare_python_layout_of(14, words, &l), TARE_PYTHON_FREE_THREADED);
}
