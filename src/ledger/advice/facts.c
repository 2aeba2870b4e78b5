/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rows do not tell and advice needs: which kernel wanted the stack, who created the streams, which
 * modules were never used, which limits were set. Kept per context, with the time it became true.
 */
#include "ledger/advice/facts.h"

#include "base/array.h"
#include "base/demangle.h"
#include "base/number.h"
#include "base/str.h"
#include "ledger/advice/facts_state.h"

#include <string.h>

/* Every context has so much stack per thread: a kernel that needs no more makes nothing grow. */
enum { PLAIN_STACK_BYTES = 1024 };

static struct tare_facts *facts_of(struct tare_fold *f, int context)
{
	struct tare_context *c = &f->contexts[context];

	if (!c->facts)
		c->facts = tare_xcalloc(1, sizeof(*c->facts));
	return c->facts;
}

/* ---- what is noted ---- */

static void note_stack(struct tare_fold *f, const struct tare_step *s, int context)
{
	struct tare_facts *facts = facts_of(f, context);
	const char *kernel = s->name ? s->name : "without a name";

	for (size_t i = 0; i < facts->stack_nr; i++)
		if (facts->stacks[i].local == (int64_t)s->local && !strcmp(facts->stacks[i].kernel, kernel))
			return;
	TARE_APPEND(facts->stacks, facts->stack_nr, facts->stack_cap) =
		(struct stack_use){ kernel, (int64_t)s->local, s->end };
}

static void note_stream(struct tare_fold *f, const struct tare_step *s, int context, uint64_t count, int64_t bytes)
{
	struct tare_facts *facts = facts_of(f, context);
	struct stream_use *use = NULL;

	for (size_t i = 0; i < facts->stream_nr && !use; i++)
		if (facts->streams[i].owner == s->owner)
			use = &facts->streams[i];
	if (!use) {
		use = TARE_ADD(facts->streams, facts->stream_nr, facts->stream_cap, (struct stream_use){ .owner = s->owner });
	}
	use->count += count;
	use->bytes += bytes;
	use->at = s->end;
}

static void note_module(struct tare_fold *f, const struct tare_step *s, int context, int64_t bytes)
{
	struct tare_facts *facts = facts_of(f, context);

	TARE_APPEND(facts->modules, facts->module_nr, facts->module_cap) =
		(struct module_use){ .handle = s->handle, .bytes = bytes, .at = s->end };
}

/*
 * Notes where a function comes from: its module, or the kernel of a library, lead to the library.
 */
static void note_origin(struct tare_fold *f, const struct tare_step *s)
{
	if (s->handle && s->parent && s->handle != s->parent)
		*tare_map_put(&f->processes[s->process]->origins, s->handle, NULL) = s->parent;
}

static void note_use(struct tare_fold *f, const struct tare_step *s, int context)
{
	struct tare_facts *facts = f->contexts[context].facts;
	uint64_t at = s->handle, *from;

	if (!facts || !facts->module_nr)
		return;
	for (int i = 0; i < 2 && (from = tare_map_get(&f->processes[s->process]->origins, at)); i++)
		at = *from;
	for (size_t i = 0; i < facts->module_nr; i++)
		if (facts->modules[i].handle == at)
			facts->modules[i].is_launched = true;
}

static void note_limit(struct tare_fold *f, const struct tare_step *s, int context)
{
	struct tare_facts *facts = facts_of(f, context);

	if ((uint32_t)s->limit == TARE_LIMIT_STACK_SIZE)
		facts->stack_limit.asked = (int64_t)s->asked;
	else if ((uint32_t)s->limit == TARE_LIMIT_MALLOC_HEAP_SIZE)
		facts->heap_limit.asked = (int64_t)s->asked;
}

void tare_facts_note_call(struct tare_fold *f, const struct tare_step *s, int context)
{
	if (s->flags & TARE_EVENT_FAILED)
		return;
	if (s->class == TARE_CLASS_FUNCTION || s->class == TARE_CLASS_CODE)
		note_origin(f, s);
	if (context < 0)
		return;
	switch ((enum tare_class)s->class) {
	case TARE_CLASS_LAUNCH:
		if (s->local > PLAIN_STACK_BYTES)
			note_stack(f, s, context);
		note_use(f, s, context);
		return;
	case TARE_CLASS_STREAM:
		if (s->effect == TARE_EFFECT_NEW)
			note_stream(f, s, context, 1, 0);
		return;
	case TARE_CLASS_LIMIT:
		note_limit(f, s, context);
		return;
	default:
		return;
	}
}

void tare_facts_note_bytes(struct tare_fold *f, const struct tare_step *s, int context, int64_t bytes)
{
	if (bytes <= 0)
		return;
	if (s->class == TARE_CLASS_STREAM && s->effect == TARE_EFFECT_NEW)
		note_stream(f, s, context, 0, bytes);
	else if ((s->class == TARE_CLASS_MODULE || s->class == TARE_CLASS_LIBRARY) && s->effect == TARE_EFFECT_NEW)
		note_module(f, s, context, bytes);
	else if (s->class == TARE_CLASS_LIMIT && (uint32_t)s->limit == TARE_LIMIT_STACK_SIZE)
		facts_of(f, context)->stack_limit = (struct limit){ (int64_t)s->asked, bytes, s->end };
}

