/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/dwarf_cfi.h"

#include <string.h>

#include "recorder/dwarf_read.h"

enum {
	REMEMBER_DEPTH = 4, /* compilers use one, nested in hand-written code two */

	/* How a pointer is written. */
	PE_ABSPTR = 0x00,
	PE_ULEB = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_ALIGNED = 0x50,
	PE_BASE = 0x70,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

/* The three with an operand in the low six bits, then the rest. */
enum {
	CFA_ADVANCE = 1,
	CFA_OFFSET = 2,
	CFA_RESTORE = 3,

	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE1 = 0x02,
	CFA_ADVANCE2 = 0x03,
	CFA_ADVANCE4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointers; /* how the FDE writes its addresses */
	bool has_augmentation, is_signal;
	struct tare_dwarf program;
};

/* An entry of .eh_frame, read up to its body. */
struct entry {
	struct tare_dwarf body;
	const uint8_t *id_at;
	uint32_t id; /* 0 = CIE; otherwise the distance back from here to the CIE */
};

struct execution {
	const struct cie *cie;
	struct tare_cfi_row *row;
	struct tare_cfi_rules initial;
	struct tare_cfi_rules remembered[REMEMBER_DEPTH];
	unsigned int depth;
	uintptr_t at, ip;
};

static uintptr_t read_pointer(struct tare_dwarf *d, uint8_t encoding)
{
	uintptr_t here = (uintptr_t)d->at, value = 0;

	if ((encoding & PE_BASE) == PE_ALIGNED) {
		tare_dwarf_skip(d, -here & 7);
		return tare_dwarf_uint(d, 8);
	}
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		value = tare_dwarf_uint(d, 8);
		break;
	case PE_UDATA4:
		value = tare_dwarf_uint(d, 4);
		break;
	case PE_UDATA2:
		value = tare_dwarf_uint(d, 2);
		break;
	case PE_SDATA4:
		value = (uintptr_t)tare_dwarf_int(d, 4);
		break;
	case PE_SDATA2:
		value = (uintptr_t)tare_dwarf_int(d, 2);
		break;
	case PE_ULEB:
		value = tare_dwarf_uleb(d);
		break;
	case PE_SLEB:
		value = (uintptr_t)tare_dwarf_sleb(d);
		break;
	default:
		d->is_bad = true;
	}
	if ((encoding & PE_BASE) == PE_PCREL)
		return value + here;
	if (encoding & PE_BASE) /* relative to text, data or function: nobody's code addresses */
		d->is_bad = true;
	return value;
}

/* Reads length and id at `at`. Returns false at the end mark and outside the segment. */
static bool read_entry(const struct tare_cfi_row *row, const uint8_t *at, struct entry *e)
{
	uint64_t length;

	if (at < row->tables || at >= row->tables_end)
		return false;
	e->body = (struct tare_dwarf){at, row->tables_end, false};
	length = tare_dwarf_uint(&e->body, 4);
	if (length == 0xffffffff)
		length = tare_dwarf_uint(&e->body, 8);
	if (length < 4 || length > tare_dwarf_left(&e->body))
		return false;
	e->body.end = e->body.at + length;
	e->id_at = e->body.at;
	e->id = (uint32_t)tare_dwarf_uint(&e->body, 4);
	return true;
}

/* The letters behind 'z' say what its block holds. Returns false for one that we do not know. */
static bool read_augmentation(struct tare_dwarf d, const char *letters, const char *end,
			      struct cie *cie)
{
	uint8_t encoding;

	for (; letters < end; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointers = (uint8_t)tare_dwarf_uint(&d, 1);
			break;
		case 'P':
			encoding = (uint8_t)tare_dwarf_uint(&d, 1);
			if ((encoding & PE_BASE) == PE_ALIGNED && encoding != PE_OMIT)
				read_pointer(&d, PE_ALIGNED);
			else if (encoding != PE_OMIT)
				read_pointer(&d, encoding & PE_FORMAT);
			break;
		case 'L':
			tare_dwarf_uint(&d, 1);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* signed with the other key */
		case 'G': /* memory tags */
			break;
		default:
			return false;
		}
	}
	return !d.is_bad;
}

