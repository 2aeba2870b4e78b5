/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates DWARF expressions on a bounded stack. */
#include "recorder/unwind/dwarf_expr.h"

#include "recorder/unwind/dwarf_read.h"

enum {
	DEPTH = 32,
	STEPS = 512, /* expressions can jump backwards */

	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_REG0 = 0x50,
	OP_REG31 = 0x6f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_REGX = 0x90,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	struct tare_dwarf code;
	const uint8_t *begin;
	const struct tare_regs *regs;
	struct tare_unwind_stack *stack;
	unsigned int depth;
	bool is_bad;
	uintptr_t v[DEPTH];
};

static void push(struct machine *m, uintptr_t value)
{
	if (m->depth == DEPTH)
		m->is_bad = true;
	else
		m->v[m->depth++] = value;
}

static uintptr_t pop(struct machine *m)
{
	if (!m->depth) {
		m->is_bad = true;
		return 0;
	}
	return m->v[--m->depth];
}

static void pick(struct machine *m, unsigned int index)
{
	if (index >= m->depth)
		m->is_bad = true;
	else
		push(m, m->v[m->depth - 1 - index]);
}

static uintptr_t reg(struct machine *m, uint64_t number)
{
	/* x86_64's PLT stubs ask where in the stub they are. */
	if (number == TARE_REG_RA && TARE_REG_RA >= TARE_REG_COUNT)
		return m->regs->pc;
	if (number >= TARE_REG_COUNT || !(m->regs->known >> number & 1)) {
		m->is_bad = true;
		return 0;
	}
	return m->regs->r[number];
}

/* Smaller sizes are cut out of the word they lie in, which the stack holds whole. */
static void deref(struct machine *m, uint64_t size)
{
	uintptr_t addr = pop(m), shift = addr % 8 * 8, word;

	if ((size != 1 && size != 2 && size != 4 && size != 8) || addr % size ||
	    !tare_stack_load(m->stack, addr & ~(uintptr_t)7, &word)) {
		m->is_bad = true;
		return;
	}
	word >>= shift;
	push(m, size == 8 ? word : word & ((1ull << size * 8) - 1));
}

static void jump(struct machine *m, int64_t by)
{
	if (by < m->begin - m->code.at || by > m->code.end - m->code.at)
		m->is_bad = true;
	else
		m->code.at += by;
}

static void rotate(struct machine *m)
{
	uintptr_t top = pop(m), second = pop(m), third = pop(m);

	push(m, top);
	push(m, third);
	push(m, second);
}

static bool is_binary(uint8_t op)
{
	return (op >= OP_AND && op <= OP_XOR && op != OP_NEG && op != OP_NOT && op != OP_PLUS_UCONST) ||
	       (op >= OP_EQ && op <= OP_NE);
}

/* The stack's entries are signed for division, shra and comparisons. */
static uintptr_t binary(struct machine *m, uint8_t op)
{
	uintptr_t b = pop(m), a = pop(m);
	intptr_t sb = (intptr_t)b, sa = (intptr_t)a;

	switch (op) {
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return a ^ b;
	case OP_PLUS:
		return a + b;
	case OP_MINUS:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_DIV:
		if (!b || (sb == -1 && sa == INTPTR_MIN))
			m->is_bad = true;
		return m->is_bad ? 0 : (uintptr_t)(sa / sb);
	case OP_MOD:
		m->is_bad |= !b;
		return b ? a % b : 0;
	case OP_SHL:
		return b < 64 ? a << b : 0;
	case OP_SHR:
		return b < 64 ? a >> b : 0;
	case OP_SHRA:
		return (uintptr_t)(sa >> (b < 64 ? b : 63));
	case OP_EQ:
		return a == b;
	case OP_GE:
		return sa >= sb;
	case OP_GT:
		return sa > sb;
	case OP_LE:
		return sa <= sb;
	case OP_LT:
		return sa < sb;
	default: /* OP_NE */
		return a != b;
	}
}

/* const1u, const1s, const2u… const8s: the size doubles every second one. */
static uintptr_t constant(struct machine *m, uint8_t op)
{
	unsigned int size = 1u << (op - OP_CONST1U) / 2;

	return (op - OP_CONST1U) % 2 ? (uintptr_t)tare_dwarf_int(&m->code, size) : tare_dwarf_uint(&m->code, size);
}

