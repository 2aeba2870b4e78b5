/* SPDX-License-Identifier: Apache-2.0 */
/* Laws whose truth is known: what tare fit finds, how it extrapolates, and what it says of too little. */
#include "fit_world.h"

#include "fit/num.h"

#include <math.h>
#include <stdlib.h>

static uint64_t state = 4711;

/* In [-1, 1). */
static double noise(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) / (double)(1ull << 52) - 1;
}

/* The prediction is within `share` of the truth, and the truth inside the interval. */
static void check_at(const struct world *w, const double *x, double truth, double share)
{
	struct tare_prediction got;

	tare_fit_predict(&w->fitted, x, &got);
	if (fabs(got.value - truth) > share * fabs(truth))
		test_fail(__FILE__, __LINE__, "predicted %g, the truth is %g", got.value, truth);
	if (!(got.low <= truth && truth <= got.high))
		test_fail(__FILE__, __LINE__, "%g is not in %g..%g", truth, got.low, got.high);
}

static const struct tare_fit_finding *finding(const struct world *w, const char *param)
{
	for (size_t i = 0; i < w->report.finding_count; i++)
		if (!strcmp(w->report.findings[i].param, param))
			return &w->report.findings[i];
	test_fail(__FILE__, __LINE__, "nothing is said of %s", param);
}

static bool is_cautioned(const struct world *w, const char *part)
{
	for (size_t i = 0; i < w->report.caution_count; i++)
		if (strstr(w->report.cautions[i], part))
			return true;
	return false;
}

TEST(a_quantile_is_a_value_that_was_there)
{
	double v[] = { 5, 1, 4, 2, 3 };

	CHECK(tare_num_quantile(v, 5, 0.9) == 5 && tare_num_quantile(v, 5, 0.5) == 3);
	CHECK(tare_num_quantile(v, 0, 0.5) == 0);
}

/* Rows 1 and x, each divided by its scale, without those of a group: what is left of row i then. */
static double left_without(const double *x, const double *scale, const double *y, const size_t *group, size_t rows,
                           size_t i)
{
	double one[8], slope[8], rest[8], coef[2];
	struct tare_linear l;
	size_t n = 0;

	for (size_t r = 0; r < rows; r++) {
		if (group[r] == group[i])
			continue;
		one[n] = 1 / scale[r];
		slope[n] = x[r] / scale[r];
		rest[n++] = y[r] / scale[r];
	}
	tare_linear_begin(&l, rest, n);
	tare_linear_add(&l, one);
	tare_linear_add(&l, slope);
	tare_linear_solve(&l, coef);
	tare_linear_end(&l);
	return (y[i] - coef[0] - coef[1] * x[i]) / scale[i];
}

TEST(groups_are_left_out_as_if_never_fitted)
{
	static const double x[] = { 1, 1, 2, 2, 2, 3, 5, 5 }, y[] = { 3, 9, 8, 2, 7, 11, 30, 12 },
						scale[] = { 3, 9, 8, 2, 7, 11, 30, 12 };
	static const size_t group[] = { 0, 0, 1, 1, 1, 2, 3, 3 };
	double one[8], slope[8], shares[8], factor[8], sums[8], out[8];
	struct tare_linear_groups groups = { group, 4, factor, sums };
	struct tare_linear l;

	for (size_t r = 0; r < 8; r++) {
		factor[r] = one[r] = 1 / scale[r];
		slope[r] = x[r] / scale[r];
		shares[r] = y[r] / scale[r];
	}
	tare_linear_begin(&l, shares, 8);
	CHECK(tare_linear_add(&l, one) && tare_linear_add(&l, slope));
	tare_linear_left_out(&l, l.rest, &groups, 99, out);
	for (size_t r = 0; r < 8; r++)
		CHECK(fabs(out[r] - left_without(x, scale, y, group, 8, r)) < 1e-9);
	tare_linear_end(&l);
	for (size_t r = 0; r < 8; r++) /* nothing but the constant, and all of one group */
		slope[r] = 0;
	tare_linear_begin(&l, shares, 8);
	CHECK(tare_linear_add(&l, one));
	tare_linear_left_out(&l, l.rest, &(struct tare_linear_groups){ (size_t[8]){ 0 }, 1, factor, sums }, 99, out);
	CHECK(out[0] == 99 && out[7] == 99);
	tare_linear_end(&l);
}

