/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes the columns of one form of records: chooses for each field by what it is told shortest, by a sample of the
 * records.
 */
#include "base/array.h"
#include "base/map.h"
#include "store/form_private.h"

#include <stdlib.h>
#include <string.h>

enum {
	SAMPLE = 2048,   /* records from which a reference is chosen, */
	PARTS = 4,       /* in so many places */
	NEW_VALUE = 32,  /* bits that a value costs where it appears first */
	FEW_OF = 16,     /* a field has few values: a 16th of the records, */
	COMBINED_OF = 8, /* and all combinations an 8th */
	FEW_AT_LEAST = 16,
};

struct encoder {
	const struct tare_kind_info *info;
	uint64_t **values; /* by field */
	size_t n;
	uint64_t combined; /* bits: fields that are in the combination */
	int named;         /* the last field that was written plain and named; -1: none yet */
	uint64_t *differences;
};

static bool is_same(const uint64_t *values, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (values[i] != values[0])
			return false;
	return true;
}

/* Gives each pair of an id and a value an id, in the order of appearance. Their number; 0: more than `limit`. */
static size_t combine(const struct encoder *e, const uint32_t *ids, const uint64_t *values, uint32_t *combined,
                      size_t limit)
{
	TARE_FREED_BY(tare_map_free) struct tare_map names = { 0 }, pairs = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < e->n && nr <= limit; i++) {
		bool is_new;
		uint64_t *name = tare_map_put(&names, values[i], &is_new), *id;

		if (is_new)
			*name = names.count - 1;
		if (names.count > e->n / FEW_OF + FEW_AT_LEAST) {
			nr = limit + 1;
			break;
		}
		id = tare_map_put(&pairs, (uint64_t)ids[i] << 32 | *name, &is_new);
		if (is_new)
			*id = nr++;
		combined[i] = (uint32_t)*id;
	}
	return nr <= limit ? nr : 0;
}

static void put_combinations(struct tare_pack *out, const struct encoder *e, const uint32_t *ids, size_t nr)
{
	TARE_FREED_HERE uint64_t *column = tare_xcalloc(e->n + nr, sizeof(*column));

	tare_pack_number(out, nr);
	for (int f = 0; f < e->info->field_nr && f < COMBINED_MAX; f++) {
		if (!(e->combined >> f & 1))
			continue;
		for (size_t i = 0; i < e->n; i++)
			column[ids[i]] = e->values[f][i];
		tare_column_encode(out, column, nr);
	}
	for (size_t i = 0; i < e->n; i++)
		column[i] = ids[i];
	tare_column_encode(out, column, e->n);
}

/* Which fields make a combination, and which combination each record has. */
static void encode_combined(struct tare_pack *out, struct encoder *e)
{
	uint32_t *ids = tare_xcalloc(e->n, sizeof(*ids));
	uint32_t *fresh = tare_xmalloc(e->n * sizeof(*fresh)), *other;
	size_t nr = 1, limit = e->n / COMBINED_OF + FEW_AT_LEAST, found;

	for (int f = 0; f < e->info->field_nr && f < COMBINED_MAX; f++) {
		if (is_same(e->values[f], e->n)) {
			e->combined |= UINT64_C(1) << f;
			continue;
		}
		if (e->info->fields[f].size > sizeof(uint32_t))
			continue;
		found = combine(e, ids, e->values[f], fresh, limit);
		if (!found)
			continue;
		e->combined |= UINT64_C(1) << f;
		nr = found;
		other = ids;
		ids = fresh;
		fresh = other;
	}
	tare_pack_number(out, e->combined);
	put_combinations(out, e, ids, nr);
	free(ids);
	free(fresh);
}

static uint64_t referred(const struct encoder *e, unsigned number, size_t i)
{
	const uint64_t *values = e->values[(number - REFERENCES) / REFERENCE_NR];

	switch ((enum reference)((number - REFERENCES) % REFERENCE_NR)) {
	case OF_LAST:
		return i > 0 ? values[i - 1] : 0;
	case OF_NEXT:
		return i + 1 < e->n ? values[i + 1] : 0;
	default:
		return values[i];
	}
}

static uint64_t difference(const struct encoder *e, int field, unsigned number, size_t i)
{
	uint64_t value = e->values[field][i];

	if (number == PLAIN)
		return e->info->fields[field].is_signed ? tare_zigzag(value) : value;
	return tare_zigzag(value - referred(e, number, i));
}

static unsigned bits_of(uint64_t v)
{
	return v ? (unsigned)(64 - __builtin_clzll(v)) : 0;
}

