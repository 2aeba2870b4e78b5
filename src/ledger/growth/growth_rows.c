/* SPDX-License-Identifier: Apache-2.0 */
/* Rule "growth": the courses of one line together are asked whether they grow, and those that do become rows. */
#include "ledger/growth/growth.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fewer steps than that say nothing; nor does less time, where there are no steps. The resident memory of a process of
 * which nothing else is known is all that a start looks like, too: one takes half a minute at most.
 */
enum { LEAST_STEPS = 8 };
static const int64_t least_ns = INT64_C(1000000000), least_unknown_ns = INT64_C(30000000000);
/* A growth that is less sure is not told; one by time alone is less sure than one by steps. */
static const double least_confidence = 0.5, most_confidence = 0.99, by_time_alone = 0.9;

static const struct rule {
	int64_t least;     /* bytes */
	double least_part; /* of what there is */
	double tidied;     /* of the time */
} line_rule = { 64 << 10, 0.1, 0.12 }, resident_rule = { 8 << 20, 0.02, 0.25 };

/* What one line of a process has in one memory, of one kind. */
struct group {
	int process, device; /* device -1: the memory of the CPU */
	int account;         /* enum tare_account, TARE_BUCKET_TENSOR; NONE: resident memory */
	uint32_t site;       /* one of its sites; 0: no line is known */
	uint64_t owner;
	const char *line; /* NULL: not known */
	bool is_resident;
	bool is_of_arenas; /* all that was mapped by lines of Python */
	bool is_of_python; /* mapped by Python itself, for its small objects */
	int64_t most;      /* by which any of its sites rose in the second half: `site` did */
	int end;           /* columns that have begun */
	int64_t bytes[TARE_GROWTH_COLUMNS];
	int64_t compiled[TARE_GROWTH_COLUMNS]; /* of these what was asked for while a compiler ran */
};

struct groups {
	struct group *items;
	size_t count, cap;
	struct tare_strmap of;
	struct tare_arena names;
	const struct tare_growth_course **arenas;
	size_t arena_nr, arena_cap;
};

/* ---- courses become groups ---- */

/* Is a bucket's growth one of its line? What follows from other buckets is not, nor what can be given back. */
static bool is_told(const struct tare_bucket *b)
{
	switch (b->account) {
	case TARE_BUCKET_TENSOR:
	case TARE_BUCKET_PINNED:
		return true;
	case TARE_ACCOUNT_GRANULARITY:
	case TARE_ACCOUNT_TRIAL:
	case TARE_ACCOUNT_PREALLOCATED:
	case TARE_ACCOUNT_POOL_IDLE:
		return false;
	default:
		return b->account < TARE_ACCOUNT_NR && !b->is_subdivided;
	}
}

/* What a module makes while it is imported is there once, however long importing takes. */
static bool is_importing(const struct tare_site *site)
{
	const struct tare_line_stack *stack = site->python;

	for (uint32_t i = 0; stack && i < stack->depth; i++)
		if (!strncmp(stack->lines[i].file, "<frozen importlib", 17))
			return true;
	return false;
}

static bool is_of_python(const struct tare_fold *f, const struct tare_bucket *b)
{
	const char *owner = b->owner && b->account == TARE_ACCOUNT_MAPPED ? f->owners[b->owner - 1] : "";

	return b->site && f->sites[b->site].python && (!strncmp(owner, "python", 6) || !strncmp(owner, "libpython", 9));
}

static bool group_of_course(const struct tare_growth_part *p, const struct tare_fold *f,
                            const struct tare_growth_course *c, struct group *out)
{
	*out = (struct group){ .process = c->id, .device = -1, .end = TARE_GROWTH_COLUMNS };
	if (c->of == TARE_GROWTH_RESIDENT) {
		out->is_resident = true;
		out->end = tare_growth_column(p, f->seen_ns) + 1;
		return f->processes[c->id] != NULL;
	}
	if (c->of == TARE_GROWTH_BUCKET) {
		const struct tare_bucket *b = &f->buckets[c->id];

		out->process = b->process;
		out->device = b->account == TARE_BUCKET_PINNED ? -1 : b->device;
		out->account = b->account;
		out->site = b->site;
		out->owner = b->site ? 0 : b->owner;
		out->is_of_python = is_of_python(f, b);
		out->end = p->clocks[b->device + 1].column + 1;
		return is_told(b) && !(b->site && is_importing(&f->sites[b->site]));
	}
	out->site = (uint32_t)c->id;
	out->process = f->sites[c->id].process->index;
	out->account = TARE_BUCKET_TENSOR;
	out->end = p->clocks[0].column + 1;
	return !is_importing(&f->sites[c->id]);
}

