/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of sizes against every other choice. */
#include "graphs/choose.h"

#include "../test.h"

#include <stdlib.h>

#define COUNT 9

static double cost_of(const struct tare_choose_size *sizes, size_t count, unsigned chosen)
{
	double cost = 0;

	for (size_t i = 0; i < count; i++) {
		size_t at = i;

		while (!(chosen >> at & 1))
			at++;
		cost += sizes[i].weight * sizes[at].cost;
	}
	return cost;
}

static double brute_force(const struct tare_choose_size *sizes, size_t count, size_t graphs)
{
	double best = 1e300;

	for (unsigned chosen = 0; chosen < 1u << count; chosen++) {
		double cost;

		if (!(chosen >> (count - 1) & 1) || (size_t)__builtin_popcount(chosen) > graphs)
			continue;
		cost = cost_of(sizes, count, chosen);
		best = cost < best ? cost : best;
	}
	return best;
}

TEST(no_other_choice_costs_less)
{
	unsigned seed = 1;

	for (int at = 0; at < 200; at++) {
		struct tare_choose_size sizes[COUNT];
		struct tare_choose_plan plans[COUNT];
		double weight = 0, cost = 1;

		for (size_t i = 0; i < COUNT; i++) {
			cost += rand_r(&seed) % 20;
			sizes[i] = (struct tare_choose_size){ 1 + i * 3, 1 + rand_r(&seed) % 50, cost };
			weight += sizes[i].weight;
		}
		CHECK_INT(tare_choose(sizes, COUNT, COUNT, plans), 0);
		for (size_t k = 0; k < COUNT; k++) {
			double want = brute_force(sizes, COUNT, k + 1) / weight;

			CHECK(plans[k].cost < want + 1e-9 && plans[k].cost > want - 1e-9);
			CHECK(plans[k].graphs <= k + 1);
			CHECK_INT(plans[k].sizes[plans[k].graphs - 1], COUNT - 1);
			CHECK(plans[k].padding >= 0 && plans[k].padding < 1);
			free(plans[k].sizes);
		}
	}
}
