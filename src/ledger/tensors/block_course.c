/* SPDX-License-Identifier: Apache-2.0 */
/* Single blocks over time: which of them are drawn, and at the end what is known of each (block_course.h). */
#include "ledger/block_course.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/comparator.h"
#include "ledger/tensors/tensors.h"

#include <stdlib.h>

struct tare_drawn_block {
	struct tare_known_block known;
	double room; /* that it takes in a picture */
	int64_t gone_ns;
	uint64_t serial, gone; /* numbers of the changes by which it came and went */
};

TARE_COMPARATOR(by_room, struct tare_drawn_block, TARE_FALLING(room) TARE_RISING(serial))

TARE_COMPARATOR(by_serial, struct tare_drawn_block, TARE_RISING(serial))

static void leave_out_small(struct tare_drawn_blocks *d)
{
	if (d->nr <= d->wanted)
		return;
	TARE_SORT(d->items, d->nr, by_room);
	d->nr = d->wanted;
	d->least = d->items[d->nr - 1].room;
}

static void add(struct tare_drawn_blocks *d, const struct tare_known_block *b, uint64_t gone, int64_t gone_ns)
{
	double room = (double)b->block.bytes * (double)(gone - b->block.serial);

	d->seen++;
	if (room < d->least)
		return;
	TARE_APPEND(d->items, d->nr, d->cap) = (struct tare_drawn_block){ *b, room, gone_ns, b->block.serial, gone };
	if (d->nr >= 2 * d->wanted)
		leave_out_small(d);
}

static struct tare_drawn_blocks *drawn_of(struct tare_fold *f, int device)
{
	if (device < 0)
		return &f->host.kinds.drawn;
	return f->devices[device] ? &f->devices[device]->kinds.drawn : NULL;
}

/* What --by tensor has of a block. */
static int64_t bytes_of(const struct tare_live_block *b, int device)
{
	return b->process < 0 || (device < 0 && b->flags & TARE_TENSOR_MAPPED) ? 0 : b->bytes;
}

static const struct tare_blocks *blocks_of(const struct tare_fold *f, int process, int device)
{
	const struct tare_process_fold *p = f->processes[process];

	if (!p || device < 0)
		return p ? &p->host_blocks : NULL;
	return device < p->on_device_nr && p->on_device[device] ? &p->on_device[device]->blocks : NULL;
}

/* A fold that goes on from a state has blocks already. */
static int64_t live_of(const struct tare_fold *f, int device)
{
	int64_t live = 0;

	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_blocks *b = blocks_of(f, i, device);

		for (size_t k = 0; b && k < b->count; k++)
			live += bytes_of(&b->items[k], device);
	}
	return live;
}

void tare_block_courses_begin(struct tare_fold *f)
{
	size_t share = TARE_BLOCK_COURSES_IN_ALL / (size_t)(f->device_nr + 1);

	if (!f->block_courses || !f->block_courses->changes)
		return;
	for (int i = -1; i < f->device_nr; i++) {
		struct tare_drawn_blocks *d = drawn_of(f, i);

		if (!d)
			continue;
		d->wanted = share < TARE_BLOCK_COURSES ? share + 1 : TARE_BLOCK_COURSES;
		d->live = live_of(f, i);
		tare_samples_begin(&d->events, 0, (int64_t)f->block_courses->changes + 1, INT64_MIN, 1);
	}
}

void tare_block_course_change(struct tare_fold *f, const struct tare_live_block *b, int device, bool is_gone)
{
	struct tare_drawn_blocks *d = drawn_of(f, device);
	int64_t bytes = bytes_of(b, device), t;

	if (!d->wanted || !bytes)
		return;
	t = !is_gone ? b->born_ns : device < 0 ? f->host.samples.until : f->devices[device]->samples.until;
	tare_samples_hold(&d->events, (int64_t)f->block_serial, d->live, 0, &d->changed_ns);
	d->live += is_gone ? -bytes : bytes;
	d->changed_ns = t;
	if (is_gone) {
		struct tare_known_block known = tare_known(tare_tensors_work(f, b->process, device), b);

		add(d, &known, f->block_serial, t);
	}
}

/* ---- at the end ---- */

struct writer {
	const struct tare_fold *f;
	struct tare_arena *memory;
	struct tare_map lines; /* site → line */
	int device;
	const int64_t *numbers; /* of the change after which there was what a moment has */
	size_t number_nr;
};

static const struct tare_ledger_line *line_of(struct writer *w, const struct tare_live_block *b)
{
	uint64_t *known = tare_map_put(&w->lines, b->site, NULL);
	struct tare_ledger_line *line;

	if (!*known) {
		line = tare_arena_alloc(w->memory, sizeof(*line));
		tare_fold_line_name(w->f, b->site, TARE_ACCOUNT_NONE, w->memory, line);
		*known = (uint64_t)(uintptr_t)line;
	}
	return (const struct tare_ledger_line *)(uintptr_t)*known;
}

