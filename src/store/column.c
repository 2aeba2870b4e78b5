/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes one column of numbers: as one number, as planes of bytes, or as names of the different numbers. */
#include "store/column.h"

#include "base/array.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum how { SAME, NUMBERS, NAMED };
enum { PLANES_MIN = 64, PLANES_MAX = 8, NEAR = 1024 };

static size_t length_of(uint64_t v)
{
	return v ? (size_t)(70 - __builtin_clzll(v)) / 7 : 1;
}

/* The different values in the order in which they appear, and which of them each value is. */
struct names {
	struct tare_map map; /* value → its number */
	uint64_t *words;
	uint32_t *ids;
	size_t word_nr, word_cap;
};

static void free_names(struct names *names)
{
	tare_map_free(&names->map);
	free(names->words);
	free(names->ids);
}

/* False: there are more than `limit` different ones. */
static bool find_names(struct names *names, const uint64_t *values, size_t n, size_t limit)
{
	names->ids = tare_xmalloc(n * sizeof(*names->ids));
	for (size_t i = 0; i < n; i++) {
		bool is_new;
		uint64_t *id = tare_map_put(&names->map, values[i], &is_new);

		if (is_new) {
			if (names->word_nr == limit)
				return false;
			*id = names->word_nr;
			TARE_APPEND(names->words, names->word_nr, names->word_cap) = values[i];
		}
		names->ids[i] = (uint32_t)*id;
	}
	return true;
}

static size_t cost_of_names(const struct names *names, size_t n)
{
	size_t cost = 0;

	for (size_t i = 0; i < names->word_nr; i++)
		cost += length_of(tare_zigzag(names->words[i] - (i ? names->words[i - 1] : 0)));
	for (size_t i = 0; i < n; i++)
		cost += length_of(names->ids[i]);
	return cost;
}

/*
 * Numbers: how many planes, then the planes: the lowest bytes of all, the bytes above … Each plane is zipped on its own, for
 * low bytes are noise and high ones mostly 0. No plane: varints, which are shorter for a few numbers.
 */
static void put_planes(struct tare_pack *out, const uint64_t *values, size_t n, unsigned planes)
{
	TARE_FREED_HERE uint8_t *bytes = tare_xmalloc(n);

	for (unsigned p = 0; p < planes; p++) {
		for (size_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)(values[i] >> 8 * p);
		tare_pack_zipped(out, bytes, n);
	}
}

static void put_numbers(struct tare_pack *out, const uint64_t *values, size_t n)
{
	TARE_FREED_BY(tare_pack_free) struct tare_pack varints = { 0 };
	uint64_t all = 0;
	unsigned planes;

	for (size_t i = 0; i < n; i++)
		all |= values[i];
	planes = all ? (unsigned)(71 - __builtin_clzll(all)) / 8 : 1;
	if (n >= PLANES_MIN) {
		tare_pack_number(out, planes);
		put_planes(out, values, n, planes);
		return;
	}
	tare_pack_number(out, 0);
	for (size_t i = 0; i < n; i++)
		tare_pack_number(&varints, values[i]);
	tare_pack_zipped(out, varints.data, varints.len);
}

static void put_named(struct tare_pack *out, const struct names *names, size_t n)
{
	TARE_FREED_HERE uint64_t *numbers = tare_xmalloc(n * sizeof(*numbers));

	for (size_t i = 0; i < names->word_nr; i++)
		numbers[i] = tare_zigzag(names->words[i] - (i ? names->words[i - 1] : 0));
	tare_pack_number(out, names->word_nr);
	put_numbers(out, numbers, names->word_nr);
	for (size_t i = 0; i < n; i++)
		numbers[i] = names->ids[i];
	put_numbers(out, numbers, n);
}

