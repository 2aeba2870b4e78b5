/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a block of a segment: reads its columns form by form, and puts the records together in the order of their
 * positions.
 */
#include "base/array.h"
#include "store/block_private.h"
#include "record/encode.h"

#include <stdlib.h>

enum {
	RECORDS_MAX = 1 << 16, /* more than a block gets today */
	BYTES_MAX = 64 << 20,  /* of the records of a block that can be believed */
	RECORD_MAX = TARE_MAX_CELLS * TARE_CELL,
};

struct form {
	const struct tare_kind_info *info; /* NULL: raw */
	bool is_raw;
	bool has_columns; /* instead of records, of which so many are in runs by now */
	size_t in_runs;
	size_t first, n;       /* its records, among those sorted by form … */
	uint8_t *records;      /* … which lie one behind the other, so many bytes each; NULL: as … */
	size_t stride;         /* … tare_block_memory says */
	struct tare_pack data; /* of all its records; kept for the next block, as these are: */
	struct tare_form_columns columns;
};

/* Kept from block to block. */
struct tare_block_memory {
	const struct tare_layouts *layouts;
	struct tare_form_scratch fields;
	struct form forms[FORMS_MAX];
	uint64_t form_nr;
	struct expected expected;
	struct tare_pack text, heads; /* tails of a form; the fields of records that have tails */
	uint64_t *which, *stamps, *column, *words;
	size_t which_cap, stamp_cap, column_cap, word_cap;
	uint8_t **records; /* sorted by form, of forms whose records have different sizes */
	size_t record_cap;
	uint32_t *bytes; /* in the same order */
	size_t byte_cap;
	bool is_outline, has_columns;
	size_t sum; /* of the memory that the records take */
};

void tare_block_free(struct tare_record_block *b)
{
	struct tare_block_memory *m = b->memory;

	if (m) {
		tare_form_scratch_free(&m->fields);
		for (int i = 0; i < FORMS_MAX; i++) {
			tare_pack_free(&m->forms[i].data);
			tare_form_columns_free(&m->forms[i].columns);
		}
		tare_pack_free(&m->text);
		tare_pack_free(&m->heads);
		free(m->which);
		free(m->stamps);
		free(m->column);
		free(m->words);
		free(m->records);
		free(m->bytes);
		free(m);
	}
	free(b->records);
	free(b->runs);
	*b = (struct tare_record_block){ 0 };
}

static size_t whole_cells(size_t size)
{
	return (size + TARE_CELL - 1) / TARE_CELL * TARE_CELL;
}

static void reserve(struct tare_record_block *b, size_t n)
{
	struct tare_block_memory *m = b->memory;

	b->records = tare_array_reserve(b->records, &b->cap, n, sizeof(*b->records));
	m->which = tare_array_reserve(m->which, &m->which_cap, n, sizeof(uint64_t));
	m->stamps = tare_array_reserve(m->stamps, &m->stamp_cap, n, sizeof(uint64_t));
	m->column = tare_array_reserve(m->column, &m->column_cap, n, sizeof(uint64_t));
	m->records = tare_array_reserve(m->records, &m->record_cap, n, sizeof(uint8_t *));
	m->bytes = tare_array_reserve(m->bytes, &m->byte_cap, n, sizeof(uint32_t));
}

/* Of each record its form, where there are several. */
static struct form *form_of(struct tare_block_memory *m, size_t i)
{
	return &m->forms[m->form_nr > 1 ? m->which[i] : 0];
}

/* Records of one form often follow each other: behind the last of those from `begin` on. */
static size_t end_of_run(const struct tare_block_memory *m, size_t begin, size_t n)
{
	size_t end = begin + 1;

	if (m->form_nr == 1)
		return n;
	while (end < n && m->which[end] == m->which[begin])
		end++;
	return end;
}

