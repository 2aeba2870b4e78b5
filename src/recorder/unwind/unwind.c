/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the native stack of the calling thread, by three registers. */
#include "recorder/unwind/unwind.h"

#include "recorder/base/sys.h"
#include "recorder/recorder.h"
#include "recorder/unwind/dwarf_cfi.h"
#include "recorder/unwind/row_cache.h"
#include "recorder/unwind/unwind_full.h"
#include "recorder/unwind/unwind_regs.h"
#include "recorder/unwind/unwind_stack.h"

enum {
	LOWEST_PC = 4096,
	FRAME_LIMIT = 1 << 16, /* signal frames that a damaged stack forges could form a ring */
	WORD = sizeof(uintptr_t),
};

__asm__(TARE_CAPTURE_ASM);

/*
 * Two ways to walk. The fast one follows these three through the row cache. When a frame needs more
 * (a signal frame, hand-written code), the walk starts again with all registers and goes silently
 * through the frames already seen.
 */
struct frame {
	uintptr_t pc, sp, fp; /* pc is 0 behind the outermost frame */
};

struct walk {
	struct tare_regs regs; /* where the walk starts; full way: of the frame that it is at */
	struct tare_unwind_stack stack;
	struct tare_row_salt salt;
	struct tare_seen *seen; /* what this walk is noted in, or NULL */
	uintptr_t fp_at;        /* where the frame pointer was read that nobody has used yet … */
	bool is_first_fp;       /* … or it is that of where the walk began */
	unsigned int count;     /* frames stepped through */
	bool is_full;
};

/* What the walk met is not a matter of the words that it read alone. */
static inline void forget(struct walk *w)
{
	if (w->seen && w->seen->now)
		w->seen->now->count = TARE_SEEN_WORDS + 1;
}

static inline bool load(struct walk *w, uintptr_t at, uintptr_t *out)
{
	if (!tare_stack_load(&w->stack, at, out)) {
		forget(w);
		return false;
	}
	if (w->seen)
		tare_seen_read(w->seen, at);
	return true;
}

static inline bool load_pc(struct walk *w, uintptr_t at, uintptr_t *pc)
{
	if (!load(w, at, pc))
		return false;
	if (w->seen)
		tare_seen_note(w->seen, at, *pc);
	*pc = tare_regs_strip(*pc);
	return true;
}

/* Most code has some variable in that register; what it is matters once a frame is found by it. */
static inline bool load_fp(struct walk *w, uintptr_t at, uintptr_t *fp)
{
	w->fp_at = at;
	w->is_first_fp = false;
	return load(w, at, fp);
}

static inline void use_fp(struct walk *w, uintptr_t fp)
{
	if (!w->seen)
		return;
	if (w->is_first_fp)
		w->seen->now->uses_fp = true;
	else if (w->fp_at)
		tare_seen_note(w->seen, w->fp_at, fp);
	w->fp_at = 0;
}

/* By the frame pointer. It must lie in the stack, and above sp. */
static inline bool step_frame_pointer(struct walk *w, struct frame *f)
{
	uintptr_t fp = f->fp, next, pc;

	use_fp(w, fp);
	if (fp < f->sp || !load_fp(w, fp, &next) || !load_pc(w, fp + WORD, &pc))
		return false;
	f->pc = pc;
	f->sp = fp + 2 * WORD;
	f->fp = next;
	return true;
}

/* Where the CFA of a frame is, by its row; 0: it cannot be read. */
static inline uintptr_t cfa_of(struct walk *w, const struct frame *f, union tare_unwind_row row)
{
	uintptr_t cfa = (row.base == TARE_ROW_FROM_SP ? f->sp : f->fp) + (uintptr_t)(row.cfa * WORD);

	if (row.base != TARE_ROW_FROM_SP)
		use_fp(w, f->fp);
	if (row.base != TARE_ROW_READ_FP)
		return cfa;
	forget(w); /* few are, and what is read there is no return address */
	return load(w, cfa, &cfa) ? cfa : 0;
}

