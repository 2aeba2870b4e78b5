/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people call a Python program: `train.py` of `python3 -u train.py --lr 1`. The recorder asks this of a
 * process, `tare` of a command. Calls no library.
 */
#ifndef TARE_RECORD_SCRIPT_H
#define TARE_RECORD_SCRIPT_H

#include "record/path.h"

#include <stdbool.h>
#include <stddef.h>

/* The script of `python -c CODE`, which has none. */
#define TARE_SCRIPT_CODE "-c"

static inline const char *tare_script_end(const char *arg)
{
	while (*arg)
		arg++;
	return arg;
}

/* Behind the last is none: an empty one. */
static inline const char *tare_script_next(const char *arg)
{
	return *arg ? tare_script_end(arg) + 1 : arg;
}

static inline const char *tare_script_base(const char *path, const char *end)
{
	const char *base = end;

	while (base > path && base[-1] != '/')
		base--;
	return base;
}

/*
 * What an interpreter runs, of its arguments: each ends with a NUL, and the last is followed by another. A path, a
 * module, TARE_SCRIPT_CODE or "".
 */
static inline const char *tare_script_argument(const char *args)
{
	const char *arg, *letter;

	for (arg = tare_script_next(args); *arg == '-' && arg[1]; arg = tare_script_next(arg)) {
		if (tare_path_begins(arg, "--check-hash-based-pycs"))
			arg = tare_script_next(arg);
		for (letter = arg + 1; arg[1] != '-' && *letter; letter++) {
			if (*letter == 'c')
				return TARE_SCRIPT_CODE;
			if (*letter == 'm')
				return letter[1] ? letter + 1 : tare_script_next(arg);
			if (*letter != 'W' && *letter != 'X' && *letter != 'Q')
				continue;
			if (!letter[1])
				arg = tare_script_next(arg); /* its value */
			break;
		}
	}
	return *arg == '-' ? "" : arg;
}

/* Is a program of this name an interpreter of Python? */
static inline bool tare_script_is_python(const char *program)
{
	return tare_path_begins(program, "python") || tare_path_begins(program, "pypy");
}

/* The name of what the arguments of an interpreter run; of a package that is run its folder's name. "": none. */
static inline void tare_script_name(char *out, size_t size, const char *args)
{
	const char *path = tare_script_argument(args), *end = tare_script_end(path);
	const char *base = tare_script_base(path, end);
	size_t n = 0;

	if (base - path > 1 && tare_path_begins(base, "__main__.py")) {
		end = base - 1;
		base = tare_script_base(path, end);
	}
	for (; base < end && n + 1 < size; base++)
		out[n++] = *base;
	out[n] = '\0';
}

#endif
