/* SPDX-License-Identifier: Apache-2.0 */
/* Parses sizes and times, and writes them for people. */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

#define KIB UINT64_C(1024)

/* clang-format off */
static const struct unit byte_units[] = {
	{ "", 1 },
	{ "b", 1 },
	{ "k", KIB },
	{ "ki", KIB },
	{ "kib", KIB },
	{ "m", KIB * KIB },
	{ "mi", KIB * KIB },
	{ "mib", KIB * KIB },
	{ "g", KIB * KIB * KIB },
	{ "gi", KIB * KIB * KIB },
	{ "gib", KIB * KIB * KIB },
	{ "t", KIB * KIB * KIB * KIB },
	{ "ti", KIB * KIB * KIB * KIB },
	{ "tib", KIB * KIB * KIB * KIB },
	{ "kb", UINT64_C(1000) },
	{ "mb", UINT64_C(1000000) },
	{ "gb", UINT64_C(1000000000) },
	{ "tb", UINT64_C(1000000000000) },
	{ NULL, 0 },
};
/* clang-format on */

static const struct unit time_units[] = {
	{ "", UINT64_C(1000000000) },
	{ "s", UINT64_C(1000000000) },
	{ "ms", UINT64_C(1000000) },
	{ "us", UINT64_C(1000) },
	{ "ns", 1 },
	{ "m", UINT64_C(60000000000) },
	{ "min", UINT64_C(60000000000) },
	{ "h", UINT64_C(3600000000000) },
	{ NULL, 0 },
};

/*
 * "12.5unit" in whole units of the smallest one. Decimal digits are kept as an integer and a power
 * of ten, so that 7.7GiB does not pass through a float and every byte count is reproducible.
 */
static int parse_scaled(const char *text, size_t len, const struct unit *units, uint64_t *out)
{
	const char *p = text, *end = text + len;
	unsigned __int128 value = 0, scale = 1;
	bool has_digit = false, is_fraction = false;

	while (p < end && isspace((unsigned char)*p))
		p++;
	while (end > p && isspace((unsigned char)end[-1]))
		end--;
	for (; p < end; p++) {
		if (*p == '.' && !is_fraction) {
			is_fraction = true;
			continue;
		}
		if (!isdigit((unsigned char)*p))
			break;
		has_digit = true;
		if (is_fraction && scale >= UINT64_C(1000000000000))
			continue; /* more digits than any unit can show */
		value = value * 10 + (unsigned)(*p - '0');
		if (is_fraction)
			scale *= 10;
		if (value / scale > UINT64_MAX)
			return -ERANGE;
	}
	if (!has_digit)
		return -EINVAL;
	while (p < end && isspace((unsigned char)*p))
		p++;
	for (; units->name; units++) {
		if (strlen(units->name) == (size_t)(end - p) && !strncasecmp(units->name, p, (size_t)(end - p))) {
			value = (value * units->factor + scale / 2) / scale;
			if (value > UINT64_MAX)
				return -ERANGE;
			*out = (uint64_t)value;
			return 0;
		}
	}
	return -EINVAL;
}

int tare_units_parse_bytes(const char *text, uint64_t *bytes)
{
	return parse_scaled(text, strlen(text), byte_units, bytes);
}

int tare_units_parse_duration(const char *text, int64_t *ns)
{
	uint64_t value;
	int rc = parse_scaled(text, strlen(text), time_units, &value);

	if (rc)
		return rc;
	if (value > INT64_MAX)
		return -ERANGE;
	*ns = (int64_t)value;
	return 0;
}

/* "3=8GiB" or "8GiB". */
static int parse_device_entry(const char *p, size_t len, struct tare_units_device_bytes *out)
{
	const char *eq = memchr(p, '=', len);
	uint64_t device = 0;
	int rc;

	out->device = -1;
	if (!eq)
		return parse_scaled(p, len, byte_units, &out->bytes);
	for (const char *d = p; d < eq; d++) {
		if (!isdigit((unsigned char)*d))
			return -EINVAL;
		device = device * 10 + (uint64_t)(*d - '0');
		if (device > 4095)
			return -ERANGE;
	}
	if (eq == p)
		return -EINVAL;
	rc = parse_scaled(eq + 1, len - (size_t)(eq + 1 - p), byte_units, &out->bytes);
	out->device = (int)device;
	return rc;
}

int tare_units_parse_device_bytes(const char *text, struct tare_units_device_bytes *out, size_t max, size_t *count)
{
	size_t n = 0;

	for (const char *p = text;; p++) {
		size_t len = strcspn(p, ",");
		struct tare_units_device_bytes entry;
		int rc = parse_device_entry(p, len, &entry);

		if (rc)
			return rc;
		for (size_t i = 0; i < n; i++)
			if (out[i].device == entry.device)
				return -EINVAL;
		if (n == max)
			return -ERANGE;
		out[n++] = entry;
		p += len;
		if (!*p)
			break;
	}
	*count = n;
	return 0;
}

char *tare_units_count(char buf[TARE_UNITS_TEXT_MAX], uint64_t n)
{
	char digits[TARE_UNITS_TEXT_MAX];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

char *tare_units_mib(char buf[TARE_UNITS_TEXT_MAX], int64_t bytes)
{
	uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
	uint64_t whole = size >> 20;
	uint64_t tenths = ((size & 0xfffff) * 10 + 0x80000) >> 20;
	size_t len;

	if (tenths == 10) {
		whole++;
		tenths = 0;
	}
	len = strlen(tare_units_count(buf, whole));
	buf[len++] = '.';
	buf[len++] = (char)('0' + tenths);
	buf[len] = '\0';
	if (bytes < 0 && (whole || tenths)) {
		memmove(buf + 1, buf, len + 1);
		buf[0] = '-';
	}
	return buf;
}

char *tare_units_human(char buf[TARE_UNITS_TEXT_MAX], uint64_t bytes)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	size_t i = 0;
	double value = (double)bytes;

	while (value >= 1024 && i + 1 < sizeof(names) / sizeof(names[0])) {
		value /= 1024;
		i++;
	}
	snprintf(buf, TARE_UNITS_TEXT_MAX, i ? "%.1f %s" : "%.0f %s", value, names[i]);
	return buf;
}

char *tare_units_duration(char buf[TARE_UNITS_TEXT_MAX], int64_t ns)
{
	double value = (double)ns, size = value < 0 ? -value : value;

	if (size >= 1e9)
		snprintf(buf, TARE_UNITS_TEXT_MAX, "%.1f s", value / 1e9);
	else if (size >= 1e6)
		snprintf(buf, TARE_UNITS_TEXT_MAX, "%.3g ms", value / 1e6);
	else if (size >= 1e3)
		snprintf(buf, TARE_UNITS_TEXT_MAX, "%.3g us", value / 1e3);
	else
		snprintf(buf, TARE_UNITS_TEXT_MAX, "%lld ns", (long long)ns);
	return buf;
}
