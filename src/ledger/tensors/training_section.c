/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells what each thread of a training is at (forward, backward, optimizer) from the blocks that it is handed out, and
 * notes that with each block.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"

#include <string.h>

/* ---- sections and calls ---- */

static void begin_section(struct tare_work *work, struct tare_worker *w, enum tare_work_kind kind)
{
	if (w->kind == kind)
		return;
	work->changes++;
	w->is_seen_at_work = true;
	if (w->kind != TARE_WORK_OTHER)
		w->before = w->kind;
	w->kind = (uint8_t)kind;
	w->section++;
	w->backwards += kind == TARE_WORK_BACKWARD;
	w->forwards += kind == TARE_WORK_FORWARD;
	w->optimizers += kind == TARE_WORK_OPTIMIZER;
	if (kind == TARE_WORK_BACKWARD)
		w->forwards_then = w->forwards;
}

/* What is not done for every block is kept apart from what is, which is shorter then. */
#define RARELY __attribute__((noinline))

/* Several optimizers may work in turn, as those of a generator and a discriminator: each is known by its line. */
static RARELY void note_optimizer(struct tare_worker *w, const struct tare_fold *f, uint32_t site)
{
	bool is_known = w->in_turn_nr == TARE_IN_TURN;

	for (uint32_t i = 0; i < w->in_turn_nr; i++)
		is_known |= tare_fold_is_same_line(f, w->in_turn[i], site);
	if (is_known)
		w->in_turn_nr = 0;
	w->rounds += w->in_turn_nr == 0;
	w->in_turn[w->in_turn_nr++] = site;
}

/* Leaves the calls that `call` is not in, and enters those that it is in. */
static RARELY void enter(struct tare_work *work, struct tare_worker *w, const struct tare_tensors_part *tensors,
                         uint32_t call)
{
	uint32_t chain[TARE_CALLS], n = 0, same = 0, at;

	for (at = call; at && n < TARE_CALLS; at = tensors->calls[at])
		chain[n++] = at;
	while (same < n && same < w->call_nr && w->calls[same].call == chain[n - 1 - same])
		same++;
	for (w->call_nr = same; w->call_nr < n; w->call_nr++)
		w->calls[w->call_nr] = (struct tare_call_now){ chain[n - 1 - w->call_nr], ++w->serials };
	w->call = call;
	work->changes++;
}

/* Others work beside or in between, whatever the program is at. */
static bool is_work(uint8_t maker)
{
	return maker == TARE_MAKER_PROGRAM || maker == TARE_MAKER_CALL || maker == TARE_MAKER_OPTIMIZER;
}

static enum tare_work_kind kind_of(const struct tare_worker *w, const struct tare_live_block *b, enum tare_maker maker)
{
	if (b->flags & TARE_TENSOR_BACKWARD)
		return TARE_WORK_BACKWARD;
	switch (maker) {
	case TARE_MAKER_CALL:
		return TARE_WORK_FORWARD;
	case TARE_MAKER_OPTIMIZER:
		return TARE_WORK_OPTIMIZER;
	case TARE_MAKER_PROGRAM:
		return TARE_WORK_OTHER;
	default:
		return (enum tare_work_kind)w->kind;
	}
}

/* ---- threads ---- */

static RARELY uint32_t look_up(struct tare_work *w, uint32_t tid)
{
	bool is_new;
	uint64_t *place = tare_map_put(&w->of_tid, tid, &is_new);

	if (is_new) {
		TARE_APPEND(w->workers, w->count, w->cap) = (struct tare_worker){ .tid = tid };
		*place = w->count - 1;
	}
	w->last = (uint32_t)*place + 1;
	return w->last - 1;
}

/* A place: later ones move the array. */
static inline uint32_t place_of(struct tare_work *w, uint32_t tid)
{
	return w->last && w->workers[w->last - 1].tid == tid ? w->last - 1 : look_up(w, tid);
}

static struct tare_worker *work_thread(struct tare_work *w, uint32_t tid)
{
	uint32_t place = place_of(w, tid);

	return &w->workers[place];
}

/*
 * A thread that was never seen but inside backward passes is one of autograd's engine, which has one for each GPU. It
 * works for the thread that began one; of several, for the one whose tensors it takes back.
 */
