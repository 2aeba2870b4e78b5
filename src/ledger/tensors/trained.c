/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a look through the program's objects says of training: parameters that have a gradient, or state of an
 * optimizer, are trained; the others beside them are frozen, or copies. In a program without modules the tensors that
 * ask for gradients are its parameters. And what a line made for each of those that are
 * trained, as large as it, is what an optimizer keeps that the program wrote itself; or a copy (a moving average), where
 * the state of these parameters is in an optimizer of PyTorch, or the line made them for what is not trained, too.
 */
#include "ledger/tensors/tensors.h"

/* LEAST: parameters of one size, of which as many equal blocks are no chance. */
enum { LEAST = 3, COPIES = 3 };

/* Sizes of blocks, whatever their order. */
struct sizes {
	uint64_t count, sum; /* sum: of their hashes */
	int64_t first;
	bool is_mixed;
};

static void add(struct sizes *s, int64_t bytes)
{
	uint64_t hash = (uint64_t)bytes * UINT64_C(0x9e3779b97f4a7c15);

	s->is_mixed |= s->count && s->first != bytes;
	s->first = bytes;
	s->count++;
	s->sum += hash ^ hash >> 29;
}

static bool has_any(const struct tare_scan_entries *scanned, enum tare_scanned_role role)
{
	for (size_t i = 0; i < scanned->count; i++)
		if (scanned->items[i].role == role)
			return true;
	return false;
}

/* A tensor of the program's own that asks for gradients: what a program without modules trains. */
static bool is_leaf(const struct tare_block_facts *facts)
{
	const uint32_t leaf = TARE_SCANNED_LEAF | TARE_SCANNED_REQUIRES_GRAD;

	return facts->role == TARE_SCANNED_TENSOR && (facts->role_flags & leaf) == leaf;
}

/* Notes the parameters that are trained; are there any? with_state: for how many an optimizer keeps something. */
static bool note_trained(struct tare_blocks *blocks, const struct tare_scan_entries *scanned, bool has_modules,
                         uint64_t *with_state)
{
	TARE_FREED_BY(tare_map_free) struct tare_map known = { 0 };
	bool is_any = false, is_new;

	*with_state = 0;

	for (size_t i = 0; i < scanned->count; i++) {
		const struct tare_scan_entry *p = &scanned->items[i];
		struct tare_live_block *b =
			p->role == TARE_SCANNED_GRADIENT || p->role == TARE_SCANNED_STATE ? tare_blocks_find(blocks, p->of) : NULL;
		struct tare_block_facts facts;

		if (!b)
			continue;
		facts = *tare_block_facts_of(&blocks->work, b);
		facts.is_trained = true;
		tare_block_facts_change(&blocks->work, b, &facts);
		if (facts.role != TARE_SCANNED_PARAMETER && (has_modules || !is_leaf(&facts)))
			continue;
		is_any = true;
		if (p->role != TARE_SCANNED_STATE)
			continue;
		tare_map_put(&known, p->of, &is_new);
		*with_state += is_new;
	}
	return is_any;
}

/* What a program may keep copies of. */
struct sets {
	struct sizes trained, parameters, with_buffers;
	bool has_state; /* an optimizer of PyTorch keeps something for most of those that are trained */
};

static struct sets sets_of(struct tare_blocks *blocks, bool has_modules, uint64_t with_state)
{
	struct sets sets = { 0 };

	for (size_t i = 0; i < blocks->count; i++) {
		struct tare_live_block *b = &blocks->items[i];
		struct tare_block_facts facts;
		bool is_own, is_parameter;

		if (b->process < 0)
			continue;
		facts = *tare_block_facts_of(&blocks->work, b);
		is_own = !has_modules && is_leaf(&facts);
		is_parameter = is_own || facts.role == TARE_SCANNED_PARAMETER;
		if (!is_parameter && facts.role != TARE_SCANNED_BUFFER)
			continue;
		add(&sets.with_buffers, b->bytes);
		if (!is_parameter)
			continue;
		add(&sets.parameters, b->bytes);
		facts.beside_training += facts.beside_training < UINT8_MAX;
		tare_block_facts_change(&blocks->work, b, &facts);
		if (facts.is_trained || is_own)
			add(&sets.trained, b->bytes);
	}
	sets.has_state = 2 * with_state > sets.trained.count;
	return sets;
}

/* May it be something that the program keeps for a parameter? */
static bool may_be_kept(const struct tare_work *work, const struct tare_live_block *b)
{
	const struct tare_block_facts *facts;

	if (b->process < 0 || !b->site)
		return false;
	facts = tare_block_facts_of(work, b);
	return facts->maker == TARE_MAKER_PROGRAM && facts->kind == TARE_WORK_OTHER && facts->role == TARE_SCANNED_TENSOR &&
	       !(facts->role_flags & TARE_SCANNED_REQUIRES_GRAD);
}

static bool is_for_each(const struct sizes *site, const struct sizes *wanted, uint64_t most)
{
	for (uint64_t n = 1; n <= most; n++)
		if (site->count == n * wanted->count && site->sum == n * wanted->sum)
			return true;
	return false;
}

/* No optimizer keeps something for what is not trained. */
static void note_site(struct tare_live_block *b, const struct sizes *site, const struct sets *sets)
{
	bool is_for_trained = is_for_each(site, &sets->trained, COPIES);
	bool is_for_parameter =
		is_for_trained || is_for_each(site, &sets->parameters, 1) || is_for_each(site, &sets->with_buffers, 1);

	b->marks &= (uint16_t) ~(TARE_BLOCK_FOR_EACH | TARE_BLOCK_COPY);
	if (is_for_parameter)
		b->marks |= TARE_BLOCK_FOR_EACH;
	if (is_for_parameter && (sets->has_state || !is_for_trained))
		b->marks |= TARE_BLOCK_COPY;
}

static void note_kept(struct tare_blocks *blocks, const struct sets *sets)
{
	TARE_FREED_BY(tare_map_free) struct tare_map counts = { 0 }, sums = { 0 };
	struct sizes site;

	for (size_t i = 0; i < blocks->count; i++)
		if (may_be_kept(&blocks->work, &blocks->items[i])) {
			struct sizes one = { 0 };

			add(&one, blocks->items[i].bytes);
			*tare_map_put(&counts, blocks->items[i].site, NULL) += 1;
			*tare_map_put(&sums, blocks->items[i].site, NULL) += one.sum;
		}
	for (size_t i = 0; i < blocks->count; i++) {
		struct tare_live_block *b = &blocks->items[i];

		if (!may_be_kept(&blocks->work, b))
			continue;
		site = (struct sizes){ .count = *tare_map_get(&counts, b->site), .sum = *tare_map_get(&sums, b->site) };
		note_site(b, &site, sets);
	}
}

void tare_trained_note(struct tare_blocks *blocks, const struct tare_scan_entries *scanned)
{
	bool is_of_modules = has_any(scanned, TARE_SCANNED_PARAMETER);
	struct sets sets;
	uint64_t with_state;

	/* Shards of parameters have other addresses than their gradients. */
	if (has_any(scanned, TARE_SCANNED_GATHERED) || !note_trained(blocks, scanned, is_of_modules, &with_state))
		return;
	sets = sets_of(blocks, is_of_modules, with_state);
	if (sets.trained.count >= LEAST || sets.trained.is_mixed)
		note_kept(blocks, &sets);
}
