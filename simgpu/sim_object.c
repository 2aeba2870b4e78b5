/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles are addresses of objects, as the driver's are. A table of the living ones lets a stale or
 * made-up handle be refused instead of followed.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define GONE ((struct sim_object *)1)

static struct sim_object **table;
static size_t slots, filled; /* filled counts the gone ones too */

static size_t slot_of(const void *handle)
{
	return (size_t)(((uint64_t)(uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15ull >> 20) & (slots - 1);
}

static void put(struct sim_object *object)
{
	size_t i = slot_of(object);

	while (table[i] && table[i] != GONE)
		i = (i + 1) & (slots - 1);
	if (!table[i])
		filled++;
	table[i] = object;
}

static bool grow(void)
{
	struct sim_object **old = table;
	size_t i, old_slots = slots;

	if (slots && filled * 4 < slots * 3)
		return true;
	table = calloc(slots ? slots * 2 : 1024, sizeof(struct sim_object *));
	if (!table) {
		table = old;
		return false;
	}
	slots = slots ? slots * 2 : 1024;
	filled = 0;
	for (i = 0; i < old_slots; i++)
		if (old[i] && old[i] != GONE)
			put(old[i]);
	free(old);
	return true;
}

static struct sim_object **find(const void *handle)
{
	size_t i;

	if (!slots || !handle)
		return NULL;
	for (i = slot_of(handle); table[i]; i = (i + 1) & (slots - 1))
		if (table[i] == handle)
			return &table[i];
	return NULL;
}

void *sim_object_new(enum sim_kind kind, struct sim_context *context, size_t size)
{
	struct sim_object *object;

	if (!grow())
		return NULL;
	object = calloc(1, size);
	if (!object)
		return NULL;
	object->kind = kind;
	object->context = context;
	if (context) {
		object->next = context->objects;
		object->link = &context->objects;
		if (object->next)
			object->next->link = &object->next;
		context->objects = object;
	}
	put(object);
	return object;
}

void *sim_object_get(const void *handle, enum sim_kind kind)
{
	struct sim_object **slot = find(handle);

	return slot && (*slot)->kind == kind ? *slot : NULL;
}

struct sim_object *sim_object_next(const struct sim_object *after, enum sim_kind kind)
{
	struct sim_object **slot = after ? find(after) : NULL;
	size_t i;

	for (i = slot ? (size_t)(slot - table) + 1 : 0; i < slots; i++)
		if (table[i] && table[i] != GONE && table[i]->kind == kind)
			return table[i];
	return NULL;
}

void sim_object_delete(void *gone)
{
	struct sim_object *object = gone;
	struct sim_object **slot = find(object);

	if (!slot)
		return;
	*slot = GONE;
	if (object->link) {
		*object->link = object->next;
		if (object->next)
			object->next->link = object->link;
	}
	free(object);
}

void sim_object_delete_all(struct sim_context *context)
{
	while (context->objects) {
		struct sim_object *object = context->objects;

		if (object->end)
			object->end(object);
		else
			sim_object_delete(object);
	}
}
