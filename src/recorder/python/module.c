/* SPDX-License-Identifier: Apache-2.0 */
/* Records what the loading of an extension module makes resident. */
#include "recorder/python/interpreter.h"

#include <dlfcn.h>

#include "recorder/base/fork.h"
#include "recorder/base/plib.h"
#include "recorder/elf/libdl.h"
#include "recorder/log/emit.h"
#include "recorder/python/stack.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/weigh/rss.h"
#include "record/clock.h"

#define LOADS 4          /* of extension modules inside one another */
#define NEAR  512        /* bytes of stack between two calls of one function */
#define LARGE (8u << 20) /* bytes: worth a log of its own, in a process that has none yet */

/* Modules that are being loaded, the outermost first. */
static TARE_TLS struct {
	uint32_t count;
	struct {
		uintptr_t frame;
		struct tare_rss before;
		char name[64];
	} loads[LOADS];
} loading;

static bool may_record(void)
{
	if (tare_thread.depth > 0 || !tare_config.enabled || tare_config.nop ||
	    !(tare_config.stacks & TARE_STACKS_PYTHON) || tare_is_vfork_child())
		return false;
	tare_fork_check();
	return tare_ring_command() == TARE_COMMAND_RECORD;
}

/* Files that failed to load, or are no modules, never get to a PyInit_ function. */
static void forget_deeper(uintptr_t frame)
{
	while (loading.count && loading.loads[loading.count - 1].frame + NEAR < frame)
		loading.count--;
}

static void begin(const char *path, uintptr_t frame)
{
	struct tare_rss before;
	uint32_t i;

	forget_deeper(frame);
	if (loading.count && loading.loads[loading.count - 1].frame <= frame + NEAR)
		loading.count--; /* the same frame again */
	if (loading.count == LOADS)
		return;
	tare_rss_read(&before);
	i = loading.count++;
	loading.loads[i].frame = frame;
	loading.loads[i].before = before;
	tare_plib_format(loading.loads[i].name, sizeof(loading.loads[i].name), "%s", tare_plib_basename(path));
}

/* What is inside a load is recorded as its own. */
static void take_from_outer(const struct tare_rss *before, const struct tare_rss *now)
{
	uint32_t i;

	for (i = 0; i < loading.count; i++) {
		loading.loads[i].before.anon += now->anon - before->anon;
		loading.loads[i].before.file += now->file - before->file;
	}
}

static void end(const struct tare_rss *before, const char *name)
{
	struct tare_rss now;

	tare_rss_read(&now);
	if (tare_rss_changed(before, &now) < (tare_ring_is_own() ? TARE_RSS_SMALL : LARGE))
		return;
	take_from_outer(before, &now);
	tare_thread.depth++;
	tare_rss_record(before, &now, tare_emit_string(name), tare_python_stack(), 0, tare_clock_ticks());
	tare_thread.depth--;
}

void tare_module_loaded(uintptr_t frame)
{
	uint32_t i;

	if (likely(!loading.count))
		return;
	forget_deeper(frame);
	if (!loading.count || loading.loads[loading.count - 1].frame > frame + NEAR || !may_record())
		return;
	i = --loading.count;
	end(&loading.loads[i].before, loading.loads[i].name);
}

/* ---- dlopen ---- */

__attribute__((visibility("hidden"))) void *(*tare_real_dlopen)(const char *, int);

/* Called by the stub; false: there is nothing to pass on to. */
__attribute__((visibility("hidden"), used)) bool tare_dlopen_before(const char *path);

bool tare_dlopen_before(const char *path)
{
	if (unlikely(!tare_real_dlopen))
		tare_real_dlopen = (void *(*)(const char *, int))tare_resolve_dlsym(RTLD_NEXT, "dlopen");
	if (path && may_record())
		begin(path, (uintptr_t)__builtin_dwarf_cfa());
	return tare_real_dlopen != NULL;
}

/* A jump, as if the program had called libc itself: libc finds its caller by the return address. */
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl dlopen\n"
        ".type dlopen, @function\n"
        "dlopen:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "pushq %rdi\n.cfi_adjust_cfa_offset 8\n"
        "pushq %rsi\n.cfi_adjust_cfa_offset 8\n"
        "pushq %rdx\n.cfi_adjust_cfa_offset 8\n"
        "call tare_dlopen_before\n"
        "popq %rdx\n.cfi_adjust_cfa_offset -8\n"
        "popq %rsi\n.cfi_adjust_cfa_offset -8\n"
        "popq %rdi\n.cfi_adjust_cfa_offset -8\n"
        "testb %al, %al\n"
        "jz 1f\n"
        "jmp *tare_real_dlopen(%rip)\n"
        "1: xorl %eax, %eax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size dlopen, .-dlopen\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl dlopen\n"
        ".type dlopen, %function\n"
        "dlopen:\n"
        ".cfi_startproc\n"
        "hint #34\n" /* bti c */
        "stp x29, x30, [sp, #-48]!\n"
        ".cfi_adjust_cfa_offset 48\n.cfi_offset x29, -48\n.cfi_offset x30, -40\n"
        "mov x29, sp\n"
        "stp x0, x1, [sp, #16]\n"
        "bl tare_dlopen_before\n"
        "mov w17, w0\n"
        "ldp x0, x1, [sp, #16]\n"
        "ldp x29, x30, [sp], #48\n"
        ".cfi_adjust_cfa_offset -48\n.cfi_restore x29\n.cfi_restore x30\n"
        "cbz w17, 1f\n"
        "adrp x16, tare_real_dlopen\n"
        "ldr x16, [x16, #:lo12:tare_real_dlopen]\n"
        "br x16\n"
        "1: mov x0, xzr\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size dlopen, .-dlopen\n");
#endif
