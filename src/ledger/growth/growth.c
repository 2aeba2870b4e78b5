/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "growth": how courses are kept. A column is a power of two of nanoseconds and begins at a multiple of that behind
 * the first event that has to do with memory, so two of them make one that is twice as wide, whenever that is done: a
 * fold that goes on from a state has the same courses as one that begins at the first event. What a program imports and
 * loads before that event takes no column: with a minute of it, a training of two seconds would have seven.
 */
#include "ledger/growth/growth.h"

#include "base/array.h"
#include "base/number.h"
#include "record/bytes.h"

enum {
	LEAST_SHIFT = 20,      /* columns of a millisecond */
	LEAST_BYTES = 4 << 10, /* that are told from nothing */
	LEAST_CODE = 1 << 20,  /* of files that a program has not used before */
};

/* ---- courses ---- */

static uint64_t key_of(enum tare_growth_of of, int id)
{
	return (uint64_t)of << 32 | (uint32_t)id;
}

static struct tare_growth_course *find(const struct tare_growth_part *p, enum tare_growth_of of, int id)
{
	const uint64_t *place = tare_map_get(&p->place_of, key_of(of, id));

	return place ? &p->items[*place - 1] : NULL;
}

/* Did it rise in the last quarter of the columns up to that one? */
static bool is_rising(const struct tare_growth_course *c, int column)
{
	int last = column ? column - 1 : 0;

	return c->of == TARE_GROWTH_RESIDENT || c->least[last] > c->least[3 * last / 4];
}

/* Gives up those that do not rise any more, at most once in a column: what is imported has many and they stay as they are. */
static void make_room(struct tare_growth_part *p, int column)
{
	size_t kept = 0;

	if (p->tidied == column)
		return;
	p->tidied = column;
	for (size_t i = 0; i < p->count; i++) {
		const struct tare_growth_course *c = &p->items[i];

		if (!is_rising(c, column)) {
			tare_map_remove(&p->place_of, key_of((enum tare_growth_of)c->of, c->id), NULL);
			continue;
		}
		p->items[kept++] = *c;
		*tare_map_get(&p->place_of, key_of((enum tare_growth_of)c->of, c->id)) = kept;
	}
	p->count = kept;
}

/* NULL: there are too many. */
static struct tare_growth_course *make(struct tare_growth_part *p, enum tare_growth_of of, int id, int column)
{
	struct tare_growth_course *c;

	if (p->count == TARE_GROWTH_COURSES)
		make_room(p, column);
	if (p->count == TARE_GROWTH_COURSES)
		return NULL;
	c = &TARE_APPEND(p->items, p->count, p->cap);
	*c = (struct tare_growth_course){ .of = (uint8_t)of, .id = id };
	for (int i = 0; of == TARE_GROWTH_RESIDENT && i < TARE_GROWTH_COLUMNS; i++)
		c->least[i] = -1;
	*tare_map_put(&p->place_of, key_of(of, id), NULL) = p->count;
	return c;
}

/* Keeps what a column came to, and that there was `now` in those behind it, up to `to`. */
static void keep(struct tare_growth_part *p, enum tare_growth_of of, int id, int column, int to, int64_t least,
                 int64_t now)
{
	struct tare_growth_course *c;

	if (now < LEAST_BYTES && least < LEAST_BYTES)
		return;
	c = find(p, of, id);
	if (!c && now > least) /* else it was given up, and is as it was */
		c = make(p, of, id, column);
	if (!c)
		return;
	c->least[column] = least < LEAST_BYTES ? 0 : least;
	for (int i = column + 1; i < to; i++)
		c->least[i] = now < LEAST_BYTES ? 0 : now;
}

/* ---- columns that twice as much time goes into ---- */

/* What has been kept of the first half of the column that is under way, that must not rise above. */
static int64_t half_kept(const struct tare_growth_part *p, enum tare_growth_of of, int id, int column)
{
	const struct tare_growth_course *c = find(p, of, id);

	return c ? c->least[column - 1] : 0;
}

/* The column under way is the second half of a wider one. */
static void widen_bucket(const struct tare_growth_part *p, struct tare_bucket *b, int id)
{
	int column = p->clocks[b->device + 1].column;

	if (column % 2)
		b->least = tare_least(b->least, half_kept(p, TARE_GROWTH_BUCKET, id, column));
}

