/* SPDX-License-Identifier: Apache-2.0 */
/* The tools, and how each prints a size. */
#include "weigh/explain.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tare_tool_info tare_tools[] = {
#define TARE_TOOL(KEY, WORD, NAME, STYLE, SHOWS, FORMULA, LEAVES, TWICE, UNKNOWN)                                      \
	{ WORD, NAME, TARE_STYLE_##STYLE, SHOWS, FORMULA, LEAVES, TWICE, UNKNOWN },
#include "weigh/tools.def"
};

const struct tare_tool_pair tare_tool_pairs[] = {
#define TARE_TOOL_PAIR(ONE, OTHER, WHY) { TARE_TOOL_##ONE, TARE_TOOL_##OTHER, WHY },
#include "weigh/pairs.def"
#undef TARE_TOOL_PAIR
};
const size_t tare_tool_pair_count = sizeof(tare_tool_pairs) / sizeof(tare_tool_pairs[0]);

bool tare_tool_is_of_board(enum tare_tool tool)
{
	return tool == TARE_TOOL_TEGRASTATS || tool == TARE_TOOL_TEGRASTATS_SWAP || tool == TARE_TOOL_JTOP_GPU ||
	       tool == TARE_TOOL_JTOP_MEM;
}

enum tare_tool tare_tool_find(const char *word, size_t len)
{
	for (size_t i = 0; i < TARE_TOOL_NR; i++)
		if (strlen(tare_tools[i].word) == len && !strncasecmp(tare_tools[i].word, word, len))
			return (enum tare_tool)i;
	return TARE_TOOL_NR;
}

/* KiB where the column has room for them, then the first unit that fits in its six places. */
static void print_top(struct tare_str *out, double kib)
{
	static const char units[] = "mgtp";
	char text[32];

	if (kib < 1e6) {
		tare_str_addf(out, "%.0f", kib);
		return;
	}
	for (const char *unit = units; *unit; unit++) {
		kib /= 1024;
		snprintf(text, sizeof(text), "%.*f%c", *unit == 'm' ? 1 : 3, kib, *unit);
		if (strlen(text) <= 6)
			break;
	}
	tare_str_add(out, text);
}

static void print_htop(struct tare_str *out, double kib)
{
	double gib = kib / (1 << 20);

	if (kib < 100000)
		tare_str_addf(out, "%.0f", kib);
	else if (kib < 1000 * 1024)
		tare_str_addf(out, "%.0fM", floor(kib / 1024));
	else if (gib < 10)
		tare_str_addf(out, "%.2fG", gib);
	else if (gib < 100)
		tare_str_addf(out, "%.1fG", gib);
	else
		tare_str_addf(out, "%.0fG", gib);
}

static void print_docker(struct tare_str *out, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	for (; bytes >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		bytes /= 1024;
	tare_str_addf(out, "%.4g%s", bytes, units[unit]);
}

void tare_tool_print(struct tare_str *out, enum tare_tool tool, int64_t bytes)
{
	double size = (double)(bytes < 0 ? 0 : bytes);

	switch (tare_tools[tool].style) {
	case TARE_STYLE_BYTES:
		tare_str_addf(out, "%.0f", size);
		break;
	case TARE_STYLE_KIB:
		tare_str_addf(out, "%.0f", size / 1024);
		break;
	case TARE_STYLE_MIB:
		tare_str_addf(out, "%.0fMiB", size / (1 << 20));
		break;
	case TARE_STYLE_MIB_FRACTION:
		tare_str_addf(out, "%.3f MiB", size / (1 << 20));
		break;
	case TARE_STYLE_MB:
		tare_str_addf(out, "%.2fMB", size / 1e6);
		break;
	case TARE_STYLE_TOP:
		print_top(out, size / 1024);
		break;
	case TARE_STYLE_HTOP:
		print_htop(out, size / 1024);
		break;
	case TARE_STYLE_TEGRA:
		tare_str_addf(out, "%.0fMB", size / (1 << 20));
		break;
	case TARE_STYLE_DOCKER:
		print_docker(out, size);
		break;
	}
}

/* What a number without a unit means there. */
static double unit_of(enum tare_tool_style style)
{
	switch (style) {
	case TARE_STYLE_KIB:
	case TARE_STYLE_TOP:
	case TARE_STYLE_HTOP:
		return 1024;
	case TARE_STYLE_MIB:
	case TARE_STYLE_MIB_FRACTION:
	case TARE_STYLE_TEGRA:
		return 1 << 20;
	case TARE_STYLE_MB:
		return 1e6;
	default:
		return 1;
	}
}

/* "G", "GB", "GiB" behind a number: MB of tools that count by 1024 are MiB. 0: none of these. */
static double unit_in(enum tare_tool_style style, const char *text, size_t len)
{
	static const char letters[] = "kmgt";
	const char *letter = len ? strchr(letters, tolower((unsigned char)*text)) : NULL;
	bool is_binary = len == 3 && !strncasecmp(text + 1, "ib", 2);
	double base = style == TARE_STYLE_MB && !is_binary ? 1000 : 1024;

	if (!len)
		return unit_of(style);
	if (len == 1 && toupper((unsigned char)*text) == 'B')
		return 1;
	if (!letter || len > 3 || (len == 2 && tolower((unsigned char)text[1]) != 'b') || (len == 3 && !is_binary))
		return 0;
	return pow(base, (double)(letter - letters) + 1);
}

int tare_tool_parse(enum tare_tool tool, const char *text, size_t len, int64_t *bytes, int64_t *tolerance)
{
	enum tare_tool_style style = tare_tools[tool].style;
	size_t digits = 0, fraction = 0;
	double value = 0, last = 1, unit;

	for (; digits < len && isdigit((unsigned char)text[digits]); digits++)
		value = value * 10 + (text[digits] - '0');
	if (!digits)
		return -EINVAL;
	if (digits < len && text[digits] == '.')
		for (digits++; digits < len && isdigit((unsigned char)text[digits]); digits++) {
			last /= 10;
			value += last * (text[digits] - '0');
			fraction++;
		}
	while (digits < len && text[digits] == ' ')
		digits++;
	/* A part of a KiB is of no tool: the unit was left out. */
	if (fraction && digits == len && unit_of(style) <= 1024)
		return -EINVAL;
	unit = unit_in(style, text + digits, len - digits);
	if (unit <= 0)
		return -EINVAL;
	if (value * unit >= 9e18)
		return -ERANGE;
	*bytes = (int64_t)(value * unit + 0.5);
	*tolerance = (int64_t)(last * unit / 2);
	return 0;
}
