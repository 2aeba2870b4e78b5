/* SPDX-License-Identifier: Apache-2.0 */
/* What tare fit says beyond the cells: nothing falls that was not seen to, each parameter is named, and what no law can know is told. */
#include "fit_world.h"

#include <math.h>

static size_t falling_terms(const struct world *w)
{
	const struct tare_fitted *f = &w->fitted;
	size_t count = 0;

	for (size_t l = 0; l < f->laws.count; l++)
		for (size_t k = 0; k < f->laws.law[l].count; k++)
			for (size_t p = 0; p < f->data.param_count; p++)
				count += f->terms.items[f->laws.law[l].term[k]].of[p] == TARE_POWER_INVERSE;
	return count;
}

/* Weights, and activations of which the allocator rounds some up: with more of anything it is more. */
TEST(nothing_falls_that_was_not_seen_to)
{
	struct world w = { .text = { 0 } };
	const double less[] = { 4096, 64 }, least[] = { 4096, 128 };
	struct tare_prediction at_less, at_least;

	tare_str_add(&w.text, "b,h,need\n");
	for (int b = 64; b <= 1024; b *= 4)
		for (int h = 128; h <= 1024; h *= 2)
			tare_str_addf(&w.text, "%d,%d,%.3f\n", b, h,
			              8e6 + 8200.0 * h + 4.0 * b * (768 + h) + 3e6 * b / (b + 300) * 128 / h);
	fit(&w, "need");
	CHECK_INT(falling_terms(&w), 0);
	tare_fit_predict(&w.fitted, less, &at_less);
	tare_fit_predict(&w.fitted, least, &at_least);
	CHECK(at_less.value <= at_least.value);
	CHECK(at_less.times[0] > 3.9 && at_less.times[1] > 1.9);
	CHECK(!at_less.is_less[0] && at_less.is_less[1]);
	end(&w);
}

TEST(what_falls_stays_at_the_edge_as_it_is)
{
	struct world w = { .text = { 0 } };
	const double edge[] = { 16 }, beyond[] = { 64 };
	struct tare_prediction at_edge, at_beyond;

	tare_str_add(&w.text, "workers,seconds\n");
	for (int n = 1; n <= 16; n *= 2)
		tare_str_addf(&w.text, "%d,%.4f\n%d,%.4f\n", n, 160.0 / n, n, 160.1 / n);
	fit(&w, "seconds");
	CHECK(falling_terms(&w) > 0);
	tare_fit_predict(&w.fitted, edge, &at_edge);
	tare_fit_predict(&w.fitted, beyond, &at_beyond);
	CHECK(fabs(at_edge.value - 10) < 0.2);
	CHECK(fabs(at_beyond.value - at_edge.value) < 1e-6);
	end(&w);
}

static bool says(const struct world *w, const char *text)
{
	for (size_t i = 0; i < w->report.caution_count; i++)
		if (strstr(w->report.cautions[i], text))
			return true;
	return false;
}

/* batch × seq alike: `by_seq` for each of seq, and up or down by chance. */
static void fit_twins(struct world *w, double by_seq, double chance)
{
	int sign = 1;

	tare_str_add(&w->text, "layers,batch,seq,bytes\n");
	for (int layers = 2; layers <= 8; layers += 2)
		for (int batch = 1; batch <= 4; batch *= 2)
			for (int seq = 256; seq <= 1024; seq *= 2, sign = -sign)
				tare_str_addf(&w->text, "%d,%d,%d,%.0f\n", layers, batch, seq,
				              (5e8 + 1e5 * layers * batch * seq + by_seq * seq) * (1 + sign * chance));
	fit(w, "bytes");
}

/* A pool by volume that is 1 % of the cells, among their noise: the cells show no more than that something grows with length. */
TEST(a_curve_too_small_to_be_seen_is_in_the_interval)
{
	struct world w = { .text = { 0 } };
	const double far[] = { 40, 100 };
	const double noise[] = { 0.8, -0.9, 0.2, -0.3, 1.0, -0.6, 0.5, -0.8, 0.1 };
	struct tare_prediction at;
	int i = 0;

	tare_str_add(&w.text, "length,steps,mib\n");
	for (int length = 6; length <= 10; length += 2)
		for (int steps = 50; steps <= 200; steps *= 2)
			tare_str_addf(&w.text, "%d,%d,%.3f\n", length, steps,
			              1400 + 0.64 * steps + 0.0156 * length * length * length + noise[i++]);
	fit(&w, "mib");
	tare_fit_predict(&w.fitted, far, &at);
	CHECK(at.high > 1400 + 64 + 0.0156 * 40 * 40 * 40);
	CHECK(at.high < 3 * at.value);
	end(&w);
}

/* Cells without noise leave no term room: only another phase may be more there. */
TEST(what_cells_show_plainly_stays_narrow)
{
	struct world w = { .text = { 0 } };
	const double twice[] = { 16, 2048 };
	struct tare_prediction at;
	double truth = 5e8 + 4e6 * 16 + 1e5 * 2048 + 2e3 * 16 * 2048;

	tare_str_add(&w.text, "batch,seq,bytes\n");
	for (int batch = 1; batch <= 8; batch *= 2)
		for (int seq = 128; seq <= 1024; seq *= 2)
			tare_str_addf(&w.text, "%d,%d,%.0f\n", batch, seq, 5e8 + 4e6 * batch + 1e5 * seq + 2e3 * batch * seq);
	fit(&w, "bytes");
	tare_fit_predict(&w.fitted, twice, &at);
	CHECK(at.low <= truth && truth <= at.high);
	CHECK(at.low > 0.97 * truth);
	CHECK(at.high < 1.1 * truth);
	end(&w);
}

/* Nobody saw that what grows goes on for ever: that is next to nothing at twice as much, and counts where two parameters are four times beyond. */
TEST(a_part_may_stop_growing_far_beyond)
{
	struct world w = { .text = { 0 } };
	const double near[] = { 16, 1024 }, far[] = { 32, 4096 };
	struct tare_prediction at;

	tare_str_add(&w.text, "batch,seq,bytes\n");
	for (int batch = 1; batch <= 8; batch *= 2)
		for (int seq = 128; seq <= 1024; seq *= 2)
			tare_str_addf(&w.text, "%d,%d,%.0f\n", batch, seq, 5e8 + 2e5 * batch * seq);
	fit(&w, "bytes");
	tare_fit_predict(&w.fitted, near, &at);
	CHECK(at.low > 0.97 * (5e8 + 2e5 * 16 * 1024));
	tare_fit_predict(&w.fitted, far, &at);
	CHECK(at.low < 5e8 + 2e5 * (0.8 * 32 * 4096 + 0.2 * 8 * 1024));
	CHECK(at.low > 5e8 + 2e5 * 8 * 1024);
	end(&w);
}

TEST(the_same_work_cut_in_another_way)
{
	struct world more = { .text = { 0 } }, chance = { .text = { 0 } }, none = { .text = { 0 } };

	fit_twins(&more, 8e3, 0);
	CHECK(says(&more, "(batch × seq): they differ by"));
	CHECK(says(&more, "always more with the greater seq"));
	fit_twins(&chance, 0, 0.01);
	CHECK(says(&chance, "up as often as down"));
	fit_twins(&none, 0, 0);
	CHECK(!says(&none, "same work"));
	end(&more);
	end(&chance);
	end(&none);
}