static bool read_forms(struct tare_record_block *b, struct tare_unpack *in, size_t n)
{
	struct tare_block_memory *m = b->memory;
	size_t first = 0;

	m->form_nr = tare_unpack_number(in);
	if (in->is_bad || m->form_nr == 0 || m->form_nr > FORMS_MAX)
		return false;
	for (uint64_t i = 0; i < m->form_nr; i++) {
		uint64_t kind = tare_unpack_number(in);
		struct form *f = &m->forms[i];

		f->info = kind <= UINT16_MAX ? m->layouts->of(m->layouts->arg, (uint16_t)kind) : NULL;
		f->is_raw = kind == 0;
		f->n = f->in_runs = 0;
		f->has_columns = m->has_columns && tare_form_has_columns(f->info);
		if (!f->info && !f->is_raw)
			return false;
	}
	if (m->form_nr == 1)
		tare_column_skip(in);
	else if (!tare_column_decode(in, &m->fields.column, TARE_COLUMN_NUMBERS, m->which, n, NULL))
		return false;
	for (size_t i = 0, end; i < n; i = end) {
		if (m->form_nr > 1 && m->which[i] >= m->form_nr)
			return false;
		end = end_of_run(m, i, n);
		form_of(m, i)->n += end - i;
	}
	for (uint64_t i = 0; i < m->form_nr; i++) {
		m->forms[i].first = first;
		first += m->forms[i].n;
	}
	return true;
}

/* Memory for so much more, aligned; NULL: more than a block can have. */
static uint8_t *memory_for(struct tare_block_memory *m, struct tare_pack *p, size_t size)
{
	m->sum += size;
	if (m->sum > BYTES_MAX)
		return NULL;
	p->len = 0;
	return tare_pack_room(p, size + TARE_CELL);
}

static uint8_t *zeros_for(struct tare_block_memory *m, struct tare_pack *p, size_t size)
{
	uint8_t *at = memory_for(m, p, size);

	return at ? memset(at, 0, size) : NULL;
}

/* NULL: all are wanted. */
static const char *only_field(const struct tare_block_memory *m, const struct form *f)
{
	if (!m->is_outline)
		return NULL;
	switch (f->info->kind) {
	case TARE_KIND_TENSOR:
	case TARE_KIND_HEAP_BLOCK:
	case TARE_KIND_HEAP_FREED:
		return "device";
	case TARE_KIND_PHASE:
		return "";
	default:
		return NULL;
	}
}

static bool read_columns(struct tare_record_block *b, struct tare_unpack *in, struct form *f)
{
	struct tare_block_memory *m = b->memory;
	size_t size = whole_cells(f->info->fixed);
	bool has_tail = f->info->tail != TARE_TAIL_NONE;
	uint8_t *at = memory_for(m, has_tail ? &m->heads : &f->data, size * f->n);

	if (!at)
		return false;
	for (size_t i = 0; i < f->n && size > f->info->fixed; i++)
		memset(at + i * size + f->info->fixed, 0, size - f->info->fixed);
	f->records = at;
	f->stride = size;
	return tare_form_decode(in, &m->fields, f->info, at, size, f->n, only_field(m, f));
}

/* Their fields are there, and say how long they are: now every record gets its own memory. */
static bool read_tails(struct tare_record_block *b, struct tare_unpack *in, struct form *f)
{
	struct tare_block_memory *m = b->memory;
	size_t item = f->info->tail == TARE_TAIL_PCS ? sizeof(uint64_t) : 1, tails = 0, sum = 0;
	const uint8_t *tail, *head = f->records;
	uint8_t *at;

	for (size_t i = f->first; i < f->first + f->n; i++, head += f->stride) {
		uint64_t length = tare_decode_tail_length(f->info, head);
		size_t size = length <= RECORD_MAX ? tare_encode_size(f->info->fixed, length * item) : 0;

		if (!size)
			return false;
		m->bytes[i] = (uint32_t)size;
		tails += length * item;
		sum += size;
	}
	at = zeros_for(m, &f->data, sum);
	if (!at)
		return false;
	if (item == 1) {
		if (!tare_unpack_zipped(in, &m->text, tails) || m->text.len != tails)
			return false;
		tail = m->text.data;
	} else {
		m->words = tare_array_reserve(m->words, &m->word_cap, tails / item + 1, item);
		if (!tare_column_decode(in, &m->fields.column, TARE_COLUMN_NUMBERS, m->words, tails / item, NULL))
			return false;
		tail = (const uint8_t *)m->words;
	}
	head = f->records;
	for (size_t i = f->first; i < f->first + f->n; i++, head += f->stride) {
		size_t length = tare_decode_tail_length(f->info, head) * item;

		memcpy(at, head, f->info->fixed);
		memcpy(at + f->info->fixed, tail, length);
		m->records[i] = at;
		tail += length;
		at += m->bytes[i];
	}
	f->records = NULL;
	return true;
}

