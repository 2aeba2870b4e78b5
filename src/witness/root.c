/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of /proc and /sys below a root folder. */
#include "witness/root.h"

#include "record/format.h" /* TARE_NOT_KNOWN */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 << 20 }; /* a copy may be anything */

int tare_root_read(struct tare_str *out, const char *root, const char *fmt, ...)
{
	char path[2 * PATH_MAX], bytes[16 << 10];
	int len = snprintf(path, sizeof(path), "%s", root), fd, rc = 0;
	va_list ap;
	ssize_t n;

	tare_str_cut(out, 0);
	if (len < 0 || len >= PATH_MAX)
		return -ENAMETOOLONG;
	va_start(ap, fmt);
	vsnprintf(path + len, sizeof(path) - (size_t)len, fmt, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a copy may hold a FIFO */
	if (fd < 0)
		return -errno;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0 && out->len < MOST)
		tare_str_add_n(out, bytes, (size_t)n);
	if (n < 0)
		rc = -errno;
	close(fd);
	return rc;
}

const char *tare_root_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) != 0)
			continue;
		if (line[len] == ':' || line[len] == ' ' || line[len] == '\t')
			return line + len + 1 + strspn(line + len + 1, " \t");
	}
	return NULL;
}

uint64_t tare_root_number(const char *text, const char *key)
{
	const char *value = tare_root_value(text, key);

	if (!value || !isdigit((unsigned char)*value))
		return TARE_NOT_KNOWN;
	errno = 0;
	uint64_t number = strtoull(value, NULL, 10);

	return errno || number > INT64_MAX ? TARE_NOT_KNOWN : number;
}

uint64_t tare_root_kib(const char *text, const char *key)
{
	uint64_t kib = tare_root_number(text, key);

	return kib <= UINT64_C(1) << 43 ? kib * 1024 : TARE_NOT_KNOWN; /* so that a few can be summed up */
}
