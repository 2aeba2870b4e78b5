/* SPDX-License-Identifier: Apache-2.0 */
/* Values for {NAME} in the command, and the search of the largest that fits. */
#include "cmd/predict.h"

#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tare_predict_value tare_predict_number(const char *name, int64_t number, struct tare_arena *memory)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	struct tare_predict_value value = { name, NULL };

	tare_str_addf(&text, "%" PRId64, number);
	value.text = tare_arena_strdup(memory, tare_str_text(&text));
	return value;
}

/* Where {NAME} begins in a word; NULL: nowhere. */
static const char *find_mark(const char *word, const char *name)
{
	size_t n = strlen(name);

	for (; (word = strchr(word, '{')); word++)
		if (!strncmp(word + 1, name, n) && word[n + 1] == '}')
			return word;
	return NULL;
}

bool tare_predict_has(char *const *argv, const char *name)
{
	for (; *argv; argv++)
		if (find_mark(*argv, name))
			return true;
	return false;
}

/* One after the other: what a value brings is not looked through for the next name's mark before it stands in the word. */
static char *fill_word(const char *word, const struct tare_predict_value *values, size_t n, struct tare_arena *memory)
{
	TARE_FREED_BY(tare_str_free) struct tare_str out = { 0 };

	while (*word) {
		const struct tare_predict_value *found = NULL;

		for (size_t i = 0; i < n && !found && *word == '{'; i++)
			if (find_mark(word, values[i].name) == word)
				found = &values[i];
		if (found) {
			tare_str_add(&out, found->text);
			word += strlen(found->name) + 2;
		} else {
			tare_str_addf(&out, "%c", *word++);
		}
	}
	return tare_arena_strdup(memory, tare_str_text(&out));
}

char *const *tare_predict_fill(char *const *argv, const struct tare_predict_value *values, size_t n,
                               struct tare_arena *memory)
{
	size_t count = 0;
	char **out;

	while (argv[count])
		count++;
	out = tare_arena_alloc(memory, (count + 1) * sizeof(*out));
	for (size_t i = 0; i < count; i++)
		out[i] = fill_word(argv[i], values, n, memory);
	out[count] = NULL;
	return out;
}

int tare_predict_parse_range(const char *text, char *const *argv, struct tare_arena *memory,
                             struct tare_predict_range *out, struct tare_err *err)
{
	const char *equals = strchr(text, '='), *dots = equals ? strstr(equals, "..") : NULL;
	char *end = NULL, *name;

	errno = 0;
	if (dots) {
		out->from = strtoll(equals + 1, &end, 10);
		if (end != dots || end == equals + 1)
			end = NULL;
	}
	if (end) {
		out->to = strtoll(dots + 2, &end, 10);
		if (*end || end == dots + 2)
			end = NULL;
	}
	if (!end || errno || equals == text || out->from > out->to)
		return tare_err_set(err, TARE_E_USAGE,
		                    "predict: --largest %s: it takes a name and a range of whole numbers, as batch=1..512",
		                    text);
	name = tare_arena_strdup(memory, text);
	name[equals - text] = '\0';
	out->name = name;
	if (!tare_predict_has(argv, name))
		return tare_err_set(err, TARE_E_USAGE, "predict: --largest %s: {%s} is not in the command", text, name);
	return 0;
}

int tare_predict_search(const struct tare_predict_options *o, const struct tare_predict_range *range, const char *card,
                        struct tare_arena *memory, struct tare_predict_card *found,
                        struct tare_predict_largest *largest, struct tare_err *err)
{
	int64_t low = range->from, high = range->to, next = high;
	struct tare_predict_card got;
	int rc = 0;

	*largest = (struct tare_predict_largest){ range->name, INT64_MIN, INT64_MIN, 0 };
	while (!rc && low <= high) {
		struct tare_predict_value value = tare_predict_number(range->name, next, memory);
		struct tare_predict_options filled = *o;

		filled.argv = tare_predict_fill(o->argv, &value, 1, memory);
		filled.what = &value;
		filled.what_nr = 1;
		rc = tare_predict_run(&filled, card, memory, &got, err);
		largest->runs++;
		if (!rc && got.has_failed)
			rc = tare_err_set(
				err, TARE_E_NOT_FOUND,
				"predict: with %s=%lld the program failed with exit code %d, not for memory; what it printed stands above",
				range->name, (long long)next, got.exit_code);
		if (rc)
			break;
		if (got.fits) {
			largest->fits = next;
			*found = got;
			low = next + 1;
		} else {
			if (largest->fits == INT64_MIN)
				*found = got;
			largest->fails = next;
			high = next - 1;
		}
		next = low + (high - low) / 2;
	}
	return rc;
}
