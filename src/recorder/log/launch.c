/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and records what launchers say of a process's rank. */
#include "recorder/base/parts.h"

#include <string.h>

#include "recorder/log/emit.h"

enum { TEXT_MAX = 2048, VALUE_MAX = 255 };

#define TARE_LAUNCHER(KEY, NAME, RANK, LOCAL, WORLD, ATTEMPT, NEEDS, JOB)                                              \
	RANK "|" LOCAL "|" WORLD "|" ATTEMPT "|" NEEDS "|" JOB "|"
static const char patterns[] =
#include "record/rank.def"
	;

static char text[TEXT_MAX];
static uint32_t used;

static bool is_separator(char c)
{
	return c == '|' || c == '.' || c == ':';
}

/* Is the variable whose assignment this is one that a launcher sets? */
static bool is_named(const char *variable, size_t length)
{
	const char *at = patterns;
	size_t n;

	for (; *at; at += n + 1) {
		for (n = 0; !is_separator(at[n]); n++)
			continue;
		if (n == length && memcmp(at, variable, n) == 0)
			return true;
	}
	return false;
}

static bool has_newline(const char *value, size_t n)
{
	while (n > 0 && value[n - 1] != '\n')
		n--;
	return n > 0;
}

static void add(const char *bytes, size_t n)
{
	memcpy(text + used, bytes, n);
	used += (uint32_t)n;
}

void tare_launch_start(char **envp)
{
	const char *value;
	size_t length, n;

	for (; envp && *envp; envp++) {
		for (length = 0; (*envp)[length] && (*envp)[length] != '='; length++)
			continue;
		n = strnlen(*envp, length + VALUE_MAX + 2);
		if (!length || (*envp)[length] != '=' || n > length + 1 + VALUE_MAX || used + n + 1 > TEXT_MAX ||
		    has_newline(*envp, n) || !is_named(*envp, length))
			continue;
		value = tare_paths_of_log(*envp + length + 1);
		add(*envp, length + 1);
		add(value, strlen(value));
		add("\n", 1);
	}
}

void tare_launch_opened(void)
{
	if (used)
		tare_emit_launch(text, used);
}