static void widen_site(const struct tare_growth_part *p, struct tare_site *s, int id)
{
	int column = p->clocks[0].column;

	if (column % 2)
		s->least = tare_least(s->least, half_kept(p, TARE_GROWTH_SITE, id, column));
}

static int64_t both(int64_t a, int64_t b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return tare_least(a, b);
}

static void widen_course(struct tare_growth_course *c)
{
	for (int i = 0; i < TARE_GROWTH_COLUMNS; i++)
		c->least[i] = i < TARE_GROWTH_COLUMNS / 2     ? both(c->least[2 * i], c->least[2 * i + 1])
		              : c->of == TARE_GROWTH_RESIDENT ? -1
		                                              : 0;
}

static void widen_steps(struct tare_growth_process *s)
{
	for (int by = 0; by < TARE_TRAINING_BY_NR; by++) {
		uint32_t *begun = &s->begun[by * TARE_GROWTH_COLUMNS];

		for (int i = 0; 2 * i < TARE_GROWTH_COLUMNS; i++)
			begun[i] = begun[2 * i];
	}
	s->columns = (s->columns + 1) / 2;
}

static void widen(struct tare_growth_part *p, struct tare_fold *f)
{
	for (size_t i = 0; i < f->bucket_nr; i++)
		widen_bucket(p, &f->buckets[i], (int)i);
	tare_buckets_all_changed(f);
	for (size_t i = 1; i < f->site_nr; i++)
		widen_site(p, &f->sites[i], (int)i);
	for (size_t i = 0; i < p->count; i++)
		widen_course(&p->items[i]);
	for (int i = 0; i < p->process_nr; i++)
		widen_steps(&p->processes[i]);
	for (int i = 0; i < p->clock_nr; i++)
		p->clocks[i].column /= 2;
	p->tidied /= 2;
	p->shift++;
}

/*
 * Columns begin at the first event that has to do with memory. Before one was known there can be nothing but readings
 * of resident memory, and all of them are in the first column.
 */
static void start(struct tare_growth_part *p, int64_t at)
{
	for (size_t i = 0; i < p->count; i++) {
		int64_t *least = p->items[i].least;

		for (int k = 1; k < TARE_GROWTH_COLUMNS; k++) {
			least[0] = both(least[0], least[k]);
			least[k] = -1;
		}
	}
	for (int i = 0; i < p->clock_nr; i++)
		p->clocks[i].column = 0;
	for (int i = 0; i < p->process_nr; i++)
		p->processes[i].columns = 0;
	p->start_ns = at;
	p->shift = LEAST_SHIFT;
}

void tare_growth_begin(struct tare_growth_part *p, struct tare_fold *f)
{
	p->clocks = tare_array_widen(p->clocks, (size_t)p->clock_nr, (size_t)f->device_nr + 1, sizeof(*p->clocks));
	p->clock_nr = f->device_nr + 1;
	p->processes = tare_array_widen(p->processes, (size_t)p->process_nr, (size_t)f->process_nr, sizeof(*p->processes));
	p->process_nr = f->process_nr;
	if (!p->shift)
		p->shift = LEAST_SHIFT;
	if (!p->start_ns && f->first_ns > 0 && f->first_ns <= f->seen_ns)
		start(p, f->first_ns);
	while ((f->seen_ns - p->start_ns) >> p->shift >= TARE_GROWTH_COLUMNS)
		widen(p, f);
}

/* ---- as time goes on ---- */

/* Columns up to `to` have begun. */
static void note_steps(struct tare_growth_part *p, const struct tare_fold *f, int to)
{
	for (int i = 0; i < p->process_nr; i++) {
		struct tare_growth_process *s = &p->processes[i];

		for (; f->processes[i] && s->columns <= to; s->columns++)
			for (int by = 0; by < TARE_TRAINING_BY_NR; by++)
				s->begun[by * TARE_GROWTH_COLUMNS + s->columns] = f->processes[i]->steps[by];
	}
}

/* The column of the clock that is under way; -1: none is over at t. */
static int next_column(struct tare_growth_part *p, const struct tare_fold *f, int clock, int64_t t, int *to)
{
	int column = clock < p->clock_nr ? p->clocks[clock].column : TARE_GROWTH_COLUMNS;

	*to = tare_growth_column(p, t < f->seen_ns ? t : f->seen_ns);
	if (*to <= column)
		return -1;
	p->clocks[clock].column = *to;
	note_steps(p, f, *to);
	return column;
}