/* By a row. Every frame is higher than the one before, so a walk ends. */
static inline bool step_row(struct walk *w, struct frame *f, union tare_unwind_row row)
{
	uintptr_t fp = f->fp, cfa = cfa_of(w, f, row), pc;

	if (cfa <= f->sp || !load_pc(w, cfa + (uintptr_t)(row.ra * WORD), &pc))
		return false;
	if (row.fp_rule == TARE_ROW_FP_AT_FP)
		use_fp(w, fp);
	if (row.fp_rule != TARE_ROW_FP_SAME &&
	    !load_fp(w, (row.fp_rule == TARE_ROW_FP_AT_CFA ? cfa : fp) + (uintptr_t)(row.fp * WORD), &fp))
		return false;
	f->pc = pc;
	f->sp = cfa;
	f->fp = fp;
	return true;
}

enum verdict {
	NO_CODE, /* pc is not the address of code: the stack is damaged, or the walk went wrong */
	NO_CFI,
	STEPPED,   /* full way: regs are the caller's */
	ENDED,     /* full way: a frame, and no way on */
	CONDENSED, /* fast way: see row */
};

struct job {
	struct walk *w;
	uintptr_t pc, ip;
	union tare_unwind_row row;
	enum verdict verdict;
	bool has_object;
};

/* Nothing that this reads can be unmapped meanwhile: under the linker's lock, or as a frame of this thread is in it. */
static void examine(const struct tare_elf_object *obj, void *arg)
{
	static TARE_TLS struct tare_cfi_row full; /* stacks may be small */
	struct job *job = arg;
	struct walk *w = job->w;
	const uint8_t *begin, *end;

	job->has_object = obj;
	job->row.bits = 0;
	job->verdict = NO_CFI;
	if (obj && !tare_elf_segment(obj, job->ip, PF_X, &begin, &end)) {
		job->verdict = NO_CODE;
	} else if (obj && tare_cfi_find(obj, job->ip, &full)) {
		job->verdict = CONDENSED;
		if (w->is_full)
			job->verdict = tare_full_step(&w->regs, &w->stack, &full) ? STEPPED : ENDED;
		else if (!tare_row_condense(&full, &job->row))
			job->row.kind = TARE_ROW_COMPLEX;
	} else if (tare_full_is_sigreturn(obj, job->pc)) {
		job->verdict = CONDENSED;
		job->row.kind = TARE_ROW_COMPLEX;
		if (w->is_full)
			job->verdict = tare_full_leave_signal(&w->regs, &w->stack) ? STEPPED : ENDED;
	}
}

/*
 * For a pc that is not in the cache, and for every one on the full way. `ip` is where to look it
 * up: the call, not what follows it, which may be another function. Code outside all objects is
 * made at run time, and then readable; anything else is not code.
 */
__attribute__((noinline)) static enum verdict look(struct walk *w, uintptr_t pc, uintptr_t ip,
                                                   union tare_unwind_row *row)
{
	struct job job;

	job.w = w;
	job.pc = pc;
	job.ip = ip;
	if (pc < LOWEST_PC || !tare_objects_with(ip, examine, &job))
		return NO_CODE;
	if (job.verdict == NO_CFI && !job.has_object && !tare_sys_is_readable(ip))
		return NO_CODE;
	if (w->is_full || job.verdict == NO_CODE)
		return job.verdict;
	if (job.verdict == NO_CFI)
		job.row.kind = TARE_ROW_NO_CFI;
	tare_row_keep(ip, job.has_object ? w->salt.unloads : w->salt.changes, job.row);
	*row = job.row;
	return CONDENSED;
}

/* One frame up by what is left when nobody describes the code. */
static bool step_without_cfi(struct walk *w)
{
	struct frame f = { 0, w->regs.r[TARE_REG_SP], w->regs.r[TARE_REG_FP] };

	if (!step_frame_pointer(w, &f))
		return false;
	w->regs.pc = f.pc;
	w->regs.r[TARE_REG_SP] = f.sp;
	w->regs.r[TARE_REG_FP] = f.fp;
	w->regs.known = 1u << TARE_REG_SP | 1u << TARE_REG_FP;
	w->regs.is_exact = false;
	return true;
}

/* Returns false when regs.pc is no frame; after the outermost frame regs.pc is 0. */
static bool advance_full(struct walk *w)
{
	union tare_unwind_row unused;
	enum verdict verdict = look(w, w->regs.pc, w->regs.pc - !w->regs.is_exact, &unused);

	if (verdict == NO_CODE)
		return false;
	if (verdict == ENDED || (verdict == NO_CFI && !step_without_cfi(w)))
		w->regs.pc = 0;
	return true;
}

