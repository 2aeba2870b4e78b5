/* SPDX-License-Identifier: Apache-2.0 */
/* The live set: objects by handle, and what a thread's last DEL took out of it. */
#include "ledger/core/fold.h"

#include "base/array.h"

/* cuMemFree takes whatever cuMemAlloc, cuMemAllocPitch and cuMemAllocManaged gave. */
static enum tare_family family_of(enum tare_class class)
{
	switch (class) {
	case TARE_CLASS_DEVICE:
	case TARE_CLASS_PITCH:
	case TARE_CLASS_MANAGED:
	case TARE_CLASS_EXTERNAL: /* what was mapped of it is freed like the others */
		return TARE_FAMILY_ADDRESS;
	case TARE_CLASS_HOST:
		return TARE_FAMILY_HOST;
	case TARE_CLASS_REGISTERED:
		return TARE_FAMILY_REGISTERED;
	default:
		return (enum tare_family)(TARE_FAMILY_OTHER + class);
	}
}

static bool is_paged(const struct tare_object_live *o)
{
	return tare_classes[o->class].sizing == TARE_SIZING_PAGES;
}

/* Managed memory has a total of its own: what could come to the device. */
static void count_managed(struct tare_fold *f, const struct tare_object_live *o, int sign)
{
	if (o->class == TARE_CLASS_MANAGED && o->device >= 0)
		tare_fold_process_on(f, o->process, o->device)->managed +=
			sign * (((int64_t)o->granted + f->page - 1) / f->page * f->page);
}

static int take_slot(struct tare_fold *f)
{
	int i = f->object_free;

	if (i >= 0) {
		f->object_free = f->objects[i].next;
		return i;
	}
	f->objects = tare_array_reserve(f->objects, &f->object_cap, f->object_nr + 1, sizeof(*f->objects));
	return (int)f->object_nr++;
}

int tare_object_add(struct tare_fold *f, const struct tare_object_live *o)
{
	struct tare_process_fold *p = f->processes[o->process];
	int i = take_slot(f);
	struct tare_object_live *live = &f->objects[i];

	*live = *o;
	live->prev = live->next = -1;
	if (o->context >= 0) {
		struct tare_context *c = &f->contexts[o->context];

		live->next = c->objects;
		if (c->objects >= 0)
			f->objects[c->objects].prev = i;
		c->objects = i;
	}
	*tare_map_put(&p->live[family_of(o->class)], o->handle, NULL) = (uint64_t)i;
	count_managed(f, o, 1);
	return i;
}

int tare_fold_object_find(struct tare_fold *f, int process, enum tare_class class, uint64_t handle)
{
	uint64_t *found = tare_map_get(&f->processes[process]->live[family_of(class)], handle);

	return found ? (int)*found : -1;
}

int64_t tare_object_remove(struct tare_fold *f, int object)
{
	struct tare_object_live *o = &f->objects[object];
	int64_t pages = 0;

	tare_map_remove(&f->processes[o->process]->live[family_of(o->class)], o->handle, NULL);
	if (o->prev >= 0)
		f->objects[o->prev].next = o->next;
	else if (o->context >= 0)
		f->contexts[o->context].objects = o->next;
	if (o->next >= 0)
		f->objects[o->next].prev = o->prev;
	count_managed(f, o, -1);
	if (is_paged(o) && o->device >= 0)
		pages = tare_fold_pages_remove(f, tare_fold_process_on(f, o->process, o->device), o->handle, o->granted);
	o->process = -1;
	o->next = f->object_free;
	f->object_free = object;
	return pages;
}

struct tare_undo *tare_fold_undo(struct tare_fold *f, const struct tare_step *s, bool is_made)
{
	uint64_t key = (uint64_t)s->process << 32 | s->tid;
	uint64_t *known = is_made ? tare_map_put(&f->undo_of, key, NULL) : tare_map_get(&f->undo_of, key);
	struct tare_undo *g;

	if (!known)
		return NULL;
	if (!*known) {
		TARE_APPEND(f->undos, f->undo_nr, f->undo_cap) = (struct tare_undo){ .context = -1 };
		*known = f->undo_nr;
	}
	g = &f->undos[*known - 1];
	if (is_made) {
		tare_fold_undo_clear(g);
		g->handle = s->handle;
	}
	return g;
}

void tare_fold_undo_clear(struct tare_undo *g)
{
	g->object_nr = 0;
	g->ops.count = 0;
	g->context = -1;
	g->handle = 0;
}

void tare_fold_undo_add(struct tare_undo *g, const struct tare_object_live *o)
{
	TARE_APPEND(g->objects, g->object_nr, g->object_cap) = *o;
}
