/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TEST_MODEL_CHECK_H
#define TARE_TEST_MODEL_CHECK_H

#include "../test.h"
#include "model.h"

static inline struct tare_graphs_stats stats_of(struct tare_graphs *graphs)
{
	struct tare_graphs_stats stats;

	CHECK_INT(tare_graphs_stats(graphs, &stats, sizeof(stats)), 0);
	return stats;
}

static inline void check_nothing_left(void)
{
	CHECK_INT(fake.handles, 0);
	CHECK_INT(fake.maps, 0);
	CHECK_INT(fake.reservations, 0);
	CHECK_INT(fake.graphs, 0);
	CHECK_INT(fake.execs, 0);
	CHECK_INT(fake.events, 0);
	CHECK_INT(fake.used, 0);
}

#endif