void tare_facts_note_heap(struct tare_fold *f, int context, int64_t bytes, int64_t t)
{
	struct limit *heap = &facts_of(f, context)->heap_limit;

	heap->bytes += bytes;
	heap->at = t;
}

/* ---- what follows from it ---- */

static int64_t held(const struct tare_advise *a, const struct tare_context *c, int account)
{
	int64_t bytes = 0;

	for (int i = c->buckets; i >= 0; i = a->f->buckets[i].next_of_context)
		if (a->f->buckets[i].account == account)
			bytes += tare_fold_amount(a->f, &a->f->buckets[i], a->moment)->bytes;
	return bytes;
}

static void find_stack(struct tare_advise *a, const struct tare_context *c)
{
	const struct tare_facts *facts = c->facts;
	const struct stack_use *top = NULL;
	int64_t next = tare_most(PLAIN_STACK_BYTES, facts->stack_limit.asked), saved;
	TARE_FREED_BY(tare_str_free) struct tare_str name = { 0 };

	for (size_t i = 0; i < facts->stack_nr; i++)
		if (facts->stacks[i].at <= a->t && (!top || facts->stacks[i].local > top->local))
			top = &facts->stacks[i];
	if (!top)
		return;
	for (size_t i = 0; i < facts->stack_nr; i++)
		if (strcmp(facts->stacks[i].kernel, top->kernel) != 0)
			next = tare_most(next, facts->stacks[i].local);
	saved = tare_fold_local_need(a->f, c, top->local) - tare_fold_local_need(a->f, c, next);
	tare_demangle_add(&name, top->kernel);
	tare_fold_find(a, TARE_ADVICE_STACK,
	               &(struct tare_finding){ .bytes = tare_least(saved, held(a, c, TARE_ACCOUNT_LOCAL)),
	                                       .name = tare_str_text(&name),
	                                       .each = top->local,
	                                       .next = next },
	               c->process);
}

static void find_limits(struct tare_advise *a, const struct tare_context *c)
{
	const struct limit *stack = &c->facts->stack_limit, *heap = &c->facts->heap_limit;
	int64_t of_stack = held(a, c, TARE_ACCOUNT_LOCAL), of_heap = held(a, c, TARE_ACCOUNT_KERNEL_HEAP);

	if (stack->bytes && stack->at <= a->t)
		tare_fold_find(a, TARE_ADVICE_STACK_LIMIT,
		               &(struct tare_finding){
						   .bytes = tare_least(stack->bytes, of_stack), .name = "", .each = stack->asked },
		               c->process);
	if (heap->bytes && heap->at <= a->t)
		tare_fold_find(a, TARE_ADVICE_HEAP_LIMIT,
		               &(struct tare_finding){
						   .bytes = tare_least(heap->bytes, of_heap), .name = "", .each = heap->asked },
		               c->process);
}

static void find_streams(struct tare_advise *a, const struct tare_context *c)
{
	int64_t there = held(a, c, TARE_ACCOUNT_STREAM);

	for (size_t i = 0; i < c->facts->stream_nr; i++) {
		const struct stream_use *use = &c->facts->streams[i];
		const char *owner = use->owner ? tare_owner_name(a->f->owners[use->owner - 1]) : "somebody";
		bool is_pool = !strcmp(owner, "PyTorch") && use->count >= 32;

		if (use->at <= a->t)
			tare_fold_find(a, is_pool ? TARE_ADVICE_TORCH_STREAMS : TARE_ADVICE_STREAMS,
			               &(struct tare_finding){
							   .bytes = tare_least(use->bytes, there), .name = owner, .count = use->count },
			               c->process);
	}
}

static void find_modules(struct tare_advise *a, const struct tare_context *c)
{
	struct tare_finding unused = { .name = "" };

	for (size_t i = 0; i < c->facts->module_nr; i++) {
		const struct module_use *use = &c->facts->modules[i];

		if (use->is_launched || use->at > a->t)
			continue;
		unused.bytes += use->bytes;
		unused.count++;
	}
	unused.bytes = tare_least(unused.bytes, held(a, c, TARE_ACCOUNT_CODE));
	tare_fold_find(a, TARE_ADVICE_MODULES, &unused, c->process);
}

void tare_facts_find(struct tare_advise *a)
{
	for (size_t i = 0; i < a->f->context_nr; i++) {
		const struct tare_context *c = &a->f->contexts[i];

		if (c->device != a->d->index || !c->facts)
			continue;
		find_stack(a, c);
		find_limits(a, c);
		find_streams(a, c);
		find_modules(a, c);
	}
}
