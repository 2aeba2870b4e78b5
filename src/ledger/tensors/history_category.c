/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live tensors over time by category. This is a second pass: the moments that the first one kept are given, and each block is added
 * to those that it was there at.
 *
 * What a block is for follows from what became of it, and from what its line and its thread did in the whole recording. So nothing is
 * decided while the fold goes on: blocks are summed up by all that a rule can see of them, and each such group is given to the rules when
 * the recording is over, as the blocks of every table are.
 */
#include "ledger/tensors/tensors.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* The first point that is not before t. */
static size_t point_at(const struct tare_memory_history_panel *p, int64_t t)
{
	size_t low = 0;

	TARE_BISECT(low, p->point_nr, i, p->points[i].t_ns < t);
	return low;
}

/* Blocks of one process that are alike to every rule, and so will be for the same, whatever that is. */
struct tare_kind_group {
	struct tare_known_block seen; /* as tare_rule_sees() has it */
	uint32_t next;                /* of the same hash: 1 + its place, 0: none */
};

static uint64_t hash_of(const struct tare_known_block *seen)
{
	uint64_t words[sizeof(*seen) / sizeof(uint64_t)], hash = 0;

	_Static_assert(sizeof(*seen) % sizeof(uint64_t) == 0, "a known block is no row of words");
	memcpy(words, seen, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

static size_t group_of(struct tare_kinds *k, const struct tare_known_block *b)
{
	struct tare_known_block seen = tare_rule_sees(b);
	uint64_t *first = tare_map_put(&k->group_at, hash_of(&seen), NULL);

	for (size_t i = (size_t)*first; i; i = k->groups[i - 1].next)
		if (!memcmp(&k->groups[i - 1].seen, &seen, sizeof(seen)))
			return i - 1;
	k->groups = tare_array_reserve(k->groups, &k->group_cap, k->group_nr + 1, sizeof(*k->groups));
	k->groups[k->group_nr] = (struct tare_kind_group){ seen, (uint32_t)*first };
	*first = k->group_nr + 1;
	return k->group_nr++;
}

/* What the row of live tensors has of a block. */
static int64_t bytes_of(const struct tare_known_block *b, int device)
{
	if (b->block.flags & TARE_TENSOR_MAPPED)
		return 0;
	return device < 0 ? b->block.bytes : b->block.bucket < 0 ? 0 : tare_block_booked(&b->block, &b->facts);
}

static void change(struct tare_kinds *k, size_t group, size_t point, int64_t by)
{
	uint64_t *sum = tare_map_put(&k->changes, group * (k->panel->point_nr + 1) + point, NULL);

	*sum += (uint64_t)by;
}

/* Since when the row of live tensors has it. */
static int64_t counted_since(const struct tare_kinds *k, const struct tare_live_block *b)
{
	const uint64_t *late = tare_map_get(&k->late, b->serial);

	return late ? (int64_t)*late : b->born_ns;
}

static void add(const struct tare_fold *f, struct tare_kinds *k, const struct tare_live_block *b, int device,
                size_t until)
{
	size_t from = point_at(k->panel, counted_since(k, b)), group;
	struct tare_known_block known;
	int64_t bytes;

	if (from >= until)
		return;
	known = tare_known(tare_tensors_work(f, b->process, device), b);
	bytes = bytes_of(&known, device);
	if (!bytes)
		return;
	group = group_of(k, &known);
	change(k, group, from, bytes);
	change(k, group, until, -bytes);
}

static struct tare_kinds *kinds_of(struct tare_fold *f, int device)
{
	return device < 0 ? &f->host.kinds : &f->devices[device]->kinds;
}

static int64_t now_of(const struct tare_fold *f, int device)
{
	return device < 0 ? f->host.samples.until : f->devices[device]->samples.until;
}

void tare_tensor_kind_made(struct tare_fold *f, const struct tare_live_block *b, int device)
{
	struct tare_kinds *k = kinds_of(f, device);
	int64_t now = now_of(f, device);

	if (k->panel && now > b->born_ns)
		*tare_map_put(&k->late, b->serial, NULL) = (uint64_t)now;
}

void tare_tensor_kind_gone(struct tare_fold *f, const struct tare_live_block *b, int device)
{
	struct tare_kinds *k = kinds_of(f, device);

	if (k->panel)
		add(f, k, b, device, point_at(k->panel, now_of(f, device)));
}

static void begin(struct tare_kinds *k, const struct tare_memory_history *c, int device)
{
	for (int i = 0; i < c->panel_nr; i++)
		if (c->panels[i].device == device)
			k->panel = &c->panels[i];
}

void tare_tensor_kinds_begin(struct tare_fold *f)
{
	const struct tare_memory_history *first = f->history_by_category;

	if (!first)
		return;
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			begin(&f->devices[i]->kinds, first, tare_fold_device_place(f, f->devices[i]));
	begin(&f->host.kinds, first, -1);
}

static void add_live(struct tare_fold *f, struct tare_kinds *k, const struct tare_blocks *blocks, int device)
{
	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->items[i].process >= 0)
			add(f, k, &blocks->items[i], device, k->panel->point_nr);
}

static enum tare_category category_of(const struct tare_fold *f, const struct tare_known_block *b, int device)
{
	return tare_rules[tare_tensors_rule(f, b, device)].category;
}

static void add_peak(struct tare_fold *f, struct tare_kinds *k, int device, int process, enum tare_moment m)
{
	struct tare_block_walk walk = tare_block_walk_of(f, device, process, m);
	const struct tare_live_block *b;

	while ((b = tare_block_walk_next(&walk))) {
		struct tare_known_block known = tare_block_walk_known(&walk, b);

		k->peak[category_of(f, &known, device)] += bytes_of(&known, device);
	}
}

/* All is known now: from groups to categories. */
static void decide(const struct tare_fold *f, struct tare_kinds *k, int device)
{
	size_t stride = k->panel->point_nr + 1, at = 0;
	enum tare_category *category = tare_xcalloc(k->group_nr + 1, sizeof(*category));
	const struct tare_map_slot *slot;

	k->bytes = tare_xcalloc(stride * TARE_CATEGORY_NR, sizeof(*k->bytes));
	for (size_t i = 0; i < k->group_nr; i++)
		category[i] = category_of(f, &k->groups[i].seen, device);
	while ((slot = tare_map_next(&k->changes, &at)))
		k->bytes[slot->key % stride * TARE_CATEGORY_NR + category[slot->key / stride]] += (int64_t)slot->value;
	for (size_t i = TARE_CATEGORY_NR; i < stride * TARE_CATEGORY_NR; i++)
		k->bytes[i] += k->bytes[i - TARE_CATEGORY_NR];
	free(category);
}

static void finish(struct tare_fold *f, int device)
{
	struct tare_kinds *k = kinds_of(f, device);

	if (!k->panel)
		return;
	for (int i = 0; i < f->process_nr; i++) {
		struct tare_process_fold *p = f->processes[i];

		if (p && device < 0) {
			add_live(f, k, &p->host_blocks, device);
			add_peak(f, k, device, i, TARE_MOMENT_HOST);
		} else if (p && device < p->on_device_nr && p->on_device[device]) {
			add_live(f, k, &p->on_device[device]->blocks, device);
		}
	}
	if (device >= 0)
		add_peak(f, k, device, -1, TARE_MOMENT_PEAK);
	decide(f, k, device);
}

void tare_tensor_kinds_finish(struct tare_fold *f)
{
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			finish(f, i);
	finish(f, -1);
}
