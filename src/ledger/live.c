/* SPDX-License-Identifier: Apache-2.0 */
/* A fold that stays open beside a recording that stays open, and its ledger again and again. */
#include "ledger/live.h"

#include "base/xalloc.h"
#include "ledger/parts/parts.h"
#include "ledger/recording.h"
#include "ledger/recording_state.h"
#include "ledger/run.h"

#include <stdlib.h>

/* A call that began before another one that was taken in may end that much later; one that lasts longer makes all begin again. */
#define MARGIN_NS INT64_C(500000000)

static const struct tare_instant end = { .moment = TARE_MOMENT_END, .text = "end" };

/* ---- events ---- */

static bool next(void *arg, struct tare_event *e)
{
	struct tare_ledger_live *live = arg;

	if (live->is_looking)
		return tare_growing_look(live->growing, e);
	return tare_growing_take(live->growing, live->until_ns, e);
}

static int64_t earlier(const struct tare_ledger_live *live, int64_t until_ns)
{
	return until_ns < live->until_ns ? until_ns : live->until_ns;
}

static bool next_blocks(void *arg, int64_t until_ns, struct tare_block_run *run)
{
	struct tare_ledger_live *live = arg;

	return tare_growing_run(live->growing, earlier(live, until_ns), run);
}

static bool next_phases(void *arg, int64_t until_ns, struct tare_phase_run *run)
{
	struct tare_ledger_live *live = arg;

	return tare_growing_phase_run(live->growing, earlier(live, until_ns), run);
}

static bool next_of_heap(void *arg, int64_t until_ns, struct tare_heap_run *run)
{
	struct tare_ledger_live *live = arg;

	return tare_growing_heap_run(live->growing, earlier(live, until_ns), run);
}

/* The first pass is over. */
static void rewind_pass(void *arg)
{
	((struct tare_ledger_live *)arg)->is_looking = false;
}

static void show(struct tare_ledger_live *live, const struct tare_ledger_opts *opts, struct tare_ledger *out)
{
	struct tare_ledger_names names = tare_ledger_names_of(live->recording);
	struct tare_recording_opts own = tare_recording_opts_of(live->recording, opts);

	tare_fold_show(live->fold, &own.opts, &names, &end, 1, out);
	tare_recording_add_remarks(live->recording, out);
	tare_recording_opts_free(&own);
}

/* ---- going on ---- */

static void close_all(struct tare_ledger_live *live)
{
	if (live->fold) {
		tare_fold_end(live->fold);
		free(live->fold);
	}
	tare_growing_free(live->growing);
	tare_recording_close(live->recording);
	live->fold = NULL;
	live->growing = NULL;
	live->recording = NULL;
}

/* What was settled since. */
static bool fold_on(struct tare_ledger_live *live)
{
	if (!tare_growing_read(live->growing))
		return false;
	live->is_looking = true;
	if (!tare_fold_look_further(live->fold))
		return false;
	tare_parts_begin(live->fold);
	live->until_ns = tare_growing_settled_ns(live->growing) - MARGIN_NS;
	tare_fold_run_until(live->fold, live->until_ns);
	return true;
}

bool tare_ledger_live_go_on(struct tare_ledger_live *live, const struct tare_ledger_opts *opts, struct tare_ledger *out)
{
	if (live->fold && fold_on(live)) {
		show(live, opts, out);
		live->grown++;
		return true;
	}
	close_all(live);
	return false;
}

/* ---- a begin ---- */

static struct tare_fold *fold_from(struct tare_ledger_live *live, const struct tare_ledger_saved *saved)
{
	struct tare_ledger_names names = tare_ledger_names_of(live->recording);
	struct tare_ledger_opts opts = { .lines = tare_recording_phases(live->recording) };
	struct tare_ledger_state state;
	struct tare_ledger_span span = { .source = &live->source, .from = &state };
	struct tare_fold *fold;

	if (!tare_ledger_state_of(&state, &saved->state, live->recording, live->until_ns))
		return NULL;
	fold = tare_xmalloc(sizeof(*fold));
	live->is_looking = true;
	if (!tare_fold_begin_from(fold, &span, &opts, &names))
		return fold;
	free(fold);
	return NULL;
}

bool tare_ledger_live_begin(struct tare_ledger_live *live, struct tare_recording *recording,
                            const struct tare_ledger_opts *opts, struct tare_ledger *out)
{
	int64_t begin_ns = tare_growing_begin_ns(recording);
	struct tare_ledger_saved saved = { 0 };

	close_all(live);
	live->recording = recording;
	if (begin_ns <= MARGIN_NS) {
		tare_ledger_of_recording(recording, opts, &end, 1, out);
		return true;
	}
	live->begun++;
	live->until_ns = begin_ns - MARGIN_NS;
	live->source = (struct tare_ledger_source){ .next = next,
		                                        .rewind = rewind_pass,
		                                        .arg = live,
		                                        .run = next_blocks,
		                                        .phase_run = next_phases,
		                                        .heap_run = next_of_heap };
	tare_ledger_save_recording(recording, TARE_SEGMENTS_AND_LOGS, live->until_ns, &saved);
	live->growing = tare_growing_new(recording, live->until_ns);
	live->fold = fold_from(live, &saved);
	tare_ledger_saved_free(&saved);
	if (live->fold && fold_on(live)) {
		show(live, opts, out);
		return true;
	}
	close_all(live);
	return false;
}

int64_t tare_ledger_live_behind_ns(const struct tare_ledger_live *live)
{
	int64_t behind = live->fold ? tare_growing_last_ns(live->growing) - live->until_ns : 0;

	return behind > 0 ? behind : 0;
}

void tare_ledger_live_free(struct tare_ledger_live *live)
{
	close_all(live);
	*live = (struct tare_ledger_live){ 0 };
}
