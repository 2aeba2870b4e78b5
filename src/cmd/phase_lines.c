/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what --phase was given. */
#include "cmd/phase_lines.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* What the recorder has room for. */
enum { LINES_MAX = 64, BYTES_MAX = 1023 };

struct span {
	size_t name_len;
	unsigned long first, last;
};

static bool read_number(const char **at, unsigned long *out)
{
	char *end;

	if (**at < '1' || **at > '9')
		return false;
	*out = strtoul(*at, &end, 10);
	*at = end;
	return *out < 100000000;
}

static int read_span(const char *text, struct span *out, struct tare_err *err)
{
	const char *colon = strrchr(text, ':'), *at = colon ? colon + 1 : text;
	bool is_good = colon && colon > text && !strchr(text, '\n') && read_number(&at, &out->first);

	out->last = out->first;
	if (is_good && *at == '-') {
		at++;
		is_good = read_number(&at, &out->last);
	}
	if (!is_good || *at)
		return tare_err_set(err, TARE_E_USAGE, "--phase %s: give FILE:LINE or FILE:LINE-LINE, such as train.py:87",
		                    text);
	if (out->last < out->first)
		return tare_err_set(err, TARE_E_USAGE, "--phase %s: it ends before it begins; give %.*s:%lu-%lu", text,
		                    (int)(colon - text), text, out->last, out->first);
	out->name_len = (size_t)(colon - text);
	return 0;
}

/* Phases nest. Two of one file that overlap in part could not be ended in order. */
static bool cross(const char *a, const struct span *x, const char *b, const struct span *y)
{
	if (x->name_len != y->name_len || strncmp(a, b, x->name_len))
		return false;
	return (x->first < y->first && y->first <= x->last && x->last < y->last) ||
	       (y->first < x->first && x->first <= y->last && y->last < x->last);
}

int tare_phase_lines_parse(const struct tare_operands *given, char **out, struct tare_err *err)
{
	struct span spans[LINES_MAX];
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int rc = 0;

	*out = NULL;
	if (given->count > LINES_MAX)
		return tare_err_set(err, TARE_E_USAGE, "--phase: %zu lines were given and %d is the most", given->count,
		                    LINES_MAX);
	for (size_t i = 0; !rc && i < given->count; i++) {
		rc = read_span(given->items[i], &spans[i], err);
		for (size_t k = 0; !rc && k < i; k++)
			if (cross(given->items[i], &spans[i], given->items[k], &spans[k]))
				rc = tare_err_set(err, TARE_E_USAGE,
				                  "--phase %s overlaps %s, and neither is inside the other; "
				                  "phases must nest",
				                  given->items[i], given->items[k]);
		tare_str_addf(&text, "%s%s", i ? "\n" : "", given->items[i]);
	}
	if (!rc && text.len > BYTES_MAX)
		rc = tare_err_set(err, TARE_E_USAGE,
		                  "--phase: the names of the files are too long (%zu bytes, %d is the "
		                  "most); the end of a path is enough",
		                  text.len, BYTES_MAX);
	if (!rc && given->count)
		*out = tare_str_steal(&text);
	return rc;
}
