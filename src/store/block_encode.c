/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes records as a block of a segment: sorts them by form, and writes the fields of each form as columns. */
#include "base/xalloc.h"
#include "store/block_private.h"
#include "record/encode.h"

#include <stdlib.h>

struct form {
	uint16_t kind;
	const struct tare_kind_info *info; /* NULL: raw */
	const struct tare_field *tid;
	const uint8_t **records;
	uint32_t *bytes;
	size_t n;
};

struct encoder {
	const struct tare_layouts *layouts;
	const struct tare_block_record *records;
	size_t n;
	struct form forms[FORMS_MAX];
	int form_nr;
	uint64_t *which; /* form of each record */
	uint64_t *column;
};

static size_t tail_bytes(const struct tare_kind_info *info, const uint8_t *record)
{
	if (info->tail == TARE_TAIL_NONE)
		return 0;
	return tare_decode_tail_length(info, record) * (info->tail == TARE_TAIL_PCS ? sizeof(uint64_t) : 1);
}

/* Its kind, if its fields, its tail and zeros up to the next cell are all that it is; else NULL. */
static const struct tare_kind_info *regular(const struct encoder *e, const struct tare_block_record *r)
{
	const struct tare_record *head = (const struct tare_record *)(const void *)r->data;
	const struct tare_kind_info *info = e->layouts->of(e->layouts->arg, head->kind);
	size_t used;

	if (!info || r->bytes < info->fixed || head->cells * TARE_CELL != r->bytes)
		return NULL;
	used = tail_bytes(info, r->data);
	if (used > r->bytes || tare_encode_size(info->fixed, used) != r->bytes)
		return NULL;
	for (used += info->fixed; used < r->bytes; used++)
		if (r->data[used])
			return NULL;
	return info;
}

/* Its number. Kinds beyond FORMS_MAX do not exist; damaged ones are all of the last form, which is raw. */
static int form_of(struct encoder *e, const struct tare_block_record *r)
{
	const struct tare_record *head = (const struct tare_record *)(const void *)r->data;
	const struct tare_kind_info *info = regular(e, r);
	uint16_t kind = info ? head->kind : 0;

	for (int i = 0; i < e->form_nr; i++)
		if (e->forms[i].kind == kind)
			return i;
	e->forms[e->form_nr] = (struct form){ .kind = kind, .info = info, .tid = tid_field(info) };
	return e->form_nr++;
}

static void sort_by_form(struct encoder *e)
{
	for (size_t i = 0; i < e->n; i++) {
		e->which[i] = (uint64_t)form_of(e, &e->records[i]);
		e->forms[e->which[i]].n++;
	}
	for (int i = 0; i < e->form_nr; i++) {
		struct form *f = &e->forms[i];

		f->records = tare_xmalloc(f->n * sizeof(uint8_t *));
		f->bytes = tare_xmalloc(f->n * sizeof(*f->bytes));
		f->n = 0;
	}
	for (size_t i = 0; i < e->n; i++) {
		struct form *f = &e->forms[e->which[i]];

		f->records[f->n] = e->records[i].data;
		f->bytes[f->n++] = e->records[i].bytes;
	}
}

static void put_stamps(struct tare_pack *out, struct encoder *e)
{
	uint64_t before = 0;

	for (size_t i = 0; i < e->n; i++) {
		const struct tare_record *head = (const struct tare_record *)(const void *)e->records[i].data;

		e->column[i] = tare_zigzag(head->stamp - before);
		before = head->stamp;
	}
	tare_column_encode(out, e->column, e->n);
}

static void put_positions(struct tare_pack *out, struct encoder *e)
{
	TARE_FREED_HERE struct expected *expected = tare_xcalloc(1, sizeof(*expected));

	for (size_t i = 0; i < e->n; i++) {
		const struct tare_block_record *r = &e->records[i];
		uint64_t *next = expected_of(expected, e->forms[e->which[i]].tid, r->data);

		e->column[i] = tare_zigzag((uint64_t)((int64_t)(r->position - *next) / (int64_t)TARE_CELL));
		*next = expected->last = r->position + r->bytes;
	}
	tare_column_encode(out, e->column, e->n);
}

static void put_texts(struct tare_pack *out, const struct form *f)
{
	TARE_FREED_BY(tare_pack_free) struct tare_pack all = { 0 };

	for (size_t i = 0; i < f->n; i++)
		tare_pack_bytes(&all, f->records[i] + f->info->fixed, tail_bytes(f->info, f->records[i]));
	tare_pack_zipped(out, all.data, all.len);
}

static void put_words(struct tare_pack *out, const struct form *f)
{
	TARE_FREED_BY(tare_pack_free) struct tare_pack all = { 0 };

	for (size_t i = 0; i < f->n; i++)
		tare_pack_bytes(&all, f->records[i] + f->info->fixed, tail_bytes(f->info, f->records[i]));
	tare_column_encode(out, (const uint64_t *)(const void *)all.data, all.len / sizeof(uint64_t));
}

/* All but the seal, which follows from the position. */
static void put_raw(struct tare_pack *out, const struct encoder *e, const struct form *f)
{
	TARE_FREED_BY(tare_pack_free) struct tare_pack all = { 0 };

	for (size_t i = 0; i < f->n; i++) {
		e->column[i] = f->bytes[i];
		tare_pack_bytes(&all, f->records[i] + sizeof(uint32_t), f->bytes[i] - sizeof(uint32_t));
	}
	tare_column_encode(out, e->column, f->n);
	tare_pack_zipped(out, all.data, all.len);
}

static void put_form(struct tare_pack *out, const struct encoder *e, const struct form *f)
{
	if (!f->info) {
		put_raw(out, e, f);
		return;
	}
	tare_form_encode(out, f->info, f->records, f->n);
	if (f->info->tail == TARE_TAIL_TEXT)
		put_texts(out, f);
	else if (f->info->tail == TARE_TAIL_PCS)
		put_words(out, f);
}

void tare_block_encode(struct tare_pack *out, const struct tare_layouts *layouts,
                       const struct tare_block_record *records, size_t n)
{
	TARE_FREED_HERE struct encoder *e = tare_xcalloc(1, sizeof(*e));

	e->layouts = layouts;
	e->records = records;
	e->n = n;
	e->which = tare_xmalloc(n * sizeof(uint64_t));
	e->column = tare_xmalloc(n * sizeof(uint64_t));
	sort_by_form(e);
	tare_pack_number(out, n);
	tare_pack_number(out, (uint64_t)e->form_nr);
	for (int i = 0; i < e->form_nr; i++)
		tare_pack_number(out, e->forms[i].kind);
	tare_column_encode(out, e->which, n);
	put_stamps(out, e);
	put_positions(out, e);
	for (int i = 0; i < e->form_nr; i++)
		put_form(out, e, &e->forms[i]);
	for (int i = 0; i < e->form_nr; i++) {
		free(e->forms[i].records);
		free(e->forms[i].bytes);
	}
	free(e->which);
	free(e->column);
}
