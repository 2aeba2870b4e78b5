/* SPDX-License-Identifier: Apache-2.0 */
/* Parses, checks and writes device profiles. */
#include "profile/profile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 512

const struct tare_profile_row tare_profile_rows[TARE_PROFILE_KEYS] = {
#define TARE_PROFILE(KEY, KIND, HOW, WITHIN, PROBE, FALLBACK, MEANING)                                                 \
	[TARE_PROFILE_##KEY] = { #KEY,                                                                                     \
		                     FALLBACK,                                                                                 \
		                     MEANING,                                                                                  \
		                     TARE_PROFILE_KIND_##KIND,                                                                 \
		                     TARE_PROFILE_HOW_##HOW,                                                                   \
		                     WITHIN,                                                                                   \
		                     offsetof(struct tare_profile, KEY) },
#include "profile/profile.def"
};

const struct tare_profile_line tare_profile_lines[] = {
#define TARE_PROFILE_GROUP(TITLE)                                      { TITLE, 0 },
#define TARE_PROFILE(KEY, KIND, HOW, WITHIN, PROBE, FALLBACK, MEANING) { NULL, TARE_PROFILE_##KEY },
#include "profile/profile.def"
};
const size_t tare_profile_lines_nr = sizeof(tare_profile_lines) / sizeof(tare_profile_lines[0]);

static const struct {
	const char *name;
	unsigned shift;
} units[] = { { "", 0 }, { "B", 0 }, { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 } };

int tare_profile_parse_size(const char *text, uint64_t *value)
{
	double fraction = 0, scale = 0.1;
	char *end;
	size_t i;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno)
		return -1;
	/* By hand: strtod reads the decimal sign of the program's locale. */
	if (*end == '.')
		for (end++; isdigit((unsigned char)*end); end++, scale /= 10)
			fraction += (*end - '0') * scale;
	end += strspn(end, " \t");
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t unit = 1ULL << units[i].shift;

		if (strcmp(end, units[i].name) != 0)
			continue;
		if (*value > UINT64_MAX >> units[i].shift)
			return -1;
		*value = *value * unit + (uint64_t)(fraction * (double)unit + 0.5);
		return 0;
	}
	return -1;
}

/* ---- values ---- */
static bool is_text(enum tare_profile_key key)
{
	return tare_profile_rows[key].kind == TARE_PROFILE_KIND_TEXT;
}

void tare_profile_set_number(struct tare_profile *profile, enum tare_profile_key key, uint64_t value)
{
	memcpy((char *)profile + tare_profile_rows[key].offset, &value, sizeof(value));
}

uint64_t tare_profile_number(const struct tare_profile *profile, enum tare_profile_key key)
{
	uint64_t value;

	memcpy(&value, (const char *)profile + tare_profile_rows[key].offset, sizeof(value));
	return value;
}

int tare_profile_set(struct tare_profile *profile, enum tare_profile_key key, const char *text)
{
	uint64_t number;

	if (is_text(key)) {
		if (!*text || strlen(text) >= TARE_PROFILE_TEXT_MAX)
			return -1;
		strcpy((char *)profile + tare_profile_rows[key].offset, text);
		return 0;
	}
	if (tare_profile_parse_size(text, &number) < 0)
		return -1;
	tare_profile_set_number(profile, key, number);
	return 0;
}

void tare_profile_set_fallbacks(struct tare_profile *profile)
{
	int key;

	memset(profile, 0, sizeof(*profile));
	for (key = 0; key < TARE_PROFILE_KEYS; key++)
		tare_profile_set(profile, (enum tare_profile_key)key, tare_profile_rows[key].fallback);
}

/* ---- as text ---- */
/* The largest unit in which at most four decimals say it exactly. */
static void format_bytes(uint64_t value, char *text)
{
	size_t i;

	for (i = sizeof(units) / sizeof(units[0]) - 1; i > 1; i--) {
		uint64_t unit = 1ULL << units[i].shift, whole = value >> units[i].shift;
		uint64_t rest = value & (unit - 1);

		if (!whole || rest * 10000 % unit || (i == 4 && rest))
			continue;
		snprintf(text, TARE_PROFILE_TEXT_MAX, "%llu.%04llu", (unsigned long long)whole,
		         (unsigned long long)(rest * 10000 / unit));
		while (text[strlen(text) - 1] == '0')
			text[strlen(text) - 1] = 0;
		if (text[strlen(text) - 1] == '.')
			text[strlen(text) - 1] = 0;
		strcat(strcat(text, " "), units[i].name);
		return;
	}
	snprintf(text, TARE_PROFILE_TEXT_MAX, "%llu", (unsigned long long)value);
}

