/* SPDX-License-Identifier: Apache-2.0 */
/* Which phases there are: repeats of one have the same name, around them the same others. */
#include "ledger/phases/phases.h"

#include "base/array.h"
#include "base/str.h"
#include "base/xalloc.h"

enum { DEPTH_MAX = 64 };

static const char *path_of(struct tare_phases_part *phases, struct tare_fold *f, int parent, const char *name)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

	if (parent >= 0)
		tare_str_addf(&path, "%s/", phases->known[parent].path);
	tare_str_add(&path, name);
	return tare_arena_strdup(&f->arena, tare_str_text(&path));
}

static void note_if_full(struct tare_phases_part *phases, struct tare_fold *f)
{
	if (phases->known_nr < TARE_PHASES_MAX || phases->is_full)
		return;
	phases->is_full = true;
	tare_fold_note(f,
	               "there are more than %d different phases; the further ones are "
	               "together in rows called (further phases)",
	               TARE_PHASES_MAX);
}

/* The first of that name; `next`, if there is none yet. */
static int namesake_of(struct tare_phases_part *phases, const char *name, size_t next)
{
	bool is_new;
	uint64_t *place = tare_strmap_put(&phases->named, name, &is_new);

	if (is_new)
		*place = next + 1;
	return (int)*place - 1;
}

static int find_known(struct tare_phases_part *phases, struct tare_fold *f, int process, int parent, const char *name,
                      const char *domain, uint8_t source, uint8_t what)
{
	struct tare_str key = { 0 };
	uint64_t *place;
	bool is_new;

	if (phases->is_full) {
		tare_str_addf(&key, "%d %d %d %d %s\n%s", process, parent, source, what, domain, name);
		place = tare_strmap_get(&phases->known_of, tare_str_text(&key));
		if (place) {
			tare_str_free(&key);
			return (int)*place - 1;
		}
		tare_str_cut(&key, 0);
		name = "(further phases)";
		parent = -1;
		domain = "";
	}
	tare_str_addf(&key, "%d %d %d %d %s\n%s", process, parent, source, what, domain, name);
	place = tare_strmap_put(&phases->known_of, tare_str_text(&key), &is_new);
	tare_str_free(&key);
	if (!is_new)
		return (int)*place - 1;
	*place = phases->known_nr + 1;
	phases->known = tare_array_reserve(phases->known, &phases->known_cap, phases->known_nr + 1, sizeof(*phases->known));
	phases->known[phases->known_nr] = (struct tare_phase_known){
		.process = process,
		.parent = parent,
		.depth = parent < 0 ? 0 : phases->known[parent].depth + 1,
		.name = tare_arena_strdup(&f->arena, name),
		.domain = tare_arena_strdup(&f->arena, domain),
		.path = path_of(phases, f, parent, name),
		.source = source,
		.what = what,
		.namesake = namesake_of(phases, name, phases->known_nr),
		.first_ns = INT64_MAX,
		.totals = tare_xcalloc((size_t)f->device_nr + 1, sizeof(struct tare_phase_total)),
	};
	return (int)phases->known_nr++;
}

/* Where it would be among the recent ones. Texts stay where they are, so their addresses tell them apart well. */
static struct tare_phase_recent *recent_of(struct tare_phases_part *phases, const struct tare_phase_recent *x)
{
	uint64_t key = (uint64_t)(uintptr_t)x->name * UINT64_C(0x9e3779b97f4a7c15) ^
	               (uint64_t)(uintptr_t)x->domain * UINT64_C(0xff51afd7ed558ccd) ^
	               ((uint64_t)x->parent << 32 | (uint64_t)x->process) * UINT64_C(0xc2b2ae3d27d4eb4f);

	return &phases->recent[(key ^ key >> 32) >> 8 & (TARE_PHASES_RECENT - 1)];
}

static bool is_same(const struct tare_phase_recent *a, const struct tare_phase_recent *b)
{
	return a->place && a->name == b->name && a->domain == b->domain && a->process == b->process &&
	       a->parent == b->parent && a->source == b->source && a->what == b->what;
}

int tare_phase_known(struct tare_phases_part *phases, struct tare_fold *f, int process, int parent, const char *name,
                     const char *domain, uint8_t source, uint8_t what)
{
	struct tare_phase_recent x = { name, domain, process, parent, source, what, 0 };
	struct tare_phase_recent *recent, *beside;

	if (parent >= 0 && phases->known[parent].depth + 1 >= DEPTH_MAX)
		x.parent = phases->known[parent].parent; /* beside it: a recursion, most likely */
	note_if_full(phases, f);
	recent = recent_of(phases, &x);
	beside = phases->recent + ((recent - phases->recent) ^ 1);
	if (is_same(recent, &x))
		return recent->place - 1;
	if (is_same(beside, &x))
		return beside->place - 1;
	*beside = *recent;
	*recent = x;
	recent->place = 1 + find_known(phases, f, process, x.parent, name, domain, source, what);
	return recent->place - 1;
}
