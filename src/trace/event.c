/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up what an event refers to in its process: a device by its ordinal, the object and the symbol that an address
 * lies in.
 */
#include "trace/event.h"

#include "base/bisect.h"

const struct tare_device *tare_process_device(const struct tare_process *p, int ordinal)
{
	for (int i = 0; i < p->device_nr; i++)
		if (p->devices[i].ordinal == ordinal)
			return p->devices[i].device;
	return NULL;
}

/* Index of the last element whose key is <= pc, or -1. */
#define LAST_NOT_ABOVE(array, count, member, pc, found)                                                                \
	do {                                                                                                               \
		(found) = 0;                                                                                                   \
		TARE_BISECT(found, count, n, (array)[n].member <= (pc));                                                       \
		(found)--;                                                                                                     \
	} while (0)

/* Of a damaged log; each further one lies in front of the last and reaches as far. */
enum { LOOKS_MAX = 64 };

static bool is_there_still(const struct tare_object *o, uint64_t stamp)
{
	return !o->until || stamp < o->until;
}

/* Of objects first … last, which begin at one address one after the other, the first that is there then and holds it. */
static const struct tare_object *first_of(const struct tare_object *all, int first, int last, uint64_t pc,
                                          uint64_t stamp)
{
	int low = first;

	TARE_BISECT(low, last + 1, i, !is_there_still(&all[i], stamp));
	for (int i = low; i <= last && i < low + LOOKS_MAX; i++)
		if (pc < all[i].end)
			return &all[i];
	return NULL;
}

/*
 * Of those that had the address in turn the first that was still there. Before the oldest was seen, it is that: an
 * object may be written down later than it is loaded.
 */
const struct tare_object *tare_process_object(const struct tare_process *p, const struct tare_stack *stack, uint64_t pc)
{
	uint64_t stamp = stack ? stack->stamp : UINT64_MAX;
	const struct tare_object *found = NULL;
	int last, before;

	LAST_NOT_ABOVE(p->objects, p->object_nr, begin, pc, last);
	for (int looks = 0; last >= 0 && looks < LOOKS_MAX; looks++, last = before) {
		const struct tare_object *o;

		LAST_NOT_ABOVE(p->objects, last, begin + 1, p->objects[last].begin, before);
		o = first_of(p->objects, before + 1, last, pc, stamp);
		if (o && (!found || o->stamp < found->stamp))
			found = o;
		if (before < 0 || p->objects[before].reach <= pc)
			break;
	}
	return found;
}

const struct tare_symbol *tare_process_symbol(const struct tare_process *p, const struct tare_stack *stack, uint64_t pc)
{
	const struct tare_object *object = tare_process_object(p, stack, pc - 1);
	int i;

	LAST_NOT_ABOVE(p->symbols, p->symbol_nr, address, pc, i);
	for (; i >= 0 && p->symbols[i].address == pc; i--)
		if (!object || !object->identity || !p->symbols[i].object || p->symbols[i].object == object->identity)
			return &p->symbols[i];
	return NULL;
}
