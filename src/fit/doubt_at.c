/* SPDX-License-Identifier: Apache-2.0 */
/* What laws that lack something say of one cell. */
#include "fit/doubt.h"

#include "base/comparator.h"
#include "base/xalloc.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

#define TAIL 0.05 /* of all that is said, below `low`; and above `high` */

/* How likely something stops growing within twice as much, chosen as what is in doubt.c was. */
static const double stopping = 0.02;

struct said {
	double value, weight;
};

/* One cell, and what the laws as they are make of it. */
struct cell {
	const struct tare_fitted *f;
	const double *x;
	double value;                 /* of the greatest law */
	double law[TARE_LAWS_MAX];    /* what each says */
	double others[TARE_LAWS_MAX]; /* the greatest but this one */
	double term[TARE_LAWS_MAX][TARE_LAW_TERMS_MAX];
};

TARE_COMPARATOR(by_value, struct said, TARE_RISING(value))

static void look(struct cell *c)
{
	const struct tare_fitted *f = c->f;

	for (size_t l = 0; l < f->laws.count; l++) {
		const struct tare_law *law = &f->laws.law[l];

		c->law[l] = 0;
		for (size_t k = 0; k < law->count; k++) {
			c->term[l][k] = tare_term_value(&f->data, &f->terms.items[law->term[k]], c->x);
			c->law[l] += law->coef[k] * c->term[l][k];
		}
	}
	for (size_t l = 0; l < f->laws.count; l++) {
		c->others[l] = -INFINITY;
		for (size_t other = 0; other < f->laws.count; other++)
			if (other != l && c->law[other] > c->others[l])
				c->others[l] = c->law[other];
	}
}

/* Adds what one of them says, where that is not what the laws say as they are; returns how many were added. */
static size_t say(const struct cell *c, const struct tare_doubt *t, struct said *out)
{
	const struct tare_law *law = &c->f->laws.law[t->law];
	double more = tare_term_value(&c->f->data, &t->term, c->x), base = 0;
	double others = t->is_phase ? c->value : c->others[t->law];
	size_t count = 0;

	for (size_t k = 0; k < law->count; k++) {
		more -= t->instead[k] * c->term[t->law][k];
		base += t->base[k] * c->term[t->law][k];
	}
	for (int i = 0; i < TARE_DOUBT_COEFS; i++) {
		double v = base + t->coefs[i] * more;

		v = v > others ? v : others;
		if (v < c->value || v > c->value)
			out[count++] = (struct said){ v, t->weight / TARE_DOUBT_COEFS };
	}
	return count;
}

/* The cell at the edge of what was measured that is next to x. */
static void edge_of(const struct tare_fit_data *d, const double *x, double *out)
{
	for (size_t p = 0; p < d->param_count; p++)
		out[p] = d->params[p].is_level || x[p] <= d->params[p].most ? x[p] : d->params[p].most;
}

/* Terms that grow beyond what was measured: how much, and by how many doublings. */
struct growing {
	size_t law;
	double bytes, doublings;
};

static size_t find_growing(const struct cell *c, struct growing *out)
{
	const struct tare_fitted *f = c->f;
	double edge[TARE_FIT_PARAMS_MAX];
	size_t count = 0;

	edge_of(&f->data, c->x, edge);
	for (size_t l = 0; l < f->laws.count; l++) {
		const struct tare_law *law = &f->laws.law[l];

		for (size_t k = 0; k < law->count; k++) {
			const struct tare_term *t = &f->terms.items[law->term[k]];
			double before = tare_term_value(&f->data, t, edge), after = c->term[l][k];

			if (!t->is_minus && before > 0 && after > before)
				out[count++] = (struct growing){ l, law->coef[k] * (after - before), log2(after / before) };
		}
	}
	return count;
}

/*
 * What has a greatest size, as a workspace has, or a piece of a prompt, does not grow for ever: a part of one term stops at the edge, or all of
 * it, and that is the likelier the farther it would have grown. Returns how many were added.
 */
static size_t stop(const struct cell *c, struct said *out)
{
	struct growing all[TARE_LAWS_MAX * TARE_LAW_TERMS_MAX];
	size_t growing = find_growing(c, all), count = 0;

	for (size_t i = 0; i < growing; i++)
		for (int k = 0; k < TARE_DOUBT_COEFS; k++) {
			double v = c->law[all[i].law] - all[i].bytes * (k + 0.5) / TARE_DOUBT_COEFS;

			v = v > c->others[all[i].law] ? v : c->others[all[i].law];
			if (v < c->value)
				out[count++] = (struct said){ v, stopping * all[i].doublings / (double)growing / TARE_DOUBT_COEFS };
		}
	return count;
}

void tare_doubts_at(const struct tare_fitted *f, const double *x, double value, double *low, double *high)
{
	size_t most = f->doubts.count + TARE_LAWS_MAX * TARE_LAW_TERMS_MAX;
	TARE_FREED_HERE struct said *all = tare_xcalloc(most * TARE_DOUBT_COEFS, sizeof(*all));
	struct cell c = { .f = f, .x = x, .value = value };
	double sum = 0;
	size_t count = 0;

	look(&c);
	for (size_t i = 0; i < f->doubts.count; i++)
		count += say(&c, &f->doubts.items[i], all + count);
	count += stop(&c, all + count);
	TARE_SORT(all, count, by_value);
	*low = *high = value;
	for (size_t i = 0; i < count && all[i].value < value && sum < TAIL; i++)
		if ((sum += all[i].weight) >= TAIL)
			*low = all[i].value;
	sum = 0;
	for (size_t i = count; i-- > 0 && all[i].value > value && sum < TAIL;)
		if ((sum += all[i].weight) >= TAIL)
			*high = all[i].value;
}
