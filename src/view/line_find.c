/* SPDX-License-Identifier: Apache-2.0 */
/* Which line of which file "FILE:N" means, among those that ledgers know. */
#include "view/line_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Splits "FILE:N". Returns 0 or TARE_E_USAGE; `len` is that of FILE. */
static int line_parse(const char *text, size_t *len, uint32_t *line, struct tare_err *err)
{
	const char *colon = strrchr(text, ':');
	unsigned long number = 0;
	char *end = NULL;

	if (colon && colon != text && isdigit((unsigned char)colon[1]))
		number = strtoul(colon + 1, &end, 10);
	if (!number || number > UINT32_MAX || *end)
		return tare_err_set(err, TARE_E_USAGE, "--line %s: say FILE:N, such as train.py:87", text);
	*len = (size_t)(colon - text);
	*line = (uint32_t)number;
	return 0;
}

bool tare_line_is_file(const char *file, const char *end, size_t len)
{
	const char *slash = strchr(file, '/') ? NULL : memrchr(end, '/', len);
	size_t n = strlen(file);

	if (slash) { /* the recording has no folder to compare */
		len -= (size_t)(slash + 1 - end);
		end = slash + 1;
	}
	if (n < len || strncmp(file + n - len, end, len) != 0)
		return false;
	return n == len || end[0] == '/' || file[n - len - 1] == '/';
}

struct search {
	const char *file;
	size_t len;
	uint32_t line, near;       /* near: the nearest number of such a file that has records */
	const char *found, *other; /* files */
	const char *has_file;
};

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static void look_at(struct search *s, const struct tare_ledger_line *l)
{
	if (!l->file || !tare_line_is_file(l->file, s->file, s->len))
		return;
	s->has_file = l->file;
	if (l->line && (!s->near || distance(l->line, s->line) < distance(s->near, s->line)))
		s->near = l->line;
	if (l->line != s->line)
		return;
	if (!s->found)
		s->found = l->file;
	else if (strcmp(s->found, l->file) != 0)
		s->other = l->file;
}

static void look_at_all(struct search *s, const struct tare_ledger_line *lines, int line_nr)
{
	for (int i = 0; i < line_nr; i++)
		look_at(s, &lines[i]);
}

static int say_missing(const struct search *s, const char *text, struct tare_err *err)
{
	if (!s->has_file)
		return tare_err_set(err, TARE_E_NOT_FOUND,
		                    "--line %s: nothing was recorded at any line of such a file; --by line shows "
		                    "the lines that there are",
		                    text);
	if (!s->near)
		return tare_err_set(err, TARE_E_NOT_FOUND, "--line %s: no line of %s is known by its number", text,
		                    s->has_file);
	return tare_err_set(err, TARE_E_NOT_FOUND,
	                    "--line %s: nothing was recorded at this line; the nearest with records is %s:%u", text,
	                    s->has_file, s->near);
}

int tare_line_find(const struct tare_ledger *const *ledgers, int ledger_nr, const char *text,
                   struct tare_line_choice *out, struct tare_err *err)
{
	struct search s = { .file = text };
	int rc = line_parse(text, &s.len, &s.line, err);

	if (rc)
		return rc;
	for (int i = 0; i < ledger_nr; i++) {
		for (int d = 0; d < ledgers[i]->device_nr; d++)
			look_at_all(&s, ledgers[i]->devices[d].lines, ledgers[i]->devices[d].line_nr);
		for (int h = 0; h < ledgers[i]->host_nr; h++)
			look_at_all(&s, ledgers[i]->hosts[h].lines, ledgers[i]->hosts[h].line_nr);
	}
	if (!s.found)
		return say_missing(&s, text, err);
	if (s.other)
		return tare_err_set(err, TARE_E_NOT_FOUND,
		                    "--line %s is in several files, such as %s and %s; say more of "
		                    "the path",
		                    text, s.found, s.other);
	*out = (struct tare_line_choice){ s.found, s.line };
	return 0;
}