TEST(product_of_powers_with_noise)
{
	struct world w = { 0 };

	tare_str_add(&w.text, "batch,L,y\n");
	for (int b = 1; b <= 4; b++)
		for (int l = 4; l <= 16; l += 4)
			tare_str_addf(&w.text, "%d,%d,%f\n", b, l, (500 + 3.0 * b * l * l) * (1 + 0.003 * noise()));
	fit(&w, "y");
	check_at(&w, (double[]){ 16, 16 }, 500 + 3.0 * 16 * 256, 0.02);
	check_at(&w, (double[]){ 4, 64 }, 500 + 3.0 * 4 * 4096, 0.02);
	CHECK(finding(&w, "L")->kind == TARE_FIT_FINDING_CURVED);
	CHECK(w.report.law_count == 1);
	CHECK_HAS(w.report.laws[0], "batch × L²");
	end(&w);
}

TEST(rounding_to_two_mib)
{
	struct world w = { 0 };
	double x[] = { 300 }, truth = 2097152.0 * 331; /* 31.2 MiB + 300 × 2.1 MiB, rounded up */

	tare_str_add(&w.text, "n,bytes\n");
	for (int n = 1; n <= 80; n += 3) {
		uint64_t bytes = (uint64_t)(31.2 * 1048576 + n * 2.1 * 1048576);

		tare_str_addf(&w.text, "%d,%llu\n", n, (unsigned long long)((bytes + 2097151) / 2097152 * 2097152));
	}
	fit(&w, "bytes");
	CHECK(w.fitted.step == 2097152);
	check_at(&w, x, truth, 0.01);
	CHECK_HAS(w.report.laws[0], "MiB × n");
	end(&w);
}

/* 2 MiB, and what grows with the volume, each in whole pages of 2 MiB. */
static double pool(int batch, int extent)
{
	double bytes = 330.0 * batch * extent * extent * extent;

	return 2097152.0 * (1 + (double)(int64_t)((bytes + 2097151) / 2097152));
}

TEST(few_steps_are_climbed)
{
	struct world w = { 0 };
	struct tare_prediction got;

	tare_str_add(&w.text, "bs,L,bytes\n");
	for (int b = 1; b <= 3; b++)
		for (int l = 6; l <= 14; l += 2)
			tare_str_addf(&w.text, "%d,%d,%.0f\n", b, l, pool(b, l));
	fit(&w, "bytes"); /* 4 MiB in 14 cells, 6 MiB in the largest */
	CHECK(w.fitted.is_stairs);
	CHECK(w.fitted.mean_error > 0.01 && w.fitted.mean_error < 0.05); /* without it, a plateau */
	CHECK_HAS(w.report.laws[0], "rounded up to 2 MiB");
	CHECK(is_cautioned(&w, "from 4 MiB to 6 MiB only"));
	check_at(&w, (double[]){ 3, 14 }, pool(3, 14), 0);
	check_at(&w, (double[]){ 3, 12 }, pool(3, 12), 0);
	check_at(&w, (double[]){ 6, 14 }, pool(6, 14), 0.3);
	check_at(&w, (double[]){ 3, 24 }, pool(3, 24), 0.3);
	tare_fit_predict(&w.fitted, (double[]){ 1e300, 14 }, &got);
	CHECK(got.low <= got.value && got.value <= got.high);
	end(&w);
}

TEST(many_steps_say_how_steep)
{
	struct world w = { 0 };
	double x[] = { 12, 14 };
	struct tare_prediction got;

	tare_str_add(&w.text, "bs,L,bytes\n");
	for (int b = 1; b <= 6; b++)
		for (int l = 6; l <= 22; l += 2)
			tare_str_addf(&w.text, "%d,%d,%.0f\n", b, l, pool(b, l));
	fit(&w, "bytes");
	check_at(&w, x, pool(12, 14), 0);
	tare_fit_predict(&w.fitted, x, &got);
	CHECK(got.high - got.low <= 4 * 2097152.0);
	end(&w);
}

TEST(what_hits_every_step_exactly_needs_no_stairs)
{
	struct world w = { 0 };

	tare_str_add(&w.text, "n,bytes\n");
	for (int n = 1; n <= 6; n++)
		tare_str_addf(&w.text, "%d,%d\n", n, (2 + n) * 2097152);
	fit(&w, "bytes");
	CHECK(!w.fitted.is_stairs);
	check_at(&w, (double[]){ 12 }, 14 * 2097152.0, 0);
	end(&w);

	memset(&w, 0, sizeof(w));
	tare_str_add(&w.text, "n,bytes\n"); /* 0.7 of a step each: a line misses none after rounding */
	for (int n = 1; n <= 12; n++)
		tare_str_addf(&w.text, "%d,%d\n", n, (7 * n + 9) / 10 * 2097152);
	fit(&w, "bytes");
	CHECK(w.fitted.is_stairs);
	check_at(&w, (double[]){ 40 }, 28 * 2097152.0, 0.04);
	end(&w);
}

