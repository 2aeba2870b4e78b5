/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the profile of the simulated devices: which file, how many devices, their UUIDs. */
#include "sim_profile.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_PROFILE "h200"

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

		if (!slash || sscanf(line, "%lx-%lx", &begin, &end) != 2 || self < begin || self >= end)
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

int sim_profile_load(struct tare_profile *profile, char *error, size_t size)
{
	const char *wanted = getenv("TARE_SIM_PROFILE");
	char path[PATH_MAX];

	if (!wanted || !*wanted)
		wanted = DEFAULT_PROFILE;
	if (find_file(wanted, path, sizeof(path)) < 0 || access(path, R_OK) != 0) {
		snprintf(error, size, "no device profile \"%s\": give a file or a name in %s", wanted,
		         "the folder profiles beside the simulated driver");
		return -1;
	}
	return tare_profile_read(path, profile, error, size);
}

void sim_profile_uuid(const struct tare_profile *profile, int index, char text[64])
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
		digit = isdigit((unsigned char)*at) ? *at - '0' : tolower((unsigned char)*at) - 'a' + 10;
		bytes[i / 2] = (unsigned char)(bytes[i / 2] << 4 | digit);
		i++;
	}
}
