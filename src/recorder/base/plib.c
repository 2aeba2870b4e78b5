/* SPDX-License-Identifier: Apache-2.0 */
/* Formatting, parsing and comparing text without a C library. */
#include "recorder/base/plib.h"

#include <stdarg.h>
#include <string.h>

#include "recorder/base/scratch.h"
#include "recorder/base/sys.h"

static size_t put_number(char *out, uint64_t value, unsigned int base)
{
	char digits[24];
	size_t n = 0, i;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	for (i = 0; i < n; i++)
		out[i] = digits[n - 1 - i];
	out[n] = '\0';
	return n;
}

/* What one conversion stands for, as text: into `scratch`, or the argument itself. */
static const char *convert(char conversion, va_list *args, char scratch[32])
{
	switch (conversion) {
	case 's':
		return va_arg(*args, const char *);
	case 'u':
		put_number(scratch, va_arg(*args, uint32_t), 10);
		return scratch;
	case 'U':
		put_number(scratch, va_arg(*args, uint64_t), 10);
		return scratch;
	case 'x':
		put_number(scratch, va_arg(*args, uint64_t), 16);
		return scratch;
	}
	return "";
}

size_t tare_plib_format(char *out, size_t size, const char *format, ...)
{
	char scratch[32];
	size_t n = 0;
	va_list args;

	va_start(args, format);
	for (; *format && n + 1 < size; format++) {
		const char *text;

		if (*format != '%' || !format[1]) {
			out[n++] = *format;
			continue;
		}
		text = convert(*++format, &args, scratch);
		while (text && *text && n + 1 < size)
			out[n++] = *text++;
	}
	va_end(args);
	out[n] = '\0';
	return n;
}

uint64_t tare_plib_number(const char *text)
{
	uint64_t value = 0;

	while (text && *text == ' ')
		text++;
	for (; text && *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	return value;
}

const char *tare_plib_first(const char *text, char c)
{
	for (; *text; text++)
		if (*text == c)
			return text + 1;
	return NULL;
}

const char *tare_plib_last(const char *text, char c)
{
	const char *found = NULL;

	for (; *text; text++)
		if (*text == c)
			found = text + 1;
	return found;
}

bool tare_plib_value(const char *text, const char *key, uint64_t *out)
{
	for (; text; text = tare_plib_first(text, '\n')) {
		if (!tare_plib_starts(text, key))
			continue;
		while (*key++)
			text++;
		while (*text == ' ' || *text == '\t')
			text++;
		*out = tare_plib_number(text);
		return true;
	}
	return false;
}

const char *tare_plib_basename(const char *path)
{
	const char *base = tare_plib_last(path, '/');

	return base ? base : path;
}

bool tare_plib_starts(const char *text, const char *prefix)
{
	while (*prefix)
		if (*text++ != *prefix++)
			return false;
	return true;
}

bool tare_plib_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

void tare_plib_chomp(char *text)
{
	while (*text && *text != '\n')
		text++;
	*text = '\0';
}

bool tare_plib_read_file(const char *path, char *out, size_t size)
{
	int fd = tare_sys_open(path, O_RDONLY, 0);
	long n;

	if (fd < 0)
		return false;
	n = tare_sys_read(fd, out, size - 1);
	tare_sys_close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool tare_plib_readlink(const char *path, char *out, size_t size)
{
	long n = tare_sys6(SYS_readlinkat, AT_FDCWD, (long)path, (long)out, (long)(size - 1), 0, 0);

	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

bool tare_plib_parse_uuid(const char *text, uint8_t out[16])
{
	int n = 0;

	memset(out, 0, 16);
	for (; *text && n < 32; text++) {
		int digit = hex_digit(*text);

		if (*text == '-')
			continue;
		if (digit < 0)
			break;
		out[n / 2] = (uint8_t)(out[n / 2] << 4 | digit);
		n++;
	}
	return n == 32;
}

void tare_plib_program_name(char *out, size_t size)
{
	enum { PATH = 4096 };
	char *path = tare_scratch_take(PATH);

	out[0] = '\0';
	if (path && tare_plib_readlink("/proc/self/exe", path, PATH))
		tare_plib_format(out, size, "%s", tare_plib_basename(path));
	tare_scratch_give(path, PATH);
}

/* Eight bytes at a time: names of phases come by the hundred thousand. */
uint64_t tare_plib_hash(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = 0xcbf29ce484222325u ^ size, word;

	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	while (size--)
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash ^ hash >> 32;
}
