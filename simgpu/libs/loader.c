/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtare_sim.so, which `tare run --sim` preloads: programs find the simulated libraries however they look for them.
 * A library that is loaded already answers to its soname, whatever path the linker would have searched (RPATH, too);
 * so before a program opens its first library, the simulated ones are there. One that is opened by its full path is
 * replaced by the simulated one of the same name. Programs that are linked with such libraries themselves find them by
 * LD_LIBRARY_PATH.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/libs/sonames.h"

static const char *const sonames[] = { SIM_SONAMES };
enum { SONAMES_NR = sizeof(sonames) / sizeof(sonames[0]) };

static char folder[PATH_MAX]; /* where this library lies, and the others */
static __thread bool is_ours; /* this thread opens a library for us */

/* The next function of this name; the stub below jumps there. */
__attribute__((visibility("hidden"))) void *tare_sim_dlopen_next;

static void find_folder(void)
{
	Dl_info own;
	char *slash;

	if (!dladdr(folder, &own) ||
	    snprintf(folder, sizeof(folder), "%s", own.dli_fname) >= PATH_MAX)
		return;
	slash = strrchr(folder, '/');
	if (slash)
		slash[1] = '\0';
}

/*
 * By its version first: a program may have a dlsym of its own, which asks from the program's place, and so finds us.
 * NULL: only ours is found.
 */
static void *find_next(void)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5",
						"GLIBC_2.1" };
	extern char tare_sim_dlopen[];
	void *found = NULL;
	size_t i;

	for (i = 0; !found && i < sizeof(versions) / sizeof(versions[0]); i++)
		found = dlvsym(RTLD_NEXT, "dlopen", versions[i]);
	if (!found)
		found = dlsym(RTLD_NEXT, "dlopen");
	return found == (void *)tare_sim_dlopen ? NULL : found;
}

static void begin(void)
{
	is_ours = true;
	find_folder();
	tare_sim_dlopen_next = find_next();
	is_ours = false;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void open_all(void)
{
	void *(*next)(const char *, int) = (void *(*)(const char *, int))tare_sim_dlopen_next;
	char path[PATH_MAX + 64];
	int i;

	is_ours = true;
	for (i = 0; i < SONAMES_NR; i++) {
		snprintf(path, sizeof(path), "%s%s", folder, sonames[i]);
		next(path, RTLD_LAZY | RTLD_LOCAL);
	}
	is_ours = false;
}

/* The simulated library of a file's name; NULL: none. */
static const char *simulated(const char *file)
{
	static char paths[SONAMES_NR][PATH_MAX + 64];
	const char *name = base_of(file);
	int i;

	for (i = 0; i < SONAMES_NR; i++)
		if (strcmp(name, sonames[i]) == 0) {
			snprintf(paths[i], sizeof(paths[i]), "%s%s", folder, sonames[i]);
			return paths[i];
		}
	return NULL;
}

/* Called by the stub: the file to open instead of `file`. */
__attribute__((visibility("hidden"), used)) const char *tare_sim_dlopen_file(const char *file);

const char *tare_sim_dlopen_file(const char *file)
{
	static pthread_once_t found = PTHREAD_ONCE_INIT, opened = PTHREAD_ONCE_INIT;
	const char *own;

	if (is_ours)
		return file;
	/* Not before a program opens a library: a look-up asks the system, which a program may have forbidden itself. */
	pthread_once(&found, begin);
	if (!file || !*file || !tare_sim_dlopen_next || !folder[0])
		return file;
	pthread_once(&opened, open_all);
	own = strchr(file, '/') ? simulated(file) : NULL;
	return own ? own : file;
}

/* dlopen searches the paths of its caller, which it tells by the return address: so it is jumped to. */
#if defined(__x86_64__)
__asm__(".text\n"
	".globl tare_sim_dlopen\n"
	".type tare_sim_dlopen, @function\n"
	"tare_sim_dlopen:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"pushq %rsi\n.cfi_adjust_cfa_offset 8\n"
	"call tare_sim_dlopen_file\n"
	"popq %rsi\n.cfi_adjust_cfa_offset -8\n"
	"movq %rax, %rdi\n"
	"movq tare_sim_dlopen_next(%rip), %rax\n"
	"testq %rax, %rax\n"
	"jz 1f\n"
	"jmp *%rax\n"
	"1: ret\n"
	".cfi_endproc\n"
	".size tare_sim_dlopen, .-tare_sim_dlopen\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl tare_sim_dlopen\n"
	".type tare_sim_dlopen, %function\n"
	"tare_sim_dlopen:\n"
	".cfi_startproc\n"
	"hint #34\n" /* bti c */
	"stp x29, x30, [sp, #-32]!\n"
	".cfi_adjust_cfa_offset 32\n.cfi_offset x29, -32\n.cfi_offset x30, -24\n"
	"mov x29, sp\n"
	"str x1, [sp, #16]\n"
	"bl tare_sim_dlopen_file\n"
	"ldr x1, [sp, #16]\n"
	"ldp x29, x30, [sp], #32\n"
	".cfi_adjust_cfa_offset -32\n.cfi_restore x29\n.cfi_restore x30\n"
	"adrp x16, tare_sim_dlopen_next\n"
	"ldr x16, [x16, #:lo12:tare_sim_dlopen_next]\n"
	"cbz x16, 1f\n"
	"br x16\n"
	"1: mov x0, xzr\n"
	"ret\n"
	".cfi_endproc\n"
	".size tare_sim_dlopen, .-tare_sim_dlopen\n");
#endif
