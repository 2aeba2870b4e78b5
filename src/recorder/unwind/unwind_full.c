/* SPDX-License-Identifier: Apache-2.0 */
/* Steps to a caller with all registers, where three do not suffice. */
#include "recorder/unwind/unwind_full.h"

#include <sys/auxv.h>

#include "recorder/base/sys.h"
#include "recorder/elf/libc.h"
#include "recorder/recorder.h"
#include "recorder/unwind/dwarf_expr.h"

/* The value of a register in the caller; returns false when it cannot be known. */
static bool apply_rule(const struct tare_regs *regs, struct tare_unwind_stack *stack, const struct tare_cfi_row *row,
                       unsigned int column, uintptr_t cfa, uintptr_t *out)
{
	struct tare_cfi_rule rule = row->rules.column[column];
	const uint8_t *begin, *end;
	uintptr_t at = cfa + (uintptr_t)(intptr_t)rule.value;

	switch (rule.kind) {
	case TARE_RULE_OFFSET:
		return tare_stack_load(stack, at, out);
	case TARE_RULE_VAL_OFFSET:
		*out = at;
		return true;
	case TARE_RULE_SAME:
		rule.value = (int32_t)column;
		/* fall through */
	case TARE_RULE_REGISTER:
		if ((uint32_t)rule.value >= TARE_REG_COUNT || !(regs->known >> rule.value & 1))
			return false;
		*out = regs->r[rule.value];
		return true;
	case TARE_RULE_EXPRESSION:
	case TARE_RULE_VAL_EXPRESSION:
		if (!tare_cfi_expression(row, rule, &begin, &end) || !tare_expr_evaluate(begin, end, regs, stack, &cfa, out))
			return false;
		return rule.kind == TARE_RULE_VAL_EXPRESSION || tare_stack_load(stack, *out, out);
	default:
		return false;
	}
}

static bool find_cfa(const struct tare_regs *regs, struct tare_unwind_stack *stack, const struct tare_cfi_row *row,
                     uintptr_t *cfa)
{
	const struct tare_cfi_rules *rules = &row->rules;
	const uint8_t *begin, *end;

	if (rules->cfa.kind == TARE_RULE_VAL_EXPRESSION)
		return tare_cfi_expression(row, rules->cfa, &begin, &end) &&
		       tare_expr_evaluate(begin, end, regs, stack, NULL, cfa);
	*cfa = regs->r[rules->cfa_register] + (uintptr_t)(intptr_t)rules->cfa.value;
	return regs->known >> rules->cfa_register & 1;
}

bool tare_full_step(struct tare_regs *regs, struct tare_unwind_stack *stack, const struct tare_cfi_row *row)
{
	uintptr_t sp = regs->r[TARE_REG_SP], cfa, pc;
	static TARE_TLS struct tare_regs next; /* its stack may be small */

	if (!find_cfa(regs, stack, row, &cfa) || !apply_rule(regs, stack, row, TARE_REG_RA, cfa, &pc))
		return false;
	next.known = 0;
	for (unsigned int i = 0; i < TARE_REG_COUNT; i++)
		if (apply_rule(regs, stack, row, i, cfa, &next.r[i]))
			next.known |= 1u << i;
	if (row->rules.column[TARE_REG_SP].kind == TARE_RULE_SAME)
		next.r[TARE_REG_SP] = cfa;
	next.known |= 1u << TARE_REG_SP;
	if (!row->is_signal)
		next.known &= ~(uint32_t)TARE_REG_LINK;
	next.pc = tare_regs_strip(pc);
	next.is_exact = row->is_signal;
	*regs = next;
	if (row->is_signal)
		return tare_stack_enter(stack, next.r[TARE_REG_SP]);
	/* Every frame is higher than the one before, or has at least used up the link register. */
	return next.r[TARE_REG_SP] > sp ||
	       (next.r[TARE_REG_SP] == sp && row->rules.column[TARE_REG_RA].kind == TARE_RULE_SAME);
}

/*
 * By its instructions, because a sigreturn stub may have no CFI. It is in libc or in the vdso;
 * where there is no vdso (emulators), it may be in no object at all.
 */
__attribute__((no_sanitize("address"))) bool tare_full_is_sigreturn(const struct tare_elf_object *obj, uintptr_t pc)
{
	static const uint8_t stub[] = TARE_SIGRETURN;
	const volatile uint8_t *code = (const volatile uint8_t *)pc;
	const uint8_t *begin, *end;

	if (obj) {
		if (!tare_elf_segment(obj, pc, PF_R | PF_X, &begin, &end) || (uintptr_t)end - pc < sizeof(stub))
			return false;
	} else if (tare_libc()->auxiliary(AT_SYSINFO_EHDR) || !tare_sys_is_readable(pc) ||
	           !tare_sys_is_readable(pc + sizeof(stub) - 1)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(stub); i++)
		if (code[i] != stub[i])
			return false;
	return true;
}

bool tare_full_leave_signal(struct tare_regs *regs, struct tare_unwind_stack *stack)
{
	uintptr_t sp = regs->r[TARE_REG_SP];

	for (unsigned int i = 0; i < TARE_REG_COUNT; i++)
		if (!tare_stack_load(stack, sp + tare_regs_signal_slot(i), &regs->r[i]))
			return false;
	if (!tare_stack_load(stack, sp + tare_regs_signal_slot(TARE_SIGNAL_PC), &regs->pc))
		return false;
	regs->known = (uint32_t)((1ull << TARE_REG_COUNT) - 1);
	regs->is_exact = true;
	return tare_stack_enter(stack, regs->r[TARE_REG_SP]);
}
