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

/* Objects do not overlap, as the reader leaves them. */
const struct tare_object *tare_process_object(const struct tare_process *p, uint64_t pc)
{
	int i;

	LAST_NOT_ABOVE(p->objects, p->object_nr, begin, pc, i);
	return i >= 0 && pc < p->objects[i].end ? &p->objects[i] : NULL;
}

const struct tare_symbol *tare_process_symbol(const struct tare_process *p, uint64_t pc)
{
	int i;

	LAST_NOT_ABOVE(p->symbols, p->symbol_nr, address, pc, i);
	return i >= 0 && p->symbols[i].address == pc ? &p->symbols[i] : NULL;
}
