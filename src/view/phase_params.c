/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the name of a phase into the parameters that it tells. */
#include "view/phase.h"

#include <stdbool.h>
#include <string.h>

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_of_key(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

static bool is_gap(char c)
{
	return c == ' ' || c == ',' || c == ';' || c == '\t';
}

size_t tare_phase_params(const char *name, struct tare_phase_param *out, size_t max)
{
	const char *at = name;
	size_t count = 0;

	while (*at) {
		struct tare_phase_param p = { .key = at };

		if (is_letter(*at))
			while (is_of_key(*at))
				at++;
		p.key_len = (size_t)(at - p.key);
		if (p.key_len && *at == '=' && at[1] && !is_gap(at[1])) {
			p.value = ++at;
			while (*at && !is_gap(*at))
				at++;
			p.value_len = (size_t)(at - p.value);
			if (count < max)
				out[count] = p;
			count++;
		}
		while (*at && !is_gap(*at))
			at++;
		while (is_gap(*at))
			at++;
	}
	return count;
}
