/* SPDX-License-Identifier: Apache-2.0 */
/* From what is known of a block to its category. Most of it is known only when the block is gone. */
#include "ledger/tensors/tensors.h"

#include <string.h>

void tare_category_sums_add(struct tare_category_sum sums[TARE_CATEGORY_NR], enum tare_rule rule, int64_t bytes,
                            uint64_t count)
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
enum { LEAST_RETAINED = 8 /* blocks of one call of a model */ };

/* Where optimizers work in turn, a step has a backward pass for each, and what is made for it lives through them. */
static uint32_t backwards_of_step(const struct tare_worker *w)
{
	return w->rounds >= LEAST_ROUNDS ? w->optimizers / w->rounds : 1;
}

static bool is_so(const struct tare_known_block *b, enum tare_block_mark mark)
{
	return b->block.marks & mark;
}

static bool lasts(const struct tare_known_block *b, const struct tare_worker *w)
{
	if (w->backwards)
		return b->block.lived_backwards >= LONG_BACKWARDS * backwards_of_step(w);
	if (w->forwards)
		return b->block.lived_forwards >= LONG_FORWARDS;
	return !is_so(b, TARE_BLOCK_GONE);
}

/* The block is freed before the piece of work that made it is over. */
static bool passes(const struct tare_known_block *b)
{
	return is_so(b, TARE_BLOCK_WILL_PASS) || (is_so(b, TARE_BLOCK_GONE) && is_so(b, TARE_BLOCK_IN_SECTION));
}

static enum tare_rule rule_of_backward(const struct tare_known_block *b, const struct tare_worker *w)
{
	if (is_so(b, TARE_BLOCK_WILL_PASS) || (is_so(b, TARE_BLOCK_IN_BACKWARD) && b->block.lived_backwards == 0))
		return b->facts.maker == TARE_MAKER_CALL ? TARE_RULE_RECOMPUTED : TARE_RULE_BACKWARD;
	if (is_so(b, TARE_BLOCK_UNSEEN) && lasts(b, w))
		return TARE_RULE_UNSEEN;
	return is_so(b, TARE_BLOCK_STAYED) && !b->facts.role ? TARE_RULE_STAYED : TARE_RULE_GRADIENT;
}

/* Whether the last block of a section outlived its call nobody tells; so it is as others of its line and size. */
static bool has_outlived(const struct tare_fold *f, const struct tare_live_block *b)
{
	return b->marks & TARE_BLOCK_OUTLIVED_CALL || (b->site && f->sites[b->site].outlived_bytes == b->bytes);
}

static enum tare_rule rule_of_forward(const struct tare_known_block *b, const struct tare_worker *w, bool is_grad,
                                      bool has_outlived)
{
	if (passes(b) && (!has_outlived || (is_grad && w->backwards)))
		return TARE_RULE_INNER;
	if (!lasts(b, w))
		return TARE_RULE_OUTPUT;
	return is_so(b, TARE_BLOCK_UNSEEN) ? TARE_RULE_UNSEEN : TARE_RULE_LASTING;
}

static bool is_leaf(const struct tare_known_block *b, uint32_t flags)
{
	return b->facts.role == TARE_SCANNED_TENSOR &&
	       (b->facts.role_flags & (TARE_SCANNED_LEAF | TARE_SCANNED_REQUIRES_GRAD)) == flags;
}

/* One batch that is fed to every step. What comes later, or is no plain tensor, the program keeps. */
static bool is_fed(const struct tare_known_block *b, const struct tare_worker *w)
{
	return !b->facts.forwards && w->forwards && is_leaf(b, TARE_SCANNED_LEAF);
}

static enum tare_rule rule_of_program(const struct tare_known_block *b, const struct tare_worker *w)
{
	if (is_so(b, TARE_BLOCK_GONE) && is_so(b, TARE_BLOCK_IN_SECTION))
		return TARE_RULE_PASSING;
	if (lasts(b, w))
		return is_fed(b, w) ? TARE_RULE_FED : TARE_RULE_LASTING;
	/* What a forward came after was there for it; a loss has its backward pass first. */
	if (b->facts.before != TARE_WORK_FORWARD || is_so(b, TARE_BLOCK_FORWARD_FIRST))
		return TARE_RULE_GIVEN;
	return TARE_RULE_LOSS;
}

/* By the program's own objects. */
static bool is_said(const struct tare_known_block *b)
{
	return b->facts.role && b->facts.role != TARE_SCANNED_TENSOR;
}

static bool is_distributed(const struct tare_known_block *b)
{
	return b->facts.maker == TARE_MAKER_COMMUNICATION || b->facts.maker == TARE_MAKER_REDUCE;
}

static enum tare_rule rule_of_distributed(const struct tare_known_block *b, bool was_said)
{
	bool reduces = was_said || b->facts.maker == TARE_MAKER_REDUCE;

	return reduces && !(is_so(b, TARE_BLOCK_GONE) && is_so(b, TARE_BLOCK_IN_SECTION)) ? TARE_RULE_REDUCED
	                                                                                  : TARE_RULE_COMMUNICATION;
}

