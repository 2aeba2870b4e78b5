/* SPDX-License-Identifier: Apache-2.0 */
/* The same ledgers from a checkpoint and what came after it. */
#include "ledger_world_private.h"

#include "base/arena.h"
#include "base/array.h"
#include "ledger/checkpoint.h"
#include "test.h"

#include <stdlib.h>

struct checkpoint {
	struct tare_arena arena;
	struct tare_event *events;
	size_t count, cap, at;
	struct world *w;
	int64_t cut;
};

static void keep(void *arg, const struct tare_event *e)
{
	struct checkpoint *c = arg;
	union record *rec = tare_arena_alloc(&c->arena, sizeof(*rec));
	struct tare_event *own;

	c->events = tare_array_reserve(c->events, &c->cap, c->count + 1, sizeof(*c->events));
	own = &c->events[c->count++];
	*rec = *(const union record *)e->rec.head;
	*own = *e;
	own->rec.head = &rec->head;
	own->text = tare_arena_strdup(&c->arena, e->text);
	own->name = e->name ? tare_arena_strdup(&c->arena, e->name) : NULL;
	own->api = e->api ? tare_arena_strdup(&c->arena, e->api) : NULL;
	own->domain = e->domain ? tare_arena_strdup(&c->arena, e->domain) : NULL;
}

static bool next_of_both(void *arg, struct tare_event *e)
{
	struct checkpoint *c = arg;

	if (c->at < c->count) {
		*e = c->events[c->at++];
		return true;
	}
	while (world_next(c->w, e))
		if (e->at_ns > c->cut)
			return true;
	return false;
}

static void rewind_both(void *arg)
{
	struct checkpoint *c = arg;

	c->at = 0;
	world_rewind(c->w);
}

static bool has_end(const struct world *w, int64_t until)
{
	for (size_t i = 0; i < w->item_nr; i++)
		if (w->items[i].event.kind == TARE_KIND_END && w->items[i].event.at_ns <= until)
			return true;
	return false;
}

static void drop(void *arg, const struct tare_event *e)
{
	(void)arg, (void)e;
}

int64_t world_cut(struct world *w, int64_t until)
{
	struct tare_ledger_source source = { .next = world_next, .rewind = world_rewind, .arg = w };

	world_link_up(w);
	world_rewind(w);
	return tare_ledger_checkpoint(&source, NULL, until, drop, NULL);
}

/* From a checkpoint and the rest. */
static void build_both(struct checkpoint *c, const struct tare_instant *instants, int nr,
		       struct tare_ledger *out)
{
	struct tare_ledger_source both = { .next = next_of_both, .rewind = rewind_both, .arg = c };

	for (int p = 0; p < c->w->process_nr; p++)
		c->w->processes[p]->checkpoint_ns = c->cut;
	rewind_both(c);
	tare_ledger_build(&both, NULL, instants, nr, out);
	for (int p = 0; p < c->w->process_nr; p++)
		c->w->processes[p]->checkpoint_ns = -1;
}

struct tare_ledger world_ledger_from_checkpoint(struct world *w, int64_t until, const char *at)
{
	struct tare_ledger_source source = { .next = world_next, .rewind = world_rewind, .arg = w };
	struct checkpoint c = { .w = w };
	struct tare_instant instant;
	struct tare_ledger l;

	CHECK_INT(tare_instant_parse(at, &instant, NULL), 0);
	world_link_up(w);
	world_rewind(w);
	c.cut = tare_ledger_checkpoint(&source, NULL, until, keep, &c);
	CHECK(c.cut > 0);
	build_both(&c, &instant, 1, &l);
	tare_arena_free(&c.arena);
	free(c.events);
	return l;
}

void world_check_checkpoints(struct world *w, int cuts)
{
	struct tare_ledger_source source = { .next = world_next, .rewind = world_rewind, .arg = w };
	const char *at[] = { "peak", "end", "peak:tensors", "peak:host" };
	enum { END = 1, AT_NR = sizeof(at) / sizeof(at[0]) };
	struct tare_ledger whole[AT_NR], parts[AT_NR];
	struct tare_instant instants[AT_NR];

	world_build(w, NULL, at, AT_NR, whole);
	for (int i = 0; i < AT_NR; i++)
		CHECK_INT(tare_instant_parse(at[i], &instants[i], NULL), 0);
	for (int i = 0; i < cuts && w->item_nr; i++) {
		struct checkpoint c = { .w = w };
		size_t item = w->item_nr * (size_t)(i + 1) / (size_t)(cuts + 1);

		world_rewind(w);
		c.cut = tare_ledger_checkpoint(&source, NULL, w->items[item].event.at_ns, keep, &c);
		if (c.cut > 0 && !has_end(w, c.cut)) {
			build_both(&c, instants, AT_NR, parts);
			for (int k = 0; k < AT_NR; k++) {
				printf("# %s with a checkpoint at %lld ns\n", at[k],
				       (long long)c.cut);
				world_check_same(&whole[k], &parts[k]);
				world_check_host_lines(&parts[k]);
				world_check_categories(&parts[k]);
				if (k == END)
					world_check_same_stacks(&whole[k], &parts[k]);
				tare_ledger_free(&parts[k]);
			}
		}
		tare_arena_free(&c.arena);
		free(c.events);
	}
	for (int i = 0; i < AT_NR; i++)
		tare_ledger_free(&whole[i]);
}
