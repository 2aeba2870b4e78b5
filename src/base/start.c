/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start code of `tare`, instead of the C library's crt1.o, which asks for
 * __libc_start_main@GLIBC_2.34 on newer systems and would refuse to start on older ones. The old
 * version, which every glibc has, takes the initialiser as an argument and leaves the constructors
 * to it; the destructors are run by the dynamic linker. Linked with -nostartfiles.
 */
#include <stddef.h>

typedef void (*array_fn)(int argc, char **argv, char **envp);

extern array_fn __preinit_array_start[] __attribute__((visibility("hidden")));
extern array_fn __preinit_array_end[] __attribute__((visibility("hidden")));
extern array_fn __init_array_start[] __attribute__((visibility("hidden")));
extern array_fn __init_array_end[] __attribute__((visibility("hidden")));

int main(int argc, char **argv);
int __libc_start_main(int (*main_fn)(int, char **), int argc, char **argv, array_fn init, void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);
void tare_start(long *stack, void (*rtld_fini)(void)) __attribute__((used, noreturn));

/* crtbegin.o's, which -nostartfiles leaves out too: atexit() registers under it. */
extern void *__dso_handle;
__attribute__((visibility("hidden"))) void *__dso_handle = &__dso_handle;

static void run_constructors(int argc, char **argv, char **envp)
{
	for (array_fn *f = __preinit_array_start; f < __preinit_array_end; f++)
		(*f)(argc, argv, envp);
	for (array_fn *f = __init_array_start; f < __init_array_end; f++)
		(*f)(argc, argv, envp);
}

/* The kernel's stack: argc, then argv. The dynamic linker's own finaliser comes in a register. */
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "	xor %ebp, %ebp\n"
        "	mov %rsp, %rdi\n"
        "	mov %rdx, %rsi\n"
        "	and $-16, %rsp\n"
        "	call tare_start\n"
        "	hlt\n"
        ".size _start, .-_start\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
        "	mov x29, #0\n"
        "	mov x30, #0\n"
        "	mov x1, x0\n"
        "	mov x0, sp\n"
        "	bl tare_start\n"
        "	brk #1\n"
        ".size _start, .-_start\n");
#else
#error "start code for this machine is missing: configure with -Dcompat=disabled"
#endif

void tare_start(long *stack, void (*rtld_fini)(void))
{
	__libc_start_main(main, (int)stack[0], (char **)(stack + 1), run_constructors, NULL, rtld_fini, stack);
	__builtin_trap();
}
