/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the ledger of a recording that is still written, again and again: goes on from a state in memory, and makes a
 * new state now and then.
 */
#include "ledger/live.h"

#include "base/xalloc.h"
#include "ledger/recording_state.h"
#include "ledger/state/state.h"

#include <stdlib.h>

enum {
	WORTH = 8000, /* events: fewer are folded as quickly as a state is saved */
	MORE = 2,     /* times as many as lay behind the last state when it was used first */
};
/* Threads write down a call some time after it ended; what comes later than that is noticed, and then all is folded again. */
#define MARGIN_NS INT64_C(1000000000)

/* ---- events behind two states: that beside the segments, and the one in memory ---- */

struct newer {
	struct tare_recording *recording;
	struct tare_recording_state disk;   /* number 0: there is none */
	struct tare_recording_state memory; /* the one in memory, and the newest segment when it was made */
	uint64_t known, later;              /* events of this pass that it has to do with, and others */
	bool is_later;                      /* the last event was of the others */
	bool is_contradicted;               /* the state beside the segments should know it */
};

static int64_t known_from_ns(const struct tare_event *e)
{
	return e->kind == TARE_KIND_LOST ? e->at_ns : e->begin_ns - e->reading_before_ns;
}

/* Is it one that the state beside the segments has? */
static bool is_on_disk(struct newer *n, const struct tare_event *e)
{
	uint32_t segment = tare_recording_segment(n->recording);

	if (!n->disk.number)
		return false;
	if (segment && segment <= n->disk.number)
		return e->at_ns <= n->disk.until_ns;
	n->is_contradicted |= known_from_ns(e) <= n->disk.until_ns;
	return false;
}

/* The stamp of a block of the heap is another one in a segment. */
static uint64_t mark_of(const struct tare_event *e)
{
	if (e->kind == TARE_KIND_HEAP_BLOCK)
		return e->rec.heap_block->block;
	return e->kind == TARE_KIND_HEAP_FREED ? e->rec.heap_freed->block : e->rec.head->stamp;
}

