/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of descriptors, one behind the other in the bytes of a descriptor (attribute.h). */
#include "simgpu/libs/attribute.h"

#include <string.h>

/* The attribute, and in `at` where it lies; NULL: there is none. */
static const struct sim_attribute_row *find(const struct sim_attribute_row *list, size_t room, int id, size_t *at)
{
	for (*at = 0; list->bytes; *at += list->bytes, list++)
		if (list->id == id)
			return *at + list->bytes <= room ? list : NULL;
	return NULL;
}

void sim_attributes_begin(const struct sim_attribute_row *list, void *store, size_t room)
{
	size_t at = 0;

	memset(store, 0, room);
	for (; list->bytes && at + list->bytes <= room; at += list->bytes, list++)
		memcpy((char *)store + at, &list->initial, list->bytes);
}

bool sim_attributes_set(const struct sim_attribute_row *list, void *store, size_t room, int id, const void *from,
                        size_t bytes)
{
	size_t at;
	const struct sim_attribute_row *attribute = find(list, room, id, &at);

	if (!attribute || !store || !from || bytes != attribute->bytes)
		return false;
	memcpy((char *)store + at, from, bytes);
	return true;
}

bool sim_attributes_get(const struct sim_attribute_row *list, const void *store, size_t room, int id, void *to,
                        size_t bytes, size_t *written)
{
	size_t at;
	const struct sim_attribute_row *attribute = find(list, room, id, &at);

	if (!attribute || !store || (bytes ? !to || bytes < attribute->bytes : !written))
		return false;
	if (bytes)
		memcpy(to, (const char *)store + at, attribute->bytes);
	if (written)
		*written = attribute->bytes;
	return true;
}