bool tare_column_encode(struct tare_pack *out, const uint64_t *values, size_t n)
{
	struct names names = { 0 };
	size_t same = 1, cost = 0;
	bool is_named;

	while (same < n && values[same] == values[0])
		same++;
	if (same >= n) {
		tare_pack_number(out, SAME);
		tare_pack_number(out, n ? values[0] : 0);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		cost += length_of(values[i]);
	/* Numbers of one byte each are as short as their names would be. */
	is_named = cost > n && find_names(&names, values, n, n / 2) && cost_of_names(&names, n) < cost;
	if (is_named) {
		tare_pack_number(out, NAMED);
		put_named(out, &names, n);
	} else {
		tare_pack_number(out, NUMBERS);
		put_numbers(out, values, n);
	}
	free_names(&names);
	return is_named;
}

/* What is longer than its bytes reads as zeros, and is then seen to be too long. */
static bool get_varints(struct tare_unpack *in, struct tare_column_scratch *scratch, uint64_t *values, size_t n)
{
	const uint8_t *at, *end;
	size_t i;

	if (!tare_unpack_zipped(in, &scratch->bytes, n * TARE_VARINT_MAX))
		return false;
	at = scratch->bytes.data;
	end = at + scratch->bytes.len;
	for (i = 0; i < n && at < end; i++)
		at = tare_varint_get(at, &values[i]);
	in->is_bad |= i != n || at != end;
	return !in->is_bad;
}

/* Of a plane only the first number may have a byte: the first of a column that tells differences is often large. */
static bool is_of_first_only(const uint8_t *plane, size_t n)
{
	return n > 1 && !plane[1] && !memcmp(plane + 1, plane + 2, n - 2);
}

/* Of each number its bytes, from the planes that follow each other: so many numbers at once as the nearest memory has. */
static void join_planes(uint64_t *values, size_t n, const uint8_t *bytes, unsigned planes)
{
	unsigned dense = planes;
	uint64_t first = 0;

	while (dense > 1 && is_of_first_only(bytes + (dense - 1) * n, n)) {
		dense--;
		first |= (uint64_t)bytes[dense * n] << 8 * dense;
	}
	for (size_t begin = 0, end; begin < n; begin = end) {
		end = n - begin < NEAR ? n : begin + NEAR;
		for (size_t i = begin; i < end; i++)
			values[i] = bytes[i];
		for (unsigned p = 1; p < dense; p++)
			for (size_t i = begin; i < end; i++)
				values[i] |= (uint64_t)bytes[p * n + i] << 8 * p;
	}
	if (n)
		values[0] |= first;
}

static bool get_numbers(struct tare_unpack *in, struct tare_column_scratch *scratch, uint64_t *values, size_t n)
{
	uint64_t planes = tare_unpack_number(in);

	if (planes == 0)
		return get_varints(in, scratch, values, n);
	in->is_bad |= planes > PLANES_MAX;
	scratch->planes.len = 0;
	for (unsigned p = 0; p < planes && !in->is_bad; p++) {
		if (!tare_unpack_zipped(in, &scratch->bytes, n) || scratch->bytes.len != n)
			in->is_bad = true;
		else
			tare_pack_bytes(&scratch->planes, scratch->bytes.data, n);
	}
	if (!in->is_bad)
		join_planes(values, n, scratch->planes.data, (unsigned)planes);
	return !in->is_bad;
}

static bool are_bytes_below(const uint8_t *bytes, size_t n, uint64_t limit)
{
	uint8_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = bytes[i] > most ? bytes[i] : most;
	return most < limit;
}

/* Without a branch or a maximum, so that several values are looked at at once. */
static bool are_below(const uint64_t *values, size_t n, uint64_t limit)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= values[i] | (limit - 1 - values[i]);
	return limit && !(all >> 63);
}

/* Numbers less than the limit. Of one plane its bytes tell, which are fewer. */
static bool get_names(struct tare_unpack *in, struct tare_column_scratch *scratch, uint64_t *values, size_t n,
                      uint64_t limit)
{
	scratch->planes.len = 0;
	if (!get_numbers(in, scratch, values, n))
		return false;
	in->is_bad |=
		scratch->planes.len == n && n ? !are_bytes_below(scratch->planes.data, n, limit) : !are_below(values, n, limit);
	return !in->is_bad;
}

