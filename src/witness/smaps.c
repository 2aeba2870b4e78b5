/* SPDX-License-Identifier: Apache-2.0 */
/* Parses smaps of a process: mappings and their values. */
#include "witness/smaps.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4352 };

/* In KiB: more than any machine has. A copy of a file may hold anything. */
static const uint64_t MOST_ADDRESSES = UINT64_C(1) << 47, MOST_MEMORY = UINT64_C(1) << 37;

static const char *const names[] = {
#define TARE_SMAPS_VALUE(KEY, NAME) NAME,
#include "witness/smaps.def"
};

_Static_assert(TARE_SMAPS_VALUE_NR <= 32, "struct tare_smaps_mapping has a bit for each in told");

/* "5583-5585 r--p 00000000 fe:00 247134      /usr/bin/cat": false if the line is none of these. */
static bool parse_head(char *line, struct tare_smaps_mapping *m)
{
	int name = 0;

	*m = (struct tare_smaps_mapping){ 0 };
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 "%n", &m->start, &m->end, m->perms,
	           &m->offset, &m->inode, &name) != 5 ||
	    strlen(m->perms) != 4 || m->end < m->start)
		return false;
	while (isblank((unsigned char)line[name]))
		name++;
	m->name = line + name;
	return true;
}

static void parse_flags(const char *text, struct tare_smaps_mapping *m)
{
	for (; *text; text += strcspn(text, " ")) {
		text += strspn(text, " ");
		m->is_pfn |= !strncmp(text, "pf ", 3) || !strcmp(text, "pf");
		m->is_io |= !strncmp(text, "io ", 3) || !strcmp(text, "io");
	}
}

static void parse_value(const char *line, struct tare_smaps_mapping *m)
{
	size_t len = strcspn(line, ":");
	uint64_t kib;

	if (!line[len])
		return;
	if (len == 7 && !memcmp(line, "VmFlags", 7)) {
		parse_flags(line + len + 1, m);
		return;
	}
	for (size_t i = 0; i < TARE_SMAPS_VALUE_NR; i++) {
		if (strlen(names[i]) != len || memcmp(names[i], line, len) != 0)
			continue;
		kib = strtoull(line + len + 1, NULL, 10);
		m->bytes[i] = kib <= (i == TARE_SMAPS_SIZE ? MOST_ADDRESSES : MOST_MEMORY) ? kib * 1024 : 0;
		m->told |= 1u << i;
		return;
	}
}

/* A line of a mapping begins with an address, and no name of a value has a "-" where its digits end. */
static bool is_head(const char *line)
{
	size_t digits = strspn(line, "0123456789abcdef");

	return digits && line[digits] == '-';
}

int tare_smaps_parse(FILE *file, tare_smaps_see *see, void *arg)
{
	struct tare_smaps_mapping m = { 0 };
	char *line = NULL, *head = NULL;
	size_t cap = 0;
	ssize_t len;
	int rc = 0;

	errno = 0;
	while (!rc && (len = getline(&line, &cap, file)) > 0) {
		if (line[len - 1] == '\n')
			line[--len] = '\0';
		if (!is_head(line)) {
			rc = head ? 0 : -EINVAL;
			if (head)
				parse_value(line, &m);
			continue;
		}
		if (head)
			see(arg, &m);
		free(head);
		head = line; /* the name lies in it */
		line = NULL;
		cap = 0;
		if (!parse_head(head, &m))
			rc = -EINVAL;
	}
	if (!rc && ferror(file))
		rc = errno ? -errno : -EIO;
	if (!rc && head)
		see(arg, &m);
	free(head);
	free(line);
	return rc;
}

static int read_file(const char *root, pid_t pid, const char *name, tare_smaps_see *see, void *arg)
{
	char path[PATH_ROOM];
	FILE *file;
	int rc;

	snprintf(path, sizeof(path), "%s/proc/%d/%s", root, (int)pid, name);
	file = fopen(path, "re");
	if (!file && errno == ENOENT) { /* gone, or no such file in this kernel? */
		snprintf(path, sizeof(path), "%s/proc/%d", root, (int)pid);
		return access(path, F_OK) ? -ESRCH : -ENOENT;
	}
	if (!file)
		return -errno;
	setvbuf(file, NULL, _IOFBF, 1 << 16); /* the kernel fills what it is given as long as it has mappings */
	rc = tare_smaps_parse(file, see, arg);
	fclose(file);
	return rc;
}

int tare_smaps_read(const char *root, pid_t pid, tare_smaps_see *see, void *arg)
{
	return read_file(root, pid, "smaps", see, arg);
}

static void keep(void *arg, const struct tare_smaps_mapping *mapping)
{
	struct tare_smaps_mapping *out = arg;

	*out = *mapping;
	out->name = "[rollup]";
}

int tare_smaps_rollup(const char *root, pid_t pid, struct tare_smaps_mapping *out)
{
	*out = (struct tare_smaps_mapping){ .name = "[rollup]" };
	return read_file(root, pid, "smaps_rollup", keep, out);
}
