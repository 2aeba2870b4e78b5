/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that compilers at run time give their functions in /tmp/perf-PID.map, as people read them. V8 (Node) writes
 * "JS:*grow /home/me/leak.js:3:15", older ones "LazyCompile:*grow leak.js:3"; the mark says how it was compiled. Python
 * writes "py::grow:/home/me/leak.py".
 */
#include "ledger/frame.h"

#include <string.h>

static const char *const kinds[] = { "JS:", "LazyCompile:", "Function:", "Script:", "Eval:" };

static const char *base_name(const char *path)
{
	const char *slash = strncmp(path, "node:", 5) ? strrchr(path, '/') : NULL; /* of Node's own */

	return slash && slash[1] ? slash + 1 : path;
}

/* Behind "JS:*"; NULL: it is no name of V8. */
static const char *behind_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t len = strlen(kinds[i]);

		if (!strncmp(name, kinds[i], len))
			return name + len + (name[len] && strchr("*~^+'", name[len]) ? 1 : 0);
	}
	return NULL;
}

/* "leak.js:3:15" without the column, which is the second number. */
static size_t without_column(const char *place)
{
	const char *last = strrchr(place, ':'), *p;

	if (!last || strspn(last + 1, "0123456789") != strlen(last + 1))
		return strlen(place);
	for (p = last; p > place && p[-1] >= '0' && p[-1] <= '9';)
		p--;
	return p > place && p < last && p[-1] == ':' ? (size_t)(last - place) : strlen(place);
}

static void add_place(struct tare_str *out, const char *place, bool is_full)
{
	if (!is_full)
		place = base_name(place);
	tare_str_add_n(out, place, without_column(place));
}

static bool add_of_v8(struct tare_str *out, const char *name, bool is_full)
{
	const char *function = behind_kind(name), *place = function ? strchr(function, ' ') : NULL;

	if (!place || !place[1])
		return false;
	add_place(out, place + 1, is_full);
	tare_str_add(out, " in ");
	if (place == function)
		tare_str_add(out, "a function without a name");
	tare_str_add_n(out, function, (size_t)(place - function));
	return true;
}

static bool add_of_python(struct tare_str *out, const char *name, bool is_full)
{
	const char *function = strncmp(name, "py::", 4) ? NULL : name + 4;
	const char *file = function ? strchr(function, ':') : NULL;

	if (!file || !file[1])
		return false;
	tare_str_add(out, is_full ? file + 1 : base_name(file + 1));
	tare_str_addf(out, " in %.*s", (int)(file - function), function);
	return true;
}

void tare_frame_add_jit(struct tare_str *out, const char *name, bool is_full)
{
	if (add_of_v8(out, name, is_full) || add_of_python(out, name, is_full))
		return;
	tare_str_addf(out, "%s, made at run time", name);
}
