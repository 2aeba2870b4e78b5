/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of tensors as columns, without a record for each. */
#include "base/array.h"
#include "store/form_private.h"

#include <stdlib.h>
#include <string.h>

/* The fields that have a column of their own. */
enum { ADDRESS, BYTES, OWN_NR };

bool tare_form_has_columns(const struct tare_kind_info *info)
{
	return info && info->kind == TARE_KIND_TENSOR && info->fixed == sizeof(struct tare_rec_tensor) &&
	       info->field_nr > OWN_NR && info->fields[ADDRESS].offset == offsetof(struct tare_rec_tensor, block) &&
	       info->fields[BYTES].offset == offsetof(struct tare_rec_tensor, bytes);
}

static bool is_combined(uint64_t combined, int field)
{
	return field < COMBINED_MAX && combined >> field & 1;
}

/* Is each field in the combination, or one of the two and told without looking at others? `in` is a copy. */
static bool is_simple(struct tare_unpack in, const struct tare_kind_info *info)
{
	uint64_t combined = tare_unpack_number(&in);

	tare_form_skip_combinations(&in, info, combined);
	for (int f = 0; f < info->field_nr && !in.is_bad; f++) {
		uint64_t number;

		if (is_combined(combined, f))
			continue;
		number = tare_unpack_number(&in);
		if (f >= OWN_NR || !tare_form_is_alone(number, f))
			return false;
		tare_column_skip(&in);
	}
	return !in.is_bad;
}

static void reserve(struct tare_form_columns *c, size_t n)
{
	c->addresses = tare_array_reserve(c->addresses, &c->address_cap, n, sizeof(uint64_t));
	c->bytes = tare_array_reserve(c->bytes, &c->byte_cap, n, sizeof(uint64_t));
	c->which = tare_array_reserve(c->which, &c->which_cap, n, sizeof(uint64_t));
}

static const struct tare_rec_tensor *others_of(const struct tare_form_columns *c)
{
	return (const struct tare_rec_tensor *)(const void *)c->others.data;
}

static void take_from_others(struct tare_form_columns *c, size_t n, int field)
{
	const struct tare_rec_tensor *others = others_of(c);

	for (size_t i = 0; i < n; i++)
		if (field == ADDRESS)
			c->addresses[i] = others[c->which[i]].block;
		else
			c->bytes[i] = (uint64_t)others[c->which[i]].bytes;
}

static bool read_columns(struct tare_form_decoder *d, struct tare_form_columns *c)
{
	uint64_t combined = tare_unpack_number(d->in), *own[OWN_NR] = { c->addresses, c->bytes };

	if (!tare_form_read_combinations(d, combined, &c->others, c->which))
		return false;
	for (int f = 0; f < OWN_NR; f++)
		if (is_combined(combined, f))
			take_from_others(c, d->n, f);
		else if (!tare_form_read_values(d, f, own[f]))
			return false;
	return true;
}

/* However they are told: each is a combination of its own. */
static bool read_records(struct tare_form_decoder *d, struct tare_form_columns *c)
{
	size_t size = d->n * sizeof(struct tare_rec_tensor);
	const struct tare_rec_tensor *others;
	uint8_t *at;

	c->others.len = 0;
	at = tare_pack_room(&c->others, size);
	c->others.len = size;
	if (!tare_form_decode(d->in, d->scratch, d->info, at, sizeof(struct tare_rec_tensor), d->n, NULL))
		return false;
	others = others_of(c);
	for (size_t i = 0; i < d->n; i++) {
		c->addresses[i] = others[i].block;
		c->bytes[i] = (uint64_t)others[i].bytes;
		c->which[i] = i;
	}
	return true;
}

static bool are_of_one_device(const struct tare_form_columns *c)
{
	const struct tare_rec_tensor *others = others_of(c);

	for (size_t i = 1; i < c->others.len / sizeof(*others); i++)
		if (others[i].device != others[0].device)
			return false;
	return true;
}

bool tare_form_decode_columns(struct tare_unpack *in, struct tare_form_scratch *scratch,
                              const struct tare_kind_info *info, size_t n, struct tare_form_columns *out)
{
	struct tare_form_decoder d = { .in = in, .scratch = scratch, .info = info, .n = n, .named = -1 };

	reserve(out, n);
	if (!(is_simple(*in, info) ? read_columns(&d, out) : read_records(&d, out))) {
		in->is_bad = true;
		return false;
	}
	out->is_of_one_device = are_of_one_device(out);
	out->public = (struct tare_tensor_columns){
		.addresses = out->addresses, .bytes = (int64_t *)out->bytes, .which = out->which, .others = others_of(out)
	};
	return true;
}
