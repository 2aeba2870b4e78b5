/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtare_sim.so, which `tare run --sim` preloads: programs find the simulated libraries however they look for them.
 * A library that is loaded already answers to its soname, whatever path the linker would have searched (RPATH, too);
 * so before a program opens its first library, the simulated ones are there. One that is opened by its full path is
 * replaced by the simulated one of the same name. Programs that are linked with such libraries themselves find them by
 * LD_LIBRARY_PATH, and else by loader_again.c.
 */
#include "simgpu/libs/loader.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/libs/sonames.h"

const char *const sim_loader_sonames[] = { SIM_SONAMES };
enum { SONAMES_NR = sizeof(sim_loader_sonames) / sizeof(sim_loader_sonames[0]) };
const int sim_loader_sonames_nr = SONAMES_NR;
/* The driver's, which lie in the folder above. */
static const char *const driver_names[] = { "libcuda.so.1", "libnvidia-ml.so.1" };
enum { DRIVER_NR = sizeof(driver_names) / sizeof(driver_names[0]) };

static char folder[PATH_MAX]; /* where this library lies, and the others */
static __thread bool is_ours; /* this thread opens a library for us */

/* The next function of this name; the stub below jumps there. */
__attribute__((visibility("hidden"))) void *tare_sim_dlopen_next;

static void find_folder(void)
{
	Dl_info own;
	char *slash;

	if (!dladdr(folder, &own) || snprintf(folder, sizeof(folder), "%s", own.dli_fname) >= PATH_MAX)
		return;
	slash = strrchr(folder, '/');
	if (slash)
		slash[1] = '\0';
}

/*
 * By its version first: a program may have a dlsym of its own, which asks from the program's place, and so finds us.
 */
static void *loader_next(const char *name, const void *own)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5", "GLIBC_2.1" };
	void *found = NULL;
	size_t i;

	for (i = 0; !found && i < sizeof(versions) / sizeof(versions[0]); i++)
		found = dlvsym(RTLD_NEXT, name, versions[i]);
	if (!found)
		found = dlsym(RTLD_NEXT, name);
	return found == own ? NULL : found;
}

static void find_all(void)
{
	extern char tare_sim_dlopen[];

	is_ours = true;
	find_folder();
	tare_sim_dlopen_next = loader_next("dlopen", tare_sim_dlopen);
	is_ours = false;
}

void sim_loader_begin(void)
{
	static pthread_once_t found = PTHREAD_ONCE_INIT;

	pthread_once(&found, find_all);
}

/* What the program is linked with is there by now. */
__attribute__((constructor)) static void start(int argc, char **argv)
{
	(void)argc;
	sim_loader_again(argv);
	sim_loader_fill();
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
		snprintf(path, sizeof(path), "%s%s", folder, sim_loader_sonames[i]);
		next(path, RTLD_LAZY | RTLD_LOCAL);
	}
	is_ours = false;
}

/*
 * libcudart.so.13 is that of libcudart.so.13, and of libcudart.so.13.0.96; what stands behind the first number of a soname
 * is a version of its own: libcudart.so.11.0 has that of libcudart.so.11.8.89.
 */
static bool is_of(const char *name, const char *soname)
{
	const char *number = strstr(soname, ".so.") + strlen(".so.");
	size_t length = (size_t)(number - soname) + strcspn(number, ".");

	return strncmp(name, soname, length) == 0 && (!name[length] || name[length] == '.');
}

int sim_loader_find(const char *file)
{
	const char *name = base_of(file);
	int i;

	for (i = 0; i < SONAMES_NR; i++)
		if (is_of(name, sim_loader_sonames[i]))
			return i;
	return -1;
}

/* "libcublas.so" is a link to a version, or else means the newest; -1: none, or the name has a version. */
static int find_unversioned(const char *file)
{
	const char *name = base_of(file);
	size_t length = strlen(name);
	char target[PATH_MAX];
	int i, found = -1;

	for (i = 0; i < SONAMES_NR; i++)
		if (strncmp(name, sim_loader_sonames[i], length) == 0 &&
		    strncmp(sim_loader_sonames[i] + length - 3, ".so.", 4) == 0)
			found = i;
	if (found >= 0 && name != file && realpath(file, target) && sim_loader_find(target) >= 0)
		found = sim_loader_find(target);
	return found;
}

/* Its place behind those, of any version; -1: it is none of the driver's. */
static int find_driver(const char *file)
{
	const char *name = base_of(file);
	int i;

	for (i = 0; i < DRIVER_NR; i++)
		if (strncmp(name, driver_names[i], strlen(driver_names[i]) - strlen(".1")) == 0)
			return SONAMES_NR + i;
	return -1;
}

bool sim_loader_is_simulated(const char *file)
{
	return sim_loader_find(file) >= 0 || find_driver(file) >= 0;
}

/* False: there is no room for it. */
static bool write_path(int i, char *path, size_t size)
{
	const char *name = i < SONAMES_NR ? sim_loader_sonames[i] : driver_names[i - SONAMES_NR];

	return (size_t)snprintf(path, size, "%s%s%s", folder, i < SONAMES_NR ? "" : "../", name) < size;
}

/* The simulated library of a file's name; NULL: none. */
static const char *simulated(const char *file)
{
	static char paths[SONAMES_NR + DRIVER_NR][PATH_MAX + 64];
	int i = sim_loader_find(file);

	if (i < 0 && strlen(base_of(file)) > 3)
		i = find_unversioned(file);
	if (i < 0)
		i = find_driver(file);
	if (i < 0)
		return NULL;
	write_path(i, paths[i], sizeof(paths[i]));
	return paths[i];
}

bool sim_loader_path(const char *file, char *path, size_t size)
{
	int i = sim_loader_find(file);

	if (i < 0)
		i = find_driver(file);
	sim_loader_begin();
	return i >= 0 && folder[0] && write_path(i, path, size);
}

void *sim_loader_handle(const char *soname)
{
	void *(*next)(const char *, int) = (void *(*)(const char *, int))tare_sim_dlopen_next;
	char path[PATH_MAX + 64];
	void *handle;

	if (!next)
		return NULL;
	snprintf(path, sizeof(path), "%s%s", folder, soname);
	is_ours = true;
	handle = next(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	is_ours = false;
	return handle;
}

/* Called by the stub: the file to open instead of `file`. */
__attribute__((visibility("hidden"), used)) const char *tare_sim_dlopen_file(const char *file);

const char *tare_sim_dlopen_file(const char *file)
{
	static pthread_once_t opened = PTHREAD_ONCE_INIT;
	const char *own;

	if (is_ours)
		return file;
	/* Not before a program opens a library: a look-up asks the system, which a program may have forbidden itself. */
	sim_loader_begin();
	if (!file || !*file || !tare_sim_dlopen_next || !folder[0])
		return file;
	pthread_once(&opened, open_all);
	sim_loader_fill();
	own = simulated(file);
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
