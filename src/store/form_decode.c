/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "store/form_private.h"

#include <stdlib.h>
#include <string.h>

enum {
	TABLE_MAX = 1 << 16, /* combinations: not more than records */
	TENSOR_BYTES = sizeof(struct tare_rec_tensor) - sizeof(struct tare_record),
};

struct decoder {
	struct tare_unpack *in;
	struct tare_form_scratch *scratch;
	const struct tare_kind_info *info;
	uint8_t *records; /* one behind the other, each so many bytes long */
	size_t stride, n;
	int named; /* the field that scratch->ids are of; -1: none */
};

void tare_form_scratch_free(struct tare_form_scratch *s)
{
	tare_column_scratch_free(&s->column);
	free(s->ids.ids);
	free(s->values);
	free(s->last);
	tare_pack_free(&s->combinations);
	*s = (struct tare_form_scratch){ 0 };
}

#define STORE(type)                                                                                \
	do {                                                                                       \
		for (size_t i = 0; i < n; i++, at += stride) {                                     \
			type v = (type)values[i];                                                  \
			memcpy(at, &v, sizeof(v));                                                 \
		}                                                                                  \
	} while (0)

static void store(const struct tare_field *field, uint8_t *records, size_t stride,
		  const uint64_t *values, size_t n)
{
	uint8_t *at = records + field->offset;

	switch (field->size) {
	case 1:
		STORE(uint8_t);
		break;
	case 2:
		STORE(uint16_t);
		break;
	case 4:
		STORE(uint32_t);
		break;
	default:
		STORE(uint64_t);
		break;
	}
}

/* Adds what a reference stands for to the values. */
static void add_referred(const struct decoder *d, int field, unsigned number, uint64_t *values)
{
	int of = (int)((number - REFERENCES) / REFERENCE_NR);
	enum reference which = (enum reference)((number - REFERENCES) % REFERENCE_NR);
	const struct tare_field *other = &d->info->fields[of];
	const uint8_t *at = d->records;
	uint64_t before = 0;

	for (size_t i = 0; i < d->n; i++, at += d->stride) {
		uint64_t v = tare_unzigzag(values[i]);

		if (of == field)
			v += before;
		else if (which == OF_THIS)
			v += tare_decode_value(other, at);
		else if (which == OF_LAST && i > 0)
			v += tare_decode_value(other, at - d->stride);
		else if (which == OF_NEXT && i + 1 < d->n)
			v += tare_decode_value(other, at + d->stride);
		values[i] = before = v;
	}
}

static bool add_paired(const struct decoder *d, int by, uint64_t *values)
{
	struct tare_form_scratch *s = d->scratch;

	if (by != d->named)
		return false;
	s->last = tare_array_reserve(s->last, &s->last_cap, s->ids.id_nr, sizeof(uint64_t));
	memset(s->last, 0, s->ids.id_nr * sizeof(uint64_t));
	for (size_t i = 0; i < d->n; i++) {
		uint64_t *last = &s->last[s->ids.ids[i]];
		uint64_t v = tare_unzigzag(values[i]) - *last;

		values[i] = v;
		*last = (int64_t)v > 0 ? v : 0;
	}
	return true;
}

static bool decode_field(struct decoder *d, int field)
{
	uint64_t number = tare_unpack_number(d->in), *values = d->scratch->values;
	uint64_t of = (number - REFERENCES) / REFERENCE_NR;
	struct tare_column_ids *ids = number == PLAIN ? &d->scratch->ids : NULL;

	if ((number != PLAIN && of >= (uint64_t)d->info->field_nr) ||
	    !tare_column_decode(d->in, &d->scratch->column, values, d->n, ids))
		return false;
	if (number == PLAIN) {
		d->named = d->scratch->ids.id_nr ? field : -1;
		for (size_t i = 0; i < d->n && d->info->fields[field].is_signed; i++)
			values[i] = tare_unzigzag(values[i]);
	} else if ((number - REFERENCES) % REFERENCE_NR != PAIR) {
		add_referred(d, field, (unsigned)number, values);
	} else if (!add_paired(d, (int)of, values)) {
		return false;
	}
	store(&d->info->fields[field], d->records, d->stride, values, d->n);
	return true;
}

/* What records have of their combinations: a few words each, for which a call is long. Of most the size is a constant. */
static inline __attribute__((always_inline)) void
put_combinations(const struct decoder *d, const uint8_t *table, size_t size)
{
	const uint64_t *which = d->scratch->values;
	uint8_t *at = d->records + sizeof(struct tare_record);
	size_t words = size / sizeof(uint64_t) * sizeof(uint64_t);

	table += sizeof(struct tare_record);
	for (size_t k = 0; k < d->n; k++, at += d->stride) {
		const uint8_t *from = table + which[k] * d->info->fixed;

		for (size_t i = 0; i < words; i += sizeof(uint64_t))
			memcpy(at + i, from + i, sizeof(uint64_t));
		for (size_t i = words; i < size; i++)
			at[i] = from[i];
	}
}