TEST(steps_at_random_are_no_stairs)
{
	struct world w = { 0 };
	static const int pages[] = { 2, 3, 2, 2, 3, 2, 3, 3, 2, 2 };

	tare_str_add(&w.text, "n,bytes\n");
	for (int n = 1; n <= 10; n++)
		tare_str_addf(&w.text, "%d,%d\n", n, pages[n - 1] * 2097152);
	fit(&w, "bytes");
	CHECK(!w.fitted.is_stairs);
	end(&w);
}

TEST(two_values_show_a_cube_if_they_are_that_steep)
{
	struct world w = { 0 };

	tare_str_add(&w.text, "bs,L,bytes\n");
	for (int b = 1; b <= 3; b++)
		for (int l = 6; l <= 8; l += 2)
			tare_str_addf(&w.text, "%d,%d,%d\n", b, l, 7 + 160 * b * l * l * l);
	fit(&w, "bytes");
	check_at(&w, (double[]){ 3, 14 }, 7 + 160 * 3 * 14 * 14 * 14, 0.01);
	end(&w);
}

TEST(plateau_then_growth)
{
	struct world w = { 0 };

	tare_str_add(&w.text, "n,y\n");
	for (int n = 1; n <= 24; n++)
		tare_str_addf(&w.text, "%d,%d\n", n, 10 * n > 120 ? 10 * n : 120);
	fit(&w, "y");
	CHECK(w.report.law_count == 2);
	check_at(&w, (double[]){ 96 }, 960, 0.01);
	check_at(&w, (double[]){ 3 }, 120, 0.01);
	end(&w);
}

static double step_phase(double d, double l)
{
	return 4e5 * d + 200 * d * d * l;
}

static double loss_phase(double d, double l, double b)
{
	return 1e8 + 3e5 * b * 64 + 60.0 * d * l * b * 64 + 100 * d * d * l;
}

TEST(peak_is_the_greatest_of_two_phases)
{
	struct world w = { 0 };

	tare_str_add(&w.text, "d,l,b,peak\n");
	for (int d = 128; d <= 512; d *= 2)
		for (int l = 2; l <= 8; l *= 2)
			for (int b = 1; b <= 8; b *= 2) {
				double x = step_phase(d, l), y = loss_phase(d, l, b);

				tare_str_addf(&w.text, "%d,%d,%d,%.0f\n", d, l, b, (x > y ? x : y) * (1 + 0.001 * noise()));
			}
	fit(&w, "peak");
	CHECK(w.report.law_count >= 2);
	check_at(&w, (double[]){ 512, 8, 32 }, loss_phase(512, 8, 32), 0.02);
	check_at(&w, (double[]){ 2048, 8, 1 }, step_phase(2048, 8), 0.02);
	check_at(&w, (double[]){ 512, 32, 1 }, step_phase(512, 32), 0.02);
	end(&w);
}

TEST(words_are_levels)
{
	struct world w = { 0 };
	static const char *const kinds[] = { "sgd", "momentum", "adam" };

	tare_str_add(&w.text, "kind,params,y\n");
	for (int k = 0; k < 3; k++)
		for (int p = 100; p <= 800; p *= 2)
			tare_str_addf(&w.text, "%s,%d,%d\n", kinds[k], p, 50 + p * (8 + 4 * k));
	fit(&w, "y");
	CHECK(w.problem.params[0].is_level && !w.problem.params[1].is_level);
	check_at(&w, (double[]){ 2, 3200 }, 50 + 3200 * 16, 0.01);
	check_at(&w, (double[]){ 0, 3200 }, 50 + 3200 * 8, 0.01);
	CHECK(finding(&w, "kind")->kind == TARE_FIT_FINDING_LEVELS);
	end(&w);
}

TEST(weak_none_and_one_value)
{
	struct world w = { 0 };

	tare_str_add(&w.text, "max_iter,idle,fixed,y\n");
	for (int m = 20; m <= 800; m *= 2)
		for (int i = 1; i <= 3; i++)
			tare_str_addf(&w.text, "%d,%d,10,%f\n", m, i, 1000 + 0.25 * m);
	fit(&w, "y");
	CHECK(finding(&w, "max_iter")->kind == TARE_FIT_FINDING_WEAK);
	CHECK(fabs(finding(&w, "max_iter")->per_step - 0.25) < 0.01);
	CHECK(finding(&w, "idle")->kind == TARE_FIT_FINDING_NONE);
	CHECK(finding(&w, "fixed")->kind == TARE_FIT_FINDING_ONE_VALUE);
	CHECK_HAS(w.report.next, "fixed=20");
	end(&w);
}

