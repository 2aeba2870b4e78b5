/* SPDX-License-Identifier: Apache-2.0 */
/* From what is known of a block to its category. Most of it is known only when the block is gone. */
#include "ledger/tensors/tensors.h"

void tare_category_sums_add(struct tare_category_sum sums[TARE_CATEGORY_NR], enum tare_rule rule,
			    int64_t bytes, uint64_t count)
{
	struct tare_category_sum *s = &sums[tare_rules[rule].category];

	if (!s->count || tare_rules[rule].evidence == TARE_EVIDENCE_INFERRED)
		s->evidence = tare_rules[rule].evidence;
	s->category = tare_rules[rule].category;
	s->bytes += bytes;
	s->count += count;
}

/* How long something must be there to last: passes of the kind that the program makes. */
enum { LONG_BACKWARDS = 2, LONG_FORWARDS = 4 };
/* Of several networks, or threads, that are trained in turn one scan sees the gradients of one. */
enum { LEAST_SCANS = 2 };
enum { LEAST_ROUNDS = 4 }; /* of optimizers in turn, before they are taken for that */
enum { LEAST_LARGER = 8 /* blocks of a line, each larger than all before */ };

/* Where optimizers work in turn, a step has a backward pass for each, and what is made for it lives through them. */
static uint32_t backwards_of_step(const struct tare_worker *w)
{
	return w->rounds >= LEAST_ROUNDS ? w->optimizers / w->rounds : 1;
}

static bool lasts(const struct tare_use *u, const struct tare_worker *w)
{
	if (w->backwards)
		return u->lived_backwards >= LONG_BACKWARDS * backwards_of_step(w);
	if (w->forwards)
		return u->lived_forwards >= LONG_FORWARDS;
	return !u->is_gone;
}

/* It goes before the piece of work that made it is over. */
static bool passes(const struct tare_use *u)
{
	return u->will_pass || (u->is_gone && u->in_its_section);
}

static enum tare_rule rule_of_backward(const struct tare_use *u, const struct tare_worker *w)
{
	if (u->will_pass || (u->in_backward && u->lived_backwards == 0))
		return u->maker == TARE_MAKER_CALL ? TARE_RULE_RECOMPUTED : TARE_RULE_BACKWARD;
	if (u->is_unseen && lasts(u, w))
		return TARE_RULE_UNSEEN;
	return u->has_stayed && !u->role ? TARE_RULE_STAYED : TARE_RULE_GRADIENT;
}

/* Whether the last block of a section outlived its call nobody tells; so it is as others of its line and size. */
static bool has_outlived(const struct tare_fold *f, const struct tare_live_block *b)
{
	return b->use.outlived_call || (b->site && f->sites[b->site].outlived_bytes == b->bytes);
}

static enum tare_rule rule_of_forward(const struct tare_use *u, const struct tare_worker *w,
				      bool is_grad, bool has_outlived)
{
	if (passes(u) && (!has_outlived || (is_grad && w->backwards)))
		return TARE_RULE_INNER;
	if (!lasts(u, w))
		return TARE_RULE_OUTPUT;
	return u->is_unseen ? TARE_RULE_UNSEEN : TARE_RULE_LASTING;
}

static bool is_leaf(const struct tare_use *u, uint32_t flags)
{
	return u->role == TARE_PROBE_TENSOR &&
	       (u->role_flags & (TARE_PROBE_LEAF | TARE_PROBE_REQUIRES_GRAD)) == flags;
}

/* One batch that is fed to every step. What comes later, or is no plain tensor, the program keeps. */
static bool is_fed(const struct tare_use *u, const struct tare_worker *w)
{
	return !u->forwards && w->forwards && is_leaf(u, TARE_PROBE_LEAF);
}

static enum tare_rule rule_of_program(const struct tare_use *u, const struct tare_worker *w)
{
	if (u->is_gone && u->in_its_section)
		return TARE_RULE_PASSING;
	if (lasts(u, w))
		return is_fed(u, w) ? TARE_RULE_FED : TARE_RULE_LASTING;
	/* What a forward came after was there for it; a loss has its backward pass first. */
	if (u->before != TARE_WORK_FORWARD || u->forward_first)
		return TARE_RULE_GIVEN;
	return TARE_RULE_LOSS;
}

/* By the program's own objects. */
static bool is_said(const struct tare_use *u)
{
	return u->role && u->role != TARE_PROBE_TENSOR;
}

static bool is_distributed(const struct tare_use *u)
{
	return u->maker == TARE_MAKER_COMMUNICATION || u->maker == TARE_MAKER_REDUCE;
}

