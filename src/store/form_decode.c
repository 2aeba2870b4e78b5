/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the columns of one form of records, all of them or for some of its fields. */
#include "base/array.h"
#include "store/form_private.h"

#include <stdlib.h>
#include <string.h>

enum {
	TABLE_MAX = 1 << 16, /* combinations: not more than records */
	TENSOR_BYTES = sizeof(struct tare_rec_tensor) - sizeof(struct tare_record),
};

#define STORE(type)                                                                                                    \
	do {                                                                                                               \
		for (size_t i = 0; i < n; i++, at += stride) {                                                                 \
			type v = (type)values[i];                                                                                  \
			memcpy(at, &v, sizeof(v));                                                                                 \
		}                                                                                                              \
	} while (0)

static void store(const struct tare_field *field, uint8_t *records, size_t stride, const uint64_t *values, size_t n)
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

/* Adds what a reference stands for to the values: another field. */
static void add_referred(const struct tare_form_decoder *d, int of, unsigned number, uint64_t *values)
{
	enum reference which = (enum reference)((number - REFERENCES) % REFERENCE_NR);
	const struct tare_field *other = &d->info->fields[of];
	const uint8_t *at = d->records;

	for (size_t i = 0; i < d->n; i++, at += d->stride) {
		uint64_t v = values[i];

		if (which == OF_THIS)
			v += tare_decode_value(other, at);
		else if (which == OF_LAST && i > 0)
			v += tare_decode_value(other, at - d->stride);
		else if (which == OF_NEXT && i + 1 < d->n)
			v += tare_decode_value(other, at + d->stride);
		values[i] = v;
	}
}

static bool add_paired(const struct tare_form_decoder *d, int by, uint64_t *values)
{
	struct tare_form_scratch *s = d->scratch;

	if (by != d->named)
		return false;
	s->last = tare_array_reserve(s->last, &s->last_cap, s->ids.id_nr, sizeof(uint64_t));
	memset(s->last, 0, s->ids.id_nr * sizeof(uint64_t));
	for (size_t i = 0; i < d->n; i++) {
		uint64_t *last = &s->last[s->ids.ids[i]];
		uint64_t v = values[i] - *last;

		values[i] = v;
		*last = (int64_t)v > 0 ? v : 0;
	}
	return true;
}

static enum tare_column_meaning meaning_of(const struct tare_form_decoder *d, int field, uint64_t number)
{
	if (number == PLAIN)
		return d->info->fields[field].is_signed ? TARE_COLUMN_SIGNED : TARE_COLUMN_NUMBERS;
	return (number - REFERENCES) % REFERENCE_NR != PAIR && (number - REFERENCES) / REFERENCE_NR == (uint64_t)field
	           ? TARE_COLUMN_SUMS
	           : TARE_COLUMN_SIGNED;
}

bool tare_form_read_values(struct tare_form_decoder *d, int field, uint64_t *values)
{
	uint64_t number = tare_unpack_number(d->in);
	uint64_t of = (number - REFERENCES) / REFERENCE_NR;
	enum tare_column_meaning meaning = meaning_of(d, field, number);
	struct tare_column_ids *ids = number == PLAIN ? &d->scratch->ids : NULL;

	if ((number != PLAIN && of >= (uint64_t)d->info->field_nr) ||
	    !tare_column_decode(d->in, &d->scratch->column, meaning, values, d->n, ids))
		return false;
	if (number == PLAIN)
		d->named = d->scratch->ids.id_nr ? field : -1;
	else if ((number - REFERENCES) % REFERENCE_NR == PAIR)
		return add_paired(d, (int)of, values);
	else if (meaning != TARE_COLUMN_SUMS)
		add_referred(d, (int)of, (unsigned)number, values);
	return true;
}

static bool decode_field(struct tare_form_decoder *d, int field)
{
	uint64_t *values = d->scratch->values;

	if (!tare_form_read_values(d, field, values))
		return false;
	store(&d->info->fields[field], d->records, d->stride, values, d->n);
	return true;
}

/* What records have of their combinations: a few words each, for which a call is long. Of most the size is a constant. */
static inline __attribute__((always_inline)) void put_combinations(const struct tare_form_decoder *d,
                                                                   const uint8_t *table, size_t size)
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

bool tare_form_read_combinations(struct tare_form_decoder *d, uint64_t combined, struct tare_pack *table,
                                 uint64_t *which)
{
	const struct tare_kind_info *info = d->info;
	size_t nr = tare_unpack_number(d->in), size = nr * info->fixed;
	struct tare_column_scratch *column = &d->scratch->column;
	uint8_t *at;

	if (d->in->is_bad || nr == 0 || nr > d->n)
		return false;
	table->len = 0;
	at = memset(tare_pack_room(table, size), 0, size);
	table->len = size;
	for (int f = 0; f < info->field_nr && f < COMBINED_MAX; f++) {
		if (!(combined >> f & 1))
			continue;
		if (!tare_column_decode(d->in, column, TARE_COLUMN_NUMBERS, which, nr, NULL))
			return false;
		store(&info->fields[f], at, info->fixed, which, nr);
	}
	return tare_column_decode_names(d->in, column, which, d->n, nr);
}

static bool decode_combined(struct tare_form_decoder *d, uint64_t combined)
{
	size_t size = d->info->fixed - sizeof(struct tare_record);
	struct tare_form_scratch *s = d->scratch;

	if (!tare_form_read_combinations(d, combined, &s->combinations, s->values))
		return false;
	if (size == TENSOR_BYTES)
		put_combinations(d, s->combinations.data, TENSOR_BYTES);
	else
		put_combinations(d, s->combinations.data, size);
	return true;
}

static void skip_field(struct tare_form_decoder *d)
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

bool tare_form_decode(struct tare_unpack *in, struct tare_form_scratch *scratch, const struct tare_kind_info *info,
                      uint8_t *records, size_t stride, size_t n, const char *only)
{
	struct tare_form_decoder d = { in, scratch, info, records, stride, n, -1 };
	uint64_t combined = tare_unpack_number(in);
	bool is_rest_needed = !only || !is_combined(info, combined, only);

	scratch->values = tare_array_reserve(scratch->values, &scratch->value_cap, n, sizeof(uint64_t));
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

void tare_form_skip_combinations(struct tare_unpack *in, const struct tare_kind_info *info, uint64_t combined)
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

	tare_form_skip_combinations(in, info, combined);
	skip_rest(in, info, combined);
}

bool tare_form_decode_one(struct tare_unpack *in, struct tare_form_scratch *s, const struct tare_kind_info *info,
                          const char *name, uint64_t *value)
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
		else if (!tare_column_decode(in, &s->column, TARE_COLUMN_NUMBERS, s->values, nr, NULL) ||
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