static struct group *known_group(struct groups *g, const struct tare_fold *f, struct group *like)
{
	struct tare_str key = { 0 };
	uint64_t *place;
	bool is_new;

	like->line = tare_fold_site_name(f, like->site, true, &g->names);
	tare_str_addf(&key, "%d %d %d %d %d %llu %s", like->process, like->device, like->account, like->is_resident,
	              like->is_of_arenas, (unsigned long long)like->owner, like->line ? like->line : "");
	place = tare_strmap_put(&g->of, tare_str_text(&key), &is_new);
	tare_str_free(&key);
	if (is_new) {
		TARE_APPEND(g->items, g->count, g->cap) = *like;
		*place = g->count;
	}
	return &g->items[*place - 1];
}

/* What the course has in the column that is under way. */
static int64_t least_now(const struct tare_fold *f, const struct tare_growth_course *c)
{
	return c->of == TARE_GROWTH_BUCKET ? f->buckets[c->id].least : f->sites[c->id].least;
}

/* Resident memory is read every now and then: it is what it was, until it is read again. */
static void add_readings(struct group *g, const struct tare_growth_course *c)
{
	int64_t last = 0;

	for (int i = 0; i < g->end; i++) {
		last = c->least[i] < 0 ? last : c->least[i];
		g->bytes[i] = last;
	}
}

/* By how much it rose from a column on, in those that are over: a program may give back as it ends. */
static int64_t rise_of(const struct tare_growth_course *c, int first, int end)
{
	int64_t most = c->least[first];

	for (int i = first + 1; i + 1 < end; i++)
		most = c->least[i] > most ? c->least[i] : most;
	return most - c->least[first];
}

/* What becomes more in steps is no start, whoever asks for it: only of that by time it is left out. */
static void add_compiled(struct group *g, const struct group *like, const struct tare_growth_course *c, int64_t now)
{
	for (int i = 0; i + 1 < like->end; i++)
		g->compiled[i] += c->least[i];
	g->compiled[like->end - 1] += now;
}

static void add_bytes(struct group *g, const struct group *like, const struct tare_growth_course *c, int64_t now)
{
	for (int i = 0; i + 1 < like->end; i++)
		g->bytes[i] += c->least[i];
	g->bytes[like->end - 1] += now;
}

/* Which line has an arena mapped is chance: all of them are one group, too. */
static void add_arena(struct groups *groups, const struct tare_fold *f, const struct group *like,
                      const struct tare_growth_course *c)
{
	struct group all = { .process = like->process,
		                 .device = like->device,
		                 .account = like->account,
		                 .is_of_arenas = true,
		                 .is_of_python = like->is_of_python,
		                 .end = like->end };

	add_bytes(known_group(groups, f, &all), like, c, least_now(f, c));
	TARE_APPEND(groups->arenas, groups->arena_nr, groups->arena_cap) = c;
}

static void add_course(struct groups *groups, const struct tare_growth_part *p, const struct tare_fold *f,
                       const struct tare_growth_course *c)
{
	struct group like, *g;
	bool is_compiled;
	int64_t rise;

	if (!group_of_course(p, f, c, &like))
		return;
	g = known_group(groups, f, &like);
	if (g->is_resident) {
		add_readings(g, c);
		return;
	}
	add_bytes(g, &like, c, least_now(f, c));
	if (!like.site)
		return;
	is_compiled = rise_of(c, 0, like.end) && tare_growth_is_compiling(&f->sites[like.site]);
	if (is_compiled)
		add_compiled(g, &like, c, least_now(f, c));
	rise = rise_of(c, like.end / 2, like.end); /* not what its start has left */
	if (rise > g->most) {
		g->most = rise;
		g->site = like.site;
	}
	if (like.account == TARE_ACCOUNT_MAPPED && !is_compiled && f->sites[like.site].python)
		add_arena(groups, f, &like, c);
}

/* ---- what is asked of a group ---- */

