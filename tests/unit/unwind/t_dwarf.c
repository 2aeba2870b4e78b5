/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/unwind/dwarf_cfi.h"
#include "recorder/unwind/dwarf_expr.h"
#include "recorder/unwind/dwarf_read.h"
#include "../test.h"

#include <stdlib.h>

static struct tare_regs regs;

/* Returns 0 when it fails; no expression here is 0 on purpose. */
static uintptr_t evaluate(const uint8_t *code, size_t size, const uintptr_t *initial)
{
	volatile uintptr_t memory[4] = { 0x1122334455667788u, 2, 3, 4 };
	struct tare_unwind_stack stack;
	uintptr_t out = 0;

	regs.r[3] = (uintptr_t)memory;
	regs.known = 1u << 3;
	CHECK(tare_stack_enter(&stack, (uintptr_t)memory));
	return tare_expr_evaluate(code, code + size, &regs, &stack, initial, &out) ? out : 0;
}

#define EXPR(...) evaluate((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), NULL)

TEST(expressions)
{
	uintptr_t cfa = 5000;

	CHECK_INT(EXPR(0x31), 1);
	CHECK_INT(EXPR(0x4f), 31);
	CHECK_INT(EXPR(0x08, 200), 200);
	CHECK_INT(EXPR(0x09, 200), -56);
	CHECK_INT(EXPR(0x0b, 0, 0x80), -32768);
	CHECK_INT(EXPR(0x0e, 1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201);
	CHECK_INT(EXPR(0x10, 0x80, 0x01), 128);
	CHECK_INT(EXPR(0x11, 0x7f), -1);
	CHECK_INT(EXPR(0x73, 0, 0x06), 0x1122334455667788); /* breg3+0, deref */
	CHECK_INT(EXPR(0x73, 0, 0x94, 2), 0x7788);
	CHECK_INT(EXPR(0x73, 4, 0x94, 4), 0x11223344);
	CHECK_INT(EXPR(0x73, 3, 0x94, 1), 0x55);
	CHECK_INT(EXPR(0x92, 3, 8, 0x06), 2);        /* bregx */
	CHECK_INT(EXPR(0x35, 0x33, 0x1c), 2);        /* minus */
	CHECK_INT(EXPR(0x35, 0x33, 0x16, 0x1c), -2); /* swap */
	CHECK_INT(EXPR(0x37, 0x32, 0x1b), 3);        /* div */
	CHECK_INT(EXPR(0x37, 0x34, 0x1d), 3);        /* mod */
	CHECK_INT(EXPR(0x37, 0x34, 0x1e), 28);
	CHECK_INT(EXPR(0x37, 0x1f), -7);
	CHECK_INT(EXPR(0x37, 0x1f, 0x19), 7);
	CHECK_INT(EXPR(0x37, 0x20), -8);
	CHECK_INT(EXPR(0x31, 0x34, 0x24), 16);
	CHECK_INT(EXPR(0x09, 0xf0, 0x32, 0x26), -4); /* shra */
	CHECK_INT(EXPR(0x36, 0x33, 0x27), 5);
	CHECK_INT(EXPR(0x36, 0x33, 0x1a), 2);
	CHECK_INT(EXPR(0x36, 0x33, 0x21), 7);
	CHECK_INT(EXPR(0x36, 0x23, 0x81, 0x01), 135);
	CHECK_INT(EXPR(0x31, 0x32, 0x33, 0x17, 0x13, 0x24), 6); /* rot: 3 1 2; drop; 3 << 1 */
	CHECK_INT(EXPR(0x31, 0x32, 0x14, 0x22, 0x22), 4);       /* over */
	CHECK_INT(EXPR(0x31, 0x32, 0x33, 0x15, 2), 1);          /* pick */
	CHECK_INT(EXPR(0x31, 0x2f, 1, 0, 0x32, 0x96), 1);       /* skip over a literal */
	CHECK_INT(EXPR(0x35, 0x31, 0x28, 1, 0, 0x32), 5);       /* bra, taken */
	CHECK_INT(EXPR(0x35, 0x30, 0x28, 1, 0, 0x32), 2);       /* bra, not taken */
	CHECK_INT(EXPR(0x31, 0x32, 0x2d), 1);                   /* 1 < 2 */
	CHECK_INT(evaluate((const uint8_t[]){ 0x38, 0x22 }, 2, &cfa), 5008);
#if defined(__x86_64__)
	/* A PLT stub: sp + 8 + ((pc & 15) >= 11) * 8, with register 3 as sp. */
	for (regs.pc = 16; regs.pc < 32; regs.pc++)
		CHECK_INT(EXPR(0x73, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
		          regs.r[3] + (regs.pc >= 27 ? 16 : 8));
#endif
}

TEST(bad_expressions)
{
	CHECK_INT(EXPR(0x22), 0); /* nothing to add */
	CHECK_INT(EXPR(0x31, 0x22), 0);
	CHECK_INT(EXPR(0x08), 0);             /* cut off */
	CHECK_INT(EXPR(0x31, 0x06), 0);       /* reads address 1 */
	CHECK_INT(EXPR(0x30, 0x06), 0);       /* reads address 0 */
	CHECK_INT(EXPR(0x74, 0), 0);          /* a register that is not known */
	CHECK_INT(EXPR(0x31, 0x30, 0x1b), 0); /* by zero */
	CHECK_INT(EXPR(0x31, 0x30, 0x1d), 0);
	CHECK_INT(EXPR(0x2f, 0xfd, 0xff), 0); /* for ever */
	CHECK_INT(EXPR(0x12, 0x2f, 0xfc, 0xff), 0);
	CHECK_INT(EXPR(0x31, 0x12, 0x2f, 0xfc, 0xff), 0); /* until the stack is full */
	CHECK_INT(EXPR(0x31, 0x2f, 0xf0, 0x0f), 0);       /* out of the expression */
	CHECK_INT(EXPR(0x31, 0xe0), 0);
	CHECK_INT(EXPR(0x73, 0, 0x94, 3), 0); /* three bytes */
	CHECK_INT(EXPR(0x13, 0x13), 0);
}

TEST(random_expressions)
{
	uint8_t code[24];

	srand(3);
	for (int i = 0; i < 100000; i++) {
		size_t size = 1 + (size_t)rand() % sizeof(code);

		for (size_t k = 0; k < size; k++)
			code[k] = (uint8_t)(rand() % 4 ? rand() % 0x98 : rand());
		evaluate(code, size, NULL);
	}
}

TEST(numbers)
{
	static const uint8_t bytes[] = { 0xe5, 0x8e, 0x26, 0x80, 0x7f, 0xff, 0x80 };
	struct tare_dwarf d = { bytes, bytes + sizeof(bytes), false };

	CHECK_INT(tare_dwarf_uleb(&d), 624485);
	CHECK_INT(tare_dwarf_sleb(&d), -128);
	CHECK_INT(tare_dwarf_int(&d, 1), -1);
	CHECK(!d.is_bad);
	tare_dwarf_uleb(&d); /* never ends */
	CHECK(d.is_bad);
	CHECK_INT(tare_dwarf_uint(&d, 8), 0);
}

struct coverage {
	unsigned int rows, missing, signals;
};

/* Every fourth address of an object's code. */
static void read_all_rows(const struct tare_elf_object *obj, struct coverage *c)
{
	struct tare_cfi_row row;

	for (int i = 0; i < obj->phnum; i++) {
		const ElfW(Phdr) *ph = &obj->phdr[i];
		uintptr_t at = obj->base + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		for (uintptr_t ip = at; ip < at + ph->p_memsz; ip += 4) {
			if (!tare_cfi_find(obj, ip, &row)) {
				c->missing++;
				continue;
			}
			c->rows++;
			c->signals += row.is_signal;
		}
	}
}

/* Padding and a few hand-written functions have no CFI; neither have constants beside code. */
TEST(reads_all_of_libc)
{
	struct tare_elf_object obj;
	struct coverage c = { 0, 0, 0 };

	CHECK(tare_elf_object_at((const void *)qsort, &obj));
	read_all_rows(&obj, &c);
	printf("# %s: %u rows, %u places without, %u in signal frames\n", obj.path, c.rows, c.missing, c.signals);
	CHECK(c.rows > 10000 && c.missing < c.rows / 2);
}

/* A copy of the object, as large as what is allocated: a sanitizer sees overruns. */
TEST(damaged_tables_are_harmless)
{
	struct tare_elf_object obj, copy;
	const ElfW(Phdr) *header = NULL;
	struct tare_cfi_row row;
	unsigned int found = 0;
	uintptr_t code;
	uint8_t *image;
	size_t size;

	CHECK(tare_elf_object_at((const void *)qsort, &obj));
	size = obj.end - obj.begin;
	image = malloc(size);
	CHECK(image);
	memset(image, 0, size);
	for (int i = 0; i < obj.phnum; i++) {
		const ElfW(Phdr) *ph = &obj.phdr[i];

		if (ph->p_type == PT_GNU_EH_FRAME)
			header = ph;
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_R)
			memcpy(image + ph->p_vaddr, (void *)(obj.base + ph->p_vaddr), ph->p_memsz);
	}
	CHECK(header);
	copy = obj;
	copy.base = copy.begin = (uintptr_t)image;
	copy.end = copy.begin + size;
	code = copy.base + ((uintptr_t)qsort - obj.base);
	CHECK(tare_cfi_find(&copy, code, &row));
	srand(2);
	for (int round = 0; round < 3000; round++) {
		size_t span = round % 2 ? 64 : header->p_memsz * 4;
		size_t at[8];
		uint8_t saved[8];

		for (int k = 0; k < 8; k++) {
			at[k] = (header->p_vaddr + ((size_t)rand() * 31 + (size_t)rand()) % span) % size;
			saved[k] = image[at[k]];
			image[at[k]] = (uint8_t)rand();
		}
		for (int k = 0; k < 30; k++) {
			uintptr_t ip = code + (uintptr_t)(rand() % 200000) - 100000;

			if (!tare_cfi_find(&copy, ip, &row))
				continue;
			found++;
			for (int column = 0; column < TARE_REG_COLUMNS; column++) {
				struct tare_cfi_rule rule = row.rules.column[column];
				const uint8_t *begin, *end;

				if (rule.kind >= TARE_RULE_EXPRESSION)
					tare_cfi_expression(&row, rule, &begin, &end);
			}
		}
		for (int k = 7; k >= 0; k--)
			image[at[k]] = saved[k];
	}
	printf("# %u rows found\n", found);
	free(image);
}
