/* SPDX-License-Identifier: Apache-2.0 */
/* Checks --answer-at, and puts its places into a line for the recorder. */
#include "cmd/answer_at.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1000 }; /* characters that the recorder takes */

static const char *skip_digits(const char *at)
{
	return at + strspn(at, "0123456789");
}

static bool is_number(const char **at)
{
	const char *begin = *at + (**at == '-'), *end = skip_digits(begin);

	if (end == begin || end - begin > 18)
		return false;
	*at = *end == '.' ? skip_digits(end + 1) : end;
	return true;
}

static bool is_good(const char *text)
{
	const char *equals = strchr(text, '='), *colon = equals, *at;

	while (colon && colon > text && *colon != ':')
		colon--;
	if (!colon || colon == text || skip_digits(colon + 1) != equals || equals == colon + 1 || strchr(text, ';'))
		return false;
	for (at = equals + 1; is_number(&at) && *at == ','; at++)
		;
	return !*at && at[-1] != ',' && at[-1] != '=';
}

int tare_answer_at_join(const struct tare_operands *given, char **out, struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str all = { 0 };

	*out = NULL;
	for (size_t i = 0; i < given->count; i++) {
		tare_str_addf(&all, "%s%s", i ? ";" : "", given->items[i]);
		if (is_good(given->items[i]) && all.len <= MOST)
			continue;
		return tare_err_set(
			err, TARE_E_USAGE,
			"--answer-at %s: it takes FILE:LINE=NUMBER, such as train.py:87=8, 1.0 for a float, and several "
			"with commas between",
			given->items[i]);
	}
	*out = given->count ? strdup(tare_str_text(&all)) : NULL;
	return 0;
}
