/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"

#include <stdlib.h>

/* ---- sections and calls ---- */

static void begin_section(struct tare_worker *w, enum tare_work_kind kind)
{
	if (w->kind == kind)
		return;
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
static RARELY void enter(struct tare_worker *w, const struct tare_tensors_part *tensors,
			 uint32_t call)
{
	uint32_t chain[TARE_CALLS], n = 0, same = 0, at;

	for (at = call; at && n < TARE_CALLS; at = tensors->calls[at])
		chain[n++] = at;
	while (same < n && same < w->call_nr && w->calls[same].call == chain[n - 1 - same])
		same++;
	for (w->call_nr = same; w->call_nr < n; w->call_nr++)
		w->calls[w->call_nr] =
			(struct tare_call_now){ chain[n - 1 - w->call_nr], ++w->serials };
	w->call = call;
}

/* Others work beside or in between, whatever the program is at. */
static bool is_work(uint8_t maker)
{
	return maker == TARE_MAKER_PROGRAM || maker == TARE_MAKER_CALL ||
	       maker == TARE_MAKER_OPTIMIZER;
}

static enum tare_work_kind kind_of(const struct tare_worker *w, const struct tare_live_block *b,
				   enum tare_maker maker)
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
		w->workers =
			tare_array_reserve(w->workers, &w->cap, w->count + 1, sizeof(*w->workers));
		w->workers[w->count] = (struct tare_worker){ .tid = tid };
		*place = w->count++;
	}
	w->last = (uint32_t)*place + 1;
	return w->last - 1;
}

/* A place: later ones move the array. */
static inline uint32_t place_of(struct tare_work *w, uint32_t tid)
{
	return w->last && w->workers[w->last - 1].tid == tid ? w->last - 1 : look_up(w, tid);
}

struct tare_worker *tare_work_thread(struct tare_work *w, uint32_t tid)
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
	uint32_t known =
		e->serves && w->workers[e->serves - 1].kind == TARE_WORK_BACKWARD ? e->serves : 0;

	e->serves = w->starter  ? w->starter
		    : known     ? known
		    : w->grad   ? w->grad
		    : w->leader ? w->leader
				: engine + 1;
	w->starter = 0;
	return e->serves - 1;
}

/*
 * The thread that a block is handed out to, or taken back by, or for. Autograd's engine runs no work of the program but inside a
 * backward pass (`is_own_work`): what was seen of a thread first is not all.
 */
static inline uint32_t worker_at(struct tare_work *w, uint32_t tid, bool in_backward,
				 bool is_own_work)
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

static void note_starts(struct tare_work *w, uint32_t place, const struct tare_site *site,
			uint16_t flags)
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
	if (!w->leader && w->workers[place].is_seen_at_work)
		w->leader = place + 1;
}

/* ---- blocks ---- */

static uint32_t turn_of(const struct tare_worker *w, enum tare_work_kind kind)
{
	return kind == TARE_WORK_FORWARD    ? w->forwards
	       : kind == TARE_WORK_BACKWARD ? w->backwards
					    : w->optimizers;
}