struct turns {
	const struct tare_training *of; /* NULL: by time */
	int64_t at[TARE_GROWTH_COLUMNS];
	int64_t least; /* in which it has to grow */
	int first, end;
};

static const struct tare_training *training_of(const struct tare_ledger *out, int process)
{
	for (int i = 0; i < out->training_nr; i++)
		if (out->trainings[i].process == process)
			return &out->trainings[i];
	return NULL;
}

/* The columns from the one in which the first step begins to the one that begins after the last. */
static bool by_steps(const struct tare_growth_part *p, const struct tare_ledger *out, const struct group *g,
                     struct turns *t)
{
	const struct tare_growth_process *s = &p->processes[g->process];
	const uint32_t *begun;

	t->of = training_of(out, g->process);
	t->least = LEAST_STEPS - 2;
	if (!t->of)
		return false;
	begun = &s->begun[(int)t->of->by * TARE_GROWTH_COLUMNS];
	t->first = 0;
	t->end = g->end < s->columns ? g->end : s->columns;
	while (t->end > 1 && begun[t->end - 2] == begun[t->end - 1])
		t->end--;
	for (int i = 0; i < t->end; i++) {
		t->at[i] = begun[i];
		if (!begun[i])
			t->first = i;
	}
	return t->end && begun[t->end - 1] >= LEAST_STEPS;
}

/*
 * Was what there was in that column given back piece by piece behind it? Then the program worked through what it had, and made nothing. What goes at
 * once is tidied up.
 */
static bool is_worked_off(const struct group *g, int column)
{
	int less = 0;

	for (int i = column + 1; i < g->end; i++)
		less += 8 * g->bytes[i] > g->bytes[column] && 8 * g->bytes[i] < 7 * g->bytes[column];
	return less > line_rule.tidied * g->end;
}

/* When the process ended, or was seen last. Python, and a driver behind it, may take seconds to take down what there is. */
static int64_t end_of(const struct tare_fold *f, const struct tare_process_fold *p)
{
	int64_t last = p->process->last_ns;

	if (p->torn_down_ns)
		return p->torn_down_ns;
	if (p->is_ending)
		return p->end_ns;
	return last > 0 && last < f->seen_ns ? last : f->seen_ns;
}

/*
 * Did it only end after it had made something last? That takes up to a quarter of all its time; one that goes on for longer and makes nothing has
 * what it needs, and nothing of it grows.
 */
static bool is_its_end(const struct tare_growth_part *p, int64_t made, int64_t last)
{
	return (last - made) * 4 <= last - p->start_ns;
}

/*
 * From where there is anything of it to where the process made something last, if it only ended then: what that takes is none of its time.
 * Of resident memory nobody knows who made it; what a process has before it makes anything, and until it runs no code
 * that it has not run before, is its start. What compilers keep is left out of the group: they end one day.
 */
static void by_time(const struct tare_growth_part *p, const struct tare_fold *f, struct group *g, struct turns *t)
{
	const struct tare_process_fold *process = f->processes[g->process];
	const struct tare_growth_process *known = &p->processes[g->process];
	int64_t last = end_of(f, process);
	int64_t started = known->first_ns > known->code_ns ? known->first_ns : known->code_ns;
	int64_t made = known->made_ns < last ? known->made_ns : last;
	int end;

	if (!g->is_resident && is_its_end(p, made, last))
		last = made;
	end = tare_growth_column(p, last) + 1;

	t->of = NULL;
	t->least = g->is_resident && !known->first_ns ? least_unknown_ns : least_ns;
	t->first = g->is_resident ? tare_growth_column(p, started) : 0;
	t->end = end < g->end ? end : g->end;
	for (int i = 0; i < g->end; i++)
		g->bytes[i] -= g->compiled[i];
	if (!g->is_resident && t->end && is_worked_off(g, t->end - 1))
		t->end = 0;
	while (t->first + 1 < t->end && !g->bytes[t->first + 1])
		t->first++;
	for (int i = 0; i < t->end; i++)
		t->at[i] = tare_growth_time(p, i);
}

static struct tare_growth_answer judge(const struct group *g, const struct turns *t)
{
	const struct rule *rule = g->is_resident ? &resident_rule : &line_rule;
	struct tare_growth_question q = { .bytes = g->bytes,
		                              .turns = t->at,
		                              .first = t->first,
		                              .end = t->end,
		                              .least = rule->least,
		                              .least_part = rule->least_part,
		                              .tidied = rule->tidied,
		                              .least_turns = t->least,
		                              .least_part_of_turns = 0.25 };

