/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "page order", calls that are late together. Several threads may have lost the CPU inside their calls at once; then to
 * put one of these calls earlier may make the rest fit worse until another is put earlier too, and nothing fits better alone. So
 * where readings still do not fit, each call that was open at such a reading is put earlier all the same, all others are looked
 * at anew from there, and what fits best is kept.
 */
#include "ledger/settle/overlap_pages.h"

#include "base/xalloc.h"

#include <stdlib.h>

/*
 * How much is tried in one cluster: TRIES places, TOUCHES calls to look at for all of them. BETTER: how often it goes on from what
 * was found.
 */
enum { TRIES = 512, TOUCHES = 1 << 19, BETTER = 4 };

struct together {
	struct tare_paging *p;
	int64_t *start, *best; /* the stamps of all calls */
	int64_t least;         /* misfit with the best */
	size_t *bad;           /* of each point: the first from there on that does not fit */
	size_t tries;          /* left */
};

static int64_t misfit(const struct tare_paging *p)
{
	int64_t sum = 0;

	for (size_t k = 0; k < p->o->point_nr; k++)
		sum += llabs(p->off[k]);
	return sum;
}

static void save(const struct tare_paging *p, int64_t *stamps)
{
	for (size_t i = 0; i < p->o->step_nr; i++)
		stamps[i] = p->made[i].stamp;
}

static void go_back(struct tare_paging *p, const int64_t *stamps)
{
	for (size_t i = 0; i < p->o->step_nr; i++)
		p->made[i].stamp = stamps[i];
	tare_paging_look(p);
}

static void find_bad(struct together *g)
{
	const struct tare_overlap *o = g->p->o;

	g->bad[o->point_nr] = o->point_nr;
	for (size_t k = o->point_nr; k-- > 0;)
		g->bad[k] = g->p->off[k] ? k : g->bad[k + 1];
}

/* Can the call have been made before a reading that does not fit, and counts as made behind it? */
static bool is_open(const struct together *g, const struct tare_touch *s)
{
	const struct tare_overlap *o = g->p->o;
	size_t k = g->bad[tare_overlap_point_at(o->points, o->point_nr, g->p->made[s->step].since)];

	return k < o->point_nr && o->points[k].t < s->t;
}

/* Tries a call in all of its places, each with the others anew. */
static void try_call(struct together *g, size_t own)
{
	struct tare_move m;

	for (size_t nth = 0; g->tries && tare_paging_place(g->p, own, nth, &m); nth++) {
		int64_t now;

		g->tries--;
		tare_paging_move(g->p, own, &m);
		tare_paging_put_all(g->p);
		now = misfit(g->p);
		if (now < g->least) {
			g->least = now;
			save(g->p, g->best);
		}
		go_back(g->p, g->start);
	}
}

/* Returns whether something fits better than before, and keeps that. */
static bool try_all(struct together *g)
{
	int64_t before = g->least = misfit(g->p);

	save(g->p, g->start);
	find_bad(g);
	for (size_t i = 0; i < g->p->touch_nr && g->tries; i++)
		if (is_open(g, &g->p->touches[i]))
			try_call(g, i);
	if (g->least < before)
		go_back(g->p, g->best);
	return g->least < before;
}

void tare_paging_try_together(struct tare_paging *p)
{
	size_t calls = p->o->step_nr;
	struct together g = { .p = p, .tries = TOUCHES / (p->touch_nr + 1) };

	if (!misfit(p))
		return;
	if (g.tries > TRIES)
		g.tries = TRIES;
	g.start = tare_xcalloc(calls, sizeof(*g.start));
	g.best = tare_xcalloc(calls, sizeof(*g.best));
	g.bad = tare_xcalloc(p->o->point_nr + 1, sizeof(*g.bad));
	for (int i = 0; i < BETTER && g.tries && try_all(&g); i++)
		;
	free(g.start);
	free(g.best);
	free(g.bad);
}