static void fit_text(struct world *w, const char *text, const char *target)
{
	memset(w, 0, sizeof(*w));
	tare_str_add(&w->text, text);
	fit(w, target);
}

/* Graphs captured one after another, the largest first: what has piled up falls with max_iter. */
TEST(what_a_law_cannot_say_does_not_hide_what_it_can)
{
	struct world w = { 0 };

	tare_str_add(&w.text, "bs,L,max_iter,y\n");
	for (int b = 1; b <= 3; b++)
		for (int l = 4; l <= 8; l += 2)
			for (int k = 1; k <= 3; k++)
				tare_str_addf(&w.text, "%d,%d,%d,%d\n", b, l, 1600 >> k, (900 + 83 * b * l) * k);
	fit(&w, "y");
	CHECK(finding(&w, "bs")->kind != TARE_FIT_FINDING_NONE);
	CHECK(finding(&w, "L")->kind != TARE_FIT_FINDING_NONE);
	end(&w);
}

TEST(a_level_that_changes_nothing_has_no_term)
{
	static const char *const kinds[] = { "no", "yes", "graphs" };
	static const int mib[] = { 6408, 6508, 6568, 6508, 6608 };
	struct world w = { 0 };

	tare_str_add(&w.text, "batch,compile,y\n");
	for (int b = 1; b <= 5; b++)
		for (int k = 0; k < 3; k++)
			tare_str_addf(&w.text, "%d,%s,%d\n", b, kinds[k], mib[b - 1]);
	fit(&w, "y");
	CHECK(finding(&w, "compile")->kind == TARE_FIT_FINDING_NONE);
	CHECK(finding(&w, "batch")->kind != TARE_FIT_FINDING_NONE);
	end(&w);
}

/* Fits `part` of every cell of a grid beside the law of `total`; how many terms it has. */
static size_t terms_of_part(double (*total)(double, double), double (*part)(double, double), struct world *w)
{
	struct tare_fitted whole;
	double *mine;
	size_t terms = 0;

	memset(w, 0, sizeof(*w));
	tare_str_add(&w->text, "batch,L,y\n");
	for (int b = 1; b <= 6; b++)
		for (int l = 2; l <= 8; l += 2)
			tare_str_addf(&w->text, "%d,%d,%f\n", b, l, total(b, l));
	fit(w, "y");
	whole = w->fitted;
	mine = tare_arena_alloc(&w->arena, w->problem.data.row_count * sizeof(*mine));
	for (size_t i = 0; i < w->problem.data.row_count; i++)
		mine[i] = part(tare_fit_x(&w->problem.data, i)[0], tare_fit_x(&w->problem.data, i)[1]);
	w->problem.data.y = mine;
	tare_fit_data_scale(&w->problem.data, &w->arena);
	tare_fit_make_part(&w->problem.data, &whole, &w->arena, &w->fitted);
	tare_fit_free(&whole);
	for (size_t l = 0; l < w->fitted.laws.count; l++)
		terms += w->fitted.laws.law[l].count;
	return terms;
}

static double plain_total(double batch, double l)
{
	return 1000 + 100 * batch * l;
}

/* A few units that follow everything a little, as what granularity leaves does. */
static double fickle(double batch, double l)
{
	return 10 + fmod(7 * batch * batch + 3 * l * l * batch + 5 * l, 11) / 3 + 0.4 * l * l / batch;
}

static double other_shape(double batch, double l)
{
	return 200 + 40 * l * l + 30 * batch * batch * l;
}

TEST(a_part_is_not_more_complicated_than_the_total_without_reason)
{
	struct world w;
	double off = 0;

	CHECK(terms_of_part(plain_total, fickle, &w) <= 2);
	end(&w);
	CHECK(terms_of_part(plain_total, other_shape, &w) >= 3);
	for (size_t i = 0; i < w.problem.data.row_count; i++) {
		struct tare_prediction got;

		tare_fit_predict(&w.fitted, tare_fit_x(&w.problem.data, i), &got);
		off = fmax(off, fabs(got.value / w.problem.data.y[i] - 1));
	}
	CHECK(off < 0.001);
	end(&w);
}

TEST(repeats_that_do_not_agree)
{
	struct world w;

	fit_text(&w, "n,y\n1,10\n1,11\n1,10\n2,20\n2,21\n2,0\n3,30\n3,30\n3,31\n4,40\n", "y");
	CHECK_INT(w.problem.astray, 1);
	CHECK(is_cautioned(&w, "in 1 cell a repeat is more than 25 % off the others (0 to 21 at n=2)"));
	CHECK(fabs(w.problem.data.y[1] - 41.0 / 3) < 1e-9);
	end(&w);

	fit_text(&w, "n,y\n1,100\n1,104\n1,96\n2,200\n", "y");
	CHECK(!w.problem.astray && w.problem.data.y[0] == 100);
	end(&w);
}

