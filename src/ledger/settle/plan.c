/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the cheapest plan (plan.h) stretch by stretch. Of all partial plans it keeps the cheapest, one for each set of
 * changes that still have no stretch. Where few changes wait it keeps all, and the answer is the best plan there is.
 */
#include "ledger/settle/plan.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/sat.h"
#include "base/xalloc.h"
#include "ledger/core/fold_state.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 6, WAYS_FEW = 64, WAYS_MANY = 12 };

#define NO_NODE UINT32_MAX

/* A change was put into a stretch; before that `before` was. */
struct node {
	uint32_t before, item;
	size_t at;
};

struct way {
	struct tare_plan_set open;   /* changes that wait for a stretch */
	double cost;                 /* more than that of the cheapest way */
	int64_t owed;                /* what the counter is above what was taken so far, but for what no way explains */
	uint32_t node, number, from; /* from: the way that it continues */
};

struct ways {
	struct way *items;
	size_t count, cap;
};

struct plan {
	struct tare_plan_item *items;
	size_t item_nr, next;
	struct tare_plan_waiting waiting;
	struct tare_plan_set used; /* slots */
	struct ways ways, coming;
	struct node *nodes;
	size_t node_nr, node_cap;
	struct tare_plan_options options;
	int64_t nearest; /* what the way that explains a stretch best leaves of it */
};

/* ---- slots ---- */

static unsigned free_slot(const struct tare_plan_set *used)
{
	for (unsigned i = 0; i < TARE_PLAN_WORDS; i++)
		if (~used->words[i])
			return i * 64 + (unsigned)__builtin_ctzll(~used->words[i]);
	return TARE_PLAN_SLOTS;
}

/*
 * Is `a` taken before `b`? Of changes of one size, the one whose last stretch comes first is taken first.
 */
static bool is_before(const struct tare_plan_item *a, const struct tare_plan_item *b)
{
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes;
	if (a->is_end != b->is_end)
		return b->is_end;
	if (a->slack != b->slack)
		return a->slack < b->slack;
	if (a->may_be_missing != b->may_be_missing)
		return b->may_be_missing;
	return a->to != b->to ? a->to < b->to : a < b;
}

static void wait_for(struct plan *p, uint32_t item)
{
	struct tare_plan_waiting *w = &p->waiting;
	unsigned slot = free_slot(&p->used), at = w->count;

	if (slot == TARE_PLAN_SLOTS)
		return; /* too many wait already: the change is in no stretch */
	tare_plan_put(&p->used, slot);
	w->item_of[slot] = item;
	while (at && is_before(&p->items[item], &p->items[w->item_of[w->order[at - 1]]])) {
		w->order[at] = w->order[at - 1];
		at--;
	}
	w->order[at] = slot;
	w->count++;
	for (size_t i = 0; i < p->ways.count; i++)
		tare_plan_put(&p->ways.items[i].open, slot);
}

/* Frees the slots of changes for which no way waits any more. */
static void free_slots(struct plan *p)
{
	struct tare_plan_set open = { { 0 } };
	unsigned count = 0;

	for (size_t i = 0; i < p->ways.count; i++)
		for (unsigned k = 0; k < TARE_PLAN_WORDS; k++)
			open.words[k] |= p->ways.items[i].open.words[k];
	for (unsigned i = 0; i < p->waiting.count; i++)
		if (tare_plan_has(&open, p->waiting.order[i]))
			p->waiting.order[count++] = p->waiting.order[i];
	p->waiting.count = count;
	p->used = open;
}

/* ---- ways ---- */

TARE_COMPARATOR(by_open_and_cost, struct way,
                TARE_COMPARED(memcmp(&x->open, &y->open, sizeof(x->open))) TARE_RISING(cost) TARE_RISING(number))

TARE_COMPARATOR(by_cost, struct way, TARE_RISING(cost) TARE_RISING(number))

/*
 * Keeps of ways that wait for the same changes the cheapest, and of these at most `most`, the cheapest.
 */
static void keep_best(struct ways *ways, size_t most)
{
	size_t count = 0;

	if (ways->count < 2)
		return;
	TARE_SORT(ways->items, ways->count, by_open_and_cost);
	for (size_t i = 0; i < ways->count; i++)
		if (!count || memcmp(&ways->items[count - 1].open, &ways->items[i].open, sizeof(ways->items[i].open)) != 0)
			ways->items[count++] = ways->items[i];
	ways->count = count;
	TARE_SORT(ways->items, count, by_cost);
	if (ways->count > most)
		ways->count = most;
}

static uint32_t add_node(struct plan *p, uint32_t before, uint32_t item, size_t at)
{
	TARE_APPEND(p->nodes, p->node_nr, p->node_cap) = (struct node){ before, item, at };
	return (uint32_t)(p->node_nr - 1);
}

