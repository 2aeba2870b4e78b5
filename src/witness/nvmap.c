/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what processes have of a Tegra's GPU. */
#include "witness/procfs.h"

#include "witness/root.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * "user  python3   8411   123456K": read from the right, because a name may hold blanks. The size is in KiB, "K" or,
 * in older kernels, nothing behind it.
 */
static int parse_line(const char *line, size_t len, pid_t pid, uint64_t *bytes)
{
	size_t end = len, size, number;

	while (end && isspace((unsigned char)line[end - 1]))
		end--;
	size = end;
	if (size && line[size - 1] == 'K')
		size--;
	for (number = size; number && isdigit((unsigned char)line[number - 1]);)
		number--;
	if (number == size)
		return -EINVAL;
	size = number;
	while (size && isblank((unsigned char)line[size - 1]))
		size--;
	for (end = size; end && isdigit((unsigned char)line[end - 1]);)
		end--;
	if (end == size || end == 0)
		return -EINVAL; /* the line with the total */
	if (strtoll(line + end, NULL, 10) == pid)
		*bytes += strtoull(line + number, NULL, 10) * 1024;
	return 0;
}

int tare_nvmap_parse(const char *clients, pid_t pid, uint64_t *bytes)
{
	uint64_t sum = 0;

	if (!strstr(clients, "CLIENT"))
		return -EINVAL;
	for (const char *line = clients; *line; line += strcspn(line, "\n"), line += *line == '\n')
		parse_line(line, strcspn(line, "\n"), pid, &sum);
	*bytes = sum;
	return 0;
}

int tare_nvmap_process(const char *root, pid_t pid, uint64_t *bytes)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc = tare_root_read(&text, root, "%s", TARE_NVMAP_CLIENTS);

	if (!rc)
		rc = tare_nvmap_parse(tare_str_text(&text), pid, bytes);
	return rc;
}
