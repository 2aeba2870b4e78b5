/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TARE_SIM_ANSWER_AT is "FILE:LINE=VALUE,VALUE…", several with ";" between. FILE is a name, or the end of a path. A whole number
 * fills 1, 2, 4 or 8 bytes, one with a point a float or a double; `tare` has looked at them (src/cmd/answer_at.c).
 */
#include "recorder/hooks/answer_at.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "recorder/base/environment.h"
#include "recorder/python/stack.h"
#include "recorder/recorder.h"

/* Of a text in the environment: where the next thing of it begins. */
struct text {
	const char *at;
};

struct number {
	int64_t whole;
	double value;
	bool is_whole;
};

static bool take(struct text *t, char c)
{
	bool is_there = *t->at == c;

	t->at += is_there;
	return is_there;
}

static struct number take_number(struct text *t)
{
	struct number n = { 0, 0, true };
	bool is_minus = take(t, '-');
	uint64_t whole = 0; /* who sets the environment by hand may write more than fits */
	double scale = 1;

	for (; *t->at >= '0' && *t->at <= '9'; t->at++)
		whole = whole * 10 + (uint64_t)(*t->at - '0');
	n.value = (double)whole;
	n.is_whole = !take(t, '.');
	for (; !n.is_whole && *t->at >= '0' && *t->at <= '9'; t->at++)
		n.value += (*t->at - '0') * (scale /= 10);
	n.whole = (int64_t)(is_minus ? -whole : whole);
	n.value = is_minus ? -n.value : n.value;
	return n;
}

/* One of them: `file` ends before the colon of its line. */
struct place {
	const char *file;
	size_t length;
	int line;
	const char *values;
};

static bool next_place(struct text *t, struct place *p)
{
	const char *colon = NULL, *at;

	for (at = t->at; *at && *at != ';' && *at != '='; at++)
		colon = *at == ':' ? at : colon;
	if (*at != '=' || !colon)
		return false;
	*p = (struct place){ .file = t->at, .length = (size_t)(colon - t->at), .values = at + 1 };
	t->at = colon + 1;
	p->line = (int)take_number(t).whole;
	while (*t->at && *t->at != ';')
		t->at++;
	take(t, ';');
	return true;
}

static bool is_of(const struct place *p, const char *file, int line)
{
	size_t length = strlen(file);

	return p->line == line && length >= p->length && memcmp(file + length - p->length, p->file, p->length) == 0 &&
	       (length == p->length || file[length - p->length - 1] == '/');
}

struct wanted {
	const char *text, *values; /* values: found */
};

static bool see(void *arg, const char *file, int line)
{
	struct wanted *w = arg;
	struct text t = { w->text };
	struct place p;

	while (!w->values && next_place(&t, &p))
		if (is_of(&p, file, line))
			w->values = p.values;
	return w->values != NULL;
}

static void put(void *to, unsigned width, const struct number *n)
{
	float small = (float)n->value;

	if (n->is_whole || width < 4)
		memcpy(to, &n->whole, width); /* the machine is little-endian */
	else if (width == 4)
		memcpy(to, &small, width);
	else
		memcpy(to, &n->value, width);
}

/* Of as many bytes as there are values that is known, else of 8 where that goes. */
static unsigned width_of(uint64_t size, uint64_t count)
{
	uint64_t each = size % count == 0 ? size / count : 0;

	if (each == 1 || each == 2 || each == 4 || each == 8)
		return (unsigned)each;
	return size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : 1;
}

static void fill(char *to, uint64_t size, const char *values)
{
	struct text t = { values };
	uint64_t count = 1;
	unsigned width;

	for (const char *c = values; *c && *c != ';'; c++)
		count += *c == ',';
	width = width_of(size, count);
	for (uint64_t at = 0; at + width <= size; at += width) {
		struct number n = take_number(&t);

		put(to + at, width, &n);
		if (!take(&t, ','))
			t.at = values;
	}
}

int tare_answer_at(void *to, uint64_t size)
{
	struct wanted w = { tare_environment("TARE_SIM_ANSWER_AT"), NULL };

	if (!w.text || !*w.text || !tare_config.enabled || tare_config.nop)
		return 0;
	tare_thread.depth++;
	if (tare_python_see(see, &w))
		fill(to, size, w.values);
	tare_thread.depth--;
	return w.values != NULL;
}