static bool read_cie(const struct tare_cfi_row *row, const uint8_t *at, struct cie *cie)
{
	const char *letters, *letters_end;
	struct tare_dwarf *d;
	struct entry e;
	uint8_t version;
	uint64_t size;

	if (!read_entry(row, at, &e) || e.id != 0)
		return false;
	memset(cie, 0, sizeof(*cie));
	d = &e.body;
	version = (uint8_t)tare_dwarf_uint(d, 1);
	letters = (const char *)d->at;
	letters_end = letters + strnlen(letters, tare_dwarf_left(d));
	if ((const uint8_t *)letters_end == d->end || (version != 1 && version != 3 && version != 4))
		return false;
	tare_dwarf_skip(d, (uint64_t)(letters_end - letters) + 1);
	if (version == 4 && tare_dwarf_uint(d, 2) != sizeof(void *)) /* and no segment selector */
		return false;
	cie->code_align = tare_dwarf_uleb(d);
	cie->data_align = tare_dwarf_sleb(d);
	if ((version == 1 ? tare_dwarf_uint(d, 1) : tare_dwarf_uleb(d)) != TARE_REG_RA)
		return false;
	if (*letters == 'z') {
		cie->has_augmentation = true;
		size = tare_dwarf_uleb(d);
		if (!read_augmentation(*d, letters + 1, letters_end, cie))
			return false;
		tare_dwarf_skip(d, size);
	} else if (*letters) {
		return false;
	}
	cie->program = *d;
	return !d->is_bad;
}

static void set_rule(struct execution *x, uint64_t column, uint32_t kind, int64_t value,
		     struct tare_dwarf *d)
{
	if (value != (int32_t)value)
		d->is_bad = true;
	if (column < TARE_REG_COLUMNS) /* floating point and the like are of no interest */
		x->row->rules.column[column] = (struct tare_cfi_rule){kind, (int32_t)value};
}

static void set_cfa(struct execution *x, uint64_t reg, int64_t offset, struct tare_dwarf *d)
{
	if (offset != (int32_t)offset || reg >= TARE_REG_COUNT)
		d->is_bad = true;
	x->row->rules.cfa = (struct tare_cfi_rule){TARE_RULE_REGISTER, (int32_t)offset};
	x->row->rules.cfa_register = (uint32_t)reg;
}

/* Where an expression begins, as a rule's value; steps over it. */
static int64_t take_expression(struct execution *x, struct tare_dwarf *d)
{
	int64_t where = d->at - x->row->tables;

	tare_dwarf_skip(d, tare_dwarf_uleb(d));
	return where;
}

static void restore(struct execution *x, uint64_t column)
{
	if (column < TARE_REG_COLUMNS)
		x->row->rules.column[column] = x->initial.column[column];
}

static int64_t factored(const struct execution *x, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)x->cie->data_align);
}

/* An instruction about one register. Returns false when it is none. */
static bool execute_rule(struct execution *x, uint8_t op, struct tare_dwarf *d)
{
	static const struct {
		uint8_t op, kind;
	} offsets[] = {
		{CFA_OFFSET_EXTENDED, TARE_RULE_OFFSET},
		{CFA_VAL_OFFSET, TARE_RULE_VAL_OFFSET},
		{CFA_OFFSET_EXTENDED_SF, TARE_RULE_OFFSET},
		{CFA_VAL_OFFSET_SF, TARE_RULE_VAL_OFFSET},
	};
	uint64_t column;

	for (unsigned int i = 0; i < 4; i++) {
		if (op != offsets[i].op)
			continue;
		column = tare_dwarf_uleb(d);
		set_rule(x, column, offsets[i].kind,
			 factored(x, i < 2 ? (int64_t)tare_dwarf_uleb(d) : tare_dwarf_sleb(d)), d);
		return true;
	}
	switch (op) {
	case CFA_RESTORE_EXTENDED:
		restore(x, tare_dwarf_uleb(d));
		return true;
	case CFA_UNDEFINED:
		set_rule(x, tare_dwarf_uleb(d), TARE_RULE_UNDEFINED, 0, d);
		return true;
	case CFA_SAME_VALUE:
		set_rule(x, tare_dwarf_uleb(d), TARE_RULE_SAME, 0, d);
		return true;
	case CFA_REGISTER:
		column = tare_dwarf_uleb(d);
		set_rule(x, column, TARE_RULE_REGISTER, (int64_t)tare_dwarf_uleb(d), d);
		return true;
	case CFA_EXPRESSION:
		column = tare_dwarf_uleb(d);
		set_rule(x, column, TARE_RULE_EXPRESSION, take_expression(x, d), d);
		return true;
	case CFA_VAL_EXPRESSION:
		column = tare_dwarf_uleb(d);
		set_rule(x, column, TARE_RULE_VAL_EXPRESSION, take_expression(x, d), d);
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		column = tare_dwarf_uleb(d);
		set_rule(x, column, TARE_RULE_OFFSET, factored(x, -(int64_t)tare_dwarf_uleb(d)), d);
		return true;
	}
	return false;
}

