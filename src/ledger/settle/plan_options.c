/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the changes that are waiting may explain what one stretch shows. */
#include "ledger/settle/plan.h"

#include "base/comparator.h"
#include "ledger/core/fold_state.h"

#include <stdlib.h>

/*
 * FEW: of so many changes all combinations are tried. Of more, combinations that add up, with as few changes
 * as possible: most stretches are short, and have one change.
 */
enum { FEW = 6, DEEP = 8, TRIES_MAX = 2000, EXACT_MAX = 4 };

/* What it costs that two changes lie in one stretch: rather they lie in two. */
#define TOGETHER 1e3

/* A fall that no item explains may be the end of a process: it costs no more than this. */
#define UNKNOWN_END_BYTES (32 * TARE_MIB)

/* Changes of one size that are waiting. */
struct alike {
	int64_t bytes, slack;
	unsigned first, count; /* in `slots` */
	bool is_end;
};

struct search {
	const struct tare_plan_waiting *waiting;
	const struct tare_plan_stretch *stretch;
	struct tare_plan_options *out;
	struct tare_plan_set must;
	int64_t must_bytes, must_slack;
	bool must_end;
	unsigned slots[TARE_PLAN_SLOTS], slot_nr;
	struct alike alike[TARE_PLAN_SLOTS]; /* the larger first */
	unsigned alike_nr;
	unsigned taken[DEEP], taken_nr; /* the combination that is tried: of alike */
	unsigned exact_nr, tries;
	struct tare_plan_option nearest; /* the best combination of those that do not add up */
	int64_t nearest_left;
};

/* What of `left` remains if a fall may be larger by `slack`: by all of it, for other numbers say nothing. */
static int64_t less_slack(int64_t left, int64_t slack)
{
	return slack > 0 && llabs(left + slack) <= TARE_COUNTER_STEP ? left + slack : left;
}

static double cost_of(const struct tare_plan_stretch *s, int64_t left, int64_t others, bool has_end, unsigned count)
{
	double together = count > 1 ? TOGETHER * (count - 1) : 0;
	int64_t missing = llabs(left);

	if (s->has_leaver && !has_end && left < 0) {
		missing = missing < UNKNOWN_END_BYTES ? missing : UNKNOWN_END_BYTES;
		return (double)missing * tare_plan_weight(s) + (double)llabs(others) + together;
	}
	return (double)missing * tare_plan_weight(s) + together;
}

static void add(struct search *s, const struct tare_plan_option *option)
{
	if (s->out->count < TARE_PLAN_OPTIONS)
		s->out->items[s->out->count++] = *option;
}

static void add_all_subsets(struct search *s)
{
	for (unsigned mask = 0; mask < 1u << s->slot_nr; mask++) {
		struct tare_plan_option option = { .chosen = s->must };
		int64_t bytes = s->must_bytes, slack = s->must_slack, left, ends = 0;
		bool has_end = s->must_end;

		for (unsigned i = 0; i < s->slot_nr; i++) {
			const struct tare_plan_item *item;

			if (!(mask >> i & 1))
				continue;
			item = &s->waiting->items[s->waiting->item_of[s->slots[i]]];
			tare_plan_put(&option.chosen, s->slots[i]);
			bytes += item->bytes;
			slack += item->slack;
			has_end |= item->is_end;
			ends += item->is_end ? item->bytes : 0;
		}
		option.left = left = less_slack(s->stretch->change - bytes, slack);
		option.cost = cost_of(s->stretch, left, bytes - ends, has_end, (unsigned)__builtin_popcount(mask));
		add(s, &option);
	}
}

TARE_COMPARATOR(by_size, struct alike, TARE_FALLING_BY(llabs(it->bytes)) TARE_RISING(first))

static void group(struct search *s)
{
	for (unsigned i = 0; i < s->slot_nr; i++) {
		const struct tare_plan_item *item = &s->waiting->items[s->waiting->item_of[s->slots[i]]];
		struct alike *last = s->alike_nr ? &s->alike[s->alike_nr - 1] : NULL;

		if (last && last->bytes == item->bytes && last->slack == item->slack && last->is_end == item->is_end) {
			last->count++;
			continue;
		}
		s->alike[s->alike_nr++] = (struct alike){ item->bytes, item->slack, i, 1, item->is_end };
	}
	TARE_SORT(s->alike, s->alike_nr, by_size);
}