static RARELY uint32_t served_by(struct tare_work *w, uint32_t engine)
{
	struct tare_worker *e = &w->workers[engine];
	uint32_t known = e->serves && w->workers[e->serves - 1].kind == TARE_WORK_BACKWARD ? e->serves : 0;

	e->serves = w->starter ? w->starter : known ? known : w->grad ? w->grad : w->leader ? w->leader : engine + 1;
	w->starter = 0;
	return e->serves - 1;
}

/*
 * The thread that a block is handed out to, or taken back by, or for. Autograd's engine runs no work of the program but inside a
 * backward pass (`is_own_work`): what was seen of a thread first is not all.
 */
static inline uint32_t worker_at(struct tare_work *w, uint32_t tid, bool in_backward, bool is_own_work)
{
	size_t known = w->count;
	uint32_t place = place_of(w, tid);

	if (place == known)
		w->workers[place].is_engine = in_backward;
	if (is_own_work)
		w->workers[place].is_engine = false;
	return w->workers[place].is_engine ? served_by(w, place) : place;
}

static bool is_own_work(const struct tare_live_block *b, const struct tare_site *site)
{
	return !(b->flags & TARE_TENSOR_BACKWARD) && site->python && is_work(site->maker);
}

static void note_starts(struct tare_work *w, uint32_t place, const struct tare_site *site, uint16_t flags)
{
	if (flags & TARE_TENSOR_BACKWARD)
		return;
	if (flags & TARE_TENSOR_GRAD)
		w->grad = place + 1;
	if (site->begins_backward)
		w->starter = place + 1;
}

static void note_leader(struct tare_work *w, uint32_t place)
{
	if (w->leader || !w->workers[place].is_seen_at_work)
		return;
	w->leader = place + 1;
	w->changes++;
}

/* ---- blocks ---- */

static uint32_t turn_of(const struct tare_worker *w, enum tare_work_kind kind)
{
	return kind == TARE_WORK_FORWARD ? w->forwards : kind == TARE_WORK_BACKWARD ? w->backwards : w->optimizers;
}

/* A block that is handed out: what of its facts is not how its thread stands. */
struct begin {
	uint32_t worker, module, pass;
	uint8_t kind, maker;
	int64_t booked;
};

/* Whose sections and passes count for it: one that has told nothing works for the leader. */
static const struct tare_worker *owner_of(const struct tare_work *work, const struct tare_worker *w)
{
	return !w->is_seen_at_work && work->leader ? &work->workers[work->leader - 1] : w;
}

static struct tare_block_facts said_of(const struct tare_work *work, const struct begin *b)
{
	const struct tare_worker *w = &work->workers[b->worker - 1];
	const struct tare_worker *owner = owner_of(work, w);
	bool is_in_call = b->kind == TARE_WORK_FORWARD && w->call_nr;

	return (struct tare_block_facts){
		.booked = b->booked,
		.worker = b->worker,
		.section = owner->section,
		.backwards = owner->backwards,
		.forwards = owner->forwards,
		.turn = turn_of(w, (enum tare_work_kind)b->kind),
		.call = is_in_call ? w->calls[w->call_nr - 1].serial : 0,
		.module = b->module,
		.pass = b->pass,
		.call_depth = (uint8_t)(is_in_call ? w->call_nr : 0),
		.kind = b->kind,
		.before = owner->before,
		.maker = b->maker,
		.is_beside = !w->is_seen_at_work,
	};
}

static RARELY uint32_t say(struct tare_work *work, const struct begin *b, struct tare_recent_facts *recent)
{
	struct tare_block_facts said = said_of(work, b);

	if (!recent->facts || memcmp(&work->facts.items[recent->facts - 1], &said, sizeof(said)) != 0)
		recent->facts = tare_block_facts_put(&work->facts, &said);
	recent->changes = work->changes;
	return recent->facts;
}

static inline bool is_said(const struct tare_block_facts *f, const struct begin *b)
{
	return f->worker == b->worker && f->kind == b->kind && f->maker == b->maker && f->module == b->module &&
	       f->pass == b->pass && f->booked == b->booked;
}

