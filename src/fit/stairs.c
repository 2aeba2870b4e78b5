/* SPDX-License-Identifier: Apache-2.0 */
/* Fits a quantity that is rounded up to a coarse step. */
#include "fit/stairs.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALVINGS = 50, SLICES = 64 };

/* A law that is above a step by no more than rounding errors is at that step. */
#define STEP_EPSILON 1e-9

/*
 * The region of a term says how likely the term is: the more coefficients climb the steps as measured, the
 * less is that a coincidence. The cost of a term only decides between terms that are equally likely.
 */
#define PRICE 0.1
#define NEAR  1.0 /* a third as likely as the likeliest is still possible */

/* What one term may be: y of every cell less a step < base + slope × value <= y. */
struct region {
	size_t term;
	double score;
	double slope, base;         /* the likeliest coefficients */
	double top;                 /* the highest step */
	double low, high;           /* slopes: 9 of 10 of the region are between them */
	double base_low, base_high; /* the middle of the room for `base` at `low` and at `high` */
};

struct climb {
	const struct tare_fit_data *d;
	const double *value; /* values of the term, per row */
	double step;
	const size_t *without; /* a row that is left out with those of the same value; or NULL */
};

static bool is_out(const struct climb *c, size_t row)
{
	return c->without && c->value[row] == c->value[*c->without];
}

double tare_stairs_up(double v, double step)
{
	double steps = v / step, whole;

	if (!(steps > 0))
		return 0;
	if (!(steps < 1e15)) /* no double is between two of them */
		return v;
	whole = (double)(int64_t)steps;
	return step * (steps - whole > STEP_EPSILON * (1 + steps) ? whole + 1 : whole);
}

/* How much room the base has at this slope, and its middle. Below 0: none. */
static double room(const struct climb *c, double slope, double *middle)
{
	double low = 0, high = 1e300;

	for (size_t i = 0; i < c->d->row_count; i++) {
		double rest = c->d->y[i] - slope * c->value[i];

		if (is_out(c, i))
			continue;
		low = rest - c->step > low ? rest - c->step : low;
		high = rest < high ? rest : high;
	}
	if (middle)
		*middle = (low + high) / 2;
	return high - low;
}

/* The slope with the most room: it grows, then falls. */
static double roomiest(const struct climb *c, double most)
{
	double a = 0, b = most;

	for (int i = 0; i < HALVINGS; i++) {
		double left = a + (b - a) / 3, right = b - (b - a) / 3;

		if (room(c, left, NULL) < room(c, right, NULL))
			a = left;
		else
			b = right;
	}
	return (a + b) / 2;
}

/* The last slope from `inside` towards `outside` that has room. */
static double border(const struct climb *c, double inside, double outside)
{
	for (int i = 0; i < HALVINGS; i++) {
		double at = (inside + outside) / 2;

		if (room(c, at, NULL) > 0)
			inside = at;
		else
			outside = at;
	}
	return inside;
}

/* The slope below which `share` of the region lies. */
static double slice(const double *size, double from, double width, double area, double share)
{
	double sum = 0;

	for (int i = 0; i < SLICES; i++) {
		if (sum + size[i] >= share * area)
			return from + width * (i + (share * area - sum) / size[i]);
		sum += size[i];
	}
	return from + width * SLICES;
}

/*
 * A base, which depends on no parameter, is often a multiple of the step itself. So of bases that are whole
 * steps the one that leaves the slope most room is taken, if there is one.
 */
static void prefer_whole_base(const struct climb *c, struct region *r)
{
	double most = 0;

	for (double base = 0; base <= r->top; base += c->step) {
		double low = 0, high = 1e300;

		for (size_t i = 0; i < c->d->row_count; i++) {
			double rest = c->d->y[i] - base, v = c->value[i];

			if (is_out(c, i))
				continue;
			if (!(v > 0)) {
				high = rest >= 0 && rest < c->step ? high : -1;
				continue;
			}
			low = (rest - c->step) / v > low ? (rest - c->step) / v : low;
			high = rest / v < high ? rest / v : high;
		}
		if (high - low > most) {
			most = high - low;
			r->base = base;
			r->slope = (low + high) / 2;
		}
	}
}

