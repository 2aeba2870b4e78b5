/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/unwind.h"

#include <sys/auxv.h>

#include "recorder/dwarf_cfi.h"
#include "recorder/dwarf_expr.h"
#include "recorder/recorder.h"
#include "recorder/row_cache.h"
#include "recorder/unwind_regs.h"
#include "recorder/unwind_stack.h"

enum {
	LOWEST_PC = 4096,
	FRAME_LIMIT = 1 << 16, /* signal frames that a damaged stack forges could form a ring */
	WORD = sizeof(uintptr_t),
};

__asm__(TARE_CAPTURE_ASM);

struct tare_row_entry tare_row_cache[TARE_ROW_COUNT];

/*
 * Two ways to walk. The fast one follows pc, sp and frame pointer through the row cache. When a
 * frame needs more (a signal frame, hand-written code), the walk starts again with all registers and
 * goes silently through the frames already seen.
 */
struct walk {
	struct tare_regs start, regs; /* the fast way uses only pc, sp and fp of regs */
	struct tare_stack stack;
	struct tare_row_salt salt;
	unsigned int count; /* frames stepped through */
	bool is_full;
	bool is_exact; /* pc was interrupted: it is not behind a call */
};

/* Where to look up the frame: the call, not what follows it, which may be another function. */
static uintptr_t lookup_ip(const struct walk *w)
{
	return w->regs.pc - !w->is_exact;
}

static bool begin(struct walk *w)
{
	w->regs = w->start;
	w->count = 0;
	w->is_exact = false;
	w->is_full = false;
	return tare_stack_enter(&w->stack, w->start.r[TARE_REG_SP]);
}

/*
 * By its instructions, because a sigreturn stub may have no CFI. It is in libc or in the vdso; where
 * there is no vdso (emulators), it may be in no object at all.
 */
__attribute__((no_sanitize("address"))) static bool is_sigreturn(const struct tare_elf_object *obj,
								 uintptr_t pc)
{
	static const uint8_t stub[] = TARE_SIGRETURN;
	const volatile uint8_t *code = (const volatile uint8_t *)pc;
	const uint8_t *begin, *end;

	if (obj) {
		if (!tare_elf_segment(obj, pc, PF_R | PF_X, &begin, &end) ||
		    (uintptr_t)end - pc < sizeof(stub))
			return false;
	} else if (getauxval(AT_SYSINFO_EHDR) || !tare_stack_is_readable(pc) ||
		   !tare_stack_is_readable(pc + sizeof(stub) - 1)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(stub); i++)
		if (code[i] != stub[i])
			return false;
	return true;
}

/* One frame up from the end of a signal handler: what the kernel saved. */
static bool leave_signal(struct walk *w)
{
	uintptr_t sp = w->regs.r[TARE_REG_SP], pc;

	for (unsigned int i = 0; i < TARE_REG_COUNT; i++)
		if (!tare_stack_load(&w->stack, sp + tare_regs_signal_slot(i), &w->regs.r[i]))
			return false;
	if (!tare_stack_load(&w->stack, sp + tare_regs_signal_slot(TARE_SIGNAL_PC), &pc))
		return false;
	w->regs.pc = pc;
	w->regs.known = (uint32_t)((1ull << TARE_REG_COUNT) - 1);
	w->is_exact = true;
	return tare_stack_enter(&w->stack, w->regs.r[TARE_REG_SP]);
}

/* One frame up by the frame pointer. It must lie in the stack, and above sp. */
static bool step_frame_pointer(struct walk *w)
{
	uintptr_t fp = w->regs.r[TARE_REG_FP], next, pc;

	if (fp < w->regs.r[TARE_REG_SP] || !tare_stack_load(&w->stack, fp, &next) ||
	    !tare_stack_load(&w->stack, fp + WORD, &pc))
		return false;
	w->regs.pc = tare_regs_strip(pc);
	w->regs.r[TARE_REG_SP] = fp + 2 * WORD;
	w->regs.r[TARE_REG_FP] = next;
	w->regs.known = 1u << TARE_REG_SP | 1u << TARE_REG_FP;
	w->is_exact = false;
	return true;
}

/* One frame up by a row. Every frame is higher than the one before, so a walk ends. */
static bool step_row(struct walk *w, union tare_row row)
{
	uintptr_t sp = w->regs.r[TARE_REG_SP], fp = w->regs.r[TARE_REG_FP], cfa, pc;

	cfa = (row.base == TARE_ROW_FROM_SP ? sp : fp) + (uintptr_t)(row.cfa * WORD);
	if (row.base == TARE_ROW_READ_FP && !tare_stack_load(&w->stack, cfa, &cfa))
		return false;
	if (cfa <= sp || !tare_stack_load(&w->stack, cfa + (uintptr_t)(row.ra * WORD), &pc))
		return false;
	if (row.fp_rule != TARE_ROW_FP_SAME) {
		uintptr_t from = row.fp_rule == TARE_ROW_FP_AT_CFA ? cfa : fp;

		if (!tare_stack_load(&w->stack, from + (uintptr_t)(row.fp * WORD), &fp))
			return false;
	}
	w->regs.pc = tare_regs_strip(pc);
	w->regs.r[TARE_REG_SP] = cfa;
	w->regs.r[TARE_REG_FP] = fp;
	return true;
}