static void keep_bucket(struct tare_growth_part *p, const struct tare_fold *f, int bucket, int column, int to)
{
	const struct tare_bucket *b = &f->buckets[bucket];

	if (b->process >= 0)
		keep(p, TARE_GROWTH_BUCKET, bucket, column, to, b->least, b->now.bytes);
}

/*
 * Of tens of thousands of places few change in one column. What did not change has a course already, or needs none: only what
 * changed can rise above its least. The newest first, for who comes too late gets no course.
 */
void tare_growth_advance(struct tare_growth_part *p, struct tare_fold *f, struct tare_device_fold *d, int64_t t)
{
	int to, column = next_column(p, f, d->index + 1, t, &to);

	if (column < 0)
		return;
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].of == TARE_GROWTH_BUCKET && f->buckets[p->items[i].id].device == d->index)
			keep_bucket(p, f, p->items[i].id, column, to);
	for (size_t i = f->bucket_nr; i-- > 0;) {
		struct tare_bucket *b = &f->buckets[i];

		if (!f->changed[i] || b->device != d->index)
			continue;
		keep_bucket(p, f, (int)i, column, to);
		b->least = b->now.bytes;
		f->changed[i] = 0;
	}
}

void tare_growth_host(struct tare_growth_part *p, struct tare_fold *f, int64_t t)
{
	int to, column = next_column(p, f, 0, t, &to);

	if (column < 0)
		return;
	for (size_t i = 1; i < f->site_nr; i++) {
		struct tare_site *s = &f->sites[i];

		keep(p, TARE_GROWTH_SITE, (int)i, column, to, s->least, s->host_bytes);
		s->least = s->host_bytes;
	}
}

/* A program that runs code which it has not run before is still at its start: it compiles, or loads libraries. */
static void note_files(struct tare_growth_process *process, const struct tare_rec_host *r, int64_t at_ns)
{
	if (!tare_bytes_are_known(r->file) || (int64_t)r->file < process->file_bytes + LEAST_CODE)
		return;
	process->file_bytes = (int64_t)r->file;
	process->code_ns = at_ns;
}

static bool is_code(const struct tare_step *s)
{
	return s->effect == TARE_EFFECT_NEW && (s->class == TARE_CLASS_MODULE || s->class == TARE_CLASS_LIBRARY);
}

void tare_growth_event(struct tare_growth_part *p, struct tare_fold *f, struct tare_device_fold *d,
                       const struct tare_event *e)
{
	const struct tare_rec_host *r = e->rec.host;
	struct tare_growth_course *c;
	int64_t *least;

	(void)d;
	if (e->kind == TARE_KIND_HEAP_BLOCK) {
		tare_growth_made(&p->processes[e->process->index], e->at_ns);
		return;
	}
	if (!e->about || !tare_bytes_are_known(r->anon))
		return;
	if (e->about->index < p->process_nr)
		note_files(&p->processes[e->about->index], r, e->at_ns);
	c = find(p, TARE_GROWTH_RESIDENT, tare_fold_process(f, e->about)->process->index);
	if (!c)
		c = make(p, TARE_GROWTH_RESIDENT, e->about->index, tare_growth_column(p, e->at_ns));
	if (!c)
		return;
	least = &c->least[tare_growth_column(p, e->at_ns)];
	*least = both(*least, (int64_t)r->anon);
}

void tare_growth_call(struct tare_growth_part *p, const struct tare_fold *f, const struct tare_step *s)
{
	(void)f;
	if (s->effect == TARE_EFFECT_NEW || s->asked)
		tare_growth_made(&p->processes[s->process], s->end);
	if (is_code(s) && p->processes[s->process].code_ns < s->end)
		p->processes[s->process].code_ns = s->end;
}

const char *tare_growth_check(const struct tare_growth_part *p, const struct tare_fold *f)
{
	for (int i = 0; i < p->clock_nr; i++)
		if (p->clocks[i].column > tare_growth_column(p, f->seen_ns))
			return "a column of time begins behind the last event";
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].of == TARE_GROWTH_BUCKET && (size_t)p->items[i].id >= f->bucket_nr)
			return "there is a course of a bucket that is none";
	return NULL;
}
