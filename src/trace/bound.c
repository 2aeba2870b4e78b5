/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/bound.h"

#include "trace/format.h"

#include <stdbool.h>
#include <string.h>

/* Fields of 8 bytes that are sizes, in whatever record they stand. */
static const char *const sizes[] = {
	"active",
	"after",
	"allocated",
	"anon",
	"asked",
	"at_destroy",
	"at_instantiate",
	"at_launch",
	"at_update",
	"at_upload",
	"before",
	"by_others",
	"bytes",
	"change",
	"change_max",
	"change_min",
	"doubt",
	"elastic",
	"file",
	"free",
	"granted",
	"held",
	"high",
	"inactive_split",
	"largest",
	"limit",
	"local",
	"low",
	"mapped",
	"memory",
	"missing",
	"most",
	"nested",
	"others",
	"own",
	"own_max",
	"own_min",
	"peak",
	"peak_live",
	"peers_after",
	"peers_before",
	"pss",
	"requested",
	"reserved",
	"shmem",
	"stuck",
	"swap",
	"total",
	"used",
	"used_after",
	"used_before",
};

enum { SIZES_MAX = 24 }; /* in one kind of record */

/* Where the sizes of each kind are; found the first time that a record of it comes. */
static struct {
	bool is_known;
	int nr;
	const struct tare_field *fields[SIZES_MAX];
} kinds[TARE_KIND_NR];

static bool is_size(const struct tare_field *field)
{
	for (size_t i = 0; field->size == sizeof(int64_t) && i < sizeof(sizes) / sizeof(sizes[0]);
	     i++)
		if (!strcmp(sizes[i], field->name))
			return true;
	return false;
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
