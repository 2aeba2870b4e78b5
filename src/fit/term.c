/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the dictionary of terms, and computes and names a term. */
#include "fit/term.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LN2 0.693147180559945309417

enum {
	DEGREE_MAX =
		4, /* the sum of the powers of a term: batch × seq × layers × d_model; one more where there are cubes */
	COUNT_MAX = 4000, /* terms in a dictionary: the time of a search grows with their number */
};

/*
 * LEVEL_COST: what a term for one level costs more; AGAIN: what a term costs whose shape the laws have
 * already.
 */
#define LEVEL_COST 0.2
#define AGAIN      0.6
#define CONSTANT   0.4 /* nearly every quantity has a constant */

/* A curve through two values is an assumption: such a term costs more. */
#define TWO_VALUES 0.5

/* What a power counts for the degree, how unusual it is, and what it needs of the values. */
static const struct power {
	int degree;
	double cost;
	const char *suffix;
} powers[TARE_POWER_COUNT] = {
	[TARE_POWER_NONE] = { 0, 0, "" },  [TARE_POWER_1] = { 1, 0, "" },        [TARE_POWER_2] = { 2, 0.9, "²" },
	[TARE_POWER_3] = { 3, 2.0, "³" },  [TARE_POWER_HALF] = { 1, 3.0, "^½" }, [TARE_POWER_INVERSE] = { 2, 3.0, "^-1" },
	[TARE_POWER_LOG] = { 2, 3.0, "" },
};

static double power_value(int power, double x)
{
	switch (power) {
	case TARE_POWER_1:
		return x;
	case TARE_POWER_2:
		return x * x;
	case TARE_POWER_3:
		return x * x * x;
	case TARE_POWER_HALF:
		return x > 0 ? sqrt(x) : 0;
	case TARE_POWER_INVERSE:
		return x > 0 ? 1 / x : 0;
	case TARE_POWER_LOG:
		return x >= 1 ? log(x) / LN2 : 0;
	default:
		return 1;
	}
}

/* What falls goes on falling only as far as it was seen to: beyond that it stays as it is. */
static double within(const struct tare_fit_param *param, double x)
{
	if (param->level_count < 2)
		return x;
	return x < param->least ? param->least : x > param->most ? param->most : x;
}

double tare_term_value(const struct tare_fit_data *d, const struct tare_term *t, const double *x)
{
	double v = t->is_minus ? -1 : 1;

	for (size_t p = 0; p < d->param_count; p++) {
		if (!t->of[p])
			continue;
		if (d->params[p].is_level)
			v = x[p] == t->of[p] - 1 ? v : 0;
		else
			v *= power_value(t->of[p], t->of[p] == TARE_POWER_INVERSE ? within(&d->params[p], x[p]) : x[p]);
	}
	return v;
}

struct making {
	const struct tare_fit_data *d;
	int degree_max, factor_max;
	int curved_max; /* numbers with a power other than 1 in one term */
	bool has_unusual, has_cubes;
	bool has_joint_levels; /* terms for a level of this and a level of that */
	bool is_steep[TARE_FIT_PARAMS_MAX], is_falling[TARE_FIT_PARAMS_MAX];
	size_t shape_count;
	struct made {
		struct tare_term term;
		size_t shape;
		double cost, level_cost;
	} * items;
	size_t count, cap;
};

static void add(struct making *m, const struct tare_term *t, size_t shape, double cost, double level_cost)
{
	TARE_APPEND(m->items, m->count, m->cap) = (struct made){ *t, shape, cost, level_cost };
}

static bool differ_only_in(const struct tare_fit_data *d, size_t p, size_t row, size_t other)
{
	for (size_t q = 0; q < d->param_count; q++)
		if (q != p && tare_fit_x(d, row)[q] != tare_fit_x(d, other)[q])
			return false;
	return true;
}

/* Somewhere the quantity grows with the parameter rather as its cube than as its square. */
static bool is_steep(const struct tare_fit_data *d, size_t p)
{
	for (size_t i = 0; i < d->row_count; i++)
		for (size_t j = 0; j < d->row_count; j++) {
			double times = tare_fit_x(d, j)[p] / tare_fit_x(d, i)[p];
			double more = d->y[i] > 0 ? d->y[j] / d->y[i] / times / times : 0;

			if (times > 1 && more * more > times && differ_only_in(d, p, i, j))
				return true;
		}
	return false;
}

