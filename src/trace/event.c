/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/event.h"

const struct tare_device *tare_process_device(const struct tare_process *p, int ordinal)
{
	for (int i = 0; i < p->device_nr; i++)
		if (p->devices[i].ordinal == ordinal)
			return p->devices[i].device;
	return NULL;
}

/* Index of the last element whose key is <= pc, or -1. */
#define LAST_NOT_ABOVE(array, count, member, pc, found)                                            \
	do {                                                                                       \
		int low = 0, high = (count);                                                       \
		while (low < high) {                                                               \
			int mid = low + (high - low) / 2;                                          \
			if ((array)[mid].member <= (pc))                                           \
				low = mid + 1;                                                     \
			else                                                                       \
				high = mid;                                                        \
		}                                                                                  \
		(found) = low - 1;                                                                 \
	} while (0)

static bool holds(const struct tare_object *o, uint64_t pc, uint64_t stamp)
{
	return pc >= o->begin && pc < o->end && (!o->until || stamp < o->until);
}

/*
 * Of those that had the address in turn the first that was still there. Before the oldest was seen, it is that: an
 * object may be written down later than it is loaded.
 */
const struct tare_object *tare_process_object(const struct tare_process *p,
					      const struct tare_stack *stack, uint64_t pc)
{
	uint64_t stamp = stack ? stack->stamp : UINT64_MAX;
	const struct tare_object *found = NULL;
	int i;

	LAST_NOT_ABOVE(p->objects, p->object_nr, begin, pc, i);
	for (bool is_first = true; i >= 0 && (is_first || p->objects[i].reach > pc); i--) {
		is_first = false;
		if (holds(&p->objects[i], pc, stamp) &&
		    (!found || p->objects[i].stamp < found->stamp))
			found = &p->objects[i];
	}
	return found;
}

const struct tare_symbol *tare_process_symbol(const struct tare_process *p,
					      const struct tare_stack *stack, uint64_t pc)
{
	const struct tare_object *object = tare_process_object(p, stack, pc - 1);
	int i;

	LAST_NOT_ABOVE(p->symbols, p->symbol_nr, address, pc, i);
	for (; i >= 0 && p->symbols[i].address == pc; i--)
		if (!object || !object->identity || !p->symbols[i].object ||
		    p->symbols[i].object == object->identity)
			return &p->symbols[i];
	return NULL;
}
