/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the columns that a text takes on a terminal. */
#include "base/width.h"

#include "base/text.h"

#include <string.h>

/* What Unicode calls wide, in blocks: some in them are narrow, and then a line ends a column early. */
static const struct {
	uint32_t first, last;
} wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },   { 0x23e9, 0x23f3 },   { 0x25fd, 0x25fe },
	{ 0x2614, 0x2615 },   { 0x2648, 0x2653 },   { 0x267f, 0x267f },   { 0x2693, 0x2693 },   { 0x26a1, 0x26a1 },
	{ 0x26aa, 0x26ab },   { 0x26bd, 0x26be },   { 0x26c4, 0x26c5 },   { 0x26ce, 0x26ce },   { 0x26d4, 0x26d4 },
	{ 0x26ea, 0x26ea },   { 0x26f2, 0x26fd },   { 0x2705, 0x2705 },   { 0x270a, 0x270b },   { 0x2728, 0x2728 },
	{ 0x274c, 0x274e },   { 0x2753, 0x2757 },   { 0x2795, 0x2797 },   { 0x27b0, 0x27bf },   { 0x2b1b, 0x2b1c },
	{ 0x2b50, 0x2b55 },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },   { 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },   { 0xfe10, 0xfe19 },   { 0xfe30, 0xfe6f },   { 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },
	{ 0x16fe0, 0x18cff }, { 0x1aff0, 0x1b2ff }, { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f320 },
	{ 0x1f32d, 0x1faff }, { 0x20000, 0x3fffd },
};

/* 1 or 2. */
static size_t width_of(uint32_t code)
{
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]) && wide[i].first <= code; i++)
		if (code <= wide[i].last)
			return 2;
	return 1;
}

/* The character at `p`, and how many columns it takes; its length. */
static size_t next(const char *p, size_t left, size_t *columns)
{
	uint32_t code = 0;
	size_t len = tare_text_decode(p, left, &code);

	*columns = len ? width_of(code) : 1;
	return len ? len : 1;
}

size_t tare_width_text(const char *text)
{
	size_t left = strlen(text), sum = 0, columns;

	while (left) {
		size_t len = next(text, left, &columns);

		sum += columns;
		text += len;
		left -= len;
	}
	return sum;
}

void tare_width_add(struct tare_str *out, const char *name, size_t columns, int is_right)
{
	TARE_FREED_BY(tare_str_free) struct tare_str clean = { 0 };
	size_t all, used = 0, taken = 0, room;
	const char *text;

	tare_text_add_name(&clean, name);
	text = tare_str_text(&clean);
	all = tare_width_text(text);
	room = all > columns && columns ? columns - 1 : columns;
	while (taken < clean.len) {
		size_t wants, len = next(text + taken, clean.len - taken, &wants);

		if (used + wants > room)
			break;
		used += wants;
		taken += len;
	}
	if (is_right && all < columns)
		tare_str_add_repeat(out, " ", columns - all);
	tare_str_add_n(out, text, taken);
	if (all > columns && columns) {
		tare_str_add(out, "…");
		used++;
	}
	if (!is_right || all > columns)
		tare_str_add_repeat(out, " ", columns - used);
}
