/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information (.eh_frame): how to find the caller's registers at one instruction. The
 * object must stay loaded meanwhile, and one thread does this at a time: call under tare_objects_with().
 */
#ifndef TARE_RECORDER_DWARF_CFI_H
#define TARE_RECORDER_DWARF_CFI_H

#include "recorder/elf/objects.h"
#include "recorder/unwind/unwind_regs.h"

enum tare_cfi_rule_kind {
	TARE_RULE_SAME, /* also: nothing was said */
	TARE_RULE_UNDEFINED,
	TARE_RULE_OFFSET,         /* saved at CFA + value */
	TARE_RULE_VAL_OFFSET,     /* is CFA + value */
	TARE_RULE_REGISTER,       /* is in register `value` */
	TARE_RULE_EXPRESSION,     /* saved where the expression says */
	TARE_RULE_VAL_EXPRESSION, /* is what the expression says */
};

/* value of an expression: where its length is, from row.tables on. */
struct tare_cfi_rule {
	uint32_t kind;
	int32_t value;
};

struct tare_cfi_rules {
	struct tare_cfi_rule cfa; /* REGISTER: cfa_register + value; or VAL_EXPRESSION */
	uint32_t cfa_register;
	struct tare_cfi_rule column[TARE_REG_COLUMNS];
};

struct tare_cfi_row {
	struct tare_cfi_rules rules;
	bool is_signal;                     /* the caller's pc is where it was interrupted, not behind a call */
	const uint8_t *tables, *tables_end; /* the segment that .eh_frame is in */
};

/* The row in force at `ip`. Returns false when there is none or it cannot be read. */
bool tare_cfi_find(const struct tare_elf_object *obj, uintptr_t ip, struct tare_cfi_row *row);

/* The bytes of a rule's expression. */
bool tare_cfi_expression(const struct tare_cfi_row *row, struct tare_cfi_rule rule, const uint8_t **begin,
                         const uint8_t **end);

#endif