static void follow(struct plan *p, uint32_t from, const struct tare_plan_stretch *s, const struct tare_plan_set *must)
{
	const struct way *way = &p->ways.items[from];

	tare_plan_find_options(&p->waiting, &way->open, must, s, &p->options);
	for (unsigned i = 0; i < p->options.count; i++) {
		const struct tare_plan_option *o = &p->options.items[i];
		struct way *own;

		p->coming.items =
			tare_array_reserve(p->coming.items, &p->coming.cap, p->coming.count + 1, sizeof(*p->coming.items));
		own = &p->coming.items[p->coming.count];
		*own = *way;
		own->number = (uint32_t)p->coming.count++;
		own->from = from;
		own->cost += o->cost;
		own->owed += s->has_unknown ? 0 : o->left;
		if (llabs(o->left) < llabs(p->nearest))
			p->nearest = o->left;
		for (unsigned k = 0; k < TARE_PLAN_WORDS; k++)
			own->open.words[k] &= ~o->chosen.words[k];
	}
}

/* Is a change larger than all that wait together? */
static bool is_somebody_elses(const struct plan *p, const struct tare_plan_stretch *s)
{
	int64_t sum = TARE_COUNTER_STEP;

	for (unsigned i = 0; i < p->waiting.count; i++)
		sum = tare_sat_add(sum, tare_sat_abs(p->items[p->waiting.item_of[p->waiting.order[i]]].bytes));
	return llabs(s->change) > sum;
}

/*
 * What a way left unexplained costs as long as it does: a false change is paid for until it is made up for, and not only when
 * it is taken and when it is missing. What no way can explain stays.
 */
static void charge(struct plan *p, const struct tare_plan_stretch *s)
{
	int64_t others = !s->has_unknown && is_somebody_elses(p, s) ? p->nearest : 0;

	for (size_t i = 0; i < p->coming.count; i++) {
		struct way *way = &p->coming.items[i];

		way->owed -= others;
		way->cost += tare_plan_weight(s) * (double)llabs(way->owed);
	}
}

/* Costs that grow without end would not tell ways apart any more. */
static void relate(struct ways *ways)
{
	for (size_t i = ways->count; i-- > 0;)
		ways->items[i].cost -= ways->items[0].cost;
}

/* Writes down which changes a kept way put into this stretch. */
static void write_down(struct plan *p, struct way *way, size_t at)
{
	const struct tare_plan_set *open = &p->ways.items[way->from].open;

	for (unsigned i = 0; i < p->waiting.count; i++) {
		unsigned slot = p->waiting.order[i];

		if (tare_plan_has(open, slot) && !tare_plan_has(&way->open, slot))
			way->node = add_node(p, way->node, p->waiting.item_of[slot], at);
	}
}

static void pass(struct plan *p, const struct tare_plan_stretch *s, size_t at)
{
	struct tare_plan_set must = { { 0 } };
	struct ways before = p->ways;

	for (unsigned i = 0; i < p->waiting.count; i++) {
		const struct tare_plan_item *item = &p->items[p->waiting.item_of[p->waiting.order[i]]];

		if (item->to == at + 1 && !item->may_be_missing)
			tare_plan_put(&must, p->waiting.order[i]);
	}
	p->coming.count = 0;
	p->nearest = INT64_MAX;
	for (size_t i = 0; i < p->ways.count; i++)
		follow(p, (uint32_t)i, s, &must);
	charge(p, s);
	keep_best(&p->coming, p->waiting.count <= FEW ? WAYS_FEW : WAYS_MANY);
	relate(&p->coming);
	for (size_t i = 0; i < p->coming.count; i++)
		write_down(p, &p->coming.items[i], at);
	p->ways = p->coming;
	p->coming = before;
	free_slots(p);
}

void tare_plan(struct tare_plan_item *items, size_t item_nr, const struct tare_plan_stretch *stretches,
               size_t stretch_nr)
{
	TARE_FREED_HERE struct plan *p = tare_xcalloc(1, sizeof(*p));
	size_t best = 0;

	p->items = items;
	p->waiting.items = items;
	p->ways.items = tare_array_reserve(NULL, &p->ways.cap, 1, sizeof(*p->ways.items));
	p->ways.items[p->ways.count++] = (struct way){ .node = NO_NODE };
	for (size_t k = 0; k < stretch_nr; k++) {
		for (; p->next < item_nr && items[p->next].from <= k; p->next++)
			wait_for(p, (uint32_t)p->next);
		pass(p, &stretches[k], k);
	}
	for (size_t i = 0; i < item_nr; i++)
		items[i].at = TARE_PLAN_NOWHERE;
	for (size_t i = 1; i < p->ways.count; i++)
		if (p->ways.items[i].cost < p->ways.items[best].cost)
			best = i;
	for (uint32_t node = p->ways.items[best].node; node != NO_NODE; node = p->nodes[node].before)
		items[p->nodes[node].item].at = p->nodes[node].at;
	free(p->ways.items);
	free(p->coming.items);
	free(p->nodes);
}
