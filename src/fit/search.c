/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches for several laws: parts the rows in two by a threshold on a feature, selects a law for each part, and keeps
 * the best partings.
 */
#include "fit/law.h"

#include "base/comparator.h"
#include "base/xalloc.h"
#include "fit/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Several laws: the rows are parted in two by a threshold on a parameter, on a product or a quotient
 * of two, or on the quantity itself; each part gets a law; then each row goes to the law that is
 * greatest there, and so on until nothing moves. The best starts are worked out thoroughly, and
 * their parts are parted again for one law more.
 */
enum {
	STARTS = 8,      /* starts that are worked out thoroughly */
	QUICK_TERMS = 6, /* terms of a law in a first look */
	ROUNDS = 5,
	POLISHED = 2,
	LOOKS = 80000000, /* starts × terms × cells: about two seconds of looking */
};

struct search {
	const struct tare_fit_data *d;
	const struct tare_terms *terms;
	size_t *owner, *rows, *old;
	bool *known; /* per shape */
	double *feature, *sorted;
	double looked;
	struct tare_laws *found; /* the best, by score */
	size_t count, room;
};

static bool is_same(const struct tare_laws *a, const struct tare_laws *b)
{
	return a->count == b->count && fabs(a->score - b->score) < 1e-6;
}

static void insert(struct tare_laws *list, size_t *count, size_t room, const struct tare_laws *laws)
{
	size_t at;

	for (size_t i = 0; i < *count; i++)
		if (is_same(&list[i], laws))
			return;
	if (*count == room && laws->score >= list[room - 1].score)
		return;
	at = *count < room ? (*count)++ : room - 1;
	for (; at > 0 && list[at - 1].score > laws->score; at--)
		list[at] = list[at - 1];
	list[at] = *laws;
}

/* The shapes that the other laws have. */
static void know(struct search *s, const struct tare_laws *laws, size_t but)
{
	memset(s->known, 0, s->terms->shape_count * sizeof(*s->known));
	for (size_t l = 0; l < laws->count; l++)
		for (size_t k = 0; l != but && k < laws->law[l].count; k++)
			s->known[s->terms->shape[laws->law[l].term[k]]] = true;
}

/*
 * Selects a law for each part of the rows (s->owner says which). False: a part is empty, or has no law.
 */
static bool work(struct search *s, size_t laws_count, bool is_thorough, struct tare_laws *out)
{
	size_t n = s->d->row_count;
	struct tare_laws now = { .count = laws_count };
	bool is_any = false;

	for (int round = 0; round < (is_thorough ? ROUNDS : 2); round++) {
		for (size_t l = 0; l < now.count; l++) {
			size_t count = 0;

			for (size_t i = 0; i < n; i++)
				if (s->owner[i] == l)
					s->rows[count++] = i;
			if (count < (laws_count == 1 ? 1 : n < 12 ? 2 : 3))
				return is_any;
			know(s, &now, l); /* the first round knows no later laws */
			tare_law_select(s->d, s->terms, s->rows, count, s->known, is_thorough ? TARE_LAW_TERMS_MAX : QUICK_TERMS,
			                is_thorough, &now.law[l]);
			if (!now.law[l].count)
				return is_any;
		}
		memcpy(s->old, s->owner, n * sizeof(*s->old));
		tare_laws_own(s->terms, &now, s->owner);
		tare_laws_judge(s->d, s->terms, &now);
		if (!is_any || now.score < out->score)
			*out = now;
		is_any = true;
		if (!memcmp(s->old, s->owner, n * sizeof(*s->old)))
			break;
	}
	tare_laws_settle(s->d, s->terms, out);
	return is_any;
}

static double feature(const struct tare_fit_data *d, size_t row, size_t a, size_t b, int kind)
{
	const double *x = tare_fit_x(d, row);

	switch (kind) {
	case 0:
		return x[a];
	case 1:
		return x[a] * x[b];
	case 2:
		return x[b] != 0 ? x[a] / x[b] : 0;
	case 3:
		return d->y[row];
	case 5:
		return x[a] == (double)b;
	default:
		return x[a] != 0 ? d->y[row] / x[a] : 0;
	}
}

/* Parts the rows of law `part` of `from` at three places of a feature. */
static void split(struct search *s, const struct tare_laws *from, size_t part, size_t a, size_t b, int kind,
                  struct tare_laws *list, size_t *count)
{
	static const double places[] = { 0.3, 0.5, 0.7 };
	size_t n = s->d->row_count, members = 0;
	TARE_FREED_HERE size_t *base = tare_xcalloc(n + 1, sizeof(*base));
	double before = 0;

