/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the function of an address in an object file. */
#include "session/elf_names.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/comparator.h"
#include "base/file.h"
#include "base/xalloc.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct function {
	uint64_t begin, end;
	const char *name; /* into the mapped file */
};

struct tare_elf_names {
	const uint8_t *file;
	size_t size;
	struct function *functions;
	size_t count, cap;
};

/* Every offset in the file is its author's word: it is followed only inside the file. */
static const void *at(const struct tare_elf_names *n, uint64_t offset, uint64_t size)
{
	return offset <= n->size && size <= n->size - offset ? n->file + offset : NULL;
}

static bool has_build_id(const struct tare_elf_names *n, const Elf64_Shdr *section, const uint64_t build_id[2])
{
	const uint8_t *note = at(n, section->sh_offset, section->sh_size);
	uint64_t have[2] = { 0 };
	Elf64_Nhdr head;

	if (!note || section->sh_size < sizeof(head) + 4)
		return false;
	memcpy(&head, note, sizeof(head));
	if (head.n_type != NT_GNU_BUILD_ID || head.n_namesz != 4 ||
	    sizeof(head) + 4 + (uint64_t)head.n_descsz > section->sh_size)
		return false;
	memcpy(have, note + sizeof(head) + 4, head.n_descsz < 16 ? head.n_descsz : 16);
	return memcmp(have, build_id, 16) == 0;
}

static void add_symbols(struct tare_elf_names *n, const Elf64_Shdr *symbols, const Elf64_Shdr *texts)
{
	const char *names = at(n, texts->sh_offset, texts->sh_size);
	uint64_t i, nr = symbols->sh_size / sizeof(Elf64_Sym);

	if (!names || texts->sh_size == 0 || names[texts->sh_size - 1] != '\0' ||
	    !at(n, symbols->sh_offset, symbols->sh_size))
		return;
	for (i = 0; i < nr; i++) {
		Elf64_Sym sym;
		int type;

		memcpy(&sym, n->file + symbols->sh_offset + i * sizeof(sym), sizeof(sym));
		type = ELF64_ST_TYPE(sym.st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym.st_shndx == SHN_UNDEF || sym.st_name >= texts->sh_size)
			continue;
		TARE_APPEND(n->functions, n->count, n->cap) =
			(struct function){ sym.st_value, sym.st_value + sym.st_size, names + sym.st_name };
	}
}

TARE_COMPARATOR(by_begin, struct function, TARE_RISING(begin))

static bool read_sections(struct tare_elf_names *n, const uint64_t build_id[2])
{
	const Elf64_Ehdr *head = at(n, 0, sizeof(*head));
	const Elf64_Shdr *sections, *found = NULL;
	bool is_same = !build_id || (!build_id[0] && !build_id[1]);
	int i;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff % 8)
		return false;
	sections = at(n, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*sections));
	for (i = 0; sections && i < head->e_shnum; i++) {
		if (sections[i].sh_type == SHT_NOTE && !is_same)
			is_same = has_build_id(n, &sections[i], build_id);
		if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !found))
			found = &sections[i];
	}
	if (!is_same || !found || found->sh_link >= head->e_shnum)
		return false;
	add_symbols(n, found, &sections[found->sh_link]);
	TARE_SORT(n->functions, n->count, by_begin);
	return n->count > 0;
}

struct tare_elf_names *tare_elf_names_open(const char *path, const uint64_t build_id[2])
{
	struct tare_elf_names *n = tare_xcalloc(1, sizeof(*n));
	int fd = tare_file_open(path, NULL);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		n->size = (size_t)st.st_size;
		n->file = mmap(NULL, n->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (n->file == MAP_FAILED)
			n->file = NULL;
	}
	if (fd >= 0)
		close(fd);
	if (n->file && read_sections(n, build_id))
		return n;
	tare_elf_names_close(n);
	return NULL;
}

void tare_elf_names_close(struct tare_elf_names *n)
{
	if (!n)
		return;
	if (n->file)
		munmap((void *)n->file, n->size);
	free(n->functions);
	free(n);
}

const char *tare_elf_names_find(const struct tare_elf_names *n, uint64_t address, uint64_t *offset)
{
	size_t low = 0;

	TARE_BISECT(low, n->count, i, n->functions[i].begin <= address);
	/* Aliases begin together, and some have no size: the first that reaches this far is it. */
	for (; low > 0; low--) {
		const struct function *f = &n->functions[low - 1];

		if (address < f->end || (f->end == f->begin && address == f->begin)) {
			*offset = address - f->begin;
			return f->name;
		}
		if (low < n->count && f->begin != n->functions[low].begin && address - f->begin > 1u << 20)
			break;
	}
	return NULL;
}
