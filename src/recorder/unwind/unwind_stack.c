/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out how far the stack can be read. */
#include "recorder/unwind/unwind_stack.h"

#include <errno.h>
#include <sys/auxv.h>

#include "recorder/base/sys.h"
#include "recorder/elf/libc.h"
#include "recorder/recorder.h"
#include "recorder/unwind/unwind_regs.h"

enum {
	PAGE = 4096,     /* the smallest there is; larger ones are asked about more often than needed */
	MAY_ASK = 16384, /* 64 MiB */
};

/* What is known for good: from begin to the upper end of the thread's own stack, and that it goes on to low. */
static TARE_TLS struct {
	uintptr_t begin, end, low;
} own;

static uintptr_t page_of(uintptr_t addr)
{
	return addr & ~(uintptr_t)(PAGE - 1);
}

/*
 * Something that is surely at the upper end: for the first thread what the kernel put above its
 * stack; for others the thread descriptor, which glibc places on top of a thread's stack.
 */
static void find_own(void)
{
	uintptr_t top;

	if (tare_sys_gettid() == tare_sys_getpid())
		top = tare_libc()->auxiliary(AT_RANDOM);
	else
		top = tare_regs_thread_pointer();
	own.begin = page_of(top);
	own.end = own.begin + PAGE;
}

/* How far upwards from `page` can be read; stops at `limit`. */
static uintptr_t readable_until(uintptr_t page, uintptr_t limit, uint32_t *may_ask)
{
	while (page < limit && *may_ask && tare_sys_is_readable(page)) {
		page += PAGE;
		--*may_ask;
	}
	return page;
}

bool tare_stack_enter(struct tare_unwind_stack *stack, uintptr_t sp)
{
	uintptr_t page = page_of(sp);

	if (!own.end)
		find_own();
	stack->begin = page;
	stack->may_ask = MAY_ASK;
	if (sp >= own.begin && sp < own.end) {
		stack->end = own.end;
		return true;
	}
	if (sp >= own.end || (own.begin - page) / PAGE > MAY_ASK) {
		stack->end = readable_until(page, page + PAGE, &stack->may_ask);
		return stack->end > page;
	}
	stack->end = readable_until(page, own.begin, &stack->may_ask);
	if (stack->end == own.begin) {
		own.begin = page;
		stack->end = own.end;
	} else {
		stack->may_ask = 0; /* it ends here: another stack, below our own */
	}
	return stack->end > page;
}

bool tare_stack_is_own(uintptr_t addr)
{
	struct tare_unwind_stack stack;

	return tare_stack_enter(&stack, addr) && stack.end == own.end;
}

bool tare_stack_grow(struct tare_unwind_stack *stack, uintptr_t addr)
{
	uintptr_t limit = page_of(addr) + PAGE;

	if (addr < stack->begin || limit < addr)
		return false;
	stack->end = readable_until(stack->end, limit, &stack->may_ask);
	return stack->end >= limit;
}

/* The kernel's stack_t. */
struct alternate {
	uintptr_t at;
	int flags;
	size_t size;
};

/*
 * Below the thread's own stack lies a page that cannot be read, or, of the first thread, what the kernel lets
 * it grow into. A thread whose stack the program took from its own memory has no such page.
 */
static bool reaches(uintptr_t low)
{
	if (own.low && own.low <= low)
		return true;
	if (!own.low || own.low > own.begin)
		own.low = own.begin;
	while (own.low > low && tare_sys_is_readable(own.low - PAGE))
		own.low -= PAGE;
	return own.low <= low;
}

bool tare_stack_has(size_t bytes)
{
	enum { ON_IT = 1 }; /* SS_ONSTACK */
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct alternate alternate = { 0, 0, 0 };

	if (tare_sys6(SYS_sigaltstack, 0, (long)&alternate, 0, 0, 0, 0) == 0 && (alternate.flags & ON_IT))
		return here - alternate.at >= bytes && here - alternate.at <= alternate.size;
	return tare_stack_is_own(here) && here > bytes && reaches(page_of(here - bytes));
}