/*
 * Does its line make ever larger ones, each from the one before, which goes then? So does torch.cat to a cache. A
 * program that trains makes larger batches in that way, too.
 */
static bool is_growing(const struct tare_fold *f, const struct tare_known_block *b, const struct tare_worker *w)
{
	const struct tare_site *s = b->block.site ? &f->sites[b->block.site] : &f->no_site;

	return s->largest_nr >= LEAST_LARGER && s->replaced >= LEAST_LARGER && s->replaced / 4 >= s->other_ends &&
	       !(b->block.flags & TARE_TENSOR_GRAD) && (b->facts.kind == TARE_WORK_FORWARD || !w->backwards);
}

/* A parameter that the program said is not to be trained needs no scan to find that it has no gradient. */
static bool is_frozen(const struct tare_known_block *b, const struct tare_worker *w)
{
	uint32_t flags = b->facts.role_flags & (TARE_SCANNED_LEAF | TARE_SCANNED_REQUIRES_GRAD);

	if (b->facts.is_trained)
		return false;
	return b->facts.beside_training >= LEAST_SCANS || (flags == TARE_SCANNED_LEAF && w->backwards);
}

/* A result, a sample to learn from, a cached tensor. What is made before the first forward is fed to it. */
static bool is_kept(const struct tare_known_block *b, const struct tare_worker *w)
{
	return b->facts.role == TARE_SCANNED_TENSOR && b->facts.role_flags & TARE_SCANNED_KEPT && lasts(b, w) &&
	       (b->facts.kind == TARE_WORK_FORWARD || !is_fed(b, w));
}

static enum tare_rule rule_of(const struct tare_known_block *b, const struct tare_worker *w, uint16_t flags,
                              bool has_outlived, bool is_growing, bool is_of_kept, bool is_retained)
{
	switch (b->facts.role) {
	case TARE_SCANNED_GATHERED:
		return TARE_RULE_SAID_GATHERED;
	case TARE_SCANNED_PARAMETER:
		return is_frozen(b, w) ? TARE_RULE_SAID_FROZEN : TARE_RULE_SAID_PARAMETER;
	case TARE_SCANNED_BUFFER:
		return TARE_RULE_SAID_BUFFER;
	case TARE_SCANNED_GRADIENT:
		return TARE_RULE_SAID_GRADIENT;
	case TARE_SCANNED_STATE:
		return TARE_RULE_SAID_STATE;
	default:
		break;
	}
	if (b->facts.kind == TARE_WORK_OPTIMIZER)
		return passes(b) ? TARE_RULE_SCRATCH : TARE_RULE_STATE;
	if (b->facts.kind == TARE_WORK_BACKWARD)
		return rule_of_backward(b, w);
	if (is_leaf(b, TARE_SCANNED_LEAF | TARE_SCANNED_REQUIRES_GRAD) && lasts(b, w))
		return TARE_RULE_LEAF;
	if (is_so(b, TARE_BLOCK_FOR_EACH) && lasts(b, w))
		return is_so(b, TARE_BLOCK_COPY) ? TARE_RULE_COPY : TARE_RULE_FOR_EACH;
	if (b->facts.maker == TARE_MAKER_DATA)
		return TARE_RULE_BATCH;
	if (b->facts.maker == TARE_MAKER_BUILD)
		return is_so(b, TARE_BLOCK_GONE) && is_so(b, TARE_BLOCK_IN_SECTION) ? TARE_RULE_BUILDING : TARE_RULE_BUILT;
	if (is_so(b, TARE_BLOCK_IN_BACKWARD) && flags & TARE_TENSOR_GRAD)
		return TARE_RULE_SAVED;
	if (is_leaf(b, TARE_SCANNED_REQUIRES_GRAD) && !lasts(b, w))
		return TARE_RULE_RESULT;
	if (is_of_kept || is_kept(b, w))
		return TARE_RULE_KEPT;
	if (is_growing)
		return TARE_RULE_GROWING;
	if (is_retained)
		return TARE_RULE_RETAINED;
	if (b->facts.kind == TARE_WORK_FORWARD)
		return rule_of_forward(b, w, flags & TARE_TENSOR_GRAD, has_outlived);
	return rule_of_program(b, w);
}

void tare_site_note_kept(struct tare_site *site, const struct tare_live_block *b)
{
	if (!(b->marks & TARE_BLOCK_FOR_EACH) || b->lived_backwards < LONG_BACKWARDS)
		return;
	site->keeps_for_parameter = true;
	site->keeps_copies = b->marks & TARE_BLOCK_COPY;
}

void tare_site_note_recorded(struct tare_site *outer, const struct tare_block_facts *facts,
                             const struct tare_live_block *b)
{
	if (facts->kind != TARE_WORK_FORWARD)
		return;
	if (b->marks & TARE_BLOCK_IN_BACKWARD)
		outer->taken_back++;
	else if (b->lived_backwards < LONG_BACKWARDS)
		outer->brief++;
}

/*
 * Of a call that something goes back from, or would, most of what autograd recorded stays: many blocks, and no small part of
 * all. Of one without trained parameters the results stay alone, as a library's workspace does.
 */
