/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_profile.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PROFILE "h200"

struct key {
	const char *name;
	size_t offset;
	bool is_text;
};

static const struct key keys[] = {
#define X(key) { #key, offsetof(struct sim_profile, key), true },
	SIM_PROFILE_TEXTS(X)
#undef X
#define X(key) { #key, offsetof(struct sim_profile, key), false },
		SIM_PROFILE_NUMBERS(X)
#undef X
};
#define KEYS_NR (sizeof(keys) / sizeof(keys[0]))

int sim_size_parse(const char *text, uint64_t *value)
{
	static const struct {
		const char *name;
		unsigned shift;
	} units[] = { { "", 0 }, { "B", 0 }, { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 } };
	double fraction = 0, scale = 0.1;
	char *end;
	unsigned i;

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

/* Where the object that holds this function was loaded from; /proc knows the whole path. */
static int own_path(char *path, size_t size)
{
	uintptr_t self = (uintptr_t)&own_path;
	char line[PATH_MAX + 128];
	FILE *maps = fopen("/proc/self/maps", "re");
	int found = -1;

	if (!maps)
		return -1;
	while (found < 0 && fgets(line, sizeof(line), maps)) {
		unsigned long begin, end;
		char *slash = strchr(line, '/');

		if (!slash || sscanf(line, "%lx-%lx", &begin, &end) != 2 || self < begin ||
		    self >= end)
			continue;
		slash[strcspn(slash, "\n")] = 0;
		if (strlen(slash) < size) {
			strcpy(path, slash);
			found = 0;
		}
	}
	fclose(maps);
	return found;
}

static int find_file(const char *wanted, char *path, size_t size)
{
	char *slash;
	int n;

	if (strchr(wanted, '/')) {
		n = snprintf(path, size, "%s", wanted);
		return n < 0 || (size_t)n >= size ? -1 : 0;
	}
	if (own_path(path, size) < 0)
		return -1;
	slash = strrchr(path, '/');
	n = snprintf(slash, size - (size_t)(slash - path), "/profiles/%s.profile", wanted);
	return n < 0 || (size_t)n >= size - (size_t)(slash - path) ? -1 : 0;
}

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t\r\n");
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = 0;
	return text;
}

static int set_key(struct sim_profile *profile, const struct key *key, const char *value)
{
	char *field = (char *)profile + key->offset;
	uint64_t number;

	if (key->is_text) {
		if (!*value || strlen(value) >= sizeof(profile->name))
			return -1;
		strcpy(field, value);
		return 0;
	}
	if (sim_size_parse(value, &number) < 0)
		return -1;
	memcpy(field, &number, sizeof(number));
	return 0;
}

static int read_line(struct sim_profile *profile, bool *seen, char *line)
{
	char *equals = strchr(line, '='), *name;
	size_t i;

	if (!equals)
		return *trim(line) ? -1 : 0;
	*equals = 0;
	name = trim(line);
	for (i = 0; i < KEYS_NR; i++)
		if (strcmp(keys[i].name, name) == 0) {
			seen[i] = true;
			return set_key(profile, &keys[i], trim(equals + 1));
		}
	return -1;
}

/* What no key may be, or sums further on go wrong. */
static const char *first_bad(const struct sim_profile *p)
{
	if (!p->page || p->page & (p->page - 1))
		return "page";
	if (!p->suballoc_align || p->suballoc_align & (p->suballoc_align - 1))
		return "suballoc_align";
	if (!p->managed_step || p->managed_step % p->page)
		return "managed_step";
	if (!p->pitch_align || !p->vmm_granularity || !p->pool_step || !p->code_step ||
	    !p->graph_step)
		return "a step that";
	if (!p->streams_per_step || !p->streams_per_step_2)
		return "streams_per_step";
	return p->reserved >= p->total ? "reserved" : NULL;
}

int sim_profile_load(struct sim_profile *profile, char *error, size_t size)
{
	const char *wanted = getenv("TARE_SIM_PROFILE"), *bad;
	char path[PATH_MAX], line[512];
	bool seen[KEYS_NR] = { false };
	int number = 0;
	size_t i;
	FILE *file;

	if (!wanted || !*wanted)
		wanted = DEFAULT_PROFILE;
	memset(profile, 0, sizeof(*profile));
	file = find_file(wanted, path, sizeof(path)) < 0 ? NULL : fopen(path, "re");
	if (!file) {
		snprintf(error, size, "no device profile \"%s\": give a file or a name in %s",
			 wanted, "the folder profiles beside the simulated driver");
		return -1;
	}
	while (fgets(line, sizeof(line), file)) {
		char *comment = line[strspn(line, " \t")] == '#' ? line : NULL;

		number++;
		if (comment || read_line(profile, seen, line) == 0)
			continue;
		snprintf(error, size, "%s:%d: not a key of a device profile with a value for it",
			 path, number);
		fclose(file);
		return -1;
	}
	fclose(file);
	for (i = 0; i < KEYS_NR; i++)
		if (!seen[i]) {
			snprintf(error, size, "%s: the key %s is missing", path, keys[i].name);
			return -1;
		}
	bad = first_bad(profile);
	if (bad)
		snprintf(error, size, "%s: %s has a value that no device can have", path, bad);
	return bad ? -1 : 0;
}

void sim_profile_uuid(const struct sim_profile *profile, int index, char text[64])
{
	char *mark, digits[3];

	memcpy(text, profile->uuid, sizeof(profile->uuid));
	mark = strstr(text, "##");
	snprintf(digits, sizeof(digits), "%02x", (unsigned)index & 0xff);
	if (mark)
		memcpy(mark, digits, 2);
}

int sim_profile_devices(void)
{
	const char *text = getenv("TARE_SIM_DEVICES");
	long count = text && *text ? strtol(text, NULL, 10) : 1;

	return count < 0 ? 0 : count > SIM_DEVICES ? SIM_DEVICES : (int)count;
}

void sim_uuid_parse(const char *text, unsigned char bytes[16])
{
	const char *at = strchr(text, '-');
	int i;

	memset(bytes, 0, 16);
	for (i = 0; at && *at && i < 32; at++) {
		int digit;

		if (*at == '-')
			continue;
		if (!isxdigit((unsigned char)*at))
			return;
		digit = isdigit((unsigned char)*at) ? *at - '0'
						    : tolower((unsigned char)*at) - 'a' + 10;
		bytes[i / 2] = (unsigned char)(bytes[i / 2] << 4 | digit);
		i++;
	}
}
