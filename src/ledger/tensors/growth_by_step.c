/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What grows in steps that are too quick for the columns of time (rule "growth"): a hundred steps in a twentieth of a second,
 * behind a start of ten. Of the blocks that were there when there was most in tensors it is known which backward pass they were
 * made after. A line that has some of nearly every step, from the first ones to the last and as much of each quarter,
 * keeps something of each. What is given back, a ring, a cache that is full and an epoch's outputs have no such blocks.
 */
#include "ledger/tensors/tensors.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_STEPS = 16, LEAST_BYTES = 64 << 10, QUARTERS = 4 };
/* Of the steps those with a block; of all the bytes what a quarter has. */
static const double least_steps = 0.8, least_quarter = 0.18, most_quarter = 0.32, confidence = 0.9;

/* What a place in the program has, and of which steps. */
struct place {
	uint32_t site, steps;
	int64_t bytes, quarters[QUARTERS], first_ns, last_ns;
	uint32_t first, last;
};

struct search {
	const struct tare_fold *f;
	const struct tare_training *of;
	enum tare_moment m;
	uint32_t passes; /* that had begun */
	struct place *places;
	size_t count;
	struct tare_map place_of, seen; /* site → 1 + place; site and step */
};

/* Not what the program's objects say that it is: parameters, gradients and state come and stay with the first steps. */
static bool is_kept(const struct tare_known_block *b)
{
	return b->block.site && !(b->block.flags & TARE_TENSOR_MAPPED) &&
	       (!b->facts.role || b->facts.role == TARE_SCANNED_TENSOR) &&
	       (b->facts.kind == TARE_WORK_OTHER || b->facts.kind == TARE_WORK_FORWARD);
}

static struct place *place_of(struct search *s, uint32_t site)
{
	uint64_t *known = tare_map_put(&s->place_of, site, NULL);

	if (!*known) {
		s->places = tare_xrealloc(s->places, s->count + 1, sizeof(*s->places));
		s->places[s->count++] = (struct place){ .site = site, .first = UINT32_MAX, .first_ns = INT64_MAX };
		*known = s->count;
	}
	return &s->places[*known - 1];
}

static void add(struct search *s, const struct tare_known_block *b)
{
	struct place *p = place_of(s, b->block.site);
	uint32_t step = b->facts.backwards;
	uint32_t quarter = (uint32_t)((uint64_t)step * QUARTERS / (s->passes + 1));
	bool is_new;

	tare_map_put(&s->seen, (uint64_t)b->block.site << 32 | step, &is_new);
	p->steps += is_new;
	p->bytes += b->block.bytes;
	p->quarters[quarter] += b->block.bytes;
	p->first = step < p->first ? step : p->first;
	p->last = step > p->last ? step : p->last;
	p->first_ns = b->block.born_ns < p->first_ns ? b->block.born_ns : p->first_ns;
	p->last_ns = b->block.born_ns > p->last_ns ? b->block.born_ns : p->last_ns;
}

/* All there were, of the thread that has most: behind the moment, too. */
static uint32_t passes_of(const struct tare_work *w)
{
	uint32_t most = 0;

	for (size_t i = 0; i < w->count; i++)
		most = w->workers[i].backwards > most ? w->workers[i].backwards : most;
	return most;
}

static void look(struct search *s, const struct tare_work *work)
{
	struct tare_block_walk walk = tare_block_walk_of(s->f, s->of->memory, s->of->process, s->m);
	const struct tare_live_block *b;

	while ((b = tare_block_walk_next(&walk))) {
		struct tare_known_block known = tare_known(work, b);

		if (is_kept(&known))
			add(s, &known);
	}
}

static bool grows(const struct search *s, const struct place *p)
{
	uint32_t edge = s->passes / 16 + 2;

	if (p->bytes < LEAST_BYTES || p->first > edge || p->last + edge < s->passes ||
	    p->steps < least_steps * (p->last - p->first + 1) || p->last_ns <= p->first_ns)
		return false;
	for (int i = 0; i < QUARTERS; i++) {
		double share = (double)p->quarters[i] / (double)p->bytes;

		if (share < least_quarter || share > most_quarter)
			return false;
	}
	return true;
}

static bool is_told(const struct tare_ledger *out, const struct tare_growth *row)
{
	for (int i = 0; i < out->growth_nr; i++) {
		const struct tare_growth *g = &out->growths[i];

		if (g->process == row->process && g->fold_device == row->fold_device && g->line && !strcmp(g->line, row->line))
			return true;
	}
	return false;
}

static void add_row(const struct search *s, const struct place *p, struct tare_ledger *out)
{
	double seconds = (double)(p->last_ns - p->first_ns) / 1e9;
	struct tare_ledger_line line = { 0 };
	struct tare_growth row = {
		.pid = s->of->pid,
		.generation = s->of->generation,
		.program = s->of->program,
		.device = s->of->device,
		.what = "tensors",
		.line = tare_fold_site_name(s->f, p->site, true, out->memory),
		.short_line = tare_fold_site_name(s->f, p->site, false, out->memory),
		.process = s->of->process,
		.fold_device = s->of->memory,
		.is_of_blocks = true,
		.has_steps = true,
		.bytes = p->bytes,
		.per_step = p->bytes / (int64_t)(s->of->count ? s->of->count : 1),
		.per_second = llround((double)p->bytes / seconds),
		.since_ns = p->first_ns,
		.confidence = confidence,
	};
	struct tare_growth *rows;

	if (!row.line || is_told(out, &row))
		return;
	tare_fold_line_name(s->f, p->site, TARE_ACCOUNT_NONE, out->memory, &line);
	row.stack = line.stack;
	row.short_stack = line.short_stack;
	rows = tare_arena_alloc(out->memory, ((size_t)out->growth_nr + 1) * sizeof(*rows));
	if (out->growth_nr)
		memcpy(rows, out->growths, (size_t)out->growth_nr * sizeof(*rows));
	rows[out->growth_nr++] = row;
	out->growths = rows;
}

static void search(const struct tare_fold *f, const struct tare_training *of, struct tare_ledger *out)
{
	struct search s = { .f = f, .of = of, .m = of->memory < 0 ? TARE_MOMENT_HOST : TARE_MOMENT_TENSORS };
	const struct tare_process_fold *p = f->processes[of->process];
	const struct tare_work *work;

	if (of->memory >= 0 && (of->memory >= p->on_device_nr || !p->on_device[of->memory]))
		return;
	work = tare_tensors_work(f, of->process, of->memory);
	s.passes = passes_of(work);
	if (s.passes >= LEAST_STEPS)
		look(&s, work);
	for (size_t i = 0; i < s.count; i++)
		if (grows(&s, &s.places[i]))
			add_row(&s, &s.places[i], out);
	free(s.places);
	tare_map_free(&s.place_of);
	tare_map_free(&s.seen);
}

void tare_tensors_growth(const struct tare_fold *f, struct tare_ledger *out)
{
	for (int i = 0; i < out->training_nr; i++)
		if (f->processes[out->trainings[i].process])
			search(f, &out->trainings[i], out);
}