/* Tells an event from others; they are added up, for they come in any order. */
static uint64_t print_of(const struct tare_event *e)
{
	uint64_t print = mark_of(e) ^ (uint64_t)e->kind << 48 ^ (uint64_t)e->process->index << 56;

	print = (print ^ print >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return print ^ print >> 29;
}

static bool next(void *arg, struct tare_event *e)
{
	struct newer *n = arg;

	while (tare_recording_next(n->recording, e)) {
		if (is_on_disk(n, e))
			continue;
		n->known += known_from_ns(e) <= n->memory.until_ns ? print_of(e) : 0;
		n->is_later = e->at_ns > n->memory.until_ns;
		n->later += n->is_later;
		if (n->is_later)
			return true;
	}
	return false;
}

static bool run(void *arg, int64_t until_ns, struct tare_block_run *run)
{
	struct newer *n = arg;
	bool is_any = n->is_later && tare_recording_run(n->recording, until_ns, run);

	n->later += is_any ? run->n : 0;
	return is_any;
}

static bool phase_run(void *arg, int64_t until_ns, struct tare_phase_run *run)
{
	struct newer *n = arg;
	bool is_any = n->is_later && tare_recording_phase_run(n->recording, until_ns, run);

	n->later += is_any ? run->n : 0;
	return is_any;
}

static bool heap_run(void *arg, int64_t until_ns, struct tare_heap_run *run)
{
	struct newer *n = arg;
	bool is_any = n->is_later && tare_recording_heap_run(n->recording, until_ns, run);

	n->later += is_any ? run->n : 0;
	return is_any;
}

static void begin_pass(struct newer *n)
{
	tare_recording_skip(n->recording, n->disk.number ? &n->disk : NULL);
	tare_recording_pass_over(n->recording, n->memory.until_ns == INT64_MIN ? NULL : &n->memory);
	n->known = n->later = 0;
	n->is_later = false;
}

static void rewind_newer(void *arg)
{
	begin_pass(arg);
	tare_recording_rewind(((struct newer *)arg)->recording);
}

static void outline(void *arg)
{
	begin_pass(arg);
	tare_recording_outline(((struct newer *)arg)->recording);
}

static struct tare_ledger_source source_of(struct newer *n)
{
	return (struct tare_ledger_source){ next, rewind_newer, n, outline, run, phase_run, heap_run };
}

static const struct tare_recording_state no_memory = { .until_ns = INT64_MIN };

static struct newer newer_than(struct tare_recording *recording, struct tare_recording_state memory)
{
	size_t nr = tare_recording_state_nr(recording);
	struct newer n = { .recording = recording, .memory = memory };

	if (nr)
		n.disk = tare_recording_state(recording, nr - 1);
	return n;
}

/* Which events a state of that moment has to do with; a call may end long after it. */
static uint64_t sum_known(struct newer *n)
{
	struct tare_event e;

	rewind_newer(n);
	while (next(n, &e))
		continue;
	return n->known;
}

/* ---- going on ---- */

static struct tare_ledger_opts opts_of(const struct tare_ledger_opts *opts, const struct tare_recording *recording,
                                       const struct tare_process **processes)
{
	struct tare_ledger_opts own = opts ? *opts : (struct tare_ledger_opts){ 0 };

	own.process_nr = tare_recording_process_nr(recording);
	for (int i = 0; i < own.process_nr; i++)
		processes[i] = tare_recording_process(recording, i);
	own.processes = processes;
	own.lines = tare_recording_phases(recording);
	return own;
}

/* False: the state says nothing of this recording any more. */
static bool resume(struct tare_ledger_live *live, struct tare_recording *recording, const struct tare_ledger_opts *opts,
                   const struct tare_instant *instants, int nr, struct tare_ledger *out)
{
	struct newer n = newer_than(recording, live->memory);
	struct tare_ledger_source source = source_of(&n);
	struct tare_ledger_names names = tare_ledger_names_of(recording);
	struct tare_ledger_state state;

	if (!live->has_state || n.disk.number != live->number ||
	    !tare_ledger_state_of(&state, &live->saved, recording, live->memory.until_ns))
		return false;
	rewind_newer(&n);
	if (tare_ledger_resume(&source, opts, &state, &names, instants, nr, out) != 0)
		return false;
	live->folded = n.later;
	if (!live->folded_first)
		live->folded_first = n.later;
	if (n.known == live->known && !n.is_contradicted)
		return true;
	for (int i = 0; i < nr; i++)
		tare_ledger_free(&out[i]);
	return false;
}

/* ---- a new state ---- */

static bool save_from(struct tare_recording *recording, const struct tare_ledger_state *from,
                      struct tare_recording_state memory, int64_t until_ns, struct tare_str *out)
{
	struct newer n = newer_than(recording, memory);
	struct tare_ledger_source source = source_of(&n);
	struct tare_ledger_names names = tare_ledger_names_of(recording);
	struct tare_ledger_opts opts = { .lines = tare_recording_phases(recording) };
	struct tare_ledger_saved saved = { 0 };
	bool is_saved;

	tare_ledger_add_identity(&saved.state, recording);
	rewind_newer(&n);
	is_saved = tare_ledger_save(&source, &opts, from, &names, until_ns, &saved) == 0 && !n.is_contradicted;
	if (is_saved) {
		tare_str_cut(out, 0);
		tare_str_add_n(out, saved.state.data, saved.state.len);
	}
	tare_ledger_saved_free(&saved);
	return is_saved;
}

/* From the state in memory, else from the one beside the segments, else from the begin. */
static bool save(struct tare_ledger_live *live, struct tare_recording *recording, int64_t until_ns)
{
	size_t nr = tare_recording_state_nr(recording);
	struct tare_loaded_state disk;
	struct tare_ledger_state state;
	bool is_saved = false;

	if (live->has_state && tare_ledger_state_of(&state, &live->saved, recording, live->memory.until_ns))
		return save_from(recording, &state, live->memory, until_ns, &live->saved);
	if (!nr)
		return tare_recording_dropped_ns(recording) < 0 &&
		       save_from(recording, NULL, no_memory, until_ns, &live->saved);
	if (!tare_loaded_state_read(&disk, recording, nr - 1))
		return false;
	if (disk.state.until_ns < until_ns)
		is_saved = save_from(recording, &disk.state, no_memory, until_ns, &live->saved);
	tare_str_free(&disk.bytes);
	return is_saved;
}

/* The last moment that nothing that is still to come changes. */
static int64_t settled_ns(const struct tare_recording *recording)
{
	int64_t settled = tare_recording_settled_ns(recording), last = tare_recording_last_ns(recording) - MARGIN_NS;

	return settled < last ? settled : last;
}

static uint64_t worth_of(const struct tare_ledger_live *live)
{
	return live->worth ? live->worth : WORTH;
}

/*
 * So many events as lie behind a state when it is used first lie behind a newer one as well: only what came since then is
 * spared, and it must be worth the passes over all of them that a newer one takes.
 */
static bool is_enough(const struct tare_ledger_live *live)
{
	return live->folded >= worth_of(live) && (!live->has_state || live->folded >= MORE * live->folded_first);
}

static void keep(struct tare_ledger_live *live, struct tare_recording *recording)
{
	struct tare_recording_state made = { tare_recording_newest_segment(recording), settled_ns(recording) };
	struct newer n = newer_than(recording, made);

	if (!is_enough(live) || made.until_ns <= 0 || (live->has_state && made.until_ns <= live->memory.until_ns))
		return;
	live->has_state = save(live, recording, made.until_ns);
	live->memory = made;
	live->folded_first = 0;
	live->number = n.disk.number;
	if (live->has_state)
		live->known = sum_known(&n);
}

/* As it was opened. */
static void read_all(struct tare_recording *recording)
{
	tare_recording_skip(recording, NULL);
	tare_recording_pass_over(recording, NULL);
	tare_recording_rewind(recording);
}

static uint64_t count_events(struct tare_recording *recording, uint64_t most)
{
	struct newer n = newer_than(recording, no_memory);
	struct tare_event e;

	rewind_newer(&n);
	while (n.later < most && next(&n, &e))
		continue;
	return n.later;
}

void tare_ledger_of_live(struct tare_ledger_live *live, struct tare_recording *recording,
                         const struct tare_ledger_opts *opts, const struct tare_instant *instants, int nr,
                         struct tare_ledger *out)
{
	const struct tare_process **processes =
		tare_xcalloc((size_t)tare_recording_process_nr(recording) + 1, sizeof(*processes));
	struct tare_ledger_opts own = opts_of(opts, recording, processes);

	if (resume(live, recording, &own, instants, nr, out)) {
		live->resumed++;
	} else {
		read_all(recording);
		live->has_state = false;
		live->begun++;
		tare_ledger_of_recording(recording, opts, instants, nr, out);
		live->folded = count_events(recording, worth_of(live));
	}
	keep(live, recording);
	read_all(recording);
	free(processes);
}

void tare_ledger_live_free(struct tare_ledger_live *live)
{
	tare_str_free(&live->saved);
	*live = (struct tare_ledger_live){ 0 };
}