/*
 * 1 + the place of its facts: mostly those that were said last, and no thread has changed what it is doing since. Threads and
 * lines take turns, so this is known of several.
 */
static inline uint32_t facts_of(struct tare_work *work, const struct begin *b)
{
	uint32_t hash = b->worker ^ b->module << 1 ^ (uint32_t)b->kind << 2 ^ b->maker;
	struct tare_recent_facts *recent = &work->facts.recent[hash % TARE_RECENT_FACTS];

	return recent->facts && recent->changes == work->changes && is_said(&work->facts.items[recent->facts - 1], b)
	           ? recent->facts
	           : say(work, b, recent);
}

/* For rule "growing". */
static void note_size(struct tare_site *site, int64_t bytes)
{
	site->last_bytes = bytes;
	if (site->largest_bytes >= bytes)
		return;
	site->largest_bytes = bytes;
	site->largest_nr++;
}

/* Buckets and state of optimizers go their own ways. */
static bool is_counted(uint8_t maker)
{
	return maker == TARE_MAKER_PROGRAM || maker == TARE_MAKER_CALL;
}

void tare_work_begin(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_work *work,
                     struct tare_live_block *b, const struct tare_block *said, int64_t booked)
{
	struct tare_site *site = b->site ? &f->sites[b->site] : &f->no_site;
	enum tare_work_kind kind;
	struct tare_worker *w;
	struct begin begin;
	uint32_t place;

	if (!site->is_placed)
		tare_work_look_at(tensors, site, b->site);
	place = worker_at(work, said->tid, b->flags & TARE_TENSOR_BACKWARD, is_own_work(b, site));
	w = &work->workers[place];
	kind = kind_of(w, b, (enum tare_maker)site->maker);
	if (kind == TARE_WORK_OPTIMIZER && w->kind != kind)
		note_optimizer(w, f, b->site);
	begin_section(work, w, kind);
	note_leader(work, place);
	note_starts(work, place, site, b->flags);
	if (kind != TARE_WORK_BACKWARD && w->call != site->call)
		enter(work, w, tensors, site->call);
	if (!is_work(site->maker) && !(b->flags & TARE_TENSOR_BACKWARD))
		kind = TARE_WORK_OTHER;
	begin.worker = place + 1;
	begin.kind = (uint8_t)kind;
	begin.module = said->module;
	begin.maker = site->maker;
	begin.booked = booked;
	begin.pass = kind == TARE_WORK_BACKWARD && is_counted(site->maker)
	                 ? tare_passes_add(&w->passes, owner_of(work, w)->backwards)
	                 : 0;
	b->facts = facts_of(work, &begin);
	b->serial = ++f->block_serial;
	note_size(site, b->bytes);
	if (site->outer && kind == TARE_WORK_FORWARD && b->flags & TARE_TENSOR_GRAD)
		f->sites[site->outer].recorded++;
	w->last_site = b->site;
	w->last_bytes = b->bytes;
	w->last_address = b->address;
}

/* Rule "twin": the same line made another of the same size meanwhile, so its call came again. */
static bool has_twin(const struct tare_worker *w, const struct tare_live_block *b)
{
	return w->last_site == b->site && w->last_bytes == b->bytes && w->last_address != b->address;
}

static bool has_forward_first(const struct tare_worker *w, const struct tare_block_facts *facts,
                              const struct tare_live_block *b)
{
	return b->lived_backwards ? b->lived_backwards == 1 && w->forwards_then != facts->forwards : b->lived_forwards != 0;
}

static bool has_outlived_call(const struct tare_worker *w, const struct tare_block_facts *facts,
                              const struct tare_live_block *b)
{
	return !facts->call_depth || facts->call_depth > w->call_nr ||
	       w->calls[facts->call_depth - 1].serial != facts->call || has_twin(w, b);
}

static uint8_t few(uint32_t n)
{
	return n < UINT8_MAX ? (uint8_t)n : UINT8_MAX;
}

enum {
	OF_NOW = TARE_BLOCK_IN_SECTION | TARE_BLOCK_WILL_PASS | TARE_BLOCK_STAYED | TARE_BLOCK_OUTLIVED_CALL |
	         TARE_BLOCK_FORWARD_FIRST
};

