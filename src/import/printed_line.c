/* SPDX-License-Identifier: Apache-2.0 */
/* Reads figures of memory, with their names and units, from one printed line. */
#include "import/printed_line.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define MIB        1048576.0
#define BYTES_FROM 10000000.0 /* a number without a unit from here on is no number of MiB */
#define FIGURE_MAX 9.0e18     /* bytes: what is more is no size */

/* ---- figures ---- */

struct unit {
	const char *name;
	double bytes;
	bool is_decimal;
};

static const struct unit units[] = {
	{ "kib", 1024, false },
	{ "mib", MIB, false },
	{ "gib", 1024 * MIB, false },
	{ "tib", MIB *MIB, false },
	{ "kb", 1e3, true },
	{ "mb", 1e6, true },
	{ "gb", 1e9, true },
	{ "tb", 1e12, true },
	{ "kilobytes", 1e3, true },
	{ "megabytes", 1e6, true },
	{ "gigabytes", 1e9, true },
	{ "mebibytes", MIB, false },
	{ "gibibytes", 1024 * MIB, false },
	{ "ki", 1024, false },
	{ "mi", MIB, false },
	{ "gi", 1024 * MIB, false },
	{ "k", 1024, false },
	{ "m", MIB, false },
	{ "g", 1024 * MIB, false },
	{ "bytes", 1, false },
	{ "byte", 1, false },
	{ "b", 1, false },
};

static size_t word_length(const char *at)
{
	size_t n = 0;

	while (isalpha((unsigned char)at[n]))
		n++;
	return n;
}

static const struct unit *unit_at(const char *at)
{
	size_t n = word_length(at);

	for (size_t i = 0; n && i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == n && !strncasecmp(at, units[i].name, n))
			return &units[i];
	return NULL;
}

static void set_unit(struct tare_printed_figure *f, const struct unit *unit)
{
	f->unit = unit->bytes;
	f->is_decimal = unit->is_decimal;
}

/* "1,204.5", "+24", "1_204", "1.2e3". Where it ends; NULL: no number stands here. */
static const char *parse_number(const char *at, struct tare_printed_figure *f)
{
	bool is_whole = true; /* there was no point so far */
	char digits[48];
	size_t n = 0;
	char *end;

	if (*at == '+' || *at == '-')
		digits[n++] = *at++;
	if (!isdigit((unsigned char)*at) && !(*at == '.' && isdigit((unsigned char)at[1])))
		return NULL;
	for (; n < sizeof(digits) - 2; at++) { /* an exponent is two */
		bool is_group = (*at == ',' || *at == '_') && isdigit((unsigned char)at[1]) && isdigit((unsigned char)at[2]) &&
		                isdigit((unsigned char)at[3]) && !isdigit((unsigned char)at[4]) && is_whole;

		if (is_group)
			continue;
		if (*at == '.' && is_whole)
			is_whole = false;
		else if ((*at == 'e' || *at == 'E') &&
		         (isdigit((unsigned char)at[1]) || ((at[1] == '+' || at[1] == '-') && isdigit((unsigned char)at[2])))) {
			is_whole = false;
			digits[n++] = *at++;
		} else if (!isdigit((unsigned char)*at)) {
			break;
		}
		digits[n++] = *at;
	}
	digits[n] = '\0';
	f->number = strtod(digits, &end);
	return *end == '\0' && isfinite(f->number) ? at : NULL;
}

/*
 * The figure behind a key: ": 1204 MiB", " (MiB) = 1204", "_mb: 1204", " 1204 MiB". Where it ends, or NULL. `is_key`: what
 * stands here is meant as one, whether or not it can be read.
 */
static const char *parse_figure(const char *at, struct tare_printed_figure *f, bool *is_key)
{
	const struct unit *unit, *early = NULL;
	const char *end;
	int skipped;

	*is_key = false;
	for (skipped = 0; *at && skipped < 32 && !strchr(":=", *at) && !strchr("+-.", *at) &&
	                  !isdigit((unsigned char)*at) && *at != ',' && *at != ';';
	     skipped++) {
		bool is_begin = isalpha((unsigned char)*at) && !isalpha((unsigned char)at[-1]);

		if (is_begin && (unit = unit_at(at)))
			early = unit;
		at++;
	}
	if (*at == '=' && at[1] == '=')
		return NULL; /* "=== after_diff ===" */
	if (*at == ':' || *at == '=') {
		*is_key = true;
		at++;
	}
	while (*at == ' ' || *at == '\t' || *at == '~' || *at == '[' || *at == '(' || *at == '=')
		at++;
	end = parse_number(at, f);
	if (!end)
		return NULL;
	at = end;
	while (*at == ' ' || *at == '(' || *at == '[')
		at++;
	unit = unit_at(at);
	if (unit)
		end = at + word_length(at);
	else
		unit = early;
	if (unit)
		set_unit(f, unit);
	if (*end == '%' || (!*is_key && !unit)) {
		*is_key = false; /* "used 3 GPUs" */
		return NULL;
	}
	*is_key = true;
	f->is_there = fabs(f->number) * (f->unit > 0 ? f->unit : 1) < FIGURE_MAX;
	return f->is_there ? end : NULL;
}