/* An instruction about the CFA or the whole row. Returns false when it is none that we know. */
static bool execute_row(struct execution *x, uint8_t op, struct tare_dwarf *d)
{
	struct tare_cfi_rules *rules = &x->row->rules;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = tare_dwarf_uleb(d);
		set_cfa(x, reg, (int64_t)tare_dwarf_uleb(d), d);
		return true;
	case CFA_DEF_CFA_SF:
		reg = tare_dwarf_uleb(d);
		set_cfa(x, reg, factored(x, tare_dwarf_sleb(d)), d);
		return true;
	case CFA_DEF_CFA_REGISTER:
		set_cfa(x, tare_dwarf_uleb(d), rules->cfa.value, d);
		return true;
	case CFA_DEF_CFA_OFFSET:
		set_cfa(x, rules->cfa_register, (int64_t)tare_dwarf_uleb(d), d);
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa(x, rules->cfa_register, factored(x, tare_dwarf_sleb(d)), d);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		rules->cfa.kind = TARE_RULE_VAL_EXPRESSION;
		rules->cfa.value = (int32_t)take_expression(x, d);
		return true;
	case CFA_REMEMBER_STATE:
		if (x->depth == REMEMBER_DEPTH)
			return false;
		x->remembered[x->depth++] = *rules;
		return true;
	case CFA_RESTORE_STATE:
		if (!x->depth)
			return false;
		*rules = x->remembered[--x->depth];
		return true;
	case CFA_GNU_ARGS_SIZE:
		tare_dwarf_uleb(d);
		return true;
	case CFA_NOP:
	case CFA_AARCH64_NEGATE_RA_STATE: /* signatures are taken off every return address */
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return true;
	}
	return false;
}

/* Where the row begins that the instruction starts, or x->at for other instructions. */
static uintptr_t advance(struct execution *x, uint8_t op, struct tare_dwarf *d)
{
	switch (op) {
	case CFA_SET_LOC:
		return read_pointer(d, x->cie->pointers);
	case CFA_ADVANCE1:
		return x->at + tare_dwarf_uint(d, 1) * x->cie->code_align;
	case CFA_ADVANCE2:
		return x->at + tare_dwarf_uint(d, 2) * x->cie->code_align;
	case CFA_ADVANCE4:
		return x->at + tare_dwarf_uint(d, 4) * x->cie->code_align;
	}
	return op >> 6 == CFA_ADVANCE ? x->at + (op & 0x3f) * x->cie->code_align : x->at;
}

/* Runs until the row that holds ip is complete. */
static bool execute(struct execution *x, struct tare_dwarf d)
{
	while (d.at < d.end && !d.is_bad) {
		uint8_t op = (uint8_t)tare_dwarf_uint(&d, 1);
		uint8_t low = op & 0x3f;

		switch (op >> 6) {
		case CFA_OFFSET:
			set_rule(x, low, TARE_RULE_OFFSET,
				 factored(x, (int64_t)tare_dwarf_uleb(&d)), &d);
			continue;
		case CFA_RESTORE:
			restore(x, low);
			continue;
		}
		if (op >> 6 == CFA_ADVANCE || (op >= CFA_SET_LOC && op <= CFA_ADVANCE4)) {
			x->at = advance(x, op, &d);
			if (x->at > x->ip)
				break;
		} else if (!execute_rule(x, op, &d) && !execute_row(x, op, &d)) {
			return false;
		}
	}
	return !d.is_bad;
}

/*
 * The last entry of the table in .eh_frame_hdr that begins at or before ip: every linker writes the
 * table as pairs of signed offsets from the header.
 */