static size_t room_of_raw(const struct tare_layouts *layouts, const uint8_t *raw, size_t bytes)
{
	const struct tare_kind_info *info;
	uint16_t kind;

	memcpy(&kind, raw, sizeof(kind));
	info = layouts->of(layouts->arg, kind);
	return whole_cells(info && info->fixed > bytes ? info->fixed : bytes);
}

static bool read_raw(struct tare_record_block *b, struct tare_unpack *in, struct form *f)
{
	struct tare_block_memory *m = b->memory;
	size_t sum = 0, room = 0;
	const uint8_t *raw;
	uint8_t *at;

	f->records = NULL;
	if (!tare_column_decode(in, &m->fields.column, TARE_COLUMN_NUMBERS, m->column, f->n, NULL))
		return false;
	for (size_t i = 0; i < f->n; i++) {
		if (m->column[i] < sizeof(struct tare_record) || m->column[i] > BYTES_MAX)
			return false;
		m->bytes[f->first + i] = (uint32_t)m->column[i];
		sum += m->column[i] - sizeof(uint32_t);
	}
	if (sum > BYTES_MAX || !tare_unpack_zipped(in, &m->text, sum) || m->text.len != sum)
		return false;
	raw = m->text.data;
	for (size_t i = 0; i < f->n; i++) {
		room += room_of_raw(m->layouts, raw, m->column[i]);
		raw += m->column[i] - sizeof(uint32_t);
	}
	at = zeros_for(m, &f->data, room);
	raw = m->text.data;
	for (size_t i = 0; i < f->n && at; i++) {
		memcpy(at + sizeof(uint32_t), raw, m->column[i] - sizeof(uint32_t));
		m->records[f->first + i] = at;
		at += room_of_raw(m->layouts, raw, m->column[i]);
		raw += m->column[i] - sizeof(uint32_t);
	}
	return at != NULL;
}

static bool read_form(struct tare_record_block *b, struct tare_unpack *in, struct form *f)
{
	if (f->n == 0)
		return false;
	if (f->is_raw)
		return read_raw(b, in, f);
	if (f->has_columns)
		return tare_form_decode_columns(in, &b->memory->fields, f->info, f->n, &f->columns);
	if (!read_columns(b, in, f))
		return false;
	return f->info->tail == TARE_TAIL_NONE || read_tails(b, in, f);
}

/* The next of a form, whose stamps are these: they lie among those of other forms, and the other columns do not. */
static struct tare_tensor_columns next_columns(const struct form *f, const uint64_t *stamps)
{
	struct tare_tensor_columns all = f->columns.public;

	all.stamps = stamps;
	all.addresses += f->in_runs;
	all.bytes += f->in_runs;
	all.which += f->in_runs;
	return all;
}

/* Records begin .. end-1, which are of one form and are there as columns. */
static void put_columns(struct tare_record_block *b, size_t begin, size_t end)
{
	struct form *f = form_of(b->memory, begin);
	struct tare_tensor_run *run;

	run = &TARE_APPEND(b->runs, b->run_nr, b->run_cap);
	*run = (struct tare_tensor_run){
		.begin = begin,
		.end = end,
		.columns = next_columns(f, b->memory->stamps + begin),
		.is_of_one_device = f->columns.is_of_one_device,
	};
	f->in_runs += end - begin;
}