int64_t tare_printed_bytes(const struct tare_printed_figure *f, const struct tare_import_units *u)
{
	double unit = f->unit, bytes;

	if (f->is_decimal && u->is_binary)
		unit = pow(1024, round(log10(f->unit) / 3));
	else if (unit == 0 && u->plain)
		unit = (double)u->plain;
	else if (unit == 0)
		unit = fabs(f->number) >= BYTES_FROM ? 1 : MIB;
	bytes = round(f->number * unit);
	if (!(fabs(bytes) < FIGURE_MAX))
		return bytes < 0 ? INT64_MIN : INT64_MAX;
	return (int64_t)bytes;
}

/* ---- keys ---- */

enum key { USED, DIFF, TOTAL, KEY_NR };

static const struct {
	const char *word;
	enum key key;
} keys[] = {
	{ "used", USED },   { "usage", USED },    { "diff", DIFF },      { "difference", DIFF }, { "delta", DIFF },
	{ "change", DIFF }, { "increase", DIFF }, { "increment", DIFF }, { "total", TOTAL },
};

/* The next word that is a key; NULL: none. */
static const char *next_key(const char *line, const char *at, enum key *key, size_t *len)
{
	for (; *at; at++) {
		if (!isalpha((unsigned char)*at) || (at > line && isalpha((unsigned char)at[-1])))
			continue;
		*len = word_length(at);
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (strlen(keys[i].word) == *len && !strncasecmp(at, keys[i].word, *len)) {
				*key = keys[i].key;
				return at;
			}
		at += *len - 1;
	}
	return NULL;
}

/* ---- what stands before the figures ---- */

static bool is_number(const char **at, int digits, int *value)
{
	*value = 0;
	for (int i = 0; i < digits; i++) {
		if (!isdigit((unsigned char)(*at)[i]))
			return false;
		*value = *value * 10 + (*at)[i] - '0';
	}
	*at += digits;
	return true;
}

static bool parse_date(const char **at, struct tm *out)
{
	const char *p = *at;
	struct tm read = *out, *tm = &read;

	if (!is_number(&p, 4, &tm->tm_year) || (*p != '-' && *p != '/') || p++ == NULL || !is_number(&p, 2, &tm->tm_mon) ||
	    (*p != '-' && *p != '/') || p++ == NULL || !is_number(&p, 2, &tm->tm_mday) || (*p != ' ' && *p != 'T') ||
	    tm->tm_mon < 1 || tm->tm_mon > 12 || tm->tm_mday < 1 || tm->tm_mday > 31)
		return false;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	*out = read;
	*at = p + 1;
	return true;
}

/* A time in front of a line: of a day or of any. Where it ends, else `at`. */
static const char *parse_time(const char *at, struct tare_printed_line *out)
{
	struct tm tm = { .tm_year = 70, .tm_mday = 1 };
	const char *p = at;
	int64_t ns = 0, scale = 100000000, seconds;

	p += strspn(p, " \t[(<");
	parse_date(&p, &tm);
	if (!is_number(&p, 2, &tm.tm_hour) || *p++ != ':' || !is_number(&p, 2, &tm.tm_min) || *p++ != ':' ||
	    !is_number(&p, 2, &tm.tm_sec) || isdigit((unsigned char)*p) || tm.tm_hour > 23 || tm.tm_min > 59 ||
	    tm.tm_sec > 60)
		return at;
	if ((*p == '.' || *p == ',') && isdigit((unsigned char)p[1]))
		for (p++; isdigit((unsigned char)*p); p++, scale /= 10)
			ns += (*p - '0') * scale;
	seconds = timegm(&tm);
	if (seconds < 0 || seconds > INT64_MAX / 1000000000 - 1) /* "24-11-23" is a year, too */
		return at;
	out->has_time = true;
	out->time_ns = seconds * 1000000000 + ns;
	if (*p == 'Z')
		p++;
	else if (*p == '+' && isdigit((unsigned char)p[1]))
		p += 1 + strspn(p + 1, "0123456789:");
	return p + strspn(p, "])>");
}

