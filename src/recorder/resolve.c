/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym and dlvsym, which the recorder owns: by them, and by the driver's own cuGetProcAddress, programs reach the driver. */
#include "recorder/elf/libdl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "recorder/base/parts.h"
#include "recorder/base/plib.h"
#include "recorder/hooks/hooks.h"
#include "recorder/nvtx/nvtx.h"
#include "recorder/python/interpreter.h"
#include "recorder/recorder.h"

/* Two registers: is it answered, and with what. */
struct answer {
	uint64_t is_answered;
	void *value;
};

static const struct answer not_ours = { 0, NULL };

/* Which library has a function of this name that is hooked; LIBRARIES: none. */
enum library {
#define TARE_PART_LIBRARY(name, file) LIBRARY_##name,
#include "recorder/parts.def"
	LIBRARIES
};

static enum library library_of(const char *symbol)
{
#define TARE_PART_LIBRARY(name, file)                                                                                  \
	if (tare_##name##_is_hooked(symbol))                                                                               \
		return LIBRARY_##name;
#include "recorder/parts.def"
	return LIBRARIES;
}

static void *swap(enum library library, const char *symbol, void *found)
{
#define TARE_PART_LIBRARY(name, file)                                                                                  \
	if (library == LIBRARY_##name)                                                                                     \
		return tare_##name##_swap(symbol, found);
#include "recorder/parts.def"
	return found;
}

/* The function of a library that the caller is linked with, wherever that stands in the scope. */
static void *find_needed(enum library library, const char *symbol, uintptr_t caller)
{
#define TARE_PART_LIBRARY(name, file)                                                                                  \
	if (library == LIBRARY_##name)                                                                                     \
		return tare_##name##_needed(symbol, caller);
#include "recorder/parts.def"
	return NULL;
}

static bool begins(const char *name, const char *prefix)
{
	return *prefix && tare_plib_starts(name, prefix);
}

/* The driver looks up its own parts (on WSL it does); those calls are its own affair. */
static bool is_of_library(uintptr_t caller)
{
	struct tare_elf_object object;
	const char *file;

	if (!tare_elf_object_at((const void *)caller, &object))
		return false;
	file = tare_plib_basename(object.path);
#define TARE_PART_LIBRARY(name, prefix)                                                                                \
	if (begins(file, prefix))                                                                                          \
		return true;
#include "recorder/parts.def"
	return false;
}

static bool is_own(const void *address)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern const char _end[] __attribute__((visibility("hidden")));

	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

/*
 * A search through the program's own scope finds the names we export, whether there is a driver or
 * not. The answer must be what it would be without us: nothing, unless the driver is in that scope.
 */
static struct answer answer_scope(enum library library, const char *name, const char *version, uintptr_t caller)
{
	struct answer answer = { 1, NULL };
	/* From here: the global scope behind us. */
	void *found =
		version && tare_real_dlvsym ? tare_real_dlvsym(RTLD_NEXT, name, version) : tare_libdl_dlsym(RTLD_NEXT, name);

	if (!found && !version)
		found = find_needed(library, name, caller);
	if (found)
		answer.value = swap(library, name, found);
	return answer; /* dlerror() has the reason for nothing, from the search above */
}

/* NVTX of old: the library's functions, if it is there to be found; what we export is not an answer. */
static struct answer answer_nvtx(void *handle, const char *name, const char *version)
{
	struct answer answer = { 1, NULL };

	answer.value =
		version && tare_real_dlvsym ? tare_real_dlvsym(handle, name, version) : tare_real_dlsym(handle, name);
	if (is_own(answer.value))
		answer.value = tare_libdl_dlsym(RTLD_NEXT, name); /* behind us in the global scope */
	if (answer.value)
		answer.value = tare_nvtx_swap(name, answer.value);
	return answer;
}

/* Called by the stubs with the program's arguments; `caller` is where they return to. */
__attribute__((visibility("hidden"), used)) struct answer tare_dlsym_intercept(void *handle, const char *name,
                                                                               const char *version, uintptr_t caller);

struct answer tare_dlsym_intercept(void *handle, const char *name, const char *version, uintptr_t caller)
{
	struct answer answer = { 1, NULL };
	enum library library;

	if (!tare_libdl_find() || !name)
		return not_ours;
	if (unlikely(tare_nvtx_is_name(name)))
		return answer_nvtx(handle, name, version);
	if (unlikely(tare_plib_starts(name, "PyInit_"))) {
		tare_python_imports(caller);
		tare_module_loaded((uintptr_t)__builtin_dwarf_cfa());
		tare_line_phase_see_init();
	}
	library = library_of(name);
	if (library == LIBRARIES)
		return not_ours;
	tare_start_once();
	if (is_of_library(caller))
		return not_ours;
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT)
		return answer_scope(library, name, version, caller);
	answer.value =
		version && tare_real_dlvsym ? tare_real_dlvsym(handle, name, version) : tare_real_dlsym(handle, name);
	if (is_own(answer.value))
		return answer_scope(library, name, version, caller); /* dlopen(NULL) */
	if (answer.value)
		answer.value = swap(library, name, answer.value);
	return answer;
}

/*
 * dlsym(RTLD_NEXT, …) means "after the object that called", which libc tells by the return address:
 * so what is not ours is forwarded with a jump, as if the program had called libc itself.
 */
#if defined(__x86_64__)
#define STUB(name, version)                                                                                            \
	__asm__(".text\n"                                                                                                  \
	        ".globl " #name "\n"                                                                                       \
	        ".type " #name ", @function\n" #name ":\n"                                                                 \
	        ".cfi_startproc\n"                                                                                         \
	        "endbr64\n"                                                                                                \
	        "pushq %rdi\n.cfi_adjust_cfa_offset 8\n"                                                                   \
	        "pushq %rsi\n.cfi_adjust_cfa_offset 8\n"                                                                   \
	        "pushq %rdx\n.cfi_adjust_cfa_offset 8\n" version "movq 24(%rsp), %rcx\n"                                   \
	        "call tare_dlsym_intercept\n"                                                                              \
	        "movq %rdx, %r11\n"                                                                                        \
	        "popq %rdx\n.cfi_adjust_cfa_offset -8\n"                                                                   \
	        "popq %rsi\n.cfi_adjust_cfa_offset -8\n"                                                                   \
	        "popq %rdi\n.cfi_adjust_cfa_offset -8\n"                                                                   \
	        "testq %rax, %rax\n"                                                                                       \
	        "jz 1f\n"                                                                                                  \
	        "movq %r11, %rax\n"                                                                                        \
	        "ret\n"                                                                                                    \
	        "1: movq tare_real_" #name "(%rip), %rax\n"                                                                \
	        "testq %rax, %rax\n"                                                                                       \
	        "jz 2f\n"                                                                                                  \
	        "jmp *%rax\n"                                                                                              \
	        "2: ret\n"                                                                                                 \
	        ".cfi_endproc\n"                                                                                           \
	        ".size " #name ", .-" #name "\n")
STUB(dlsym, "xorl %edx, %edx\n");
STUB(dlvsym, "");
#elif defined(__aarch64__)
#define STUB(name, version)                                                                                            \
	__asm__(".text\n"                                                                                                  \
	        ".globl " #name "\n"                                                                                       \
	        ".type " #name ", %function\n" #name ":\n"                                                                 \
	        ".cfi_startproc\n"                                                                                         \
	        "hint #34\n" /* bti c */                                                                                   \
	        "stp x29, x30, [sp, #-48]!\n"                                                                              \
	        ".cfi_adjust_cfa_offset 48\n.cfi_offset x29, -48\n.cfi_offset x30, -40\n"                                  \
	        "mov x29, sp\n"                                                                                            \
	        "stp x0, x1, [sp, #16]\n"                                                                                  \
	        "str x2, [sp, #32]\n" version "mov x3, x30\n"                                                              \
	        "bl tare_dlsym_intercept\n"                                                                                \
	        "mov x16, x0\n"                                                                                            \
	        "mov x17, x1\n"                                                                                            \
	        "ldp x0, x1, [sp, #16]\n"                                                                                  \
	        "ldr x2, [sp, #32]\n"                                                                                      \
	        "ldp x29, x30, [sp], #48\n"                                                                                \
	        ".cfi_adjust_cfa_offset -48\n.cfi_restore x29\n.cfi_restore x30\n"                                         \
	        "cbz x16, 1f\n"                                                                                            \
	        "mov x0, x17\n"                                                                                            \
	        "ret\n"                                                                                                    \
	        "1: adrp x16, tare_real_" #name "\n"                                                                       \
	        "ldr x16, [x16, #:lo12:tare_real_" #name "]\n"                                                             \
	        "cbz x16, 2f\n"                                                                                            \
	        "br x16\n"                                                                                                 \
	        "2: mov x0, xzr\n"                                                                                         \
	        "ret\n"                                                                                                    \
	        ".cfi_endproc\n"                                                                                           \
	        ".size " #name ", .-" #name "\n")
STUB(dlsym, "mov x2, xzr\n");
STUB(dlvsym, "");
#endif
