/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations that were made because the card had room. What an allocation was for shows only when it
 * is freed, so the first pass over the events decides, and the second books accordingly.
 *
 * Rule "trial": cuDNN's benchmark tries algorithms with as much memory as they ask for. An allocation
 * of at least 16 MiB is such a trial if a function of cuDNN, or one named after it, is on its stack, if
 * it is freed less than a second later, and if no allocation of that size in that process is held
 * longer. (Memory of cuMemCreate comes in pieces of one size, whatever for: the size says nothing.)
 *
 * Rule "preallocation": XLA takes its share of the card before anything needs it: the first request of
 * a hundredth of the device or more, if it is for a quarter or more.
 */
#include "ledger/settle/settle.h"

#include "base/array.h"

#include <string.h>

enum { TRIAL_NS = 1000000000, XLA_FIRST = 100, XLA_SHARE = 4 };
#define LARGE_BYTES (16 * TARE_MIB)

/* XLA's preallocation is one of these classes. */
static bool may_be_elastic(uint8_t class)
{
	return class == TARE_CLASS_DEVICE || class == TARE_CLASS_VMM;
}

static bool has_name(const char *name, const char *part)
{
	return name && strstr(name, part);
}

static bool is_of_cudnn(const struct tare_event *e)
{
	for (uint32_t i = 0; e->stack && i < e->stack->depth; i++) {
		const struct tare_object *o = tare_process_object(e->process, e->stack, e->stack->pcs[i] - 1);
		const struct tare_symbol *s = tare_process_symbol(e->process, e->stack, e->stack->pcs[i]);

		if ((o && has_name(o->path, "libcudnn")) || (s && has_name(s->name, "cudnn")))
			return true;
	}
	return false;
}

static bool is_preallocation(struct tare_fold *f, const struct tare_event *e, uint64_t bytes)
{
	struct tare_process_fold *p = tare_fold_process(f, e->process);
	uint64_t total = e->device && e->device->total != TARE_NOT_KNOWN ? e->device->total : 0;
	uint64_t owner, *first;
	bool is_first;

	if (!total || bytes < total / XLA_FIRST)
		return false;
	owner = tare_fold_origin(f, p, e).owner;
	if (!owner || strcmp(tare_owner_name(f->owners[owner - 1]), "JAX") != 0)
		return false;
	first = tare_map_put(&p->xla_devices, (uint64_t)e->device->index, &is_first);
	if (is_first)
		*first = (uint64_t)e->at_ns;
	return is_first && bytes >= total / XLA_SHARE;
}

/* The key of an open allocation: handles of cuMemCreate are kept apart from addresses. */
static uint64_t open_key(const struct tare_rec_event *r)
{
	return r->handle ^ (r->class == TARE_CLASS_VMM ? UINT64_C(1) << 63 : 0);
}

static void prepass_new(struct tare_fold *f, const struct tare_event *e, struct tare_process_fold *p)
{
	uint64_t bytes = e->rec.event->granted ? e->rec.event->granted : e->rec.event->asked;
	struct tare_large *large;

	if (bytes < (uint64_t)LARGE_BYTES)
		return;
	large = &TARE_APPEND(f->large, f->large_nr, f->large_cap);
	*large = (struct tare_large){ .process = e->process->index,
		                          .handle = e->rec.event->handle,
		                          .bytes = bytes,
		                          .at = e->at_ns,
		                          .held_ns = -1,
		                          .is_piece = e->rec.event->class == TARE_CLASS_VMM,
		                          .is_cudnn = is_of_cudnn(e) };
	if (is_preallocation(f, e, bytes))
		large->account = TARE_ACCOUNT_PREALLOCATED;
	*tare_map_put(&p->large_open, open_key(e->rec.event), NULL) = f->large_nr - 1;
}

void tare_fold_elastic_prepass(struct tare_fold *f, const struct tare_event *e)
{
	const struct tare_rec_event *r = e->rec.event;
	struct tare_process_fold *p;
	uint64_t open;

	if (e->kind != TARE_KIND_EVENT || !may_be_elastic(r->class) || (r->flags & TARE_EVENT_FAILED))
		return;
	p = tare_fold_process(f, e->process);
	if (r->effect == TARE_EFFECT_NEW)
		prepass_new(f, e, p);
	else if (r->effect == TARE_EFFECT_DEL && tare_map_remove(&p->large_open, open_key(r), &open))
		f->large[open].held_ns = e->at_ns - f->large[open].at;
}