static enum tare_rule rule_of_distributed(const struct tare_use *u, bool was_said)
{
	bool reduces = was_said || u->maker == TARE_MAKER_REDUCE;

	return reduces && !(u->is_gone && u->in_its_section) ? TARE_RULE_REDUCED
							     : TARE_RULE_COMMUNICATION;
}

/*
 * Does its line make ever larger ones, each from the one before, which goes then? So does torch.cat to a cache. A
 * program that trains makes larger batches in that way, too.
 */
static bool is_growing(const struct tare_fold *f, const struct tare_live_block *b,
		       const struct tare_worker *w)
{
	const struct tare_site *s = b->site ? &f->sites[b->site] : &f->no_site;

	return s->largest_nr >= LEAST_LARGER && s->replaced >= LEAST_LARGER &&
	       s->replaced / 4 >= s->other_ends && !(b->flags & TARE_TENSOR_GRAD) &&
	       (b->use.kind == TARE_WORK_FORWARD || !w->backwards);
}

static enum tare_rule rule_of(const struct tare_use *u, const struct tare_worker *w, uint16_t flags,
			      bool has_outlived, bool is_growing)
{
	switch (u->role) {
	case TARE_PROBE_GATHERED:
		return TARE_RULE_SAID_GATHERED;
	case TARE_PROBE_PARAMETER:
		return u->beside_training >= LEAST_SCANS && !u->is_trained
			       ? TARE_RULE_SAID_FROZEN
			       : TARE_RULE_SAID_PARAMETER;
	case TARE_PROBE_BUFFER:
		return TARE_RULE_SAID_BUFFER;
	case TARE_PROBE_GRADIENT:
		return TARE_RULE_SAID_GRADIENT;
	case TARE_PROBE_STATE:
		return TARE_RULE_SAID_STATE;
	default:
		break;
	}
	if (u->kind == TARE_WORK_OPTIMIZER)
		return passes(u) ? TARE_RULE_SCRATCH : TARE_RULE_STATE;
	if (u->kind == TARE_WORK_BACKWARD)
		return rule_of_backward(u, w);
	if (is_leaf(u, TARE_PROBE_LEAF | TARE_PROBE_REQUIRES_GRAD) && lasts(u, w))
		return TARE_RULE_LEAF;
	if (u->is_for_parameter && lasts(u, w))
		return u->is_copy ? TARE_RULE_COPY : TARE_RULE_FOR_EACH;
	if (u->maker == TARE_MAKER_DATA)
		return TARE_RULE_BATCH;
	if (u->maker == TARE_MAKER_BUILD)
		return u->is_gone && u->in_its_section ? TARE_RULE_BUILDING : TARE_RULE_BUILT;
	if (u->in_backward && flags & TARE_TENSOR_GRAD)
		return TARE_RULE_SAVED;
	if (is_leaf(u, TARE_PROBE_REQUIRES_GRAD) && !lasts(u, w))
		return TARE_RULE_RESULT;
	if (is_growing)
		return TARE_RULE_GROWING;
	if (u->kind == TARE_WORK_FORWARD)
		return rule_of_forward(u, w, flags & TARE_TENSOR_GRAD, has_outlived);
	return rule_of_program(u, w);
}

void tare_site_note_kept(struct tare_site *site, const struct tare_use *use)
{
	if (!use->is_for_parameter || use->lived_backwards < LONG_BACKWARDS)
		return;
	site->keeps_for_parameter = true;
	site->keeps_copies = use->is_copy;
}

/* The next of what its line keeps for each parameter, which came too late to last: a copy of the last epoch's best model. */
static bool is_next_kept(const struct tare_site *site, const struct tare_use *u)
{
	return site->keeps_for_parameter && !u->is_gone && !is_said(u) &&
	       !is_leaf(u, TARE_PROBE_LEAF | TARE_PROBE_REQUIRES_GRAD) &&
	       u->maker == TARE_MAKER_PROGRAM && u->kind == TARE_WORK_OTHER;
}

enum tare_rule tare_fold_rule_of(const struct tare_fold *f, const struct tare_live_block *b,
				 const struct tare_work *work)
{
	const struct tare_worker *w = tare_work_of(work, b);
	struct tare_use use = b->use;

	if (!use.is_gone)
		tare_work_now(work, b, &use);
	if (is_distributed(&use) && !is_said(&use))
		return rule_of_distributed(&use, tare_passes_was_said(&w->passes, b));
	if (b->site && is_next_kept(&f->sites[b->site], &use))
		return f->sites[b->site].keeps_copies ? TARE_RULE_COPY : TARE_RULE_FOR_EACH;
	return rule_of(&use, w, b->flags, has_outlived(f, b), is_growing(f, b, w));
}