char *tare_profile_format_number(enum tare_profile_key key, uint64_t value, char text[TARE_PROFILE_TEXT_MAX])
{
	if (tare_profile_rows[key].kind == TARE_PROFILE_KIND_BYTES)
		format_bytes(value, text);
	else
		snprintf(text, TARE_PROFILE_TEXT_MAX, tare_profile_rows[key].kind == TARE_PROFILE_KIND_HEX ? "0x%llx" : "%llu",
		         (unsigned long long)value);
	return text;
}

char *tare_profile_format(const struct tare_profile *profile, enum tare_profile_key key,
                          char text[TARE_PROFILE_TEXT_MAX])
{
	if (!is_text(key))
		return tare_profile_format_number(key, tare_profile_number(profile, key), text);
	return strcpy(text, (const char *)profile + tare_profile_rows[key].offset);
}

/* ---- files ---- */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t\r\n");
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = 0;
	return text;
}

static int read_line(struct tare_profile *profile, bool *seen, char *line)
{
	char *equals = strchr(line, '='), *name;
	int key;

	if (line[strspn(line, " \t")] == '#')
		return 0;
	if (!equals)
		return *trim(line) ? -1 : 0;
	*equals = 0;
	name = trim(line);
	for (key = 0; key < TARE_PROFILE_KEYS; key++)
		if (strcmp(tare_profile_rows[key].name, name) == 0) {
			seen[key] = true;
			return tare_profile_set(profile, (enum tare_profile_key)key, trim(equals + 1));
		}
	return -1;
}

/* What no key may be, or sums further on go wrong. */
static const char *first_bad(const struct tare_profile *p)
{
	if (!p->page || p->page & (p->page - 1))
		return "page";
	if (!p->suballoc_align || p->suballoc_align & (p->suballoc_align - 1))
		return "suballoc_align";
	if (!p->managed_step || p->managed_step % p->page)
		return "managed_step";
	if (!p->pitch_align || !p->vmm_granularity || !p->pool_step || !p->code_step || !p->graph_step ||
	    !p->graph_pool_step || !p->stack_align)
		return "a step that";
	if (!p->streams_per_step || !p->streams_per_step_2)
		return "streams_per_step";
	if (strcmp(p->nvml, TARE_PROFILE_NVML_MEMORY) != 0 && strcmp(p->nvml, TARE_PROFILE_NVML_NOTHING) != 0 &&
	    strcmp(p->nvml, TARE_PROFILE_NVML_NO_MEMORY) != 0)
		return "nvml";
	if (p->reserved >= p->total)
		return "reserved";
	return p->others >= p->total - p->reserved ? "others" : NULL;
}

FILE *tare_profile_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *file;

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EINVAL;
		return NULL;
	}
	file = fd < 0 ? NULL : fdopen(fd, "re");
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* What only names a machine, or is nobody's: profiles of an older tare and those written by hand lack some of it. */
static bool take_fallback(struct tare_profile *profile, enum tare_profile_key key)
{
	const struct tare_profile_row *row = &tare_profile_rows[key];

	return (row->how == TARE_PROFILE_HOW_GIVEN || row->how == TARE_PROFILE_HOW_NAMED) &&
	       tare_profile_set(profile, key, row->fallback) == 0;
}

int tare_profile_read(const char *path, struct tare_profile *profile, char *error, size_t size)
{
	bool seen[TARE_PROFILE_KEYS] = { false };
	char line[LINE_MAX_BYTES];
	const char *bad;
	int key, number = 0, result = 0;
	FILE *file = tare_profile_open(path);

	memset(profile, 0, sizeof(*profile));
	if (!file) {
		snprintf(error, size, "%s: %s; name a device profile", path, strerror(errno));
		return -1;
	}
	while (result == 0 && fgets(line, sizeof(line), file)) {
		number++;
		result = read_line(profile, seen, line);
	}
	fclose(file);
	if (result < 0) {
		snprintf(error, size, "%s:%d: not a key of a device profile with a value for it", path, number);
		return -1;
	}
	for (key = 0; key < TARE_PROFILE_KEYS; key++)
		if (!seen[key] && !take_fallback(profile, (enum tare_profile_key)key)) {
			snprintf(error, size, "%s: the key %s is missing; tare calibrate writes a whole one", path,
			         tare_profile_rows[key].name);
			return -1;
		}
	bad = first_bad(profile);
	if (bad)
		snprintf(error, size, "%s: %s has a value that no device can have", path, bad);
	return bad ? -1 : 0;
}