/*
 * Does the quantity fall as the parameter grows? In one of three pairs of cells that differ in nothing else, and by more
 * than noise. A term that falls explains a little of what rises, too, and of that nobody wants one.
 */
static bool is_falling(const struct tare_fit_data *d, size_t p)
{
	const double fall = 0.95;
	size_t falls = 0, pairs = 0;

	for (size_t i = 0; i < d->row_count; i++)
		for (size_t j = 0; j < d->row_count; j++) {
			if (!(tare_fit_x(d, j)[p] > tare_fit_x(d, i)[p]) || !differ_only_in(d, p, i, j))
				continue;
			pairs++;
			falls += d->y[j] < fall * d->y[i];
		}
	return falls && 3 * falls >= pairs;
}

static bool may_have(const struct making *m, size_t p, int power)
{
	const struct tare_fit_param *param = &m->d->params[p];

	if (power <= TARE_POWER_1)
		return true;
	if (power == TARE_POWER_2)
		return true;
	if (power == TARE_POWER_3)
		return m->has_cubes && param->least >= 0 && (param->level_count > 2 || m->is_steep[p]);
	if (!m->has_unusual || param->level_count < 3)
		return false;
	return power == TARE_POWER_LOG    ? param->least >= 1
	       : power == TARE_POWER_HALF ? param->least >= 0
	                                  : param->least > 0 && m->is_falling[p];
}

static void add_numbers(struct making *m, size_t p, struct tare_term *t, int degree, int factors, int curved,
                        double cost)
{
	if (m->count > COUNT_MAX)
		return;
	while (p < m->d->param_count && (m->d->params[p].is_level || m->d->params[p].level_count < 2))
		p++;
	if (p == m->d->param_count) {
		add(m, t, m->count, cost, 0);
		return;
	}
	for (int power = 0; power < TARE_POWER_COUNT; power++) {
		int bent = power > TARE_POWER_1;

		if (degree + powers[power].degree > m->degree_max || factors + (power != 0) > m->factor_max ||
		    curved + bent > m->curved_max || !may_have(m, p, power))
			continue;
		t->of[p] = (uint8_t)power;
		add_numbers(m, p + 1, t, degree + powers[power].degree, factors + (power != 0), curved + bent,
		            cost + powers[power].cost + (bent && m->d->params[p].level_count < 3 ? TWO_VALUES : 0) +
		                (factors >= 2 && power ? 0.1 : 0));
		t->of[p] = 0;
	}
}

/* Every term of numbers once more for each level, and for each pair of levels. */
static void levels(struct making *m, size_t p, size_t first, size_t end, struct tare_term *with, int depth)
{
	for (; p < m->d->param_count; p++) {
		if (!m->d->params[p].is_level || m->d->params[p].level_count < 2)
			continue;
		for (size_t l = 0; l < m->d->params[p].level_count; l++) {
			with->of[p] = (uint8_t)(1 + l);
			for (size_t i = first; i < end && m->count <= COUNT_MAX; i++) {
				struct tare_term t = m->items[i].term;

				for (size_t q = 0; q < m->d->param_count; q++)
					if (with->of[q])
						t.of[q] = with->of[q];
				add(m, &t, i, m->items[i].cost, LEVEL_COST * (1 + depth));
			}
			if (!depth && m->has_joint_levels)
				levels(m, p + 1, first, end, with, 1);
			with->of[p] = 0;
		}
	}
}

static void make(struct making *m)
{
	struct tare_term t = { 0 };
	size_t end;

	m->count = 0;
	add_numbers(m, 0, &t, 0, 0, 0, 0);
	t.is_minus = true;
	end = m->count;
	levels(m, 0, 0, end, &(struct tare_term){ 0 }, 0);
	add(m, &t, end, 2, 0);
	m->shape_count = end + 1;
}

