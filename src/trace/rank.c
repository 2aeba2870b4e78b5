/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rank and the job of a process in the variables of its environment, by the patterns of rank.def. */
#include "trace/rank.h"

#include "base/xalloc.h"
#include "record/path.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_DIGITS = 8, VALUE_MAX = 255 };

static const struct launcher {
	const char *name, *rank, *local, *world, *attempt, *needs, *job;
} launchers[] = {
#define TARE_LAUNCHER(KEY, NAME, RANK, LOCAL, WORLD, ATTEMPT, NEEDS, JOB)                                              \
	{ NAME, RANK, LOCAL, WORLD, ATTEMPT, NEEDS, JOB },
#include "record/rank.def"
};
enum { LAUNCHER_NR = sizeof(launchers) / sizeof(launchers[0]) };

struct source {
	const char *(*get)(void *arg, const char *name);
	void *arg;
};

/* The length of the variable's name at the start of a pattern, and where the next one begins. */
static size_t name_length(const char *pattern)
{
	return strcspn(pattern, "|.:");
}

static const char *next_name(const char *pattern)
{
	pattern += name_length(pattern);
	return *pattern ? pattern + 1 : pattern;
}

static const char *value_of(const struct source *s, const char *name, size_t len)
{
	char text[64];

	if (!len || len >= sizeof(text))
		return NULL;
	memcpy(text, name, len);
	text[len] = '\0';
	return s->get(s->arg, text);
}

/* A plain number, of the first variable of `pattern` that is set; -1: not known. */
static int number_of(const struct source *s, const char *pattern)
{
	const char *value = NULL;
	size_t digits;

	for (; !value && *pattern; pattern = next_name(pattern))
		value = value_of(s, pattern, name_length(pattern));
	if (!value)
		return -1;
	digits = strspn(value, "0123456789");
	return digits && digits <= NUMBER_DIGITS && !value[digits] ? atoi(value) : -1;
}

/* One alternative of a job's name. Returns how much of `pattern` it is; `out` is "" if it is not known. */
static size_t join_job(const struct source *s, const char *pattern, char *out, size_t size)
{
	const char *at = pattern;
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };
	bool is_known = true;

	for (;; tare_str_add_char(&name, *at++)) {
		const char *value = value_of(s, at, name_length(at));

		is_known = is_known && value && *value && strcmp(value, "none") != 0;
		tare_str_add(&name, is_known ? value : "");
		at += name_length(at);
		if (!*at || *at == '|')
			break;
	}
	snprintf(out, size, "%s", is_known ? tare_str_text(&name) : "");
	return (size_t)(at - pattern);
}

static void name_job(const struct source *s, const char *pattern, char *out, size_t size)
{
	out[0] = '\0';
	while (*pattern && !out[0]) {
		pattern += join_job(s, pattern, out, size);
		pattern += *pattern == '|';
	}
	for (; *out; out++) /* it goes to terminals */
		if (!isgraph((unsigned char)*out))
			*out = '_';
}

/* Of variables as `get` knows them (NULL: not set). */
static bool rank_find(struct tare_rank *out, const char *(*get)(void *arg, const char *name), void *arg)
{
	const struct source s = { get, arg };

	*out = TARE_RANK_NONE;
	for (size_t i = 0; i < LAUNCHER_NR; i++) {
		const struct launcher *l = &launchers[i];
		int rank = number_of(&s, l->rank), world = number_of(&s, l->world);

		if (rank < 0 || (world >= 0 && rank >= world) || (*l->needs && !get(arg, l->needs)))
			continue;
		out->rank = rank;
		out->world = world;
		out->local = number_of(&s, l->local);
		out->attempt = number_of(&s, l->attempt);
		if (out->attempt < 0)
			out->attempt = 0;
		out->launcher = l->name;
		name_job(&s, l->job, out->job, sizeof(out->job));
		return true;
	}
	return false;
}

static const char *get_environment(void *arg, const char *name)
{
	(void)arg;
	return getenv(name);
}

bool tare_rank_of_environment(struct tare_rank *out)
{
	return rank_find(out, get_environment, NULL);
}

/* `arg`: lines NAME=value, each ended by a NUL, an empty one last. */
static const char *get_line(void *arg, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = arg; *line; line += strlen(line) + 1)
		if (!strncmp(line, name, n) && line[n] == '=')
			return line + n + 1;
	return NULL;
}

bool tare_rank_of_text(struct tare_rank *out, const char *text, size_t len)
{
	char *lines = tare_xcalloc(1, len + 2), *to = lines;
	bool is_found;

	for (size_t i = 0; i < len; i++)
		if (text[i] != '\n' || (to > lines && to[-1]))
			*to++ = text[i] == '\n' ? '\0' : text[i];
	is_found = rank_find(out, get_line, lines);
	free(lines);
	return is_found;
}

static bool has_line(const struct tare_str *text, const char *name, size_t len)
{
	for (const char *at = tare_str_text(text); *at; at = strchr(at, '\n') + 1)
		if (!strncmp(at, name, len) && at[len] == '=')
			return true;
	return false;
}

static void add_variable(struct tare_str *out, const char *name, size_t len, bool no_paths)
{
	const struct source s = { get_environment, NULL };
	const char *value = value_of(&s, name, len);

	if (!value || strlen(value) > VALUE_MAX || strchr(value, '\n') || has_line(out, name, len))
		return;
	tare_str_add_n(out, name, len);
	tare_str_addf(out, "=%s\n", no_paths ? tare_path_short(value) : value);
}

void tare_rank_text_of_environment(struct tare_str *out, bool no_paths)
{
	for (size_t i = 0; i < LAUNCHER_NR; i++) {
		const struct launcher *l = &launchers[i];
		const char *const patterns[] = { l->rank, l->local, l->world, l->attempt, l->needs, l->job };

		for (size_t k = 0; k < sizeof(patterns) / sizeof(patterns[0]); k++)
			for (const char *at = patterns[k]; *at; at = next_name(at))
				add_variable(out, at, name_length(at), no_paths);
	}
}
