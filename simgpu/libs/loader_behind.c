/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next function of a name behind this library, by the symbol tables of what is loaded. dlsym would take away the error
 * that dlerror() is about to tell, and asks the system, which a program may have forbidden itself.
 */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "simgpu/libs/loader.h"

struct table {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH */
	const uint32_t *old;  /* DT_HASH, of old linkers the only one */
};

struct search {
	const char *name;
	bool is_behind;
	void *found;
};

const void *sim_loader_at(uintptr_t base, uintptr_t value)
{
	/* glibc has relocated these by now, other C libraries leave them relative. */
	return (const void *)(value < base ? value + base : value);
}

const void *sim_loader_dynamic(const struct dl_phdr_info *info)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static bool is_own(const struct dl_phdr_info *info)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));

	return info->dlpi_addr == (uintptr_t)__ehdr_start;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static uintptr_t look(const struct table *t, const char *name)
{
	uint32_t buckets = t->hash[0], first = t->hash[1], bloom = t->hash[2];
	const uint32_t *bucket = t->hash + 4 + bloom * (sizeof(ElfW(Addr)) / 4);
	const uint32_t *chain = bucket + buckets;
	uint32_t hash = hash_of(name), i = bucket[hash % buckets];

	for (; i && i >= first; i++) {
		const ElfW(Sym) *symbol = &t->symbols[i];

		if ((chain[i - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && strcmp(t->names + symbol->st_name, name) == 0)
			return symbol->st_value;
		if (chain[i - first] & 1)
			break;
	}
	return 0;
}

static uintptr_t look_through(const struct table *t, const char *name)
{
	uint32_t i, count = t->old[1];

	for (i = 1; i < count; i++)
		if (t->symbols[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(t->symbols[i].st_info) == STT_FUNC &&
		    strcmp(t->names + t->symbols[i].st_name, name) == 0)
			return t->symbols[i].st_value;
	return 0;
}

static int search(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Dyn) *entry = sim_loader_dynamic(info);
	struct search *search = arg;
	struct table t = { NULL, NULL, NULL, NULL };
	uintptr_t found;

	(void)size;
	if (!search->is_behind) {
		search->is_behind = is_own(info);
		return 0;
	}
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *at = sim_loader_at(info->dlpi_addr, entry->d_un.d_ptr);

		if (entry->d_tag == DT_SYMTAB)
			t.symbols = at;
		else if (entry->d_tag == DT_STRTAB)
			t.names = at;
		else if (entry->d_tag == DT_GNU_HASH)
			t.hash = at;
		else if (entry->d_tag == DT_HASH)
			t.old = at;
	}
	if (!t.symbols || !t.names || (!t.hash && !t.old) || (t.hash && !t.hash[0]))
		return 0;
	found = t.hash ? look(&t, search->name) : look_through(&t, search->name);
	if (found)
		search->found = (void *)(info->dlpi_addr + found);
	return found != 0;
}

void *sim_loader_behind(const char *name)
{
	struct search s = { name, false, NULL };

	dl_iterate_phdr(search, &s);
	return s.found;
}

bool sim_loader_is_anywhere(const char *name)
{
	struct search s = { name, true, NULL };

	dl_iterate_phdr(search, &s);
	return s.found != NULL;
}