static const uint8_t *search_table(struct tare_dwarf d, const uint8_t *header, uint8_t encoding,
				   uint64_t count, uintptr_t ip)
{
	unsigned int width = encoding == (PE_DATAREL | PE_SDATA8) ? 8 : 4;
	uint64_t low = 0, high = count;

	if (encoding != (PE_DATAREL | PE_SDATA4) && encoding != (PE_DATAREL | PE_SDATA8))
		return NULL;
	if (count > tare_dwarf_left(&d) / (2 * width))
		return NULL;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct tare_dwarf entry = {d.at + middle * 2 * width, d.end, false};

		if (ip < (uintptr_t)header + (uint64_t)tare_dwarf_int(&entry, width))
			high = middle;
		else
			low = middle + 1;
	}
	if (!low)
		return NULL;
	d.at += (low - 1) * 2 * width + width;
	return header + tare_dwarf_int(&d, width);
}

/* The FDE that may cover ip; also notes the segment of the tables. */
static const uint8_t *find_fde(const struct tare_elf_object *obj, uintptr_t ip,
			       struct tare_cfi_row *row)
{
	const uint8_t *header = NULL;
	uint8_t frame, count, table;
	struct tare_dwarf d;

	for (uint16_t i = 0; i < obj->phnum; i++)
		if (obj->phdr[i].p_type == PT_GNU_EH_FRAME)
			header = (const uint8_t *)(obj->base + obj->phdr[i].p_vaddr);
	if (!header ||
	    !tare_elf_segment(obj, (uintptr_t)header, PF_R, &row->tables, &row->tables_end))
		return NULL;
	d = (struct tare_dwarf){header, row->tables_end, false};
	if (tare_dwarf_uint(&d, 1) != 1) /* version */
		return NULL;
	frame = (uint8_t)tare_dwarf_uint(&d, 1);
	count = (uint8_t)tare_dwarf_uint(&d, 1);
	table = (uint8_t)tare_dwarf_uint(&d, 1);
	if (count == PE_OMIT || table == PE_OMIT)
		return NULL;
	if (frame != PE_OMIT)
		read_pointer(&d, frame);
	return search_table(d, header, table, read_pointer(&d, count), ip);
}

bool tare_cfi_find(const struct tare_elf_object *obj, uintptr_t ip, struct tare_cfi_row *row)
{
	const uint8_t *at = find_fde(obj, ip, row);
	uintptr_t begin, size;
	struct execution x;
	struct entry fde;
	struct cie cie;

	if (!at)
		return false;
	/* The header and .eh_frame may lie in different segments. */
	if ((at < row->tables || at >= row->tables_end) &&
	    !tare_elf_segment(obj, (uintptr_t)at, PF_R, &row->tables, &row->tables_end))
		return false;
	if (!read_entry(row, at, &fde) || !fde.id ||
	    fde.id > (size_t)(fde.id_at - row->tables) ||
	    !read_cie(row, fde.id_at - fde.id, &cie))
		return false;
	begin = read_pointer(&fde.body, cie.pointers);
	size = read_pointer(&fde.body, cie.pointers & PE_FORMAT);
	if (cie.has_augmentation)
		tare_dwarf_skip(&fde.body, tare_dwarf_uleb(&fde.body));
	if (fde.body.is_bad || ip - begin >= size)
		return false;

	memset(&row->rules, 0, sizeof(row->rules));
	row->is_signal = cie.is_signal;
	x.cie = &cie;
	x.row = row;
	x.depth = 0;
	x.at = begin;
	x.ip = ip;
	memset(&x.initial, 0, sizeof(x.initial));
	if (!execute(&x, cie.program))
		return false;
	x.initial = row->rules;
	x.at = begin;
	return execute(&x, fde.body) && row->rules.cfa.kind != TARE_RULE_SAME;
}

bool tare_cfi_expression(const struct tare_cfi_row *row, struct tare_cfi_rule rule,
			 const uint8_t **begin, const uint8_t **end)
{
	struct tare_dwarf d = {row->tables + (uint32_t)rule.value, row->tables_end, false};
	uint64_t size = tare_dwarf_uleb(&d);

	if (d.is_bad || size > tare_dwarf_left(&d))
		return false;
	*begin = d.at;
	*end = d.at + size;
	return true;
}