static bool fits(int64_t bytes, int bits)
{
	int64_t words = bytes / WORD, limit = (int64_t)1 << (bits - 1);

	return bytes % WORD == 0 && words >= -limit && words < limit;
}

static bool is_register_expression(const struct tare_cfi_row *row, struct tare_cfi_rule rule,
				   bool is_read, int64_t *offset)
{
	const uint8_t *begin, *end;

	return tare_cfi_expression(row, rule, &begin, &end) &&
	       tare_expr_is_register(begin, end, TARE_REG_FP, is_read, offset);
}

/* Returns false when the row says more than fits. */
static bool condense(const struct tare_cfi_row *full, union tare_row *row)
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
	if (ra.kind != TARE_RULE_OFFSET || !fits(cfa, 20) || !fits(ra.value, 16) ||
	    !fits(fp_offset, 16))
		return false;
	row->cfa = cfa / WORD;
	row->ra = ra.value / WORD;
	row->fp = fp_offset / WORD;
	return true;
}

/* The value of a register in the caller; returns false when it cannot be known. */
static bool apply_rule(struct walk *w, const struct tare_cfi_row *row, unsigned int column,
		       uintptr_t cfa, uintptr_t *out)
{
	struct tare_cfi_rule rule = row->rules.column[column];
	const uint8_t *begin, *end;
	uintptr_t at = cfa + (uintptr_t)(intptr_t)rule.value;

	switch (rule.kind) {
	case TARE_RULE_OFFSET:
		return tare_stack_load(&w->stack, at, out);
	case TARE_RULE_VAL_OFFSET:
		*out = at;
		return true;
	case TARE_RULE_SAME:
		rule.value = (int32_t)column;
		/* fall through */
	case TARE_RULE_REGISTER:
		if ((uint32_t)rule.value >= TARE_REG_COUNT ||
		    !(w->regs.known >> rule.value & 1))
			return false;
		*out = w->regs.r[rule.value];
		return true;
	case TARE_RULE_EXPRESSION:
	case TARE_RULE_VAL_EXPRESSION:
		if (!tare_cfi_expression(row, rule, &begin, &end) ||
		    !tare_expr_evaluate(begin, end, &w->regs, &w->stack, &cfa, out))
			return false;
		return rule.kind == TARE_RULE_VAL_EXPRESSION || tare_stack_load(&w->stack, *out, out);
	default:
		return false;
	}
}

static bool find_cfa(struct walk *w, const struct tare_cfi_row *row, uintptr_t *cfa)
{
	const struct tare_cfi_rules *rules = &row->rules;
	const uint8_t *begin, *end;

	if (rules->cfa.kind == TARE_RULE_VAL_EXPRESSION)
		return tare_cfi_expression(row, rules->cfa, &begin, &end) &&
		       tare_expr_evaluate(begin, end, &w->regs, &w->stack, NULL, cfa);
	*cfa = w->regs.r[rules->cfa_register] + (uintptr_t)(intptr_t)rules->cfa.value;
	return w->regs.known >> rules->cfa_register & 1;
}

/* One frame up with all registers. */
static bool step_full(struct walk *w, const struct tare_cfi_row *row)
{
	uintptr_t sp = w->regs.r[TARE_REG_SP], cfa, pc;
	struct tare_regs next;

	if (!find_cfa(w, row, &cfa) || !apply_rule(w, row, TARE_REG_RA, cfa, &pc))
		return false;
	next.known = 0;
	for (unsigned int i = 0; i < TARE_REG_COUNT; i++)
		if (apply_rule(w, row, i, cfa, &next.r[i]))
			next.known |= 1u << i;
	if (row->rules.column[TARE_REG_SP].kind == TARE_RULE_SAME)
		next.r[TARE_REG_SP] = cfa;
	next.known |= 1u << TARE_REG_SP;
	if (!row->is_signal)
		next.known &= ~(uint32_t)TARE_REG_LINK;
	next.pc = tare_regs_strip(pc);
	w->regs = next;
	w->is_exact = row->is_signal;
	if (row->is_signal)
		return tare_stack_enter(&w->stack, next.r[TARE_REG_SP]);
	/* A function that was interrupted before it made a frame has none: only the link is used up. */
	return next.r[TARE_REG_SP] > sp ||
	       (next.r[TARE_REG_SP] == sp && row->rules.column[TARE_REG_RA].kind == TARE_RULE_SAME);
}

enum verdict {
	NO_CODE, /* pc is not the address of code: the stack is damaged, or the walk went wrong */
	NO_CFI,
	STEPPED, /* full way: regs are the caller's */
	ENDED, /* full way: a frame, and no way on */
	CONDENSED, /* fast way: see row */
};

struct job {
	struct walk *w;
	union tare_row row;
	enum verdict verdict;
	bool has_object;
};

