/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An old driver lacks functions, and a program finds that out by dlsym(). The library has them all,
 * so it unnames some of them in its own, private copy of its symbol table while it is being loaded.
 */
#include "sim_hide.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct own {
	ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash; /* DT_HASH: its second word is the number of symbols */
};

static const void *address_of(const struct dl_phdr_info *info, ElfW(Addr) value)
{
	/* glibc has relocated these by now, other C libraries leave them relative. */
	return (const void *)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static int is_own(const struct dl_phdr_info *info)
{
	ElfW(Addr) self = (ElfW(Addr))(uintptr_t)&sim_hide_symbol;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		ElfW(Addr) begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && self >= begin && self < begin + segment->p_memsz)
			return 1;
	}
	return 0;
}

static int find_own(struct dl_phdr_info *info, size_t size, void *data)
{
	struct own *own = data;
	const ElfW(Dyn) *entry = NULL;
	int i;

	(void)size;
	if (!is_own(info))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *at = address_of(info, entry->d_un.d_ptr);

		if (entry->d_tag == DT_SYMTAB)
			own->symbols = (ElfW(Sym) *)at;
		else if (entry->d_tag == DT_STRTAB)
			own->names = at;
		else if (entry->d_tag == DT_HASH)
			own->hash = at;
	}
	return 1;
}

static void unname(ElfW(Sym) * symbol)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = (uintptr_t)symbol & ~(page - 1), end = (uintptr_t)(symbol + 1);

	if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE) < 0)
		return;
	symbol->st_value = 0; /* the loader skips a definition at no address */
	mprotect((void *)begin, end - begin, PROT_READ);
}

void sim_hide_symbol(const char *name)
{
	struct own own = { NULL, NULL, NULL };
	uint32_t i;

	dl_iterate_phdr(find_own, &own);
	if (!own.symbols || !own.names || !own.hash)
		return;
	for (i = 0; i < own.hash[1]; i++)
		if (strcmp(own.names + own.symbols[i].st_name, name) == 0)
			unname(&own.symbols[i]);
}