static bool keeps_way_back(const struct tare_site *outer)
{
	uint32_t left = outer->recorded - outer->brief;

	return !outer->taken_back && left >= LEAST_RETAINED && left >= outer->recorded / 4;
}

/*
 * A forward in a program that trains, which autograd records, and which no backward pass ever took back: its result is kept, and so
 * is all that it would need to go back.
 */
static bool is_retained(const struct tare_fold *f, const struct tare_known_block *b, const struct tare_worker *w)
{
	uint32_t at = b->block.site ? f->sites[b->block.site].outer : 0;
	bool is_plain = b->facts.role == TARE_SCANNED_TENSOR && !(b->facts.role_flags & TARE_SCANNED_REQUIRES_GRAD);

	return at && keeps_way_back(&f->sites[at]) && b->block.flags & TARE_TENSOR_GRAD &&
	       b->facts.kind == TARE_WORK_FORWARD && !is_plain && w->backwards && lasts(b, w);
}

/* The next of what its line keeps for each parameter, which came too late to last: a copy of the last epoch's best model. */
static bool is_next_kept(const struct tare_site *site, const struct tare_known_block *b)
{
	return site->keeps_for_parameter && !is_so(b, TARE_BLOCK_GONE) && !is_said(b) &&
	       !is_leaf(b, TARE_SCANNED_LEAF | TARE_SCANNED_REQUIRES_GRAD) && b->facts.maker == TARE_MAKER_PROGRAM &&
	       b->facts.kind == TARE_WORK_OTHER;
}

void tare_site_note_variable(struct tare_site *site, const struct tare_known_block *block, const struct tare_work *work)
{
	struct tare_known_block b = *block;

	tare_work_now(work, &b);
	if (!is_kept(&b, tare_work_of(work, &b.facts)))
		return;
	site->kept_as = b.facts.name;
	site->keeps_graphs |= (b.facts.role_flags & TARE_SCANNED_REQUIRES_GRAD) != 0;
}

/*
 * A scan that found all of Python's tensors did not find it. So a library has it; or autograd, where what the variable keeps has a graph that it is
 * a part of.
 */
static bool is_of_library(const struct tare_site *site, const struct tare_known_block *b)
{
	return is_so(b, TARE_BLOCK_UNSEEN) && !(site->keeps_graphs && b->block.flags & TARE_TENSOR_GRAD);
}

/* Another one of a line whose blocks a variable keeps: too late to last, or for a scan to find it. */
static bool is_next_of_variable(const struct tare_site *site, const struct tare_known_block *b,
                                const struct tare_worker *w)
{
	return site->kept_as && (!is_so(b, TARE_BLOCK_GONE) || lasts(b, w)) && !is_said(b) && !is_of_library(site, b) &&
	       (b->facts.kind == TARE_WORK_FORWARD || b->facts.kind == TARE_WORK_OTHER);
}

struct tare_known_block tare_rule_sees(const struct tare_known_block *b)
{
	struct tare_known_block seen;
	const struct tare_block_facts *facts = &b->facts;

	if (!is_so(b, TARE_BLOCK_GONE))
		return *b;                  /* what becomes of it is asked for, too */
	memset(&seen, 0, sizeof(seen)); /* they are compared byte by byte */
	seen.block.bytes = b->block.bytes;
	seen.block.process = b->block.process;
	seen.block.site = b->block.site;
	seen.block.flags = b->block.flags;
	seen.block.marks = b->block.marks & (uint16_t)~TARE_BLOCK_WATCHED;
	seen.block.lived_backwards = b->block.lived_backwards;
	seen.block.lived_forwards = b->block.lived_forwards;
	seen.facts.worker = facts->worker;
	seen.facts.forwards = facts->forwards > 0;
	seen.facts.kind = facts->kind;
	seen.facts.before = facts->before;
	seen.facts.maker = facts->maker;
	seen.facts.role = facts->role;
	seen.facts.role_flags = facts->role_flags;
	seen.facts.beside_training = facts->beside_training;
	seen.facts.is_trained = facts->is_trained;
	return seen;
}

enum tare_rule tare_fold_rule_of(const struct tare_fold *f, const struct tare_known_block *block,
                                 const struct tare_work *work)
{
	const struct tare_known_block b = tare_rule_sees(block);
	const struct tare_worker *w = tare_work_of(work, &b.facts);
	struct tare_known_block now = b;

	if (!is_so(&b, TARE_BLOCK_GONE))
		tare_work_now(work, &now);
	if (is_distributed(&now) && !is_said(&now))
		return rule_of_distributed(&now, tare_passes_was_said(&w->passes, &b.block));
	if (b.block.site && is_next_kept(&f->sites[b.block.site], &now))
		return f->sites[b.block.site].keeps_copies ? TARE_RULE_COPY : TARE_RULE_FOR_EACH;
	return rule_of(&now, w, b.block.flags, has_outlived(f, &b.block), is_growing(f, &b, w),
	               b.block.site && is_next_of_variable(&f->sites[b.block.site], &now, w), is_retained(f, &now, w));
}
