/* SPDX-License-Identifier: Apache-2.0 */
/* Hides functions of the recorder from the dynamic linker. */
#include "recorder/elf/objects.h"

#include <sys/auxv.h>

#include "recorder/base/sys.h"
#include "recorder/elf/elfsym.h"
#include "recorder/elf/libc.h"

/* Of a segment with nothing but tables in it: while it can be written, code in it could not be executed. */
static bool protect(const uint8_t *begin, const uint8_t *end, int how)
{
	uintptr_t page = tare_libc()->auxiliary(AT_PAGESZ);
	uintptr_t from = (uintptr_t)begin & ~(page - 1);
	uintptr_t until = ((uintptr_t)end + page - 1) & ~(page - 1);

	return tare_sys6(SYS_mprotect, (long)from, (long)(until - from), how, 0, 0, 0) == 0;
}

static bool has_code(const struct tare_elf_object *own, uintptr_t at)
{
	const uint8_t *begin, *end;

	return tare_elf_segment(own, at, PF_X, &begin, &end) || tare_elf_segment(own, at, PF_W, &begin, &end);
}

void tare_elf_hide(const struct tare_elf_object *own, const char *const *names, int nr)
{
	const ElfW(Sym) *first = tare_elf_entry(own, names[0]);
	const uint8_t *begin, *end;

	if (!first || has_code(own, (uintptr_t)first) || !tare_elf_segment(own, (uintptr_t)first, PF_R, &begin, &end) ||
	    !protect(begin, end, PROT_READ | PROT_WRITE))
		return;
	for (int i = 0; i < nr; i++) {
		ElfW(Sym) *entry = (ElfW(Sym) *)(uintptr_t)tare_elf_entry(own, names[i]);

		if (!entry || (const uint8_t *)entry < begin || (const uint8_t *)entry >= end)
			continue;
		entry->st_value = 0;
		entry->st_shndx = SHN_UNDEF;
	}
	protect(begin, end, PROT_READ);
}