static bool is_short(const struct tare_large *l)
{
	return l->held_ns >= 0 && l->held_ns < TRIAL_NS;
}

static uint64_t key_of(uint64_t handle, int64_t at)
{
	return handle ^ (uint64_t)at * UINT64_C(0x9e3779b97f4a7c15);
}

/* Was an allocation of that size held, at any time of the recording? */
static bool is_size_held(const struct tare_fold *f, const struct tare_large *l)
{
	const struct tare_fold *all = f->later ? f->later : f;

	return l->process < all->process_nr && all->processes[l->process] &&
	       tare_map_get(&all->processes[l->process]->held_sizes, l->bytes);
}

void tare_fold_elastic_decide(struct tare_fold *f)
{
	for (size_t i = 0; i < f->large_nr; i++)
		if (!is_short(&f->large[i]) && !f->large[i].is_piece)
			tare_map_put(&f->processes[f->large[i].process]->held_sizes, f->large[i].bytes, NULL);
	for (size_t i = 0; i < f->large_nr; i++) {
		const struct tare_large *l = &f->large[i];
		struct tare_process_fold *p = f->processes[l->process];
		enum tare_account account = l->account;

		if (!account && l->is_cudnn && is_short(l) && (l->is_piece || !is_size_held(f, l)))
			account = TARE_ACCOUNT_TRIAL;
		if (account)
			*tare_map_put(&p->elastic, key_of(l->handle, l->at), NULL) = (uint64_t)account;
	}
}

/* ---- a state that is saved ---- */

/*
 * Forgets what is known of an allocation from after `until`; false: the allocation itself is from after it.
 */
static bool is_known_at(struct tare_large *l, int64_t until)
{
	if (l->held_ns >= 0 && l->at + l->held_ns > until)
		l->held_ns = -1;
	return l->at <= until;
}

static bool is_size_known(const struct tare_fold *f, size_t nr, const struct tare_large *l)
{
	for (size_t i = 0; i < nr; i++)
		if (f->large[i].held_ns >= 0 && f->large[i].process == l->process && f->large[i].bytes == l->bytes)
			return true;
	return false;
}

/*
 * Must the allocation be kept? Of those that were freed, only the sizes of those that were held long still
 * matter.
 */
static bool is_kept(const struct tare_fold *f, size_t nr, struct tare_large *l, int64_t until)
{
	if (!is_known_at(l, until))
		return false;
	return l->held_ns < 0 || (!is_short(l) && !l->is_piece && !is_size_known(f, nr, l));
}

static void forget_in(struct tare_process_fold *p, int64_t until)
{
	struct tare_map kept = { 0 };
	const struct tare_map_slot *slot;

	for (size_t at = 0; (slot = tare_map_next(&p->xla_devices, &at));)
		if ((int64_t)slot->value <= until)
			*tare_map_put(&kept, slot->key, NULL) = slot->value;
	tare_map_free(&p->xla_devices);
	p->xla_devices = kept;
	tare_map_free(&p->held_sizes);
	tare_map_free(&p->large_open);
}

void tare_fold_elastic_forget(struct tare_fold *f, int64_t until)
{
	size_t n = 0;

	for (int i = 0; i < f->process_nr; i++)
		if (f->processes[i])
			forget_in(f->processes[i], until);
	for (size_t i = 0; i < f->large_nr; i++) {
		struct tare_large *l = &f->large[i];
		struct tare_process_fold *p = f->processes[l->process];

		if (!is_kept(f, n, l, until)) {
			tare_map_remove(&p->elastic, key_of(l->handle, l->at), NULL);
			continue;
		}
		if (l->held_ns < 0)
			*tare_map_put(&p->large_open, l->handle ^ (l->is_piece ? UINT64_C(1) << 63 : 0), NULL) = n;
		f->large[n++] = *l;
	}
	f->large_nr = n;
}

enum tare_account tare_fold_elastic_account(const struct tare_fold *f, const struct tare_step *s)
{
	const uint64_t *account;

	if (!may_be_elastic(s->class) || s->effect != TARE_EFFECT_NEW)
		return TARE_ACCOUNT_NONE;
	account = tare_map_get(&f->processes[s->process]->elastic, key_of(s->handle, s->end));
	return account ? (enum tare_account) * account : TARE_ACCOUNT_NONE;
}
