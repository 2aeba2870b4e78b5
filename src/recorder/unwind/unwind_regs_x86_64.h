/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_UNWIND_REGS_X86_64_H
#define TARE_RECORDER_UNWIND_REGS_X86_64_H

#include <stdint.h>

enum {
	TARE_REG_FP = 6, /* rbp */
	TARE_REG_SP = 7, /* rsp */
	TARE_REG_RA = 16,
	TARE_REG_COUNT = 16,
	TARE_REG_COLUMNS = 17,
	TARE_REG_LINK = 0,
	TARE_REG_SAVED = 1 << 3 | 1 << 6 | 1 << 7 | 0xf << 12,
	TARE_SIGNAL_PC = 16, /* its number for tare_regs_signal_slot() */
};

/* rbx, rbp, rsp behind the return, r12 to r15, and the return address as the pc. */
#define TARE_CAPTURE_ASM                                                                                               \
	".text\n"                                                                                                          \
	".balign 16\n"                                                                                                     \
	".hidden tare_unwind_capture\n"                                                                                    \
	".globl tare_unwind_capture\n"                                                                                     \
	".type tare_unwind_capture, @function\n"                                                                           \
	"tare_unwind_capture:\n"                                                                                           \
	".cfi_startproc\n"                                                                                                 \
	"\tmovq %rbx, 24(%rdi)\n"                                                                                          \
	"\tmovq %rbp, 48(%rdi)\n"                                                                                          \
	"\tleaq 8(%rsp), %rax\n"                                                                                           \
	"\tmovq %rax, 56(%rdi)\n"                                                                                          \
	"\tmovq %r12, 96(%rdi)\n"                                                                                          \
	"\tmovq %r13, 104(%rdi)\n"                                                                                         \
	"\tmovq %r14, 112(%rdi)\n"                                                                                         \
	"\tmovq %r15, 120(%rdi)\n"                                                                                         \
	"\tmovq (%rsp), %rax\n"                                                                                            \
	"\tmovq %rax, 128(%rdi)\n"                                                                                         \
	"\tret\n"                                                                                                          \
	".cfi_endproc\n"                                                                                                   \
	".size tare_unwind_capture, .-tare_unwind_capture\n"

static inline uintptr_t tare_regs_strip(uintptr_t pc)
{
	return pc;
}

static inline uintptr_t tare_regs_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("movq %%fs:0, %0" : "=r"(tp));
	return tp;
}

/* The end of a signal handler: mov $15, %rax; syscall. */
#define TARE_SIGRETURN                                                                                                 \
	{                                                                                                                  \
		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05                                                                    \
	}

/* Offset from sp, at that place, of where the kernel saved r[reg] (or the pc). */
static inline uint32_t tare_regs_signal_slot(unsigned int reg)
{
	/* struct ucontext: gregs begin at 40, in the order of <sys/ucontext.h>. */
	static const uint8_t greg[TARE_REG_COLUMNS] = {
		13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16,
	};

	return 40 + 8u * greg[reg];
}

#endif
