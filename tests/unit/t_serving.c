/* SPDX-License-Identifier: Apache-2.0 */
/* What a server took, the largest cache that is safe, and what all of its graphs will take. */
#include "test.h"

#include "view/serving.h"

#include <math.h>
#include <string.h>

#include "sample_serving.h"

static const int64_t steps[SERVING_GRAPHS] = { 2, 0, 2, 2 };

static int64_t sum_of(const struct tare_serving *s)
{
	int64_t sum = 0;

	for (int i = 0; i < s->row_nr; i++)
		sum += s->rows[i].bytes;
	return sum;
}

TEST(rows_sum_to_what_is_used_in_the_order_in_which_they_came)
{
	struct sample_serving sample;
	struct tare_serving s;

	sample_serving_make(&sample, steps);
	CHECK(tare_serving_find(&s, &sample.ledger, &sample.device, 0));
	CHECK_INT(sum_of(&s), (int64_t)sample.device.used);
	CHECK_INT(s.left + (int64_t)sample.device.used, s.room);
	CHECK_INT(s.cache, SERVING_MIB(30000));
	CHECK_STR(s.cache_line, "server.py:9 in start");
	CHECK_INT(s.rows[0].what, TARE_COMING_CONTEXT);
	CHECK_INT(s.rows[1].what, TARE_COMING_WEIGHTS);
	CHECK_INT(s.rows[2].what, TARE_COMING_CACHE);
	CHECK_INT(tare_serving_bytes(&s, TARE_COMING_COMMUNICATION), SERVING_MIB(100));
	CHECK_INT(tare_serving_bytes(&s, TARE_COMING_GRAPH_POOLS), SERVING_MIB(40));
	CHECK_INT(tare_serving_bytes(&s, TARE_COMING_CACHED), SERVING_MIB(10));
}

/* What came and went while the weights were loaded says nothing; the profile run does, and the end of it all not. */
TEST(the_largest_cache_leaves_what_comes_on_top)
{
	struct sample_serving sample;
	struct tare_serving s;

	sample_serving_make(&sample, steps);
	CHECK(tare_serving_find(&s, &sample.ledger, &sample.device, 0));
	CHECK_INT(s.before, SERVING_MIB(1000));
	CHECK_INT(s.stays, SERVING_MIB(1600));
	CHECK_INT(s.since, SERVING_MIB(400));
	CHECK_INT(s.safe, SERVING_MIB(65536 - 500 - 1600 - 1000));
	CHECK(fabs(s.fraction_free - 0.984) < 1e-9);
	sample.needs[2].most = SERVING_MIB(33600); /* served more than was tried before */
	CHECK(tare_serving_find(&s, &sample.ledger, &sample.device, 0));
	CHECK_INT(s.safe, SERVING_MIB(65536 - 500 - 1600 - 2000));
}

TEST(a_few_graphs_tell_what_all_will_take)
{
	static const int64_t exception[SERVING_GRAPHS] = { 2, 2, 650, 2 };
	struct sample_serving sample;
	struct tare_serving s;

	sample_serving_make(&sample, steps);
	CHECK(tare_serving_find(&s, &sample.ledger, &sample.device, 34));
	CHECK_INT(s.graphs.bytes, SERVING_MIB(46));
	CHECK_INT(s.graphs.first, SERVING_MIB(42));
	CHECK_INT(s.graphs.all >> 20, 46 + 30 * 4 / 3 - 1); /* rounded down */
	CHECK_INT(s.graphs.all_low, SERVING_MIB(46));
	CHECK_INT(s.graphs.all_high, SERVING_MIB(46 + 30 * 2));
	CHECK(s.safe < SERVING_MIB(65536 - 500 - 1600 - 1000 - 38));
	/* The maximum would say 19,500 MiB more, and two samples say nothing of the third. */
	sample_serving_make(&sample, exception);
	CHECK(tare_serving_find(&s, &sample.ledger, &sample.device, 34));
	CHECK_INT(s.graphs.all, SERVING_MIB(40 + 656 + 30 * 2));
}

TEST(of_one_graph_nothing_is_said)
{
	struct sample_serving sample;
	struct tare_serving s;

	sample_serving_make(&sample, steps);
	sample.ledger.graph_nr = 1;
	CHECK(tare_serving_find(&s, &sample.ledger, &sample.device, 35));
	CHECK(!s.graphs.is_known);
	CHECK_INT(s.graphs.to_come, 0);
	sample.ledger.graph_nr = 0;
	CHECK(tare_serving_find(&s, &sample.ledger, &sample.device, 0));
	CHECK_INT(s.graphs.captured, 0);
}

/* Half of a card in activations is no cache where something goes backwards from them. */
TEST(activations_of_a_program_that_trains_are_no_cache)
{
	struct sample_serving sample;
	struct tare_training training = { .by = TARE_TRAINING_OPTIMIZER };
	struct tare_serving s;

	sample_serving_make(&sample, steps);
	for (int i = 0; i < sample.device.tensors.count; i++)
		if (sample.device.tensors.items[i].bytes >= SERVING_MIB(30000))
			sample.device.tensors.items[i].rule = TARE_RULE_OUTPUT;
	CHECK(tare_serving_find(&s, &sample.ledger, &sample.device, 0));
	training.pid = s.pid;
	sample.ledger.trainings = &training;
	sample.ledger.training_nr = 1;
	CHECK(!tare_serving_find(&s, &sample.ledger, &sample.device, 0));
}

TEST(weights_and_small_tensors_are_no_cache)
{
	struct sample_serving sample;
	struct tare_serving s;

	sample_serving_make(&sample, steps);
	sample.tensors[0].bytes = SERVING_MIB(900); /* less than a 64th of the card */
	CHECK(!tare_serving_find(&s, &sample.ledger, &sample.device, 0));
	CHECK(!tare_serving_is_found(&sample.ledger));
	sample_serving_make(&sample, steps);
	sample.tensors[0].born_ns = 411; /* while a graph was captured */
	CHECK(!tare_serving_find(&s, &sample.ledger, &sample.device, 0));
}

/* What another recorded server holds is in what was needed before the cache already, and no share is above 1. */
TEST(a_second_server_is_counted_once)
{
	struct sample_serving sample;
	struct tare_serving alone, beside;
	const int64_t other = SERVING_MIB(5000);

	sample_serving_make(&sample, steps);
	CHECK(tare_serving_find(&alone, &sample.ledger, &sample.device, 0));
	sample_serving_row(&sample, "process:8/allocations/libc10_cuda/tensors/input", TARE_ACCOUNT_ALLOCATION, 5000, true);
	sample.rows[sample.row_nr - 1].pid = 8;
	sample.device.row_nr = sample.row_nr;
	for (int i = 0; i < sample.device.need_nr; i++) {
		sample.needs[i].most += other;
		sample.needs[i].least += other;
		sample.needs[i].last += other;
	}
	CHECK(tare_serving_find(&beside, &sample.ledger, &sample.device, 0));
	CHECK_INT(beside.pid, alone.pid);
	CHECK_INT(beside.safe, alone.safe - other);
	/* vLLM counts what itself took since it began to load */
	CHECK(fabs(alone.utilization - beside.utilization - (double)other / (double)alone.room) < 0.002);
	CHECK(beside.fraction_static <= 1 && beside.fraction_free <= 1);
	sample.needs[1].last += SERVING_MIB(20000); /* it had more when the cache came than later */
	CHECK(tare_serving_find(&beside, &sample.ledger, &sample.device, 0));
	CHECK(beside.utilization <= 1);
}
