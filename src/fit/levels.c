/* SPDX-License-Identifier: Apache-2.0 */
/* Merges levels of a categorical parameter that cannot be told apart. */
#include "fit/law.h"

#include <string.h>

/* Levels this close are one: no table of runs tells them apart. */
#define SAME 0.02

/* Is it a term for one level of `param`, and of no other parameter? */
static bool is_of(const struct tare_fit_data *d, const struct tare_term *t, size_t param)
{
	for (size_t p = 0; p < d->param_count; p++)
		if (d->params[p].is_level && (t->of[p] != 0) != (p == param))
			return false;
	return true;
}

static bool has(const struct tare_law *law, size_t term)
{
	for (size_t k = 0; k < law->count; k++)
		if (law->term[k] == term)
			return true;
	return false;
}

/* The terms of law that are `shape` for each level of the parameter, if all are there and agree. */
static bool is_complete(const struct tare_fit_data *d, const struct tare_terms *terms, const struct tare_law *law,
                        size_t shape, size_t param, bool *member)
{
	double least = 1e300, most = 0;
	size_t count = 0;

	for (size_t k = 0; k < law->count; k++) {
		member[k] = terms->shape[law->term[k]] == shape && is_of(d, &terms->items[law->term[k]], param);
		if (!member[k])
			continue;
		count++;
		least = law->coef[k] < least ? law->coef[k] : least;
		most = law->coef[k] > most ? law->coef[k] : most;
	}
	return count == d->params[param].level_count && most - least <= SAME * most;
}

static bool merge(const struct tare_fit_data *d, const struct tare_terms *terms, struct tare_law *law)
{
	bool member[TARE_LAW_TERMS_MAX];

	for (size_t k = 0; k < law->count; k++) {
		size_t plain = terms->shape[law->term[k]]; /* the first of its shape: no levels */
		size_t kept = 0;

		for (size_t p = 0; p < d->param_count; p++) {
			if (!d->params[p].is_level || d->params[p].level_count < 2 || !is_of(d, &terms->items[law->term[k]], p) ||
			    has(law, plain) || !is_complete(d, terms, law, plain, p, member))
				continue;
			law->term[k] = plain;
			member[k] = false;
			for (size_t i = 0; i < law->count; i++)
				if (!member[i]) {
					law->coef[kept] = law->coef[i];
					law->term[kept++] = law->term[i];
				}
			law->count = kept;
			return true;
		}
	}
	return false;
}

void tare_laws_merge_levels(const struct tare_fit_data *d, const struct tare_terms *terms, struct tare_laws *laws)
{
	bool is_merged = false;
	double error = laws->error;

	for (size_t l = 0; l < laws->count; l++)
		while (merge(d, terms, &laws->law[l]))
			is_merged = true;
	if (!is_merged)
		return;
	tare_laws_settle(d, terms, laws);
	laws->error = error; /* the merged law says the same, and is no worse for being plainer */
}