/* How the block stands now. What cannot be so of most blocks is not asked for. */
static void bring_up_to_date(const struct tare_work *work, struct tare_live_block *b,
                             const struct tare_block_facts *facts)
{
	const struct tare_worker *w = tare_work_of(work, facts);
	bool in_section = facts->section == w->section;
	uint32_t marks = b->marks & ~(uint32_t)OF_NOW;

	b->lived_backwards = few(w->backwards - facts->backwards);
	b->lived_forwards = few(w->forwards - facts->forwards);
	if (in_section)
		marks |= TARE_BLOCK_IN_SECTION;
	if (has_forward_first(w, facts, b))
		marks |= TARE_BLOCK_FORWARD_FIRST;
	if (in_section && facts->kind != TARE_WORK_OTHER && tare_fates_will_pass(&w->fates, b, facts))
		marks |= TARE_BLOCK_WILL_PASS;
	if (facts->pass && tare_passes_has_stayed(&w->passes, b, facts, w->backwards))
		marks |= TARE_BLOCK_STAYED;
	if (has_outlived_call(w, facts, b))
		marks |= TARE_BLOCK_OUTLIVED_CALL;
	b->marks = (uint16_t)marks;
}

/* Its thread had told nothing when it was handed out, and has since: it stands as from the begin of that thread. */
static bool has_told_since(const struct tare_work *work, const struct tare_block_facts *facts)
{
	return facts->is_beside && tare_work_of(work, facts) == &work->workers[facts->worker - 1] &&
	       (facts->section || facts->backwards || facts->forwards || facts->before);
}

static RARELY struct tare_block_facts as_of_begin(const struct tare_block_facts *facts)
{
	struct tare_block_facts own = *facts;

	own.section = own.backwards = own.forwards = own.before = 0;
	return own;
}

void tare_work_now(const struct tare_work *work, struct tare_known_block *b)
{
	if (has_told_since(work, &b->facts))
		b->facts = as_of_begin(&b->facts);
	bring_up_to_date(work, &b->block, &b->facts);
}

/* The backward pass that takes back what a forward left is one of the thread that made the forward. */
static uint32_t taker_of(struct tare_work *w, const struct tare_live_block *b, const struct tare_block_facts *facts,
                         uint32_t tid)
{
	uint32_t place = worker_at(w, tid, true, false);
	struct tare_worker *taker = work_thread(w, tid);

	if (!taker->is_engine || !(b->flags & TARE_TENSOR_GRAD) || facts->kind == TARE_WORK_BACKWARD)
		return place;
	taker->serves = facts->worker;
	return facts->worker - 1;
}

static void begin_backward(struct tare_work *w, const struct tare_live_block *b, uint32_t tid)
{
	uint32_t place = taker_of(w, b, tare_block_facts_of(w, b), tid);

	begin_section(w, &w->workers[place], TARE_WORK_BACKWARD);
	note_leader(w, place);
}

void tare_work_end(struct tare_work *w, struct tare_live_block *b, struct tare_taking by)
{
	bool in_backward = by.flags & TARE_TENSOR_BACKWARD;
	const struct tare_block_facts *facts;
	struct tare_worker *own;

	if (!b->facts)
		return; /* it was never handed out */
	if (in_backward)
		begin_backward(w, b, by.tid);
	facts = tare_block_facts_of(w, b);
	if (has_told_since(w, facts)) {
		struct tare_block_facts changed = as_of_begin(facts);

		tare_block_facts_change(w, b, &changed);
		facts = tare_block_facts_of(w, b);
	}
	bring_up_to_date(w, b, facts);
	if (by.flags & TARE_TENSOR_FINALIZING) /* it was there until the program's end */
		return;
	b->marks |= TARE_BLOCK_GONE | (in_backward ? TARE_BLOCK_IN_BACKWARD : 0);
	b->marks &= (uint16_t)~TARE_BLOCK_WILL_PASS;
	own = tare_work_of(w, facts);
	if (facts->kind != TARE_WORK_OTHER)
		tare_fates_note(&own->fates, b, facts);
	if (facts->pass)
		tare_passes_remove(&own->passes, b, facts, own->backwards, in_backward && !b->lived_backwards);
}
