/* SPDX-License-Identifier: Apache-2.0 */
/* Fills values of parameters into the words of a command. */
#include "sweep/sweep.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* Length of a name at `text` that a `}` ends, else 0. */
static size_t name_length(const char *text)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*text) && *text != '_')
		return 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return text[n] == '}' ? n : 0;
}

/* A {name} or {{name}} at `text`: how long it is, and its name. 0: there is none. */
static size_t reference_at(const char *text, const char **name, size_t *len)
{
	bool is_escaped = text[0] == '{' && text[1] == '{';

	if (*text != '{')
		return 0;
	*name = text + 1 + is_escaped;
	*len = name_length(*name);
	if (!*len || (is_escaped && (*name)[*len + 1] != '}'))
		return 0;
	return *len + (is_escaped ? 4 : 2);
}

int tare_words_fill(char **out, const char *word, const struct tare_grid *grid, size_t cell, struct tare_err *err)
{
	struct tare_str text = { 0 };
	const char *name;
	size_t len, size;

	for (const char *at = word; *at; at += size) {
		int param;

		size = reference_at(at, &name, &len);
		if (!size) {
			size = at[0] == '{' && at[1] == '{' ? 2 : 1;
			tare_str_add_char(&text, *at);
			continue;
		}
		if (size == len + 4) {
			tare_str_add_n(&text, at + 1, len + 2);
			continue;
		}
		param = tare_grid_find(grid, name, len);
		if (param < 0) {
			tare_str_free(&text);
			return tare_err_set(err, TARE_E_USAGE,
			                    "%.200s: no parameter is called %.*s; give it a --grid, or write {{%.*s}} "
			                    "where the command should get the braces",
			                    word, (int)len, name, (int)len, name);
		}
		tare_str_add(&text, grid->cells[cell][param]);
	}
	*out = tare_str_steal(&text);
	return 0;
}

bool tare_words_use(const char *const *words, const struct tare_grid *grid, size_t param)
{
	const char *name;
	size_t len;

	for (; *words; words++)
		for (const char *at = *words; *at;) {
			size_t size = reference_at(at, &name, &len);

			if (size && size == len + 2 && tare_grid_find(grid, name, len) == (int)param)
				return true;
			at += size ? size : 1;
		}
	return false;
}