static void step_simple(struct machine *m, uint8_t op)
{
	uintptr_t a, b;

	switch (op) {
	case OP_ADDR:
		push(m, tare_dwarf_uint(&m->code, 8));
		break;
	case OP_CONSTU:
		push(m, tare_dwarf_uleb(&m->code));
		break;
	case OP_CONSTS:
		push(m, (uintptr_t)tare_dwarf_sleb(&m->code));
		break;
	case OP_DEREF:
		deref(m, 8);
		break;
	case OP_DEREF_SIZE:
		deref(m, tare_dwarf_uint(&m->code, 1));
		break;
	case OP_DUP:
		pick(m, 0);
		break;
	case OP_DROP:
		pop(m);
		break;
	case OP_OVER:
		pick(m, 1);
		break;
	case OP_PICK:
		pick(m, (unsigned int)tare_dwarf_uint(&m->code, 1));
		break;
	case OP_SWAP:
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
		break;
	case OP_ROT:
		rotate(m);
		break;
	case OP_ABS:
		a = pop(m);
		push(m, (intptr_t)a < 0 ? -a : a);
		break;
	case OP_NEG:
		push(m, -pop(m));
		break;
	case OP_NOT:
		push(m, ~pop(m));
		break;
	case OP_PLUS_UCONST:
		a = tare_dwarf_uleb(&m->code);
		push(m, pop(m) + a);
		break;
	case OP_REGX:
		push(m, reg(m, tare_dwarf_uleb(&m->code)));
		break;
	case OP_BREGX:
		a = reg(m, tare_dwarf_uleb(&m->code));
		push(m, a + (uintptr_t)tare_dwarf_sleb(&m->code));
		break;
	case OP_SKIP:
		jump(m, tare_dwarf_int(&m->code, 2));
		break;
	case OP_BRA:
		a = (uintptr_t)tare_dwarf_int(&m->code, 2);
		if (pop(m))
			jump(m, (int64_t)a);
		break;
	case OP_NOP:
		break;
	default:
		m->is_bad = true;
	}
}

static void step(struct machine *m)
{
	uint8_t op = (uint8_t)tare_dwarf_uint(&m->code, 1);
	uintptr_t value;

	if (op >= OP_BREG0 && op <= OP_BREG31) {
		value = reg(m, op - OP_BREG0);
		push(m, value + (uintptr_t)tare_dwarf_sleb(&m->code));
	} else if (op >= OP_REG0 && op <= OP_REG31) {
		push(m, reg(m, op - OP_REG0));
	} else if (op >= OP_LIT0 && op <= OP_LIT31) {
		push(m, op - OP_LIT0);
	} else if (op >= OP_CONST1U && op <= OP_CONST8S) {
		push(m, constant(m, op));
	} else if (is_binary(op)) {
		push(m, binary(m, op));
	} else {
		step_simple(m, op);
	}
}

bool tare_expr_evaluate(const uint8_t *begin, const uint8_t *end, const struct tare_regs *regs,
                        struct tare_unwind_stack *stack, const uintptr_t *initial, uintptr_t *out)
{
	struct machine m;

	m.code = (struct tare_dwarf){ begin, end, false };
	m.begin = begin;
	m.regs = regs;
	m.stack = stack;
	m.depth = 0;
	m.is_bad = false;
	if (initial)
		push(&m, *initial);
	for (int steps = 0; m.code.at < m.code.end; steps++) {
		if (steps == STEPS)
			return false;
		step(&m);
		if (m.is_bad || m.code.is_bad)
			return false;
	}
	*out = pop(&m);
	return !m.is_bad;
}

bool tare_expr_is_register(const uint8_t *begin, const uint8_t *end, unsigned int number, bool is_read, int64_t *offset)
{
	struct tare_dwarf d = { begin, end, false };

	if (tare_dwarf_uint(&d, 1) != OP_BREG0 + number)
		return false;
	*offset = tare_dwarf_sleb(&d);
	if (is_read && tare_dwarf_uint(&d, 1) != OP_DEREF)
		return false;
	return !d.is_bad && d.at == d.end;
}
