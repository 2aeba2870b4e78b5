/* SPDX-License-Identifier: Apache-2.0 */
/* Every part of the ledger notices a state that cannot be, and finds nothing wrong with none. */
#include "ledger/parts/parts.h"

#include "base/xalloc.h"
#include "ledger/run.h"
#include "ledger/state/state.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* One process on one device, as the first pass leaves a fold. */
struct empty {
	struct tare_process process;
	struct tare_device device;
	struct tare_process_fold process_fold;
	struct tare_device_fold device_fold;
	struct tare_process_fold *processes[1];
	struct tare_device_fold *devices[1];
	struct tare_fold f;
	struct tare_parts *p;
};

static void begin(struct empty *e)
{
	memset(e, 0, sizeof(*e));
	e->process_fold.process = &e->process;
	e->device_fold.device = &e->device;
	e->processes[0] = &e->process_fold;
	e->devices[0] = &e->device_fold;
	e->f.processes = e->processes;
	e->f.process_nr = 1;
	e->f.devices = e->devices;
	e->f.device_nr = 1;
	e->f.parts = e->p = tare_parts_new();
	tare_parts_begin(&e->f);
}

static void end(struct empty *e)
{
	tare_samples_free(&e->device_fold.samples);
	tare_samples_free(&e->f.host.samples);
	tare_parts_free(&e->f);
}

