/* SPDX-License-Identifier: Apache-2.0 */
/* Walks through a text of JSON of any length, a value of its list at a time. */
#include "import/json_walk.h"

#include "base/str.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { END = -1 };

struct walk {
	struct tare_import_in *in;
	const struct tare_import_json_taker *taker;
	struct tare_import_json_walked *walked;
	struct tare_err *err;
	unsigned char bytes[1 << 16];
	size_t size, at;
	int failed;           /* a negative code: the file cannot be read on */
	struct tare_str text; /* of the value that was read last, without what is over the limit */
	bool is_too_long;
};

/* The next byte, which is not taken, or END. */
static int peek(struct walk *w)
{
	int64_t n;

	if (w->at < w->size)
		return w->bytes[w->at];
	if (w->failed)
		return END;
	n = tare_import_in_read(w->in, w->bytes, sizeof(w->bytes), w->err);
	if (n < 0)
		w->failed = (int)n;
	w->at = 0;
	w->size = n > 0 ? (size_t)n : 0;
	return w->size ? w->bytes[0] : END;
}

static int peek_word(struct walk *w)
{
	int c;

	while ((c = peek(w)) == ' ' || c == '\n' || c == '\t' || c == '\r')
		w->at++;
	return c;
}

static bool take(struct walk *w, int c)
{
	if (peek_word(w) != c)
		return false;
	w->at++;
	return true;
}

static int wrong(struct walk *w, const char *wanted)
{
	if (w->failed)
		return w->failed;
	if (peek(w) == END) {
		w->walked->is_cut = true;
		return 0;
	}
	return tare_err_set(w->err, TARE_E_FORMAT, "%s: byte %llu: %s was expected", tare_import_in_path(w->in),
	                    (unsigned long long)(tare_import_in_offset(w->in) - (w->size - w->at)), wanted);
}

static void keep(struct walk *w, size_t from)
{
	size_t size = w->at - from;

	if (w->is_too_long || w->text.len + size > TARE_IMPORT_JSON_VALUE_MAX)
		w->is_too_long = true;
	else
		tare_str_add_n(&w->text, (const char *)w->bytes + from, size);
}

/* A value up to its end, whatever is nested in it: false at the end of the file. */
static bool read_value(struct walk *w)
{
	uint64_t depth = 0;
	bool is_in_string = false, is_escaped = false, is_any = false;

	w->text.len = 0;
	w->is_too_long = false;
	peek_word(w);
	while (peek(w) != END) {
		size_t from = w->at;
		bool is_done = false;

		for (; w->at < w->size && !is_done; w->at++) {
			unsigned char c = w->bytes[w->at];

			if (is_in_string) {
				is_in_string = is_escaped || c != '"';
				is_escaped = !is_escaped && c == '\\';
				is_done = !is_in_string && !depth;
				continue;
			}
			if (!depth && is_any && strchr(",]} \n\t\r", c)) {
				keep(w, from);
				return true;
			}
			is_any = true;
			is_in_string = c == '"';
			depth += c == '{' || c == '[';
			if (c == '}' || c == ']') {
				if (!depth)
					return false;
				is_done = !--depth;
			}
		}
		keep(w, from);
		if (is_done)
			return true;
	}
	return false;
}

static const struct tare_json_value *parse(struct walk *w, struct tare_arena *arena)
{
	const struct tare_json_value *v;

	if (!w->is_too_long && !tare_json_parse(arena, w->text.data, w->text.len, &v, NULL))
		return v;
	w->walked->unreadable++;
	return NULL;
}

static void tell_item(struct walk *w)
{
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };
	const struct tare_json_value *v;

	w->walked->items++;
	if (!w->is_too_long && !w->taker->wants(w->text.data, w->text.len))
		return;
	v = parse(w, &arena);
	if (v)
		w->taker->item(w->taker->arg, v);
}

static int walk_list(struct walk *w)
{
	w->at++;
	if (take(w, ']'))
		return 0;
	do {
		if (peek_word(w) == ']') /* Chrome's own files may have a comma too many */
			break;
		if (!read_value(w))
			return wrong(w, "a value");
		tell_item(w);
	} while (take(w, ','));
	return take(w, ']') ? 0 : wrong(w, "`,` or `]`");
}

static int walk_member(struct walk *w)
{
	TARE_FREED_BY(tare_arena_free) struct tare_arena arena = { 0 };
	const struct tare_json_value *v;
	const char *key = NULL;
	int rc = 0;

	if (peek_word(w) != '"' || !read_value(w))
		return wrong(w, "a name in quotes");
	v = parse(w, &arena);
	key = v && v->type == TARE_JSON_STRING ? v->text : "";
	if (!take(w, ':')) {
		rc = wrong(w, "`:`");
	} else if (!strcmp(key, w->taker->list) && peek_word(w) == '[') {
		rc = walk_list(w);
	} else if (!read_value(w)) {
		rc = wrong(w, "a value");
	} else {
		v = parse(w, &arena);
		if (v)
			w->taker->member(w->taker->arg, key, v);
	}
	return rc;
}

static int walk_object(struct walk *w)
{
	int rc;

	w->at++;
	if (take(w, '}'))
		return 0;
	do {
		rc = walk_member(w);
		if (rc || w->walked->is_cut)
			return rc;
	} while (take(w, ','));
	return take(w, '}') ? 0 : wrong(w, "`,` or `}`");
}

int tare_import_json_walk(struct tare_import_in *in, const struct tare_import_json_taker *taker,
                          struct tare_import_json_walked *walked, struct tare_err *err)
{
	TARE_FREED_HERE struct walk *w = tare_xcalloc(1, sizeof(*w));
	int rc;

	*walked = (struct tare_import_json_walked){ 0 };
	w->in = in;
	w->taker = taker;
	w->walked = walked;
	w->err = err;
	if (peek_word(w) == '{')
		rc = walk_object(w);
	else if (peek_word(w) == '[')
		rc = walk_list(w);
	else
		rc = wrong(w, "`{` or `[`");
	if (!rc && w->failed)
		rc = w->failed;
	tare_str_free(&w->text);
	return rc;
}