	tare_laws_own(s->terms, from, base);
	for (size_t i = 0; i < n; i++) {
		s->feature[i] = feature(s->d, i, a, b, kind);
		if (base[i] == part)
			s->sorted[members++] = s->feature[i];
	}
	for (size_t p = 0; p < sizeof(places) / sizeof(*places) && members >= 4 && s->looked < LOOKS; p++) {
		double at = tare_num_quantile(s->sorted, members, places[p]);
		struct tare_laws now;

		if (p && at == before)
			continue;
		before = at;
		s->looked += (double)s->terms->count * (double)n;
		for (size_t i = 0; i < n; i++)
			s->owner[i] = base[i] == part && s->feature[i] > at ? from->count : base[i];
		if (work(s, from->count + 1, false, &now) && now.count == from->count + 1)
			insert(list, count, STARTS, &now);
	}
}

static bool is_number(const struct tare_fit_data *d, size_t p)
{
	return !d->params[p].is_level && d->params[p].level_count > 1;
}

static void split_all(struct search *s, const struct tare_laws *from, struct tare_laws *list, size_t *count)
{
	size_t p = s->d->param_count;

	for (size_t part = 0; part < from->count; part++) {
		split(s, from, part, 0, 0, 3, list, count);
		for (size_t a = 0; a < p; a++) {
			if (s->d->params[a].is_level)
				for (size_t l = 0; l < s->d->params[a].level_count; l++)
					split(s, from, part, a, l, 5, list, count);
			if (!is_number(s->d, a))
				continue;
			split(s, from, part, a, a, 0, list, count);
			split(s, from, part, a, a, 4, list, count);
			for (size_t b = a + 1; b < p; b++) {
				if (!is_number(s->d, b))
					continue;
				split(s, from, part, a, b, 1, list, count);
				split(s, from, part, a, b, 2, list, count);
			}
		}
	}
}

static void polish(struct search *s, struct tare_laws laws)
{
	double before;

	do {
		before = laws.score;
		for (size_t l = 0; l < laws.count; l++) {
			size_t count = 0;

			tare_laws_own(s->terms, &laws, s->owner);
			for (size_t i = 0; i < s->d->row_count; i++)
				if (s->owner[i] == l)
					s->rows[count++] = i;
			know(s, &laws, l);
			if (count > 1)
				tare_law_polish(s->d, s->terms, s->rows, count, s->known, &laws.law[l]);
		}
		tare_laws_settle(s->d, s->terms, &laws);
		insert(s->found, &s->count, s->room, &laws);
	} while (laws.score < before - 1e-6);
}

TARE_COMPARATOR(by_score, struct tare_laws, TARE_RISING(score))

size_t tare_laws_search(const struct tare_fit_data *d, const struct tare_terms *terms, size_t laws_max,
                        struct tare_laws *out, size_t room)
{
	size_t n = d->row_count;
	struct search s = { .d = d, .terms = terms, .found = out, .room = room };
	struct tare_laws level[STARTS], one;
	size_t level_count = 0;

	s.owner = tare_xcalloc(3 * n + 1, sizeof(*s.owner));
	s.rows = s.owner + n;
	s.old = s.rows + n;
	s.known = tare_xcalloc(terms->shape_count + 1, sizeof(*s.known));
	s.feature = tare_xcalloc(2 * n + 1, sizeof(double));
	s.sorted = s.feature + n;
	if (n == 1)
		laws_max = 1;
	if (work(&s, 1, true, &one)) {
		insert(out, &s.count, room, &one);
		insert(level, &level_count, STARTS, &one);
	}
	for (size_t k = 2; k <= laws_max && level_count; k++) {
		struct tare_laws next[STARTS], done[STARTS];
		size_t next_count = 0, done_count = 0;
		double before = out[0].score;

		if (out[0].error <= tare_law_floor(n))
			break; /* the error is so small that no further law can explain more */

		for (size_t i = 0; i < level_count && i < (k == 2 ? 1 : 4); i++)
			split_all(&s, &level[i], next, &next_count);
		for (size_t i = 0; i < next_count; i++) {
			tare_laws_own(terms, &next[i], s.owner);
			if (work(&s, next[i].count, true, &one)) {
				insert(done, &done_count, STARTS, &one);
				insert(out, &s.count, room, &one);
			}
		}
		memcpy(level, done, sizeof(level));
		level_count = done_count;
		if (!(out[0].score < before))
			break;
	}
	for (size_t i = 0; i < POLISHED && i < s.count; i++)
		polish(&s, out[i]);
	for (size_t i = 0; i < s.count; i++)
		tare_laws_merge_levels(d, terms, &out[i]);
	for (size_t i = 0; i < s.count; i++)
		tare_laws_judge_beyond(d, terms, &out[i]);
	TARE_SORT(out, s.count, by_score);
	free(s.owner);
	free(s.feature);
	free(s.known);
	return s.count;
}