/* Notes a combination as an option: of each size the first changes. */
static void note(struct search *s, int64_t left)
{
	struct tare_plan_option option = { .chosen = s->must, .left = left };
	unsigned same = 0;
	int64_t others = s->must_bytes;
	bool has_end = s->must_end, is_exact = llabs(left) <= TARE_COUNTER_STEP;

	if (!is_exact && llabs(left) >= s->nearest_left)
		return;
	for (unsigned i = 0; i < s->taken_nr; i++) {
		const struct alike *a = &s->alike[s->taken[i]];

		same = i && s->taken[i] == s->taken[i - 1] ? same + 1 : 0;
		tare_plan_put(&option.chosen, s->slots[a->first + same]);
		has_end |= a->is_end;
		others += a->is_end ? 0 : a->bytes;
	}
	option.cost = cost_of(s->stretch, left, others, has_end, s->taken_nr);
	if (is_exact) {
		s->exact_nr++;
		add(s, &option);
	} else {
		s->nearest = option;
		s->nearest_left = llabs(left);
	}
}

/* Takes `more` of the sizes from `from` on; `used`: how many of the first of them are taken already. */
static void take_more(struct search *s, unsigned from, unsigned used, unsigned more, int64_t left, int64_t slack)
{
	if (!more) {
		note(s, less_slack(left, slack));
		return;
	}
	for (unsigned i = from; i < s->alike_nr && s->exact_nr < EXACT_MAX; i++) {
		const struct alike *a = &s->alike[i];
		unsigned own = i == from ? used : 0;
		int64_t rest = left - a->bytes, reach = (more - 1) * llabs(a->bytes);

		if (own == a->count)
			continue;
		if (++s->tries > TRIES_MAX)
			return;
		if (llabs(left) > (int64_t)more * llabs(a->bytes) + slack + a->slack + UNKNOWN_END_BYTES)
			return; /* those that follow are smaller */
		if (llabs(rest) > reach + slack + a->slack + UNKNOWN_END_BYTES)
			continue;
		s->taken[s->taken_nr++] = i;
		take_more(s, i, own + 1, more - 1, rest, slack + a->slack);
		s->taken_nr--;
	}
}

/*
 * Adds the combinations that add up, with as few changes as possible; else the one that comes nearest.
 */
static void add_fitting(struct search *s)
{
	int64_t left = less_slack(s->stretch->change - s->must_bytes, s->must_slack);
	struct tare_plan_option none = { .chosen = s->must, .left = left };

	none.cost = cost_of(s->stretch, left, s->must_bytes, s->must_end, 0);
	add(s, &none);
	if (llabs(left) <= TARE_COUNTER_STEP)
		return;
	group(s);
	s->nearest_left = llabs(left);
	for (unsigned count = 1; count <= DEEP && !s->exact_nr; count++) {
		s->tries = 0;
		take_more(s, 0, 0, count, s->stretch->change - s->must_bytes, s->must_slack);
	}
	if (!s->exact_nr && s->nearest_left < llabs(left))
		add(s, &s->nearest);
}

void tare_plan_find_options(const struct tare_plan_waiting *w, const struct tare_plan_set *open,
                            const struct tare_plan_set *must, const struct tare_plan_stretch *s,
                            struct tare_plan_options *out)
{
	struct search search; /* most of it is large, and filled in when it is needed */

	search.waiting = w;
	search.stretch = s;
	search.out = out;
	search.must = (struct tare_plan_set){ { 0 } };
	search.must_bytes = search.must_slack = 0;
	search.must_end = false;
	search.slot_nr = search.alike_nr = search.taken_nr = search.exact_nr = 0;
	out->count = 0;
	for (unsigned i = 0; i < w->count; i++) {
		unsigned slot = w->order[i];
		const struct tare_plan_item *item = &w->items[w->item_of[slot]];

		if (!tare_plan_has(open, slot))
			continue;
		if (!tare_plan_has(must, slot)) {
			search.slots[search.slot_nr++] = slot;
			continue;
		}
		tare_plan_put(&search.must, slot);
		search.must_bytes += item->bytes;
		search.must_slack += item->slack;
		search.must_end |= item->is_end;
	}
	if (search.slot_nr <= FEW)
		add_all_subsets(&search);
	else
		add_fitting(&search);
}
