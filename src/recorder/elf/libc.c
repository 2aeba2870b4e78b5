/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions of libc that the recorder calls, in libc's own table of symbols. */
#include "recorder/elf/libc.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/base/sys.h"
#include "recorder/elf/elfsym.h"
#include "recorder/recorder.h"

/*
 * The dynamic linker's list of what is loaded, in order of loading. It is read without the linker's
 * lock, and only as far as libc: what comes before that was there when the program began, and stays.
 */
extern struct r_debug _r_debug __attribute__((weak));

static int no_errno;

static int *errno_nowhere(void)
{
	return &no_errno;
}

static int nothing(void)
{
	return 0;
}

static struct tare_libc libc;
static const struct tare_libc *found; /* NULL: not looked for */

static bool is_libc(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path && strncmp(slash ? slash + 1 : path, "libc.so", 7) == 0;
}

/* A library begins with its ELF header, and lies where its addresses in the file are added to. */
static bool describe(const struct link_map *map, struct tare_elf_object *out)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)map->l_addr;

	if (!tare_sys_is_readable((uintptr_t)head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	*out = (struct tare_elf_object){ .base = map->l_addr,
		                             .begin = map->l_addr,
		                             .path = map->l_name,
		                             .phdr = (const ElfW(Phdr) *)(map->l_addr + head->e_phoff),
		                             .phnum = head->e_phnum,
		                             .dynamic = map->l_ld };
	for (uint16_t i = 0; i < out->phnum; i++) {
		uintptr_t end = out->base + out->phdr[i].p_vaddr + out->phdr[i].p_memsz;

		if (out->phdr[i].p_type == PT_LOAD && end > out->end)
			out->end = end;
	}
	return true;
}

static bool find_libc(struct tare_elf_object *out)
{
	const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;

	while (map && !is_libc(map->l_name))
		map = map->l_next;
	return map && describe(map, out);
}

/* Threads that come at once find the same: a pointer is written by the first of them, and never again. */
static void keep(void **at, void *function)
{
	bool is_errno = at == (void **)&libc.errno_location;
	void *none = NULL;

	if (!function)
		function = is_errno ? (void *)errno_nowhere : (void *)nothing;
	__atomic_compare_exchange_n(at, &none, function, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static const struct tare_libc *look_for_libc(void)
{
	struct tare_elf_object object;
	bool is_there = find_libc(&object);

#define X(field, name, result, params)                                                                                 \
	keep((void **)&libc.field, is_there ? tare_elf_symbol(&object, name, NULL) : NULL);
	TARE_LIBC_MAP(X)
#undef X
	__atomic_store_n(&found, &libc, __ATOMIC_RELEASE);
	return &libc;
}

const struct tare_libc *tare_libc(void)
{
	const struct tare_libc *known = __atomic_load_n(&found, __ATOMIC_ACQUIRE);

	return likely(known != NULL) ? known : look_for_libc();
}

int *tare_libc_errno(void)
{
	return tare_libc()->errno_location();
}
