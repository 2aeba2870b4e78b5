/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule "pinned memory": what of the host's memory the driver locked, and what the program asked for. PyTorch's allocator, and CuPy's, round a
 * request up to a power of two and ask the driver for that; nobody is told what they were asked for. A tensor that a look through
 * the program's objects finds at the begin of a block says it, if its size rounded up is that of the block.
 */
#include "ledger/core/fold.h"

#include <stdlib.h>
#include <string.h>

/* Does the one who asked the driver round up what it was asked for? */
bool tare_pinned_is_rounded(const struct tare_fold *f, uint64_t owner)
{
	const char *name = owner ? tare_owner_name(f->owners[owner - 1]) : "";

	return !strcmp(name, "PyTorch") || !strcmp(name, "CuPy");
}

struct tare_amount tare_pinned_amount(const struct tare_object_live *o, int sign)
{
	return (struct tare_amount){ .bytes = sign * (int64_t)o->granted,
		                         .low = sign * (int64_t)o->asked,
		                         .high = o->asked ? sign * (int64_t)o->granted : 0,
		                         .count = sign,
		                         .evidence = 1 + TARE_EVIDENCE_EXACT };
}

static uint64_t power_of_two(uint64_t bytes)
{
	uint64_t power = 1;

	while (power < bytes && power <= UINT64_MAX / 2)
		power *= 2;
	return power;
}

void tare_pinned_note_asked(struct tare_fold *f, int process, uint64_t at, const char *shape)
{
	int found = tare_fold_object_find(f, process, TARE_CLASS_HOST, at), bucket;
	uint64_t asked = found >= 0 ? (uint64_t)tare_pinned_shape_bytes(shape) : 0;
	struct tare_object_live *o;
	struct tare_amount by;

	/* A part of a tensor is none, and a smaller one may lie in a block that was rounded for another. */
	if (!asked || f->objects[found].asked >= asked || f->objects[found].bucket < 0 ||
	    power_of_two(asked) != f->objects[found].granted)
		return;
	o = &f->objects[found];
	by = (struct tare_amount){ .low = (int64_t)(asked - o->asked), .high = o->asked ? 0 : (int64_t)o->granted };
	bucket = tare_fold_bucket_at(f, o->context, TARE_BUCKET_PINNED, 0, f->buckets[o->bucket].site);
	o->asked = asked;
	tare_fold_book(f, bucket, &by);
}

/* ---- "int8 [2053, 1089536]" ---- */

static int64_t element_bytes(const char *type, size_t len)
{
	static const struct {
		const char *type;
		int bytes;
	} known[] = {
		{ "bool", 1 },      { "uint8", 1 },       { "int8", 1 },     { "float8", 1 },  { "int16", 2 },
		{ "uint16", 2 },    { "float16", 2 },     { "bfloat16", 2 }, { "int32", 4 },   { "uint32", 4 },
		{ "float32", 4 },   { "int64", 8 },       { "uint64", 8 },   { "float64", 8 }, { "complex32", 4 },
		{ "complex64", 8 }, { "complex128", 16 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if ((strlen(known[i].type) == len && !strncmp(type, known[i].type, len)) ||
		    (!strcmp(known[i].type, "float8") && !strncmp(type, "float8_", 7)))
			return known[i].bytes;
	return 0;
}

int64_t tare_pinned_shape_bytes(const char *shape)
{
	size_t len = shape ? strcspn(shape, " ") : 0;
	int64_t bytes = shape ? element_bytes(shape, len) : 0;
	const char *at = bytes ? strchr(shape + len, '[') : NULL;

	if (!at)
		return 0;
	for (at++; *at && *at != ']';) {
		char *end;
		long long size = strtoll(at, &end, 10);

		if (end == at || size < 0 || (size && bytes > INT64_MAX / size))
			return 0;
		bytes *= size;
		at = end + strspn(end, ", ");
	}
	return *at == ']' ? bytes : 0;
}