void tare_terms_make(const struct tare_fit_data *d, struct tare_arena *arena, struct tare_terms *out)
{
	struct making m = {
		.d = d, .degree_max = DEGREE_MAX, .factor_max = DEGREE_MAX, .curved_max = 1, .has_joint_levels = true
	};
	size_t numbers = 0;

	for (size_t p = 0; p < d->param_count; p++) {
		numbers += !d->params[p].is_level && d->params[p].level_count > 1;
		m.is_steep[p] = is_steep(d, p);
		m.is_falling[p] = is_falling(d, p);
	}
	m.has_cubes = numbers <= 3;
	m.degree_max += m.has_cubes;  /* a volume of so many fields: grid³ × fields × batch */
	m.has_unusual = numbers <= 2; /* with many numbers an unusual power fits by chance */
	make(&m);
	for (int step = 0; m.count > COUNT_MAX && step < 6; step++) {
		switch (step) { /* drops the least likely terms first */
		case 0:
			m.has_unusual = false;
			break;
		case 1:
			m.has_joint_levels = false;
			break;
		case 2:
			m.degree_max = m.factor_max = 3;
			break;
		default:
			m.factor_max = m.factor_max > 1 ? m.factor_max - 1 : 1;
		}
		make(&m);
	}
	*out = (struct tare_terms){ .count = m.count, .row_count = d->row_count, .shape_count = m.shape_count };
	out->items = tare_arena_alloc(arena, m.count * sizeof(*out->items));
	out->cost = tare_arena_alloc(arena, 2 * m.count * sizeof(*out->cost));
	out->cost_again = out->cost + m.count;
	out->mask = tare_arena_alloc(arena, m.count * sizeof(*out->mask));
	out->is_curved = tare_arena_alloc(arena, m.count * sizeof(*out->is_curved));
	out->shape = tare_arena_alloc(arena, m.count * sizeof(*out->shape));
	out->values = tare_arena_alloc(arena, (m.count * d->row_count + 1) * sizeof(double));
	for (size_t i = 0; i < m.count; i++) {
		out->items[i] = m.items[i].term;
		out->cost[i] = (i ? 1 : CONSTANT) + m.items[i].cost + m.items[i].level_cost;
		out->cost_again[i] = AGAIN + m.items[i].level_cost;
		out->shape[i] = m.items[i].shape;
		for (size_t p = 0; p < d->param_count; p++)
			out->mask[i] |= m.items[i].term.of[p] ? 1u << p : 0;
		for (size_t p = 0; p < d->param_count; p++)
			out->is_curved[i] |= !d->params[p].is_level && m.items[i].term.of[p] > TARE_POWER_1;
	}
	for (size_t i = 0; i < m.count; i++) {
		double *v = out->values + i * d->row_count;
		bool is_finite = true;

		for (size_t r = 0; r < d->row_count; r++) {
			v[r] = tare_term_value(d, &m.items[i].term, tare_fit_x(d, r)) / d->scale[r];
			is_finite = is_finite && v[r] - v[r] == 0 && fabs(v[r]) < 1e100;
		}
		for (size_t r = 0; r < d->row_count && !is_finite; r++)
			v[r] = 0; /* a column of zeros is never chosen */
	}
	free(m.items);
}

void tare_terms_keep(struct tare_terms *t, const bool *keep)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++) {
		if (i && !keep[i])
			continue;
		t->items[n] = t->items[i];
		t->cost[n] = t->cost[i];
		t->cost_again[n] = t->cost_again[i];
		t->mask[n] = t->mask[i];
		t->is_curved[n] = t->is_curved[i];
		t->shape[n] = t->shape[i];
		memmove(t->values + n * t->row_count, t->values + i * t->row_count, t->row_count * sizeof(*t->values));
		n++;
	}
	t->count = n;
}

void tare_term_name(const struct tare_fit_data *d, const struct tare_term *t, struct tare_str *out)
{
	size_t start = out->len;

	for (size_t p = 0; p < d->param_count; p++) {
		if (!t->of[p] || d->params[p].is_level)
			continue;
		if (out->len > start)
			tare_str_add(out, " × ");
		if (t->of[p] == TARE_POWER_LOG)
			tare_str_addf(out, "log2(%s)", d->params[p].name);
		else
			tare_str_addf(out, "%s%s", d->params[p].name, powers[t->of[p]].suffix);
	}
	if (out->len == start)
		tare_str_add(out, "1");
}

void tare_term_levels(const struct tare_fit_data *d, const struct tare_term *t, struct tare_str *out)
{
	size_t start = out->len;

	for (size_t p = 0; p < d->param_count; p++) {
		if (!t->of[p] || !d->params[p].is_level)
			continue;
		tare_str_addf(out, "%s%s = %s", out->len > start ? ", " : "", d->params[p].name,
		              d->params[p].levels[t->of[p] - 1]);
	}
}
