/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads of a block only the first and the last record of each kind that is left out of an outline, without decoding
 * the others.
 */
#include "store/block_ends.h"

#include "base/array.h"

#include <stdlib.h>

enum { FORMS = 2, RECORDS_MAX = 1 << 16 };

/* Of one kind: the places of the first and of the last record, and their stamps. */
struct ends {
	const struct tare_kind_info *info;
	uint64_t device;
	size_t at[2];
	uint64_t stamp[2];
	bool is_any;
};

static bool is_left_out(const struct tare_kind_info *info)
{
	return info && (info->kind == TARE_KIND_TENSOR || info->kind == TARE_KIND_PHASE);
}

static bool read_kinds(struct tare_unpack *in, const struct tare_layouts *layouts, struct ends *forms, size_t form_nr)
{
	for (size_t i = 0; i < form_nr; i++) {
		uint64_t kind = tare_unpack_number(in);

		forms[i].info = kind <= UINT16_MAX ? layouts->of(layouts->arg, (uint16_t)kind) : NULL;
		if (!is_left_out(forms[i].info))
			return false;
	}
	return !in->is_bad;
}

static void take_place(struct ends *form, size_t i)
{
	if (!form->is_any)
		form->at[0] = i;
	form->at[1] = i;
	form->is_any = true;
}

static bool read_places(struct tare_block_ends *e, struct tare_unpack *in, struct ends *forms, size_t form_nr, size_t n)
{
	if (form_nr == 1) {
		tare_column_skip(in);
		take_place(&forms[0], 0);
		take_place(&forms[0], n - 1);
		return !in->is_bad;
	}
	e->column = tare_array_reserve(e->column, &e->column_cap, n, sizeof(uint64_t));
	if (!tare_column_decode(in, &e->scratch.column, TARE_COLUMN_NUMBERS, e->column, n, NULL))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (e->column[i] >= form_nr)
			return false;
		take_place(&forms[e->column[i]], i);
	}
	return forms[0].is_any && forms[1].is_any;
}

static bool read_stamps(struct tare_block_ends *e, struct tare_unpack *in, struct ends *forms, size_t form_nr, size_t n)
{
	if (form_nr == 1) {
		tare_column_skip(in);
		return !in->is_bad;
	}
	if (!tare_column_decode(in, &e->scratch.column, TARE_COLUMN_SUMS, e->column, n, NULL))
		return false;
	for (size_t i = 0; i < form_nr; i++)
		for (int end = 0; end < 2; end++)
			forms[i].stamp[end] = e->column[forms[i].at[end]];
	return true;
}

static void put(struct tare_block_ends *e, const struct ends *form, int end)
{
	size_t size = (form->info->fixed + TARE_CELL - 1) / TARE_CELL * TARE_CELL;
	struct tare_rec_tensor *rec = &e->records[e->block.n];

	*rec = (struct tare_rec_tensor){
		.head = { .kind = form->info->kind, .cells = (uint16_t)(size / TARE_CELL), .stamp = form->stamp[end] },
		.device = (int16_t)form->device
	};
	e->stamps[e->block.n] = form->stamp[end];
	e->list[e->block.n++] = (struct tare_block_record){ .data = (const uint8_t *)rec, .bytes = (uint32_t)size };
}

/* In the order of their places. */
static void put_all(struct tare_block_ends *e, const struct ends *forms, size_t form_nr, size_t n)
{
	size_t next = 0;

	while (next < n) {
		size_t least = n;

		for (size_t i = 0; i < form_nr; i++)
			for (int end = 0; end < 2; end++)
				if (forms[i].at[end] >= next && forms[i].at[end] < least)
					least = forms[i].at[end];
		for (size_t i = 0; i < form_nr && least < n; i++)
			if (forms[i].at[0] == least || forms[i].at[1] == least)
				put(e, &forms[i], forms[i].at[0] != least);
		next = least + 1;
	}
	e->block.records = e->list;
	e->block.stamps = e->stamps;
}

bool tare_block_read_ends(struct tare_block_ends *e, const struct tare_layouts *layouts, const void *bytes, size_t size,
                          uint64_t first, uint64_t last)
{
	struct tare_unpack in = { bytes, (const uint8_t *)bytes + size, false };
	size_t n = tare_unpack_number(&in), form_nr = tare_unpack_number(&in);
	struct ends forms[FORMS] = { { .stamp = { first, last } } };

	e->block.n = 0;
	if (in.is_bad || n == 0 || n > RECORDS_MAX || form_nr == 0 || form_nr > FORMS ||
	    !read_kinds(&in, layouts, forms, form_nr) || !read_places(e, &in, forms, form_nr, n) ||
	    !read_stamps(e, &in, forms, form_nr, n))
		return false;
	tare_column_skip(&in); /* positions */
	for (size_t i = 0; i < form_nr; i++)
		if (forms[i].info->kind == TARE_KIND_PHASE)
			tare_form_skip(&in, forms[i].info);
		else if (!tare_form_decode_one(&in, &e->scratch, forms[i].info, "device", &forms[i].device))
			return false;
	if (!in.is_bad)
		put_all(e, forms, form_nr, n);
	return e->block.n > 0;
}