	return tare_growth_judge(&q);
}

/* ---- rows ---- */

static const char *what_of(const struct tare_fold *f, const struct group *g)
{
	if (g->is_resident)
		return "resident memory";
	if (g->account == TARE_BUCKET_TENSOR)
		return "tensors";
	if (g->account == TARE_BUCKET_PINNED)
		return "pinned memory";
	if (g->owner && (g->account == TARE_ACCOUNT_ALLOCATION || g->account == TARE_ACCOUNT_VMM))
		return f->owners[g->owner - 1];
	return tare_accounts[g->account].label;
}

/* The stack by which most of it came. */
static void add_stack(struct tare_growth *row, const struct tare_fold *f, const struct group *g,
                      struct tare_ledger *out)
{
	struct tare_ledger_line line = { 0 };

	if (!g->site)
		return;
	tare_fold_line_name(f, g->site, TARE_ACCOUNT_NONE, out->memory, &line);
	row->stack = line.stack;
	row->short_stack = line.short_stack;
}

static struct tare_growth row_of(const struct tare_growth_part *p, const struct tare_fold *f, const struct group *g,
                                 const struct turns *t, const struct tare_growth_answer *a, struct tare_ledger *out)
{
	const struct tare_process *process = f->processes[g->process]->process;
	double seconds = ldexp(a->last - a->first, p->shift) / 1e9;

	return (struct tare_growth){
		.pid = process->pid,
		.generation = process->generation,
		.program = tare_arena_strdup(out->memory, process->program ? process->program : ""),
		.device = g->device < 0 ? -1 : out->devices[tare_fold_device_place(f, f->devices[g->device])].index,
		.what = tare_arena_strdup(out->memory, what_of(f, g)),
		.line = tare_fold_site_name(f, g->site, true, out->memory),
		.short_line = tare_fold_site_name(f, g->site, false, out->memory),
		.process = g->process,
		.fold_device = g->device,
		.is_of_blocks = !g->is_resident && g->account == TARE_BUCKET_TENSOR,
		.is_resident = g->is_resident,
		.is_of_python = g->is_of_python,
		.has_steps = t->of != NULL,
		.bytes = a->bytes,
		.per_step = t->of ? llround(a->per_turn) : 0,
		.per_second = seconds > 0 ? llround((double)a->bytes / seconds) : 0,
		.since_ns = tare_growth_time(p, a->first),
		.confidence = round(a->confidence * (t->of ? most_confidence : by_time_alone) * 100) / 100,
	};
}

static bool is_row(const struct tare_growth *row)
{
	return row->confidence >= least_confidence && row->per_second > 0;
}

static struct tare_growth ask(const struct tare_growth_part *p, const struct tare_fold *f, struct group *g,
                              struct tare_growth_answer *a, struct tare_ledger *out)
{
	struct tare_growth row = { 0 };
	struct turns t;
	bool has_steps = by_steps(p, out, g, &t);

	if (has_steps) {
		*a = judge(g, &t);
		row = row_of(p, f, g, &t, a, out);
	}
	/* The first few steps of a training make resident memory rise, as they are the first. */
	if (!is_row(&row) && (has_steps || !t.of || !g->is_resident)) {
		by_time(p, f, g, &t);
		*a = judge(g, &t);
		row = row_of(p, f, g, &t, a, out);
	}
	return row;
}

static void add_group(const struct tare_growth_part *p, const struct tare_fold *f, struct group *g,
                      struct tare_ledger *out)
{
	struct tare_growth_answer a;
	struct tare_growth row = ask(p, f, g, &a, out);

	if (!is_row(&row))
		return;
	add_stack(&row, f, g, out);
	out->growths[out->growth_nr++] = row;
}

/* Is a line told that maps memory in that process? */
static bool is_told_of_arenas(const struct tare_fold *f, const struct group *g, const struct tare_ledger *out)
{
	for (int i = 0; i < out->growth_nr; i++)
		if (out->growths[i].process == g->process && !strcmp(out->growths[i].what, what_of(f, g)))
			return true;
	return false;
}

