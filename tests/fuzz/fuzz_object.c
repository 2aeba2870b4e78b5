/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes as what a loaded library has in memory, read as the recorder reads it in somebody's process:
 * symbols, needed libraries, call frame information, its expressions. Where the segments lie is the kernel's word and
 * is not mutated; everything in them is. Nothing may be read outside of them, and nothing be called.
 */
#include "seeds.h"

#include "recorder/unwind/dwarf_cfi.h"
#include "recorder/unwind/dwarf_expr.h"
#include "recorder/elf/elfsym.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { OBJECT_NR = 2, PHDRS = 16, PAGE = 4096 };

/* A library of this build and the kernel's vdso, laid out as they are when they are loaded. */
struct layout {
	ElfW(Phdr) phdr[PHDRS];
	uint16_t phnum;
	size_t size, dynamic;
	uint8_t image[FUZZ_MAX];
};
static struct layout layouts[OBJECT_NR];

/* False: it does not fit, as the vdso of an emulator may not. */
static bool add_segments(struct layout *l, const uint8_t *file, size_t file_size)
{
	ElfW(Ehdr) head;

	memcpy(&head, file, sizeof(head));
	l->phnum = head.e_phnum < PHDRS ? head.e_phnum : PHDRS;
	memcpy(l->phdr, file + head.e_phoff, l->phnum * sizeof(*l->phdr));
	for (uint16_t i = 0; i < l->phnum; i++) {
		ElfW(Phdr) *ph = &l->phdr[i];

		ph->p_flags &= ~(uint32_t)PF_X; /* so that no symbol is a function to be called */
		if (ph->p_type == PT_DYNAMIC)
			l->dynamic = ph->p_vaddr;
		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_vaddr + ph->p_memsz > sizeof(l->image) || ph->p_offset + ph->p_filesz > file_size)
			return false;
		memcpy(l->image + ph->p_vaddr, file + ph->p_offset, ph->p_filesz);
		if (ph->p_vaddr + ph->p_memsz > l->size)
			l->size = ph->p_vaddr + ph->p_memsz;
	}
	return true;
}

static void load(void)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	static uint8_t file[FUZZ_MAX];
	int fd = open(FUZZ_OBJECT, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, file, sizeof(file));

	if (layouts[0].size) {
		close(fd);
		return;
	}
	if (n <= 0)
		abort();
	close(fd);
	if (!add_segments(&layouts[0], file, (size_t)n))
		abort();
	if (!vdso || !add_segments(&layouts[1], vdso, 8 * PAGE))
		layouts[1] = layouts[0];
}

/* Registers that say something: in the object, on the stack, nowhere. */
static void fill(struct tare_regs *regs, const struct tare_elf_object *obj, uintptr_t pc)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t values[] = { here, obj->begin, 0, ~(uintptr_t)0, here & ~(uintptr_t)7 };

	memset(regs, 0, sizeof(*regs));
	for (size_t i = 0; i < sizeof(regs->r) / sizeof(regs->r[0]); i++)
		regs->r[i] = values[i % 5];
	regs->known = 0x77777777u;
	regs->pc = pc;
}

static void follow(const struct tare_cfi_row *row, struct tare_cfi_rule rule, const struct tare_regs *regs)
{
	const uint8_t *begin, *end;
	struct tare_unwind_stack stack;
	uintptr_t out, first = 1;
	int64_t offset;

	if (rule.kind != TARE_RULE_EXPRESSION && rule.kind != TARE_RULE_VAL_EXPRESSION)
		return;
	if (!tare_cfi_expression(row, rule, &begin, &end) ||
	    !tare_stack_enter(&stack, (uintptr_t)__builtin_frame_address(0)))
		return;
	tare_expr_evaluate(begin, end, regs, &stack, &first, &out);
	tare_expr_is_register(begin, end, 3, true, &offset);
}

static void walk(const struct tare_elf_object *obj)
{
	enum { PLACES = 96 };
	struct tare_cfi_row row;
	struct tare_regs regs;

	for (uintptr_t i = 0; i < PLACES; i++) {
		uintptr_t pc = obj->begin + (obj->end - obj->begin) * i / PLACES;

		if (!tare_cfi_find(obj, pc, &row))
			continue;
		fill(&regs, obj, pc);
		follow(&row, row.rules.cfa, &regs);
		for (int c = 0; c < TARE_REG_COLUMNS; c++)
			follow(&row, row.rules.column[c], &regs);
	}
}

static void look_up(const struct tare_elf_object *obj)
{
	static const char *const names[] = { "code_library", "__vdso_clock_gettime", "clock_gettime",
		                                 "_ITM_deregisterTMCloneTable", "" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		tare_elf_symbol(obj, names[i], NULL);
		tare_elf_symbol(obj, names[i], "LINUX_2.6");
	}
	tare_elf_needs(obj, "libc.so.6");
	tare_elf_needs(obj, "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct layout *l;
	struct tare_elf_object obj;
	uint8_t *image;

	if (!size || size > FUZZ_MAX)
		return 0;
	load();
	l = &layouts[data[0] % OBJECT_NR];
	/* No more than there is: whoever reads behind the last segment is seen. What the input lacks stays whole. */
	image = aligned_alloc(16, (l->size + 15) / 16 * 16);
	if (!image)
		abort();
	memcpy(image, l->image, l->size);
	memcpy(image, data + 1, size - 1 < l->size ? size - 1 : l->size);
	obj = (struct tare_elf_object){
		.base = (uintptr_t)image,
		.begin = (uintptr_t)image,
		.end = (uintptr_t)image + l->size,
		.path = "",
		.phdr = l->phdr,
		.phnum = l->phnum,
		.dynamic = (const ElfW(Dyn) *)(const void *)(image + l->dynamic),
	};
	look_up(&obj);
	walk(&obj);
	free(image);
	return 0;
}

size_t fuzz_seed(int n, uint8_t *out)
{
	load();
	out[0] = (uint8_t)n;
	memcpy(out + 1, layouts[n].image, layouts[n].size < FUZZ_MAX - 1 ? layouts[n].size : FUZZ_MAX - 1);
	return 1 + layouts[n].size;
}

int fuzz_seed_nr(void)
{
	return OBJECT_NR;
}
