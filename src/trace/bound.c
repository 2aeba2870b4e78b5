/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/bound.h"

#include "trace/format.h"

#include <stdbool.h>
#include <string.h>

enum { SIZES_MAX = 24 }; /* in one kind of record */

/* Where the sizes of each kind are; found the first time that a record of it comes. */
static struct {
	bool is_known;
	int nr;
	const struct tare_field *fields[SIZES_MAX];
} kinds[TARE_KIND_NR];

static bool is_size(const struct tare_field *field)
{
	return field->size == sizeof(int64_t) &&
	       (field->role == TARE_FIELD_AMOUNT || field->role == TARE_FIELD_SIZE ||
		field->role == TARE_FIELD_BYTES);
}

static void find_sizes(const struct tare_kind_info *info)
{
	for (int i = 0; i < info->field_nr && kinds[info->kind].nr < SIZES_MAX; i++)
		if (is_size(&info->fields[i]))
			kinds[info->kind].fields[kinds[info->kind].nr++] = &info->fields[i];
	kinds[info->kind].is_known = true;
}

static int64_t bounded(int64_t size)
{
	return size > TARE_BOUND_BYTES    ? TARE_BOUND_BYTES
	       : size < -TARE_BOUND_BYTES ? -TARE_BOUND_BYTES
					  : size;
}

void tare_bound_sizes(const struct tare_kind_info *info, void *rec)
{
	if (!kinds[info->kind].is_known)
		find_sizes(info);
	for (int i = 0; i < kinds[info->kind].nr; i++) {
		const struct tare_field *field = kinds[info->kind].fields[i];
		unsigned char *at = (unsigned char *)rec + field->offset;
		uint64_t value;

		memcpy(&value, at, sizeof(value));
		if (value == TARE_NOT_KNOWN)
			continue;
		if (field->is_signed)
			value = (uint64_t)bounded((int64_t)value);
		else if (value > (uint64_t)TARE_BOUND_BYTES)
			value = (uint64_t)TARE_BOUND_BYTES;
		memcpy(at, &value, sizeof(value));
	}
}
