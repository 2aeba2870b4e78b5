/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a fold as bytes, and a fold out of them; and the end of one. */
#include "ledger/state/state.h"

#include "base/array.h"
#include "ledger/parts/parts.h"
#include "ledger/settle/settle.h"
#include "ledger/state/private.h"

#include <stdlib.h>
#include <string.h>

struct world {
	const struct tare_fold *f;
	const struct tare_ledger_names *names;
	bool is_loaded; /* else saved */
};

/* ---- pointers into the recording ---- */

static uint64_t number_of(void *arg, int what, const void *pointer)
{
	(void)arg;
	if (!pointer)
		return 0;
	switch (what) {
	case TARE_STATE_PROCESS:
		return 1 + (uint64_t)((const struct tare_process *)pointer)->index;
	case TARE_STATE_DEVICE:
		return 1 + (uint64_t)((const struct tare_device *)pointer)->index;
	case TARE_STATE_PYTHON:
		return 1 + (uint64_t)((const struct tare_line_stack *)pointer)->id;
	default:
		return 1 + (uint64_t)((const struct tare_stack *)pointer)->id;
	}
}

static bool find_stack(const struct tare_ledger_names *names, int what, uint64_t number,
                       const struct tare_process *process, const void **pointer)
{
	if (!process || number > UINT32_MAX)
		return false;
	*pointer = what == TARE_STATE_PYTHON ? (const void *)names->python(names->arg, process, (uint32_t)number)
	                                     : (const void *)names->stack(names->arg, process, (uint32_t)number);
	return *pointer != NULL;
}

static bool find(void *arg, int what, uint64_t number, void *item, const void **pointer)
{
	const struct world *w = arg;

	if (!number--)
		return true;
	switch (what) {
	case TARE_STATE_PROCESS:
		if (number >= (uint64_t)w->names->process_nr)
			return false;
		*pointer = w->names->process(w->names->arg, (int)number);
		return true;
	case TARE_STATE_DEVICE:
		if (number >= (uint64_t)w->names->device_nr)
			return false;
		*pointer = w->names->device(w->names->arg, (int)number);
		return true;
	default: /* only sites have them, and their process stands before */
		return find_stack(w->names, what, number, ((struct tare_site *)item)->process, pointer);
	}
}

static size_t count_of(void *arg, int what, const void *item)
{
	const struct world *w = arg;
	const struct tare_samples *s = item;
	size_t n = 0;

	switch (what) {
	case TARE_STATE_DEVICES: /* phases have one more than there are devices, or may be later */
		n = (size_t)w->f->device_nr;
		if (w->is_loaded && n < (size_t)w->names->device_nr)
			n = (size_t)w->names->device_nr;
		return n + 1;
	case TARE_STATE_SAMPLES:
		return s->width ? (size_t)TARE_HISTORY_COLUMNS * TARE_SAMPLE_NR : 0;
	case TARE_STATE_SAMPLE_PARTS:
		if (s->part_nr < 0 || s->part_nr > TARE_NOW_NR + TARE_HOST_PARTS)
			return 0;
		return s->width ? (size_t)TARE_HISTORY_COLUMNS * TARE_SAMPLE_NR * (size_t)s->part_nr : 0;
	case TARE_STATE_TRAININGS: {
		const struct tare_training_part *t = item;

		if (t->process_nr < 0 || t->device_nr < 0)
			return 0;
		return (size_t)t->process_nr * ((size_t)t->device_nr + 1);
	}
	default:
		return 0;
	}
}

/* ---- what was looked at ahead ---- */

/* Calls that end later and were taken in already, because they begin before; the others are found again. */
static void keep_taken(struct tare_device_fold *d, int64_t until)
{
	size_t n = 0;

	for (size_t i = 0; i < d->taken.count; i++)
		if (d->taken.items[i].end > until)
			d->taken.items[n++] = d->taken.items[i];
	for (size_t i = 0; i < d->late_next; i++) {
		if (d->late.items[i].end <= until)
			continue;
		TARE_APPEND(d->taken.items, n, d->taken.cap) = d->late.items[i];
	}
	d->taken.count = n;
}

/* What the first pass found out behind the moment it will find out again. */
static void forget_ahead(struct tare_fold *f, int64_t until)
{
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			keep_taken(f->devices[i], until);
	tare_losses_forget(&f->parts->losses, until);
	tare_fold_elastic_forget(f, until);
}

void tare_fold_state_save(struct tare_fold *f, const struct tare_ledger_names *names, int64_t until,
                          struct tare_str *out)
{
	struct world w = { f, names, false };
	struct tare_shape_world world = { &w, number_of, find, count_of, NULL };

	forget_ahead(f, until);
	tare_shape_save(&tare_shape_tare_fold, f, &world, out);
}

/* ---- out of bytes ---- */

static void restore_process(struct tare_process_fold *p)
{
	p->host_row = -1;
	tare_places_restore(&p->host_blocks);
	for (int i = 0; i < p->on_device_nr; i++) {
		if (!p->on_device[i])
			continue;
		tare_places_restore(&p->on_device[i]->blocks);
		tare_heap_blocks_restore(&p->on_device[i]->mapped);
	}
}

static void restore(struct tare_fold *f)
{
	tare_buckets_all_changed(f);
	for (int i = 0; i < f->process_nr; i++)
		if (f->processes[i])
			restore_process(f->processes[i]);
}

static void forget_begun(struct tare_fold *f)
{
	f->note_nr = 0; /* those of the caller are in the state */
	free(f->notes);
	f->notes = NULL;
	tare_parts_free(f);
}

bool tare_fold_state_load(struct tare_fold *f, const struct tare_ledger_names *names,
                          const struct tare_ledger_state *from)
{
	struct world w = { f, names, true };
	struct tare_shape_world world = { &w, number_of, find, count_of, &f->arena };

	forget_begun(f);
	if (!tare_shape_load(&tare_shape_tare_fold, f, &world, from->bytes, from->size) || !f->parts)
		return false;
	restore(f);
	return true;
}

/* ---- out of another fold ---- */

void tare_fold_state_copy(struct tare_fold *f, struct tare_fold *of, const struct tare_ledger_names *names)
{
	struct world from = { of, names, false }, to = { of, names, true };
	struct tare_shape_world from_world = { &from, number_of, find, count_of, NULL };
	struct tare_shape_world to_world = { &to, number_of, find, count_of, NULL };

	forget_begun(f);
	tare_shape_copy(&tare_shape_tare_fold, of, &from_world, f, &to_world);
	restore(f);
}

/* ---- the end ---- */

static void free_shape(const struct tare_fold *f, const struct tare_shape *shape, void *item)
{
	struct world w = { f, NULL, false };
	struct tare_shape_world world = { &w, NULL, NULL, count_of, NULL };

	tare_shape_free(shape, item, &world);
}

void tare_parts_free(struct tare_fold *f)
{
	if (!f->parts) /* of a state that could not be read */
		return;
	tare_heap_lines_free(&f->parts->history);
	free_shape(f, &tare_shape_tare_parts, f->parts);
	free(f->parts);
	f->parts = NULL;
}

void tare_fold_end(struct tare_fold *f)
{
	tare_parts_free(f);
	for (int i = 0; i < f->device_nr; i++)
		if (f->devices[i])
			tare_kinds_free(&f->devices[i]->kinds);
	tare_kinds_free(&f->host.kinds);
	free_shape(f, &tare_shape_tare_fold, f);
	tare_arena_free(&f->arena);
}