static const char *name_of(const struct tare_line *line, bool is_full, struct tare_arena *memory)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	tare_line_add(&text, line, is_full);
	return tare_arena_strdup(memory, tare_str_text(&text));
}

/* Where no line of it grows, the function that lines have in common may. */
static void add_arenas(const struct tare_growth_part *p, const struct tare_fold *f, const struct groups *groups,
                       struct group *g, struct tare_ledger *out)
{
	struct tare_growth_answer a;
	struct tare_growth row;
	const struct tare_line *line;

	if (is_told_of_arenas(f, g, out))
		return;
	row = ask(p, f, g, &a, out);
	if (!is_row(&row))
		return;
	line = tare_growth_of_arenas(&(struct tare_growth_arenas){ .fold = f,
	                                                           .courses = groups->arenas,
	                                                           .count = groups->arena_nr,
	                                                           .process = g->process,
	                                                           .first = a.first,
	                                                           .last = a.last + 1 < g->end ? a.last : g->end - 2 },
	                             &g->site);
	if (!line)
		return;
	row.line = name_of(line, true, out->memory);
	row.short_line = name_of(line, false, out->memory);
	add_stack(&row, f, g, out);
	out->growths[out->growth_nr++] = row;
}

static bool is_of_heap(const struct tare_growth *row)
{
	return row->device == TARE_HEAP_ORDINAL;
}

/* Is what the process asks of malloc recorded? Then lines tell what grows of its memory. */
static bool has_heap(const struct tare_fold *f, int process)
{
	for (int i = 0; i < f->device_nr; i++) {
		const struct tare_device_fold *d = f->devices[i];

		if (!d || !(d->device->flags & TARE_DEVICE_HEAP))
			continue;
		for (int b = d->buckets; b >= 0; b = f->buckets[b].next_of_device)
			if (f->buckets[b].process == process)
				return true;
	}
	return false;
}

/* So much a second of what the row tells, other rows tell as well: those of tensors on the CPU. */
static int64_t told_of(const struct tare_ledger *out, const struct tare_growth *row)
{
	int64_t told = 0;

	for (int i = 0; i < out->growth_nr; i++) {
		const struct tare_growth *other = &out->growths[i];

		if (other->process != row->process || other->device >= 0 || other->is_resident)
			continue;
		if (row->is_resident || (row->line && other->line && !strcmp(row->line, other->line)))
			told += other->per_second;
	}
	return told;
}

/* Tensors that lines tell of are in the heap and the resident memory of their process, too: once is enough. */
static void drop_explained(const struct tare_fold *f, struct tare_ledger *out)
{
	TARE_FREED_HERE bool *is_told = tare_xcalloc((size_t)out->growth_nr + 1, sizeof(*is_told));
	int kept = 0;

	for (int i = 0; i < out->growth_nr; i++) {
		const struct tare_growth *row = &out->growths[i];

		is_told[i] = (row->is_resident || is_of_heap(row)) && 3 * told_of(out, row) >= row->per_second;
		if (row->is_resident && has_heap(f, row->process))
			is_told[i] = true;
	}
	for (int i = 0; i < out->growth_nr; i++)
		if (!is_told[i])
			out->growths[kept++] = out->growths[i];
	out->growth_nr = kept;
}

TARE_COMPARATOR(by_rate, struct tare_growth, TARE_FALLING(per_second) TARE_ALPHABETIC(line))

void tare_growth_rows(const struct tare_growth_part *p, const struct tare_fold *f, struct tare_ledger *out)
{
	struct groups g = { 0 };

	if (f->is_brief)
		return;
	for (size_t i = 0; i < p->count; i++)
		add_course(&g, p, f, &p->items[i]);
	out->growths = tare_arena_alloc(out->memory, (g.count + 1) * sizeof(*out->growths));
	for (size_t i = 0; i < g.count; i++)
		if (!g.items[i].is_of_arenas)
			add_group(p, f, &g.items[i], out);
	for (size_t i = 0; i < g.count; i++)
		if (g.items[i].is_of_arenas)
			add_arenas(p, f, &g, &g.items[i], out);
	drop_explained(f, out);
	TARE_SORT(out->growths, out->growth_nr, by_rate);
	free(g.items);
	free(g.arenas);
	tare_strmap_free(&g.of);
	tare_arena_free(&g.names);
}