/* Under the linker's lock: nothing that this reads can be unmapped meanwhile. */
static void examine(const struct tare_elf_object *obj, void *arg)
{
	struct job *job = arg;
	struct walk *w = job->w;
	struct tare_cfi_row full;
	const uint8_t *begin, *end;

	job->has_object = obj;
	job->row.bits = 0;
	job->verdict = NO_CFI;
	if (obj && !tare_elf_segment(obj, lookup_ip(w), PF_X, &begin, &end)) {
		job->verdict = NO_CODE;
	} else if (obj && tare_cfi_find(obj, lookup_ip(w), &full)) {
		if (w->is_full) {
			job->verdict = step_full(w, &full) ? STEPPED : ENDED;
			return;
		}
		job->verdict = CONDENSED;
		if (!condense(&full, &job->row))
			job->row.kind = TARE_ROW_COMPLEX;
	} else if (is_sigreturn(obj, w->regs.pc)) {
		job->verdict = CONDENSED;
		job->row.kind = TARE_ROW_COMPLEX;
		if (w->is_full)
			job->verdict = leave_signal(w) ? STEPPED : ENDED;
	}
}

/*
 * For a pc that is not in the cache, and for every one on the full way. Code outside all objects is
 * made at run time, and then readable; anything else is not code.
 */
static enum verdict look(struct walk *w, union tare_row *row)
{
	struct job job;
	uintptr_t ip = lookup_ip(w);

	job.w = w;
	if (w->regs.pc < LOWEST_PC || !tare_objects_with(ip, examine, &job))
		return NO_CODE;
	if (job.verdict == NO_CFI && !job.has_object && !tare_stack_is_readable(ip))
		return NO_CODE;
	if (w->is_full || job.verdict == NO_CODE)
		return job.verdict;
	if (job.verdict == NO_CFI)
		job.row.kind = TARE_ROW_NO_CFI;
	tare_row_keep(ip, job.has_object ? w->salt.unloads : w->salt.changes, job.row);
	*row = job.row;
	return CONDENSED;
}

/* Returns false when regs.pc is no frame; after the outermost frame regs.pc is 0. */
static bool advance_full(struct walk *w)
{
	union tare_row unused;
	bool is_ok = true;

	switch (look(w, &unused)) {
	case NO_CODE:
		return false;
	case NO_CFI:
		is_ok = step_frame_pointer(w);
		break;
	case ENDED:
		is_ok = false;
		break;
	default:
		break;
	}
	if (!is_ok)
		w->regs.pc = 0;
	return true;
}

static bool replay_full(struct walk *w)
{
	unsigned int count = w->count;

	if (!begin(w))
		return false;
	w->is_full = true;
	for (; w->count < count; w->count++)
		if (!advance_full(w))
			return false;
	return advance_full(w);
}

/* The same, either way. */
static bool advance(struct walk *w)
{
	uintptr_t ip = w->regs.pc - 1;
	union tare_row row;
	bool is_ok = false;

	if (w->is_full)
		return advance_full(w);
	if (unlikely(!tare_row_find(ip, w->salt, &row)) && look(w, &row) == NO_CODE)
		return false;
	switch (row.kind) {
	case TARE_ROW_FRAME:
		is_ok = step_row(w, row);
		break;
	case TARE_ROW_NO_CFI:
		is_ok = step_frame_pointer(w);
		break;
	case TARE_ROW_COMPLEX:
		return replay_full(w);
	}
	if (!is_ok)
		w->regs.pc = 0;
	return true;
}

/* The next frame's pc, 0 at the end. *sp is the stack pointer in that frame. */
static uintptr_t next_pc(struct walk *w, uintptr_t *sp)
{
	uintptr_t pc = w->regs.pc;

	*sp = w->regs.r[TARE_REG_SP];
	if (!pc || w->count == FRAME_LIMIT || !advance(w))
		return 0;
	w->count++;
	return pc;
}

/* `start` has been captured. Steps out of the function that did so. */
static bool begin_walk(struct walk *w)
{
	uintptr_t sp;

	w->salt = tare_row_salt(tare_objects_epoch());
	return begin(w) && next_pc(w, &sp);
}

__attribute__((noinline)) int tare_unwind(uintptr_t *pcs, int max, const void *frame)
{
	struct walk w;
	uintptr_t pc, sp;
	int count = 0;

	tare_objects_poll();
	tare_unwind_capture(&w.start);
	w.start.known = TARE_REG_SAVED;
	if (!begin_walk(&w))
		return 0;
	while (count < max && (pc = next_pc(&w, &sp)))
		if (sp > (uintptr_t)frame)
			pcs[count++] = pc;
	return count;
}

__attribute__((noinline)) uintptr_t
tare_unwind_first_outside(bool (*inside)(uintptr_t pc, void *arg), void *arg)
{
	struct walk w;
	uintptr_t pc, sp;

	tare_objects_check();
	tare_unwind_capture(&w.start);
	w.start.known = TARE_REG_SAVED;
	if (!begin_walk(&w))
		return 0;
	while ((pc = next_pc(&w, &sp)) && inside(pc, arg))
		;
	return pc;
}