static void skip_numbers(struct tare_unpack *in)
{
	uint64_t planes = tare_unpack_number(in);

	in->is_bad |= planes > PLANES_MAX;
	for (uint64_t p = 0; p < (planes ? planes : 1) && !in->is_bad; p++)
		tare_unpack_skip_zipped(in);
}

static void make_signed(uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = tare_unzigzag(values[i]);
}

static void add_up(uint64_t *values, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		values[i] = sum += values[i];
}

/* Numbers become what they mean. */
static void give_meaning(enum tare_column_meaning meaning, uint64_t *values, size_t n)
{
	if (meaning != TARE_COLUMN_NUMBERS)
		make_signed(values, n);
	if (meaning == TARE_COLUMN_SUMS)
		add_up(values, n);
}

/* Names become what they stand for. */
static void give_words(enum tare_column_meaning meaning, const uint64_t *words, uint64_t *values, size_t n)
{
	uint64_t sum = 0;

	if (meaning == TARE_COLUMN_SUMS)
		for (size_t i = 0; i < n; i++)
			values[i] = sum += words[values[i]];
	else
		for (size_t i = 0; i < n; i++)
			values[i] = words[values[i]];
}

static bool get_named(struct tare_unpack *in, struct tare_column_scratch *scratch, enum tare_column_meaning meaning,
                      uint64_t *values, size_t n, struct tare_column_ids *ids)
{
	size_t word_nr = tare_unpack_number(in);

	if (in->is_bad || word_nr == 0 || word_nr > n) {
		in->is_bad = true;
		return false;
	}
	scratch->words = tare_array_reserve(scratch->words, &scratch->word_cap, word_nr, sizeof(uint64_t));
	if (!get_numbers(in, scratch, scratch->words, word_nr) || !get_names(in, scratch, values, n, word_nr))
		return false;
	give_meaning(TARE_COLUMN_SUMS, scratch->words, word_nr);
	if (ids) {
		ids->ids = tare_array_reserve(ids->ids, &ids->cap, n, sizeof(uint32_t));
		ids->id_nr = word_nr;
		for (size_t i = 0; i < n; i++)
			ids->ids[i] = (uint32_t)values[i];
	}
	if (meaning != TARE_COLUMN_NUMBERS)
		make_signed(scratch->words, word_nr);
	give_words(meaning, scratch->words, values, n);
	return true;
}

bool tare_column_decode(struct tare_unpack *in, struct tare_column_scratch *scratch, enum tare_column_meaning meaning,
                        uint64_t *values, size_t n, struct tare_column_ids *ids)
{
	uint64_t how = tare_unpack_number(in), value;

	if (ids)
		ids->id_nr = 0;
	switch (how) {
	case SAME:
		value = tare_unpack_number(in);
		for (size_t i = 0; i < n; i++)
			values[i] = value;
		give_meaning(meaning, values, n);
		return !in->is_bad;
	case NUMBERS:
		if (!get_numbers(in, scratch, values, n))
			return false;
		give_meaning(meaning, values, n);
		return true;
	case NAMED:
		return get_named(in, scratch, meaning, values, n, ids);
	default:
		in->is_bad = true;
		return false;
	}
}

bool tare_column_decode_names(struct tare_unpack *in, struct tare_column_scratch *scratch, uint64_t *values, size_t n,
                              uint64_t limit)
{
	struct tare_unpack ahead = *in;

	if (tare_unpack_number(&ahead) == NUMBERS) {
		*in = ahead;
		return get_names(in, scratch, values, n, limit);
	}
	return tare_column_decode(in, scratch, TARE_COLUMN_NUMBERS, values, n, NULL) && are_below(values, n, limit);
}

void tare_column_skip(struct tare_unpack *in)
{
	uint64_t how = tare_unpack_number(in);

	if (how == SAME || how == NAMED)
		tare_unpack_number(in);
	if (how == NAMED)
		skip_numbers(in);
	if (how == NUMBERS || how == NAMED)
		skip_numbers(in);
	in->is_bad |= how > NAMED;
}
