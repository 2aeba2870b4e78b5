/* SPDX-License-Identifier: Apache-2.0 */
/* The object that holds an address, asked of glibc's _dl_find_object(): that takes no lock (since 2.35). */
#include "recorder/elf/object_record.h"

#include <string.h>
#include <sys/auxv.h>

#include "recorder/elf/elfsym.h"
#include "recorder/elf/libc.h"

/* As glibc has it since 2.35. */
struct found {
	unsigned long long flags;
	void *begin, *end;
	struct link_map *map;
	void *eh_frame;
	unsigned long long reserved[8];
};

static int (*find)(void *addr, struct found *out);

void tare_object_loaded_start(void)
{
	find = (int (*)(void *, struct found *))tare_elf_find_symbol("_dl_find_object", NULL);
}

/* The headers of a library lie at its begin; of what was made otherwise they are not looked for. */
static bool has_headers(const ElfW(Ehdr) * head, const struct found *found)
{
	size_t size = (size_t)((const char *)found->end - (const char *)found->begin);

	return size >= sizeof(*head) && !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
	       head->e_phentsize == sizeof(ElfW(Phdr)) && head->e_phoff <= size &&
	       head->e_phnum <= (size - head->e_phoff) / sizeof(ElfW(Phdr));
}

/* Of an object with room between its segments only the one at the address is found; where the program's headers are the kernel told. */
static bool add_program(struct dl_phdr_info *info, const struct link_map *map)
{
	info->dlpi_phdr = (const ElfW(Phdr) *)tare_libc()->auxiliary(AT_PHDR);
	info->dlpi_phnum = (ElfW(Half))tare_libc()->auxiliary(AT_PHNUM);
	return map->l_name && !*map->l_name && info->dlpi_phdr;
}

enum tare_object_answer tare_object_loaded(uintptr_t addr, struct tare_elf_object *out)
{
	struct found found;
	const ElfW(Ehdr) * head;
	struct dl_phdr_info info = { 0 };

	if (!find)
		return TARE_OBJECT_NOT_KNOWN;
	if (find((void *)addr, &found) != 0)
		return TARE_OBJECT_NONE;
	head = found.begin;
	if (!found.map)
		return TARE_OBJECT_NOT_KNOWN;
	info.dlpi_addr = found.map->l_addr;
	if (has_headers(head, &found)) {
		info.dlpi_phdr = (const ElfW(Phdr) *)((const char *)head + head->e_phoff);
		info.dlpi_phnum = head->e_phnum;
	} else if (!add_program(&info, found.map)) {
		return TARE_OBJECT_NOT_KNOWN;
	}
	if (!tare_object_describe(&info, out))
		return TARE_OBJECT_NOT_KNOWN;
	out->path = found.map->l_name ? found.map->l_name : "";
	return TARE_OBJECT_THERE;
}
