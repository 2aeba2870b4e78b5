/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a stack without ever faulting. A page counts as readable when the kernel says so, which
 * costs a system call of 0.1 us; what lies between a frame and the upper end of the thread's own
 * stack stays readable as long as the thread lives, and is asked for once. Other stacks (alternate
 * signal stacks, coroutines) come and go, so they are asked for in every walk.
 */
#ifndef TARE_RECORDER_UNWIND_STACK_H
#define TARE_RECORDER_UNWIND_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Known to be readable: begin ≤ address < end. Grows upwards. */
struct tare_unwind_stack {
	uintptr_t begin, end;
	uint32_t may_ask; /* so many pages more in this walk */
};

/* Starts at the page of `sp`. Returns false when it is not readable. */
bool tare_stack_enter(struct tare_unwind_stack *stack, uintptr_t sp);

/* Is it in the thread's own stack? Of an address in another one below it that nothing divides from it, also yes. */
bool tare_stack_is_own(uintptr_t addr);

/* Makes [addr, addr + 8) part of the stack. */
bool tare_stack_grow(struct tare_unwind_stack *stack, uintptr_t addr);

/*
 * Is there at least so much stack left? For code that is not ours (NVML, Python, the dynamic linker), which
 * may need much more than the program left room for: on a stack that is not known, no. Costs 0.1 us.
 */
enum { TARE_STACK_FOREIGN = 64 << 10 };
bool tare_stack_has(size_t bytes);

/* Frames belong to other functions, whose red zones are none of a sanitizer's business here. */
__attribute__((no_sanitize("address"))) static inline bool tare_stack_load(struct tare_unwind_stack *stack,
                                                                           uintptr_t addr, uintptr_t *out)
{
	if (addr % sizeof(*out))
		return false;
	if (__builtin_expect(addr - stack->begin >= stack->end - stack->begin, 0) && !tare_stack_grow(stack, addr))
		return false;
	*out = *(const volatile uintptr_t *)addr;
	return true;
}

#endif
