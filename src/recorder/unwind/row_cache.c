/* SPDX-License-Identifier: Apache-2.0 */
/* Condenses the rule of an instruction into 64 bits, where it fits. */
#include "recorder/unwind/row_cache.h"

#include "recorder/unwind/dwarf_expr.h"

enum { WORD = sizeof(uintptr_t) };

struct tare_row_entry tare_row_cache[TARE_ROW_COUNT];

static bool fits(int64_t bytes, int bits)
{
	int64_t words = bytes / WORD, limit = (int64_t)1 << (bits - 1);

	return bytes % WORD == 0 && words >= -limit && words < limit;
}

static bool is_register_expression(const struct tare_cfi_row *row, struct tare_cfi_rule rule, bool is_read,
                                   int64_t *offset)
{
	const uint8_t *begin, *end;

	return tare_cfi_expression(row, rule, &begin, &end) &&
	       tare_expr_is_register(begin, end, TARE_REG_FP, is_read, offset);
}

bool tare_row_condense(const struct tare_cfi_row *full, union tare_unwind_row *row)
{
	const struct tare_cfi_rules *rules = &full->rules;
	struct tare_cfi_rule ra = rules->column[TARE_REG_RA], fp = rules->column[TARE_REG_FP];
	int64_t cfa = rules->cfa.value, fp_offset = fp.value;

	row->bits = 0;
	if (full->is_signal || rules->column[TARE_REG_SP].kind != TARE_RULE_SAME)
		return false;
	if (ra.kind == TARE_RULE_UNDEFINED) {
		row->kind = TARE_ROW_OUTERMOST;
		return true;
	}
	if (rules->cfa.kind == TARE_RULE_VAL_EXPRESSION) {
		if (!is_register_expression(full, rules->cfa, true, &cfa))
			return false;
		row->base = TARE_ROW_READ_FP;
	} else if (rules->cfa_register == TARE_REG_FP) {
		row->base = TARE_ROW_FROM_FP;
	} else if (rules->cfa_register != TARE_REG_SP) {
		return false;
	}
	if (fp.kind == TARE_RULE_EXPRESSION) {
		if (!is_register_expression(full, fp, false, &fp_offset))
			return false;
		row->fp_rule = TARE_ROW_FP_AT_FP;
	} else if (fp.kind == TARE_RULE_OFFSET) {
		row->fp_rule = TARE_ROW_FP_AT_CFA;
	} else if (fp.kind != TARE_RULE_SAME) {
		return false;
	}
	if (ra.kind != TARE_RULE_OFFSET || !fits(cfa, 20) || !fits(ra.value, 16) || !fits(fp_offset, 16))
		return false;
	row->cfa = cfa / WORD;
	row->ra = ra.value / WORD;
	row->fp = fp_offset / WORD;
	return true;
}