/* pre: all of it is 0 but what says whose it is. */
static void begin_use(const struct tare_work *w, uint32_t place, struct tare_use *u)
{
	const struct tare_worker *own = &w->workers[place];
	bool is_beside = !own->is_seen_at_work;
	const struct tare_worker *owner = is_beside && w->leader ? &w->workers[w->leader - 1] : own;

	u->worker = place + 1;
	u->section = owner->section;
	u->backwards = owner->backwards;
	u->forwards = owner->forwards;
	u->before = owner->before;
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

void tare_work_begin(struct tare_tensors_part *tensors, struct tare_fold *f, struct tare_work *work,
		     struct tare_live_block *b)
{
	struct tare_site *site = b->site ? &f->sites[b->site] : &f->no_site;
	enum tare_work_kind kind, own;
	struct tare_worker *w;
	uint32_t place;
	bool is_in_call;

	if (!site->is_placed)
		tare_work_look_at(tensors, site);
	place = worker_at(work, b->tid, b->flags & TARE_TENSOR_BACKWARD, is_own_work(b, site));
	w = &work->workers[place];
	kind = kind_of(w, b, (enum tare_maker)site->maker);
	if (kind == TARE_WORK_OPTIMIZER && w->kind != kind)
		note_optimizer(w, f, b->site);
	begin_section(w, kind);
	note_leader(work, place);
	note_starts(work, place, site, b->flags);
	if (kind != TARE_WORK_BACKWARD && w->call != site->call)
		enter(w, tensors, site->call);
	own = is_work(site->maker) || b->flags & TARE_TENSOR_BACKWARD ? kind : TARE_WORK_OTHER;
	is_in_call = own == TARE_WORK_FORWARD && w->call_nr;
	begin_use(work, place, &b->use);
	b->is_beside = !w->is_seen_at_work;
	b->use.call = is_in_call ? w->calls[w->call_nr - 1].serial : 0;
	b->use.call_depth = (uint8_t)(is_in_call ? w->call_nr : 0);
	b->use.kind = (uint8_t)own;
	b->use.turn = turn_of(w, own);
	b->use.maker = site->maker;
	b->use.serial = ++f->block_serial;
	if (own == TARE_WORK_BACKWARD)
		tare_passes_add(&w->passes, b);
	note_size(site, b->bytes);
	w->last_site = b->site;
	w->last_bytes = b->bytes;
	w->last_address = b->address;
}

/* Rule "twin": the same line made another of the same size meanwhile, so its call came again. */
static bool has_twin(const struct tare_worker *w, const struct tare_live_block *b)
{
	return w->last_site == b->site && w->last_bytes == b->bytes &&
	       w->last_address != b->address;
}

static bool has_forward_first(const struct tare_worker *w, const struct tare_use *use)
{
	return use->lived_backwards ? use->lived_backwards == 1 && w->forwards_then != use->forwards
				    : use->lived_forwards != 0;
}

static uint8_t few(uint32_t n)
{
	return n < UINT8_MAX ? (uint8_t)n : UINT8_MAX;
}

/* `use` is that of the block, or a copy. What cannot be so of most blocks is not asked for. */
static void bring_up_to_date(const struct tare_work *work, const struct tare_live_block *b,
			     struct tare_use *use)
{
	const struct tare_worker *w = tare_work_of(work, b);

	if (b->is_beside && w == &work->workers[use->worker - 1])
		use->section = use->backwards = use->forwards = use->before =
			0; /* it began to tell later */
	use->in_its_section = use->section == w->section;
	use->lived_backwards = few(w->backwards - use->backwards);
	use->lived_forwards = few(w->forwards - use->forwards);
	use->forward_first = has_forward_first(w, use);
	use->will_pass = use->in_its_section && use->kind != TARE_WORK_OTHER &&
			 tare_fates_will_pass(&w->fates, b);
	use->has_stayed =
		(use->pass || b->flags & TARE_TENSOR_STAYED) && tare_work_has_stayed(work, b);
	use->outlived_call = !use->call_depth || use->call_depth > w->call_nr ||
			     w->calls[use->call_depth - 1].serial != use->call || has_twin(w, b);
}

void tare_work_now(const struct tare_work *work, const struct tare_live_block *b,
		   struct tare_use *use)
{
	*use = b->use;
	bring_up_to_date(work, b, use);
}

/* The backward pass that takes back what a forward left is one of the thread that made the forward. */
static uint32_t taker_of(struct tare_work *w, const struct tare_live_block *b, uint32_t tid)
{
	uint32_t place = worker_at(w, tid, true, false);
	struct tare_worker *taker = tare_work_thread(w, tid);

	if (!taker->is_engine || !(b->flags & TARE_TENSOR_GRAD) ||
	    b->use.kind == TARE_WORK_BACKWARD)
		return place;
	taker->serves = b->use.worker;
	return b->use.worker - 1;
}

void tare_work_end(struct tare_work *w, struct tare_live_block *b, struct tare_taking by)
{
	struct tare_worker *own;

	if (!b->use.worker)
		return; /* it was never handed out */
	own = tare_work_of(w, b);
	if (by.flags & TARE_TENSOR_BACKWARD) {
		uint32_t place = taker_of(w, b, by.tid);

		begin_section(&w->workers[place], TARE_WORK_BACKWARD);
		note_leader(w, place);
		own = tare_work_of(w, b);
	}
	bring_up_to_date(w, b, &b->use);
	if (by.flags & TARE_TENSOR_FINALIZING) /* it was there until the program's end */
		return;
	b->use.is_gone = true;
	b->use.will_pass = false;
	b->use.in_backward = by.flags & TARE_TENSOR_BACKWARD;
	if (b->use.kind != TARE_WORK_OTHER)
		tare_fates_note(&own->fates, b);
	if (b->use.pass)
		tare_passes_remove(&own->passes, b, own->backwards,
				   b->use.in_backward && !b->use.lived_backwards);
}

bool tare_work_has_stayed(const struct tare_work *work, const struct tare_live_block *b)
{
	const struct tare_worker *w = tare_work_of(work, b);

	return tare_passes_has_stayed(&w->passes, b, w->backwards);
}

void tare_work_free(struct tare_work *w)
{
	for (size_t i = 0; i < w->count; i++) {
		tare_passes_free(&w->workers[i].passes);
		tare_map_free(&w->workers[i].fates);
	}
	tare_map_free(&w->of_tid);
	free(w->workers);
}
