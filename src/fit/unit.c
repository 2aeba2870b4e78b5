/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses the unit of a column by its name, and writes numbers in it. */
#include "fit/fit_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcasecmp(text + n - m, end);
}

static bool has_word(const char *text, const char *word)
{
	for (; *text; text++)
		if (!strncasecmp(text, word, strlen(word)))
			return true;
	return false;
}

bool tare_unit_is_size(const char *target)
{
	static const char *const ends[] = { "bytes", "kib", "mib", "gib", "kb", "mb", "gb" };
	static const char *const signed_words[] = { "diff", "change", "delta", "growth", "saved" };
	bool is_size = false;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		is_size |= ends_with(target, ends[i]);
	for (size_t i = 0; i < sizeof(signed_words) / sizeof(*signed_words); i++)
		is_size &= !has_word(target, signed_words[i]);
	return is_size;
}

struct tare_unit tare_unit_of(const struct tare_problem *p)
{
	const struct tare_fit_data *d = &p->data;
	static const struct {
		const char *end, *name;
	} units[] = { { "mib", "MiB" }, { "gib", "GiB" },   { "kib", "KiB" }, { "mb", "MB" },
		          { "gb", "GB" },   { "seconds", "s" }, { "_s", "s" },    { "_ms", "ms" } };
	struct tare_unit unit = { .name = "" };
	double most = 0;

	for (size_t i = 0; i < d->row_count; i++)
		most = fabs(d->y[i]) > most ? fabs(d->y[i]) : most;
	unit.is_bytes = p->is_bytes || ends_with(p->target, "bytes") || (tare_fit_data_step(d) > 0 && most >= 1 << 20);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units) && !unit.is_bytes; i++)
		if (ends_with(p->target, units[i].end)) {
			unit.name = units[i].name;
			break;
		}
	return unit;
}

/* Three digits, or the whole part with commas. */
static void number(double v, struct tare_str *out)
{
	char digits[64];
	size_t len;

	if (fabs(v) < 999.5 || fabs(v) > 1e15) {
		tare_str_addf(out, "%.3g", v);
		return;
	}
	snprintf(digits, sizeof(digits), "%.0f", v);
	len = strlen(digits);
	for (size_t i = 0; i < len; i++) {
		tare_str_add_char(out, digits[i]);
		if (digits[i] != '-' && i + 1 < len && (len - i - 1) % 3 == 0)
			tare_str_add_char(out, ',');
	}
}

void tare_unit_add(const struct tare_unit *unit, double v, struct tare_str *out)
{
	static const struct {
		double size;
		const char *name;
	} sizes[] = { { 1048576, "MiB" }, { 1024, "KiB" } };

	if (!unit->is_bytes) {
		number(v, out);
		tare_str_addf(out, "%s%s", *unit->name ? " " : "", unit->name);
		return;
	}
	for (size_t i = 0; i < 2; i++)
		if (fabs(v) >= 0.1 * sizes[i].size) {
			number(v / sizes[i].size, out);
			tare_str_addf(out, " %s", sizes[i].name);
			return;
		}
	number(v, out);
	tare_str_add(out, " B");
}