TEST(too_little)
{
	struct world w;
	double x[TARE_FIT_PARAMS_MAX] = { 14 };
	struct tare_prediction got;

	fit_text(&w, "L,mib\n6,38\n", "mib");
	CHECK(is_cautioned(&w, "one cell"));
	check_at(&w, (double[]){ 6 }, 38, 0.001);
	end(&w);

	fit_text(&w, "L,mib\n6,38\n12,76\n14,\n", "mib");
	CHECK(is_cautioned(&w, "two cells make a law only by assumption"));
	CHECK(finding(&w, "L")->is_assumed);
	tare_fit_predict(&w.fitted, x, &got);
	CHECK(got.value > 80 && got.value < 100 && got.low < 86 && got.high > 91);
	end(&w);

	fit_text(&w, "a,b,c,y\n1,1,1,10\n2,2,2,20\n", "y");
	CHECK(is_cautioned(&w, "cannot be told apart"));
	end(&w);
}

TEST(degenerate_numbers)
{
	struct world w;
	double x[TARE_FIT_PARAMS_MAX] = { 5 };
	struct tare_prediction got;
	static const char *const texts[] = {
		"n,y\n1,0\n2,0\n3,0\n",
		"n,y\n1,7\n2,7\n3,7\n",
		"n,y\n1,-5\n2,-9\n3,-20\n",
		"n,y\n1,1e99\n2,2e99\n3,3e99\n",
		"n,y\n1e99,1\n2e99,2\n3e99,3\n",
		"n,y\n-3,1\n0,2\n3,3\n",
		"n,y\n1,1e-300\n2,2e-300\n3,3e-300\n",
		"n,y\n1,5\n1,7\n1,6\n",
		"y\n5\n6\n7\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		fit_text(&w, texts[i], "y");
		tare_fit_predict(&w.fitted, x, &got);
		CHECK(!(got.value != got.value) && got.low <= got.value && got.value <= got.high);
		end(&w);
	}
	fit_text(&w, texts[7], "y"); /* repeats */
	CHECK_INT(w.problem.data.row_count, 1);
	CHECK(w.problem.data.y[0] == 6 && w.problem.data.weight[0] == 3);
	end(&w);
}

TEST(equal_columns_are_no_trouble)
{
	struct world w = { 0 };

	tare_str_add(&w.text, "a,b,y\n");
	for (int i = 1; i < 12; i++)
		tare_str_addf(&w.text, "%d,%d,%d\n", i, i, 10 + 4 * i);
	fit(&w, "y");
	check_at(&w, (double[]){ 5, 5 }, 30, 0.001);
	end(&w);
}

TEST(random_tables_have_ordered_intervals)
{
	for (int round = 0; round < 60; round++) {
		struct world w = { 0 };
		int columns = 1 + round % 4, rows = 1 + round * 7 % 40;

		for (int c = 0; c < columns; c++)
			tare_str_addf(&w.text, "p%d,", c);
		tare_str_add(&w.text, "y\n");
		for (int r = 0; r < rows; r++) {
			for (int c = 0; c < columns; c++)
				tare_str_addf(&w.text, "%d,", (int)(8 * noise()) + (c ? 8 : 0));
			tare_str_addf(&w.text, "%g\n", 1000 * (1.5 + noise()));
		}
		fit(&w, "y");
		for (int r = 0; r < 20; r++) {
			double x[4] = { 20 * noise(), 20 * noise(), 20 * noise(), 20 * noise() };
			struct tare_prediction got;

			tare_fit_predict(&w.fitted, x, &got);
			CHECK(got.low <= got.value && got.value <= got.high);
		}
		end(&w);
	}
}

TEST(many_rows_in_bounded_time)
{
	struct world w = { 0 };

	tare_str_add(&w.text, "a,b,c,d,y\n");
	for (int i = 0; i < 100000; i++) {
		int a = 1 + i % 97, b = 1 + i / 97 % 89, c = 1 + i % 83, d = 1 + i % 13;

		tare_str_addf(&w.text, "%d,%d,%d,%d,%d\n", a, b, c, d, 1000 + 3 * a * b + 7 * c);
	}
	fit(&w, "y");
	check_at(&w, (double[]){ 97, 89, 200, 5 }, 1000 + 3 * 97 * 89 + 7 * 200, 0.01);
	end(&w);
}