TEST(parts_find_nothing_wrong_where_nothing_is)
{
	struct empty e;

	begin(&e);
#define CHECK_PART(name)                                                                                               \
	if (tare_##name##_check(&e.p->name, &e.f))                                                                         \
		test_fail(__FILE__, __LINE__, "%s: %s", #name, tare_##name##_check(&e.p->name, &e.f));
	TARE_PARTS(CHECK_PART)
	end(&e);
}

TEST(phases_notice_one_that_is_open_and_did_not_begin)
{
	struct empty e;

	begin(&e);
	e.p->phases.open_nr = 1;
	CHECK(tare_phases_check(&e.p->phases, &e.f));
	e.p->phases.open_nr = 0;
	e.p->phases.devices[0].next = 1; /* of no boundary */
	CHECK(tare_phases_check(&e.p->phases, &e.f));
	e.p->phases.devices[0].next = 0;
	tare_phase_peaks_add(&e.p->phases.devices[0], (struct tare_phase_peak){ .frame_nr = 1 });
	CHECK(tare_phases_check(&e.p->phases, &e.f));
	e.p->phases.devices[0].peak_nr = 0;
	CHECK(!tare_phases_check(&e.p->phases, &e.f));
	end(&e);
}

TEST(tensors_notice_blocks_that_are_not_what_segments_hold)
{
	struct tare_segment segments[2] = { { .at = 4096, .size = 64, .live = 16 }, { .at = 8192, .size = 64 } };
	struct tare_block_facts facts = { .booked = 15 };
	struct tare_live_block block = { .address = 4096, .bytes = 16, .facts = 1, .marks = TARE_BLOCK_BOOKED };
	struct tare_process_on_device place = { .segments = { segments, 2, 2 } };
	struct tare_process_on_device *places[1] = { &place };
	struct empty e;

	begin(&e);
	place.blocks.items = &block;
	place.blocks.count = 1;
	place.blocks.work.facts.items = &facts;
	e.process_fold.on_device = places;
	e.process_fold.on_device_nr = 1;
	CHECK(!tare_tensors_check(&e.p->tensors, &e.f));
	block.marks = TARE_BLOCK_IN_PART;
	CHECK(tare_tensors_check(&e.p->tensors, &e.f));
	block.marks = TARE_BLOCK_BOOKED;
	segments[1].at = 4096;
	CHECK(tare_tensors_check(&e.p->tensors, &e.f));
	end(&e);
}

TEST(graphs_notice_more_alive_than_made)
{
	struct empty e;

	begin(&e);
	tare_graph_row(&e.p->graphs, 0)->process = 0;
	e.p->graphs.rows[0].row.execs = 1;
	tare_graph_publish(&e.p->graphs, &e.f, 0);
	CHECK(tare_graphs_check(&e.p->graphs, &e.f) == NULL);
	e.p->graphs.rows[0].row.alive = 2;
	CHECK(tare_graphs_check(&e.p->graphs, &e.f));
	e.p->graphs.rows[0].row.alive = 1; /* and others were not told */
	CHECK(tare_graphs_check(&e.p->graphs, &e.f));
	free(e.f.groups);
	end(&e);
}

TEST(training_notices_a_step_without_its_phase)
{
	struct empty e;

	begin(&e);
	tare_training_phase(&e.p->training, &e.f, &(struct tare_phase_change){ .name = "step", .is_step = true, .t = 1 });
	CHECK(!tare_training_check(&e.p->training, &e.f));
	tare_training_at(&e.p->training, 0, 0)->items[0].lists[TARE_TRAINING_PHASES].depth = 0;
	CHECK(tare_training_check(&e.p->training, &e.f));
	end(&e);
}

TEST(history_notices_a_phase_that_ends_before_it_begins)
{
	struct tare_memory_history history;
	struct empty e;

	begin(&e);
	e.f.history = &history;
	tare_history_phase(&e.p->history, &e.f,
	                   &(struct tare_phase_change){ .device = -1, .name = "p", .begin_ns = 1, .t = 2 });
	CHECK(!tare_history_check(&e.p->history, &e.f));
	e.p->history.items[0].end = 0;
	CHECK(tare_history_check(&e.p->history, &e.f));
	end(&e);
}

TEST(cards_notice_a_sum_that_is_none)
{
	struct empty e;

	begin(&e);
	e.p->cards.items[0].uncounted = 1;
	CHECK(tare_cards_check(&e.p->cards, &e.f));
	end(&e);
}

TEST(oom_notices_memory_that_ran_out_nowhere)
{
	struct empty e;

	begin(&e);
	e.p->oom.items = tare_xcalloc(1, sizeof(*e.p->oom.items));
	e.p->oom.count = 1;
	e.p->oom.items[0].count = 1;
	CHECK(!tare_oom_check(&e.p->oom, &e.f));
	e.p->oom.items[0].device = 1;
	CHECK(tare_oom_check(&e.p->oom, &e.f));
	end(&e);
}

TEST(increments_notice_that_time_went_back)
{
	struct empty e;

	begin(&e);
	e.p->increments.items = tare_xcalloc(2, sizeof(*e.p->increments.items));
	e.p->increments.count = 2;
	CHECK(!tare_increments_check(&e.p->increments, &e.f));
	e.p->increments.items[0].t = 1;
	CHECK(tare_increments_check(&e.p->increments, &e.f));
	end(&e);
}

TEST(pauses_notice_one_that_no_record_began)
{
	struct empty e;

	begin(&e);
	e.f.is_paused = true;
	CHECK(tare_pauses_check(&e.p->pauses, &e.f));
	e.f.is_paused = false;
	e.f.pause_nr = 1;
	CHECK(tare_pauses_check(&e.p->pauses, &e.f));
	end(&e);
}

TEST(losses_notice_one_of_no_process)
{
	struct empty e;

	begin(&e);
	e.p->losses.items = tare_xcalloc(1, sizeof(*e.p->losses.items));
	e.p->losses.count = 1;
	CHECK(!tare_losses_check(&e.p->losses, &e.f));
	e.p->losses.items[0].process = 1;
	CHECK(tare_losses_check(&e.p->losses, &e.f));
	end(&e);
}

TEST(call_times_notice_one_without_a_call)
{
	struct empty e;

	begin(&e);
	CHECK(e.p->call_times.is_whole);
	e.p->call_times.items = tare_xcalloc(1, sizeof(*e.p->call_times.items));
	e.p->call_times.count = 1;
	e.p->call_times.items[0].process = &e.process;
	e.p->call_times.items[0].row.api = "cuMemAlloc_v2";
	CHECK(tare_call_times_check(&e.p->call_times, &e.f));
	e.p->call_times.items[0].row.calls = 1;
	CHECK(!tare_call_times_check(&e.p->call_times, &e.f));
	e.p->call_times.items[0].process = NULL;
	CHECK(tare_call_times_check(&e.p->call_times, &e.f));
	end(&e);
}

TEST(call_times_are_whole_where_no_call_before_is_missing)
{
	struct tare_call_times_part p = { 0 };
	const struct tare_ledger_kept kept = { 0 };
	struct tare_fold f = { .is_from_state = true };

	tare_call_times_begin(&p, &f); /* of a state that an earlier version saved */
	CHECK(!p.is_whole);
	p.is_whole = true;
	tare_call_times_begin(&p, &f);
	CHECK(p.is_whole);
	f = (struct tare_fold){ .kept = &kept };
	tare_call_times_begin(&p, &f);
	CHECK(!p.is_whole);
}

TEST(growth_notices_a_course_of_no_bucket)
{
	struct empty e;

	begin(&e);
	e.p->growth.items = tare_xcalloc(1, sizeof(*e.p->growth.items));
	e.p->growth.count = 1;
	CHECK(tare_growth_check(&e.p->growth, &e.f));
	e.p->growth.items[0].of = TARE_GROWTH_RESIDENT;
	CHECK(!tare_growth_check(&e.p->growth, &e.f));
	e.p->growth.clocks[0].column = 1;
	CHECK(tare_growth_check(&e.p->growth, &e.f));
	end(&e);
}

TEST(a_fold_of_a_state_that_is_damaged_is_none)
{
	const struct tare_ledger_state cut = { "", 0, 0 };
	const struct tare_ledger_names names = { 0 };
	struct tare_fold f;

	CHECK_INT(tare_fold_of_state(&f, &cut, &names), TARE_E_FORMAT);
}

TEST(ranks_notice_a_process_in_two)
{
	struct empty e;

	begin(&e);
	e.process.role = TARE_ROLE_PROGRAM; /* rank 0, since it was made */
	CHECK(tare_ranks_check(&e.p->ranks, &e.f));
	e.process.rank.rank = -1;
	CHECK(!tare_ranks_check(&e.p->ranks, &e.f));
	end(&e);
}