__attribute__((noinline)) static bool replay_full(struct walk *w)
{
	w->is_full = true;
	forget(w);
	if (!tare_stack_enter(&w->stack, w->regs.r[TARE_REG_SP]))
		return false;
	for (unsigned int i = 0; i < w->count; i++)
		if (!advance_full(w))
			return false;
	return advance_full(w);
}

/* From *f to its caller, either way. Returns false when *f is no frame. */
static inline bool advance(struct walk *w, struct frame *f)
{
	uintptr_t ip = f->pc - 1;
	union tare_unwind_row row;
	bool is_ok = false;

	if (unlikely(w->is_full)) {
		is_ok = advance_full(w);
	} else {
		if (unlikely(!tare_row_find(ip, w->salt, &row)) && look(w, f->pc, ip, &row) == NO_CODE) {
			forget(w);
			return false;
		}
		if (row.kind == TARE_ROW_FRAME)
			is_ok = step_row(w, f, row);
		else if (row.kind == TARE_ROW_NO_CFI)
			is_ok = step_frame_pointer(w, f);
		if (row.kind != TARE_ROW_COMPLEX) {
			if (!is_ok)
				f->pc = 0;
			return true;
		}
		is_ok = replay_full(w);
	}
	f->pc = w->regs.pc;
	f->sp = w->regs.r[TARE_REG_SP];
	return is_ok;
}

/* The pc of *f, 0 at the end; *f becomes its caller. */
static inline uintptr_t next_pc(struct walk *w, struct frame *f)
{
	uintptr_t pc = f->pc;

	if (!pc || w->count == FRAME_LIMIT || !advance(w, f))
		return 0;
	w->count++;
	return pc;
}

/* `regs` have been captured. */
static inline bool enter(struct walk *w, struct frame *f, struct tare_objects_epoch epoch)
{
	w->regs.known = TARE_REG_SAVED;
	w->regs.is_exact = false;
	w->salt = tare_row_salt(epoch);
	w->seen = NULL;
	w->fp_at = 0;
	w->is_first_fp = true;
	w->count = 0;
	w->is_full = false;
	f->pc = w->regs.pc;
	f->sp = w->regs.r[TARE_REG_SP];
	f->fp = w->regs.r[TARE_REG_FP];
	return tare_stack_enter(&w->stack, f->sp);
}

/* Steps out of the function that captured them. */
static inline bool begin(struct walk *w, struct frame *f)
{
	return enter(w, f, tare_objects_epoch()) && next_pc(w, f);
}

/* What is told of a walk. */
struct told {
	uintptr_t *pcs;
	int max;
	const void *frame; /* what is above that */
	const struct tare_code *last;
};

static inline int tell(struct walk *w, struct frame *f, const struct told *told)
{
	int count = 0;

	while (count < told->max) {
		uintptr_t sp = f->sp, pc = next_pc(w, f);

		if (!pc)
			break;
		if (sp > (uintptr_t)told->frame)
			told->pcs[count++] = pc;
		if (told->last && pc >= told->last->begin && pc < told->last->end)
			break;
	}
	return count;
}

__attribute__((noinline)) int tare_unwind_until(uintptr_t *pcs, int max, const void *frame,
                                                const struct tare_code *last)
{
	const struct told told = { pcs, max, frame, last };
	struct walk w;
	struct frame f;

	tare_objects_poll();
	tare_unwind_capture(&w.regs);
	return begin(&w, &f) ? tell(&w, &f, &told) : 0;
}

__attribute__((noinline)) int tare_unwind_again(uintptr_t *pcs, int max, const struct tare_code *last,
                                                struct tare_seen *seen, uint32_t log, uint32_t *id)
{
	const struct told told = { pcs, max, NULL, last };
	struct tare_objects_epoch epoch;
	struct walk w;
	struct frame f;

	tare_objects_poll();
	epoch = tare_objects_epoch();
	tare_unwind_capture(&w.regs);
	*id = 0;
	if (!enter(&w, &f, epoch))
		return 0;
	if (likely(seen != NULL)) {
		struct tare_seen_from from = { f.pc, f.sp, f.fp, epoch.unloads, epoch.changes, last ? last->begin : 0 };

		*id = tare_seen_find(seen, &from, &w.stack, log);
		if (likely(*id))
			return 0;
		w.seen = seen;
	}
	return next_pc(&w, &f) ? tell(&w, &f, &told) : 0;
}