static const char *copy(struct writer *w, const char *text)
{
	return text ? tare_arena_strdup(w->memory, text) : NULL;
}

/* The first moment that has seen the change. */
static size_t moment_of(const struct writer *w, uint64_t change)
{
	size_t low = 0;

	TARE_BISECT(low, w->number_nr, i, w->numbers[i] < (int64_t)change);
	return low;
}

static struct tare_block_course course_of(struct writer *w, const struct tare_drawn_block *b)
{
	enum tare_rule rule = tare_tensors_rule(w->f, &b->known, w->device);

	return (struct tare_block_course){
		.from = moment_of(w, b->serial),
		.until = moment_of(w, b->gone),
		.born_ns = b->known.block.born_ns,
		.gone_ns = b->gone_ns,
		.bytes = b->known.block.bytes,
		.category = tare_rules[rule].category,
		.name = copy(w, tare_tensor_name(w->f, &b->known, rule)),
		.shape = copy(w, tare_fold_text_of(w->f, b->known.facts.shape)),
		.line = line_of(w, &b->known.block),
	};
}

static void add_live(struct tare_fold *f, struct tare_drawn_blocks *d, int device)
{
	for (int i = 0; i < f->process_nr; i++) {
		const struct tare_blocks *b = blocks_of(f, i, device);

		for (size_t k = 0; b && k < b->count; k++) {
			struct tare_known_block known = tare_known(&b->work, &b->items[k]);

			if (bytes_of(&b->items[k], device))
				add(d, &known, f->block_serial + 2, -1);
		}
	}
}

/* Returns the numbers of the moments, which the caller frees. */
static int64_t *write_moments(struct writer *w, const struct tare_samples *s, struct tare_block_memory *out)
{
	TARE_FREED_HERE size_t *places = tare_xcalloc((size_t)TARE_HISTORY_COLUMNS * TARE_SAMPLE_NR, sizeof(*places));
	int64_t *numbers;

	out->moment_nr = tare_samples_list(s, places);
	out->moments = tare_arena_alloc(w->memory, out->moment_nr * sizeof(*out->moments) + 1);
	numbers = tare_xcalloc(out->moment_nr + 1, sizeof(*numbers));
	for (size_t i = 0; i < out->moment_nr; i++) {
		const struct tare_sample *sample = tare_sample_at(s, places[i]);

		numbers[i] = sample->t;
		out->moments[i] = (struct tare_block_moment){ *tare_sample_parts(s, places[i]), sample->used };
	}
	return numbers;
}

static void write_memory(struct writer *w, struct tare_drawn_blocks *d, struct tare_block_memory *out)
{
	int64_t *numbers = write_moments(w, &d->events, out);

	w->numbers = numbers;
	w->number_nr = out->moment_nr;
	leave_out_small(d);
	TARE_SORT(d->items, d->nr, by_serial);
	out->items = tare_arena_alloc(w->memory, d->nr * sizeof(*out->items) + 1);
	for (size_t i = 0; i < d->nr; i++) {
		struct tare_block_course course = course_of(w, &d->items[i]);

		if (course.from < course.until)
			out->items[out->nr++] = course;
	}
	out->smaller = d->seen - out->nr;
	free(numbers);
}

void tare_block_courses_finish(struct tare_fold *f)
{
	struct tare_block_courses *out = f->block_courses;
	struct writer w = { .f = f };

	if (!out)
		return;
	if (!out->changes) {
		out->changes = f->block_serial;
		return;
	}
	w.memory = out->memory = tare_xcalloc(1, sizeof(*out->memory));
	out->memories = tare_arena_alloc(w.memory, (size_t)(f->device_nr + 1) * sizeof(*out->memories));
	for (w.device = -1; w.device < f->device_nr; w.device++) {
		struct tare_drawn_blocks *d = drawn_of(f, w.device);
		struct tare_block_memory *to = &out->memories[out->memory_nr];

		if (!d || !d->wanted)
			continue;
		add_live(f, d, w.device);
		if (!d->seen)
			continue;
		tare_samples_hold(&d->events, (int64_t)f->block_serial + 1, d->live, 0, &d->changed_ns);
		to->device = w.device < 0 ? -1 : tare_fold_device_place(f, f->devices[w.device]);
		write_memory(&w, d, to);
		out->memory_nr++;
	}
	tare_map_free(&w.lines);
}

void tare_block_courses_free(struct tare_block_courses *courses)
{
	if (courses->memory)
		tare_arena_free(courses->memory);
	free(courses->memory);
	*courses = (struct tare_block_courses){ 0 };
}
