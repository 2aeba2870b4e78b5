/* SPDX-License-Identifier: Apache-2.0 */
/* Compares cells that do the same work cut in another way. */
#include "fit/twins.h"

#include "base/xalloc.h"
#include "fit/num.h"

#include <math.h>
#include <stdlib.h>

/*
 * Fewer pairs say nothing; nor do differences below one in a thousand, and what differs more in the middle is no work of the product.
 * Of ten pairs nine are "always".
 */
enum { LEAST_PAIRS = 3 };
static const double least = 1e-3, most_middle = 0.03, always = 0.9, alike = 1e-4;

static bool is_number(const struct tare_fit_data *d, size_t p)
{
	return !d->params[p].is_level && d->params[p].level_count > 1 && d->params[p].least > 0;
}

static bool has_product(const struct tare_fitted *f, size_t p, size_t q)
{
	for (size_t l = 0; l < f->laws.count; l++)
		for (size_t k = 0; k < f->laws.law[l].count; k++) {
			const struct tare_term *t = &f->terms.items[f->laws.law[l].term[k]];

			if (t->of[p] == TARE_POWER_1 && t->of[q] == TARE_POWER_1)
				return true;
		}
	return false;
}

static bool is_twin(const struct tare_fit_data *d, size_t p, size_t q, size_t row, size_t other)
{
	const double *x = tare_fit_x(d, row), *y = tare_fit_x(d, other);

	for (size_t i = 0; i < d->param_count; i++)
		if (i != p && i != q && x[i] != y[i])
			return false;
	return x[q] < y[q] && fabs(x[p] * x[q] - y[p] * y[q]) <= 1e-9 * fabs(x[p] * x[q]);
}

struct twins {
	size_t count, more, less; /* more: where the second parameter is the greater */
	double *by;               /* how far apart, of each */
	size_t first, other;      /* the pair that is farthest apart */
	double most;
};

static void find(const struct tare_fit_data *d, size_t p, size_t q, struct twins *out)
{
	for (size_t i = 0; i < d->row_count; i++)
		for (size_t j = 0; j < d->row_count; j++) {
			double by;

			if (!is_twin(d, p, q, i, j) || !(d->y[i] > 0))
				continue;
			if (out->count == d->row_count)
				return;
			by = d->y[j] / d->y[i] - 1;
			out->more += by > alike;
			out->less += by < -alike;
			out->by[out->count++] = fabs(by);
			if (fabs(by) >= out->most) {
				out->most = fabs(by);
				out->first = i;
				out->other = j;
			}
		}
}

/* What has more with the greater of one has less with the greater of the other: that is said of the one. */
static void say_why(const struct twins *t, const char *one, const char *other, struct tare_str *out)
{
	const char *by = t->more > t->less ? other : one;
	size_t same_way = t->more > t->less ? t->more : t->less;

	if ((double)same_way >= always * (double)t->count)
		tare_str_addf(out,
		              "always more with the greater %s, so something grows with %s alone (a table of "
		              "positions, scores of attention)",
		              by, by);
	else
		tare_str_add(out, "up as often as down, so it is not the work: what an allocator keeps between "
		                  "blocks depends on their sizes and their order");
}

static void look_at(const struct tare_fitted *f, size_t p, size_t q, struct tare_str *out)
{
	const struct tare_fit_data *d = &f->data;
	const char *one = d->params[p].name, *other = d->params[q].name;
	struct twins t = { .by = tare_xcalloc(d->row_count + 1, sizeof(double)) };
	double middle;

	find(d, p, q, &t);
	middle = t.count ? tare_num_quantile(t.by, t.count, 0.5) : 1;
	if (t.count >= LEAST_PAIRS && t.most >= least && middle <= most_middle) {
		const double *x = tare_fit_x(d, t.first), *y = tare_fit_x(d, t.other);

		tare_str_addf(out,
		              "%zu pairs of cells do the same work cut in another way (%s × %s): they differ by "
		              "%.2g %% in the middle and %.2g %% at most (%g × %g and %g × %g), ",
		              t.count, one, other, 100 * middle, 100 * t.most, x[p], x[q], y[p], y[q]);
		say_why(&t, one, other, out);
	}
	free(t.by);
}

void tare_fit_twins(const struct tare_fitted *f, void (*say)(void *arg, const char *sentence), void *arg)
{
	const struct tare_fit_data *d = &f->data;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	for (size_t p = 0; p < d->param_count; p++)
		for (size_t q = 0; q < p; q++) {
			tare_str_cut(&text, 0);
			if (is_number(d, p) && is_number(d, q) && has_product(f, p, q))
				look_at(f, q, p, &text);
			if (tare_str_text(&text)[0])
				say(arg, tare_str_text(&text));
		}
}
