/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/work.h"

#include "ledger/fold.h"

/* ---- sections and calls ---- */

static void begin_section(struct tare_work *w, enum tare_work_kind kind)
{
	if (w->kind == kind)
		return;
	if (w->kind != TARE_WORK_OTHER)
		w->before = w->kind;
	w->kind = (uint8_t)kind;
	w->section++;
	w->backwards += kind == TARE_WORK_BACKWARD;
	w->forwards += kind == TARE_WORK_FORWARD;
	if (kind == TARE_WORK_BACKWARD)
		w->forwards_then = w->forwards;
}

/* Leaves the calls that `call` is not in, and enters those that it is in. */
static void enter(struct tare_work *w, const struct tare_fold *f, uint32_t call)
{
	uint32_t chain[TARE_CALLS], n = 0, same = 0, at;

	for (at = call; at && n < TARE_CALLS; at = f->calls[at])
		chain[n++] = at;
	while (same < n && same < w->call_nr && w->calls[same].call == chain[n - 1 - same])
		same++;
	for (w->call_nr = same; w->call_nr < n; w->call_nr++)
		w->calls[w->call_nr] = (struct tare_call_now){ chain[n - 1 - w->call_nr], ++w->serials };
	w->call = call;
}

/* Others work beside or in between, whatever the program is at. */
static bool is_work(uint8_t maker)
{
	return maker == TARE_MAKER_PROGRAM || maker == TARE_MAKER_CALL || maker == TARE_MAKER_OPTIMIZER;
}

static enum tare_work_kind kind_of(const struct tare_work *w, const struct tare_live_block *b,
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

/* Threads that load data or pin memory work beside; the one that calls modules tells. */
static bool is_teller(struct tare_work *w, uint32_t tid, enum tare_work_kind kind)
{
	if (kind == TARE_WORK_BACKWARD)
		return true;
	if (!w->has_tid || (!w->is_tid_sure && kind != TARE_WORK_OTHER)) {
		w->tid = tid;
		w->has_tid = true;
		w->is_tid_sure = kind != TARE_WORK_OTHER;
	}
	return w->tid == tid;
}

void tare_work_begin(struct tare_fold *f, struct tare_work *w, struct tare_live_block *b)
{
	struct tare_site *site = b->site ? &f->sites[b->site] : &f->no_site;
	enum tare_work_kind kind, own;
	bool is_in_call;

	if (!site->is_placed)
		tare_work_look_at(f, site);
	kind = kind_of(w, b, (enum tare_maker)site->maker);
	if (is_teller(w, b->tid, kind)) {
		begin_section(w, kind);
		if (kind != TARE_WORK_BACKWARD && w->call != site->call)
			enter(w, f, site->call);
	}
	own = is_work(site->maker) || b->flags & TARE_TENSOR_BACKWARD ? kind : TARE_WORK_OTHER;
	is_in_call = own == TARE_WORK_FORWARD && w->call_nr;
	b->use = (struct tare_use){ .section = w->section,
				    .backwards = w->backwards,
				    .forwards = w->forwards,
				    .call = is_in_call ? w->calls[w->call_nr - 1].serial : 0,
				    .call_depth = (uint8_t)(is_in_call ? w->call_nr : 0),
				    .kind = (uint8_t)own,
				    .before = w->before,
				    .maker = site->maker,
				    .serial = ++f->block_serials };
	tare_passes_add(&w->passes, b);
	w->last_site = b->site;
	w->last_bytes = b->bytes;
	w->last_address = b->address;
}

/* Rule "twin": the same line made another of the same size meanwhile, so its call came again. */
static bool has_twin(const struct tare_work *w, const struct tare_live_block *b)
{
	return w->last_site == b->site && w->last_bytes == b->bytes && w->last_address != b->address;
}

static bool has_forward_first(const struct tare_work *w, const struct tare_use *use)
{
	return use->lived_backwards ? use->lived_backwards == 1 && w->forwards_then != use->forwards :
				      use->lived_forwards != 0;
}

void tare_work_now(const struct tare_work *w, const struct tare_live_block *b, struct tare_use *use)
{
	*use = b->use;
	use->in_its_section = use->section == w->section;
	use->lived_backwards = w->backwards - use->backwards;
	use->lived_forwards = w->forwards - use->forwards;
	use->forward_first = has_forward_first(w, use);
	use->has_stayed = tare_passes_has_stayed(&w->passes, b, w->backwards);
	use->outlived_call = !use->call_depth || use->call_depth > w->call_nr ||
			     w->calls[use->call_depth - 1].serial != use->call || has_twin(w, b);
}

void tare_work_end(struct tare_work *w, struct tare_live_block *b, uint16_t flags)
{
	if (flags & TARE_TENSOR_BACKWARD)
		begin_section(w, TARE_WORK_BACKWARD);
	tare_work_now(w, b, &b->use);
	if (flags & TARE_TENSOR_FINALIZING) /* it was there until the program's end */
		return;
	b->use.is_gone = true;
	b->use.in_backward = flags & TARE_TENSOR_BACKWARD;
	tare_passes_remove(&w->passes, b, w->backwards,
			   b->use.in_backward && !b->use.lived_backwards);
}