static bool is_word_of(const char *at, size_t n, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == n && !strncasecmp(at, *words, n))
			return true;
	return false;
}

#define AROUND " \t:;,-=|#*>[](){}.~\"'"

/* What logging puts in front of a message. */
static const char *skip_levels(const char *at, const char *end)
{
	static const char *const levels[] = { "debug", "info",     "warning", "warn", "error",
		                                  "root",  "critical", "notice",  NULL };

	for (;;) {
		const char *word = at + strspn(at, AROUND);
		size_t n = word < end ? word_length(word) : 0;

		if (!n || word + n > end || !is_word_of(word, n, levels) || !strchr(AROUND, word[n]))
			return at;
		at = word + n;
	}
}

/* "GPU 1", "cuda:1": takes it out of the text. */
static void take_device(char *text, struct tare_printed_line *out)
{
	static const char *const names[] = { "gpu", "cuda", "device", "dev", NULL };

	for (char *at = text; *at; at++) {
		size_t n = word_length(at);
		char *end = at + n;

		if (!n)
			continue;
		end += strspn(end, " :#");
		if (is_word_of(at, n, names) && isdigit((unsigned char)*end)) {
			out->device = (int)strtol(end, &end, 10) & 0xff;
			end += strspn(end, " :,;-|])");
			memmove(at, end, strlen(end) + 1);
			return;
		}
		at += n - 1;
	}
}

static void trim(char *text)
{
	char *begin = text + strspn(text, AROUND);
	size_t n = strlen(begin);

	memmove(text, begin, n + 1);
	/* A bracket at the end stays where one in the text opens it: "graph(800)". */
	while (n && strchr(AROUND, text[n - 1]) && !(text[n - 1] == ')' && strchr(text, '(')) &&
	       !(text[n - 1] == ']' && strchr(text, '[')))
		text[--n] = '\0';
}

/* "precon: GPU memory" before "used" is "precon". */
static void drop_last_words(char *text)
{
	static const char *const words[] = { "memory", "mem", "gpu", "vram", "nvml", "device", "is", "total", "now", NULL };

	for (;;) {
		size_t n, begin;

		trim(text);
		for (n = strlen(text); n && text[n - 1] == '_'; n--)
			text[n - 1] = '\0'; /* "mem_used" */
		for (begin = n; begin > 0 && isalpha((unsigned char)text[begin - 1]);)
			begin--;
		if (begin == n || !is_word_of(text + begin, n - begin, words))
			return;
		text[begin] = '\0';
	}
}

static void set_label(struct tare_printed_line *out, const char *from, size_t n, bool is_before)
{
	if (n >= sizeof(out->label))
		n = sizeof(out->label) - 1;
	memcpy(out->label, from, n);
	out->label[n] = '\0';
	take_device(out->label, out);
	if (is_before)
		drop_last_words(out->label);
	trim(out->label);
}

enum tare_printed_what tare_printed_line(const char *line, struct tare_printed_line *out)
{
	struct tare_printed_figure *const figures[KEY_NR] = {
		[USED] = &out->used, [DIFF] = &out->diff, [TOTAL] = &out->total
	};
	const char *begin, *first = NULL, *last = NULL, *at;
	bool is_unreadable = false;
	enum key key;
	size_t len;

	memset(out, 0, sizeof(*out));
	out->device = -1;
	at = begin = parse_time(line, out);
	while ((at = next_key(line, at, &key, &len))) {
		struct tare_printed_figure figure = { 0 };
		bool is_key;
		const char *end = parse_figure(at + len, &figure, &is_key);

		if (is_key && !first)
			first = at;
		if (is_key && !end && key != TOTAL)
			is_unreadable = true;
		if (end && !figures[key]->is_there)
			*figures[key] = figure;
		if (end)
			last = end;
		at = end ? end : at + len;
	}
	if (out->used.is_there && out->used.number < 0)
		is_unreadable = true;
	begin = skip_levels(begin, first ? first : begin + strlen(begin));
	set_label(out, begin, first ? (size_t)(first - begin) : strlen(begin), first != NULL);
	if (!out->label[0] && last)
		set_label(out, last, strlen(last), false);
	if (is_unreadable)
		return TARE_PRINTED_UNREADABLE;
	return out->used.is_there || out->diff.is_there ? TARE_PRINTED_FIGURES : TARE_PRINTED_TEXT;
}