/* The number of records of the sample, and which one is the ith. */
static size_t sample_size(const struct encoder *e)
{
	return e->n < SAMPLE ? e->n : SAMPLE;
}

static size_t sampled(const struct encoder *e, size_t i)
{
	size_t part = i / (SAMPLE / PARTS);

	return e->n < SAMPLE ? i : part * (e->n / PARTS) + i % (SAMPLE / PARTS);
}

/* About so many bits of the sample, whether written as numbers or named. */
static uint64_t cost_of(const struct encoder *e, int field, unsigned number)
{
	uint64_t seen[2 * SAMPLE] = { 0 }, written = 0, different = 0;
	size_t n = sample_size(e);

	for (size_t i = 0; i < n; i++) {
		uint64_t v = difference(e, field, number, sampled(e, i));
		size_t at = (v * UINT64_C(0x9e3779b97f4a7c15)) >> 52;

		written += bits_of(v);
		while (seen[at] && seen[at] != v + 1)
			at = (at + 1) % (2 * SAMPLE);
		different += !seen[at];
		seen[at] = v + 1;
	}
	different = different * NEW_VALUE + n * bits_of(different ? different - 1 : 0);
	return written < different ? written : different;
}

/* What it is told by its difference from; fields below are known by then, and those in the combination. */
static unsigned choose(const struct encoder *e, int field)
{
	unsigned best = PLAIN, candidate = reference(field, OF_LAST);
	uint64_t least = cost_of(e, field, PLAIN), cost = cost_of(e, field, candidate);

	if (cost < least) {
		least = cost;
		best = candidate;
	}
	for (int f = 0; f < field; f++) {
		if ((f < COMBINED_MAX && e->combined >> f & 1) || e->info->fields[f].size != e->info->fields[field].size)
			continue;
		for (unsigned which = OF_LAST; which <= OF_NEXT; which++) {
			candidate = reference(f, (enum reference)which);
			cost = cost_of(e, field, candidate);
			if (cost < least) {
				least = cost;
				best = candidate;
			}
		}
	}
	return best;
}

/*
 * What a record with a negative number takes back is, in most cases, what the last record with the same other field
 * had handed out: then 0 is written.
 */
static void encode_pair(struct tare_pack *out, struct encoder *e, int field, int by)
{
	TARE_FREED_BY(tare_map_free) struct tare_map handed_out = { 0 };

	for (size_t i = 0; i < e->n; i++) {
		uint64_t *last = tare_map_put(&handed_out, e->values[by][i], NULL);
		uint64_t value = e->values[field][i];

		e->differences[i] = tare_zigzag(value + *last);
		*last = (int64_t)value > 0 ? value : 0;
	}
	tare_pack_number(out, reference(by, PAIR));
	tare_column_encode(out, e->differences, e->n);
}

/* A signed size: what is handed out and taken back. */
static bool is_paired(const struct encoder *e, int field)
{
	size_t negative = 0;

	if (!e->info->fields[field].is_signed || e->info->fields[field].size != sizeof(int64_t) || e->named < 0)
		return false;
	for (size_t i = 0; i < e->n; i++)
		negative += (int64_t)e->values[field][i] < 0;
	return negative > e->n / 4;
}

static void encode_field(struct tare_pack *out, struct encoder *e, int field)
{
	unsigned number;
	bool is_named;

	if (is_paired(e, field)) {
		encode_pair(out, e, field, e->named);
		return;
	}
	number = choose(e, field);
	for (size_t i = 0; i < e->n; i++)
		e->differences[i] = difference(e, field, number, i);
	tare_pack_number(out, number);
	is_named = tare_column_encode(out, e->differences, e->n);
	if (number == PLAIN)
		e->named = is_named ? field : -1;
}

void tare_form_encode(struct tare_pack *out, const struct tare_kind_info *info, const uint8_t *const *records, size_t n)
{
	struct encoder e = { .info = info, .n = n, .named = -1 };

	e.values = tare_xcalloc((size_t)info->field_nr + 1, sizeof(uint64_t *));
	e.differences = tare_xmalloc(n * sizeof(uint64_t));
	for (int f = 0; f < info->field_nr; f++) {
		e.values[f] = tare_xmalloc(n * sizeof(uint64_t));
		for (size_t i = 0; i < n; i++)
			e.values[f][i] = tare_decode_value(&info->fields[f], records[i]);
	}
	encode_combined(out, &e);
	for (int f = 0; f < info->field_nr; f++)
		if (f >= COMBINED_MAX || !(e.combined >> f & 1))
			encode_field(out, &e, f);
	for (int f = 0; f < info->field_nr; f++)
		free(e.values[f]);
	free(e.values);
	free(e.differences);
}