static bool are_below(const uint64_t *values, size_t n, uint64_t limit)
{
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = values[i] > most ? values[i] : most;
	return most < limit;
}

static bool decode_combined(struct decoder *d, uint64_t combined)
{
	const struct tare_kind_info *info = d->info;
	struct tare_form_scratch *s = d->scratch;
	size_t nr = tare_unpack_number(d->in), size = info->fixed - sizeof(struct tare_record);
	uint8_t *table;

	if (d->in->is_bad || nr == 0 || nr > d->n)
		return false;
	s->combinations.len = 0;
	table = tare_pack_room(&s->combinations, nr * info->fixed);
	memset(table, 0, nr * info->fixed);
	for (int f = 0; f < info->field_nr && f < COMBINED_MAX; f++) {
		if (!(combined >> f & 1))
			continue;
		if (!tare_column_decode(d->in, &s->column, s->values, nr, NULL))
			return false;
		store(&info->fields[f], table, info->fixed, s->values, nr);
	}
	if (!tare_column_decode(d->in, &s->column, s->values, d->n, NULL))
		return false;
	if (!are_below(s->values, d->n, nr))
		return false;
	if (size == TENSOR_BYTES)
		put_combinations(d, table, TENSOR_BYTES);
	else
		put_combinations(d, table, size);
	return true;
}

static void skip_field(struct decoder *d)
{
	tare_unpack_number(d->in);
	tare_column_skip(d->in);
}

static bool are_same(const uint64_t *values, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (values[i] != values[0])
			return false;
	return n > 0;
}

/* Combined fields can be read alone, for no column that they need is among the others. */
static bool is_combined(const struct tare_kind_info *info, uint64_t combined, const char *name)
{
	if (!*name)
		return true;
	for (int f = 0; f < info->field_nr && f < COMBINED_MAX; f++)
		if (combined >> f & 1 && !strcmp(info->fields[f].name, name))
			return true;
	return false;
}

bool tare_form_decode(struct tare_unpack *in, struct tare_form_scratch *scratch,
		      const struct tare_kind_info *info, uint8_t *records, size_t stride, size_t n,
		      const char *only)
{
	struct decoder d = { in, scratch, info, records, stride, n, -1 };
	uint64_t combined = tare_unpack_number(in);
	bool is_rest_needed = !only || !is_combined(info, combined, only);

	scratch->values =
		tare_array_reserve(scratch->values, &scratch->value_cap, n, sizeof(uint64_t));
	if (!decode_combined(&d, combined))
		in->is_bad = true;
	for (int f = 0; f < info->field_nr && !in->is_bad; f++)
		if (f < COMBINED_MAX && combined >> f & 1)
			continue;
		else if (!is_rest_needed)
			skip_field(&d);
		else if (!decode_field(&d, f))
			in->is_bad = true;
	return !in->is_bad;
}

static void skip_combined(struct tare_unpack *in, const struct tare_kind_info *info,
			  uint64_t combined)
{
	tare_unpack_number(in);
	for (int f = 0; f < info->field_nr && f < COMBINED_MAX; f++)
		if (combined >> f & 1)
			tare_column_skip(in);
	tare_column_skip(in);
}

static void skip_rest(struct tare_unpack *in, const struct tare_kind_info *info, uint64_t combined)
{
	for (int f = 0; f < info->field_nr && !in->is_bad; f++) {
		if (f < COMBINED_MAX && combined >> f & 1)
			continue;
		tare_unpack_number(in);
		tare_column_skip(in);
	}
}

void tare_form_skip(struct tare_unpack *in, const struct tare_kind_info *info)
{
	uint64_t combined = tare_unpack_number(in);

	skip_combined(in, info, combined);
	skip_rest(in, info, combined);
}

bool tare_form_decode_one(struct tare_unpack *in, struct tare_form_scratch *s,
			  const struct tare_kind_info *info, const char *name, uint64_t *value)
{
	struct tare_unpack begin = *in;
	uint64_t combined = tare_unpack_number(in);
	size_t nr = tare_unpack_number(in);
	bool is_one = false;

	if (in->is_bad || nr > TABLE_MAX || !is_combined(info, combined, name))
		return false;
	s->values = tare_array_reserve(s->values, &s->value_cap, nr, sizeof(uint64_t));
	for (int f = 0; f < info->field_nr && f < COMBINED_MAX && !in->is_bad && !is_one; f++) {
		if (!(combined >> f & 1))
			continue;
		if (strcmp(info->fields[f].name, name) != 0)
			tare_column_skip(in);
		else if (!tare_column_decode(in, &s->column, s->values, nr, NULL) ||
			 !are_same(s->values, nr))
			return false;
		else
			is_one = true;
	}
	*value = is_one ? s->values[0] : 0;
	*in = begin;
	tare_form_skip(in, info);
	return is_one && !in->is_bad;
}