/* Finds the region of a term. False: the term cannot climb the steps as they were measured. */
static bool explore(const struct climb *c, struct region *out)
{
	double least = 1e300, most = -1e300, bottom = 1e300, top = -1e300, at, from, width;
	double size[SLICES], area = 0, moment = 0;

	for (size_t i = 0; i < c->d->row_count; i++) {
		if (is_out(c, i))
			continue;
		least = c->value[i] < least ? c->value[i] : least;
		most = c->value[i] > most ? c->value[i] : most;
		bottom = c->d->y[i] < bottom ? c->d->y[i] : bottom;
		top = c->d->y[i] > top ? c->d->y[i] : top;
	}
	out->top = top;
	if (!(most > least) || !(most > 0) || !(top > bottom))
		return false;
	width = (top - bottom + c->step) / (most - least);
	at = roomiest(c, width);
	if (!(room(c, at, NULL) > STEP_EPSILON * c->step))
		return false;
	from = border(c, at, 0);
	width = (border(c, at, width) - from) / SLICES;
	for (int i = 0; i < SLICES; i++) {
		double slope = from + width * (i + 0.5);

		size[i] = room(c, slope, NULL);
		size[i] = size[i] > 0 ? size[i] : 0;
		area += size[i];
		moment += size[i] * slope;
	}
	if (!(area > 0))
		return false;
	out->slope = moment / area;
	out->low = slice(size, from, width, area, 0.05);
	out->high = slice(size, from, width, area, 0.95);
	room(c, out->slope, &out->base);
	room(c, out->low, &out->base_low);
	room(c, out->high, &out->base_high);
	out->score = log(area * width * most / (c->step * c->step));
	prefer_whole_base(c, out);
	return true;
}

/*
 * Is the term greater in a cell of the lowest step than in a cell of the highest? Then it climbs no steps.
 */
static bool is_hopeless(const struct tare_fit_data *d, const double *value)
{
	double bottom = d->y[0], top = d->y[0], below = -1e300, above = 1e300;

	for (size_t i = 0; i < d->row_count; i++) {
		bottom = d->y[i] < bottom ? d->y[i] : bottom;
		top = d->y[i] > top ? d->y[i] : top;
	}
	for (size_t i = 0; i < d->row_count; i++) {
		if (d->y[i] == bottom && value[i] > below)
			below = value[i];
		if (d->y[i] == top && value[i] < above)
			above = value[i];
	}
	return !(above > below);
}

static void values(const struct tare_fit_data *d, const struct tare_terms *terms, size_t term, double *out)
{
	for (size_t i = 0; i < d->row_count; i++)
		out[i] = terms->values[term * terms->row_count + i] * d->scale[i];
}

static void insert(struct region *list, size_t *count, const struct region *r)
{
	size_t at;

	if (*count == TARE_STAIRS_TERMS && r->score <= list[TARE_STAIRS_TERMS - 1].score)
		return;
	at = *count < TARE_STAIRS_TERMS ? (*count)++ : TARE_STAIRS_TERMS - 1;
	for (; at > 0 && list[at - 1].score < r->score; at--)
		list[at] = list[at - 1];
	list[at] = *r;
}

static struct tare_laws law(size_t term, double base, double slope)
{
	return (struct tare_laws){
		.count = 1,
		.law[0] = { .count = 2, .term = { 0, term }, .coef = { base, slope } },
	};
}

size_t tare_stairs_search(const struct tare_fit_data *d, const struct tare_terms *terms, double step,
                          struct tare_laws out[TARE_STAIRS_LAWS])
{
	TARE_FREED_HERE double *value = tare_xcalloc(d->row_count + 1, sizeof(*value));
	struct climb c = { .d = d, .value = value, .step = step };
	struct region found[TARE_STAIRS_TERMS];
	size_t count = 0, laws = 0;

	for (size_t t = 1; t < terms->count; t++) {
		struct region r = { .term = t };

		values(d, terms, t, value);
		if (terms->items[t].is_minus || is_hopeless(d, value) || !explore(&c, &r))
			continue;
		r.score -= PRICE * terms->cost[t];
		insert(found, &count, &r);
	}
	for (size_t i = 0; i < count && found[i].score > found[0].score - NEAR; i++) {
		const struct region *r = &found[i];

		out[laws++] = law(r->term, r->base, r->slope);
		out[laws++] = law(r->term, r->base_low, r->low);
		out[laws++] = law(r->term, r->base_high, r->high);
	}
	return laws;
}

void tare_stairs_errors(const struct tare_fit_data *d, const struct tare_terms *terms, double step,
                        const struct tare_laws *laws, double *error)
{
	TARE_FREED_HERE double *value = tare_xcalloc(d->row_count + 1, sizeof(*value));
	size_t out;
	struct climb c = { .d = d, .value = value, .step = step, .without = &out };

	values(d, terms, laws->law[0].term[1], value);
	for (out = 0; out < d->row_count; out++) {
		struct region r = { .top = 0 };
		double v;

		if (explore(&c, &r))
			v = tare_stairs_up(r.base + r.slope * value[out], step);
		else
			v = r.top; /* the other cells lie on one step */
		error[out] = fabs(v - d->y[out]) / d->scale[out];
	}
}
