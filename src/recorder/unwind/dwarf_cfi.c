/* SPDX-License-Identifier: Apache-2.0 */
/* Executes call frame information up to one instruction. */
#include "recorder/unwind/dwarf_cfi.h"

#include <string.h>

#include "recorder/recorder.h"
#include "recorder/unwind/dwarf_read.h"

enum { REMEMBER_DEPTH = 4 }; /* compilers use one, nested in hand-written code two */

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

struct execution {
	const struct tare_fde *fde;
	struct tare_cfi_row *row;
	struct tare_cfi_rules initial;
	struct tare_cfi_rules remembered[REMEMBER_DEPTH];
	unsigned int depth;
	uintptr_t at, ip;
};

static void set_rule(struct execution *x, uint64_t column, uint32_t kind, int64_t value, struct tare_dwarf *d)
{
	if (value != (int32_t)value)
		d->is_bad = true;
	if (column < TARE_REG_COLUMNS) /* floating point and the like are of no interest */
		x->row->rules.column[column] = (struct tare_cfi_rule){ kind, (int32_t)value };
}

static void set_cfa(struct execution *x, uint64_t reg, int64_t offset, struct tare_dwarf *d)
{
	if (offset != (int32_t)offset || reg >= TARE_REG_COUNT)
		d->is_bad = true;
	x->row->rules.cfa = (struct tare_cfi_rule){ TARE_RULE_REGISTER, (int32_t)offset };
	x->row->rules.cfa_register = (uint32_t)reg;
}

/* Where an expression begins, as a rule's value; steps over it. */
static int64_t take_expression(struct execution *x, struct tare_dwarf *d)
{
	int64_t where = d->at - x->fde->tables;

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
	return (int64_t)((uint64_t)value * (uint64_t)x->fde->data_align);
}

/* An instruction about one register. Returns false when it is none. */
static bool execute_rule(struct execution *x, uint8_t op, struct tare_dwarf *d)
{
	static const struct {
		uint8_t op, kind;
	} offsets[] = {
		{ CFA_OFFSET_EXTENDED, TARE_RULE_OFFSET },
		{ CFA_VAL_OFFSET, TARE_RULE_VAL_OFFSET },
		{ CFA_OFFSET_EXTENDED_SF, TARE_RULE_OFFSET },
		{ CFA_VAL_OFFSET_SF, TARE_RULE_VAL_OFFSET },
	};
	uint64_t column;

	for (unsigned int i = 0; i < 4; i++) {
		if (op != offsets[i].op)
			continue;
		column = tare_dwarf_uleb(d);
		set_rule(x, column, offsets[i].kind, factored(x, i < 2 ? (int64_t)tare_dwarf_uleb(d) : tare_dwarf_sleb(d)), d);
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
		return tare_fde_pointer(d, x->fde->encoding);
	case CFA_ADVANCE1:
		return x->at + tare_dwarf_uint(d, 1) * x->fde->code_align;
	case CFA_ADVANCE2:
		return x->at + tare_dwarf_uint(d, 2) * x->fde->code_align;
	case CFA_ADVANCE4:
		return x->at + tare_dwarf_uint(d, 4) * x->fde->code_align;
	}
	return op >> 6 == CFA_ADVANCE ? x->at + (op & 0x3f) * x->fde->code_align : x->at;
}

/* Runs until the row that holds ip is complete. */
static bool execute(struct execution *x, struct tare_dwarf d)
{
	while (d.at < d.end && !d.is_bad) {
		uint8_t op = (uint8_t)tare_dwarf_uint(&d, 1);
		uint8_t low = op & 0x3f;

		switch (op >> 6) {
		case CFA_OFFSET:
			set_rule(x, low, TARE_RULE_OFFSET, factored(x, (int64_t)tare_dwarf_uleb(&d)), &d);
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

/* Not on the stack of a thread, which may be small: it is the largest part of a walk. */
bool tare_cfi_find(const struct tare_elf_object *obj, uintptr_t ip, struct tare_cfi_row *row)
{
	static TARE_TLS struct execution x;
	struct tare_fde fde;

	if (!tare_fde_find(obj, ip, &fde))
		return false;
	row->tables = fde.tables;
	row->tables_end = fde.tables_end;
	row->is_signal = fde.is_signal;
	memset(&row->rules, 0, sizeof(row->rules));
	memset(&x.initial, 0, sizeof(x.initial));
	x.fde = &fde;
	x.row = row;
	x.depth = 0;
	x.ip = ip;
	x.at = fde.begin;
	if (!execute(&x, fde.common))
		return false;
	x.initial = row->rules;
	x.at = fde.begin;
	return execute(&x, fde.program) && row->rules.cfa.kind != TARE_RULE_SAME;
}

bool tare_cfi_expression(const struct tare_cfi_row *row, struct tare_cfi_rule rule, const uint8_t **begin,
                         const uint8_t **end)
{
	struct tare_dwarf d = { row->tables + (uint32_t)rule.value, row->tables_end, false };
	uint64_t size = tare_dwarf_uleb(&d);

	if (d.is_bad || size > tare_dwarf_left(&d))
		return false;
	*begin = d.at;
	*end = d.at + size;
	return true;
}