/* The same of one form that lie one behind the other: their heads, but for the seal. */
static void put_even_run(struct tare_record_block *b, size_t begin, size_t end)
{
	struct tare_block_memory *m = b->memory;
	struct form *f = form_of(m, begin);
	struct tare_record head = { .kind = f->info->kind, .cells = (uint16_t)(f->stride / TARE_CELL) };
	uint8_t *at = f->records;

	for (size_t i = begin; i < end; i++, at += f->stride) {
		head.stamp = m->stamps[i];
		memcpy(at, &head, sizeof(head));
		b->records[i] = (struct tare_block_record){ .data = at, .bytes = (uint32_t)f->stride };
	}
	f->records = at;
}

/* The same of records that have different sizes. */
static void put_run(struct tare_record_block *b, size_t begin, size_t end)
{
	struct tare_block_memory *m = b->memory;
	struct form *f = form_of(m, begin);
	uint16_t kind = f->is_raw ? 0 : f->info->kind;
	size_t at = f->first;

	f->first += end - begin;
	for (size_t i = begin; i < end; i++, at++) {
		struct tare_record *head = (struct tare_record *)(void *)m->records[at];

		head->seal = 0;
		if (kind) {
			head->kind = kind;
			head->cells = (uint16_t)(m->bytes[at] / TARE_CELL);
			head->stamp = m->stamps[i];
		}
		m->stamps[i] = head->stamp;
		b->records[i] = (struct tare_block_record){ .data = m->records[at], .bytes = m->bytes[at] };
	}
}

/* In the order in which they were given. */
static void put_together(struct tare_record_block *b, size_t n)
{
	struct tare_block_memory *m = b->memory;

	b->run_nr = 0;
	for (size_t i = 0, end; i < n; i = end) {
		const struct form *f = form_of(m, i);

		end = end_of_run(m, i, n);
		if (f->has_columns)
			put_columns(b, i, end);
		else if (f->records)
			put_even_run(b, i, end);
		else
			put_run(b, i, end);
	}
	b->stamps = m->stamps;
	b->n = n;
}

static bool read_positions(struct tare_record_block *b, struct tare_unpack *in, size_t n)
{
	struct tare_block_memory *m = b->memory;
	struct expected *e = &m->expected;
	const struct tare_field *tid[FORMS_MAX];

	memset(e, 0, sizeof(*e));
	for (uint64_t i = 0; i < m->form_nr; i++)
		tid[i] = m->forms[i].is_raw ? NULL : tid_field(m->forms[i].info);
	if (!tare_column_decode(in, &m->fields.column, TARE_COLUMN_SIGNED, m->column, n, NULL))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct tare_block_record *r = &b->records[i];
		uint64_t *next = expected_of(e, tid[form_of(m, i) - m->forms], r->data);

		r->position = *next + m->column[i] * TARE_CELL;
		*next = e->last = r->position + r->bytes;
		tare_encode_seal((struct tare_record *)(uintptr_t)r->data, r->position);
	}
	return true;
}

bool tare_block_decode(struct tare_record_block *b, const struct tare_layouts *layouts, const void *bytes, size_t size,
                       int wanted)
{
	struct tare_unpack in = { bytes, (const uint8_t *)bytes + size, false }, positions;
	struct tare_block_memory *m;
	size_t n = tare_unpack_number(&in);

	b->n = 0;
	if (in.is_bad || n == 0 || n > RECORDS_MAX)
		return false;
	if (!b->memory)
		b->memory = tare_xcalloc(1, sizeof(*b->memory));
	m = b->memory;
	m->layouts = layouts;
	m->sum = 0;
	m->is_outline = wanted & TARE_BLOCK_OUTLINE;
	m->has_columns = wanted & TARE_BLOCK_COLUMNS;
	reserve(b, n);
	if (!read_forms(b, &in, n) || !tare_column_decode(&in, &m->fields.column, TARE_COLUMN_SUMS, m->stamps, n, NULL))
		return false;
	positions = in;
	tare_column_skip(&in);
	for (uint64_t i = 0; i < m->form_nr; i++)
		if (in.is_bad || !read_form(b, &in, &m->forms[i]))
			return false;
	put_together(b, n);
	if (wanted & TARE_BLOCK_POSITIONS && !read_positions(b, &positions, n))
		b->n = 0;
	return b->n > 0;
}
