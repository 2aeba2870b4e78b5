/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_UNWIND_REGS_AARCH64_H
#define TARE_RECORDER_UNWIND_REGS_AARCH64_H

#include <stdint.h>

enum {
	TARE_REG_FP = 29,
	TARE_REG_SP = 31,
	TARE_REG_RA = 30,
	TARE_REG_COUNT = 32,
	TARE_REG_COLUMNS = 32,
	TARE_REG_LINK = 1 << 30,
	TARE_SIGNAL_PC = 32, /* its number for tare_regs_signal_slot() */
};
#define TARE_REG_SAVED (1u << 31 | 0x7ffu << 19) /* x19 to x29, sp */

/* x19 to x29, sp, and the return address as the pc. */
#define TARE_CAPTURE_ASM                                                                                               \
	".text\n"                                                                                                          \
	".balign 16\n"                                                                                                     \
	".hidden tare_unwind_capture\n"                                                                                    \
	".globl tare_unwind_capture\n"                                                                                     \
	".type tare_unwind_capture, %function\n"                                                                           \
	"tare_unwind_capture:\n"                                                                                           \
	".cfi_startproc\n"                                                                                                 \
	"\tstp x19, x20, [x0, #152]\n"                                                                                     \
	"\tstp x21, x22, [x0, #168]\n"                                                                                     \
	"\tstp x23, x24, [x0, #184]\n"                                                                                     \
	"\tstp x25, x26, [x0, #200]\n"                                                                                     \
	"\tstp x27, x28, [x0, #216]\n"                                                                                     \
	"\tstr x29, [x0, #232]\n"                                                                                          \
	"\tmov x1, sp\n"                                                                                                   \
	"\tstp x1, x30, [x0, #248]\n"                                                                                      \
	"\tret\n"                                                                                                          \
	".cfi_endproc\n"                                                                                                   \
	".size tare_unwind_capture, .-tare_unwind_capture\n"

/* Return addresses may be signed. xpaclri is a no-op where that does not exist. */
static inline uintptr_t tare_regs_strip(uintptr_t pc)
{
	register uintptr_t x30 __asm__("x30") = pc;

	__asm__("hint #7" : "+r"(x30));
	return x30;
}

static inline uintptr_t tare_regs_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("mrs %0, tpidr_el0" : "=r"(tp));
	return tp;
}

/* The end of a signal handler: mov x8, #139; svc #0. */
#define TARE_SIGRETURN                                                                                                 \
	{                                                                                                                  \
		0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4                                                                       \
	}

/* Offset from sp, at that place, of where the kernel saved r[reg] (or the pc). */
static inline uint32_t tare_regs_signal_slot(unsigned int reg)
{
	/* siginfo: 128 bytes; mcontext: 176 into ucontext; regs: behind the fault address. */
	return 128 + 176 + 8 + 8u * reg;
}

#endif
