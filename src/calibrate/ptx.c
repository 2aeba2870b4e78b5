/* SPDX-License-Identifier: Apache-2.0 */
/* Writes kernels as PTX: with code, registers, local and shared memory of a wanted size. */
#include "calibrate/kernel.h"

/* Nobody runs what these kernels can do: the numbers they are given are 0. */
static const char head[] = ".version 6.0\n"
						   ".target sm_50\n"
						   ".address_size 64\n";

static const char plain[] = ".visible .entry " TARE_PTX_KERNEL "()\n"
							"{\n"
							"\tret;\n"
							"}\n";

/* An index that is known at run time only keeps the array out of registers. */
static const char stack[] = ".visible .entry " TARE_PTX_KERNEL "(.param .u64 out, .param .u32 n)\n"
							"{\n"
							"\t.local .align 8 .b8 room[%u];\n"
							"\t.reg .pred %%p1;\n"
							"\t.reg .b32 %%r<4>;\n"
							"\t.reg .b64 %%d<6>;\n"
							"\tld.param.u64 %%d1, [out];\n"
							"\tld.param.u32 %%r1, [n];\n"
							"\tmov.u64 %%d2, room;\n"
							"\trem.u32 %%r2, %%r1, %u;\n"
							"\tmul.wide.u32 %%d3, %%r2, 4;\n"
							"\tadd.u64 %%d4, %%d2, %%d3;\n"
							"\tst.local.u32 [%%d4], %%r1;\n"
							"\tshr.u32 %%r2, %%r1, 9;\n"
							"\trem.u32 %%r2, %%r2, %u;\n"
							"\tmul.wide.u32 %%d3, %%r2, 4;\n"
							"\tadd.u64 %%d5, %%d2, %%d3;\n"
							"\tld.local.u32 %%r3, [%%d5];\n"
							"\tsetp.eq.u64 %%p1, %%d1, 0;\n"
							"\t@%%p1 bra DONE;\n"
							"\tst.global.u32 [%%d1], %%r3;\n"
							"DONE:\n"
							"\tret;\n"
							"}\n";

static const char with_printf[] =
	".extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 values);\n"
	".global .align 1 .b8 words[3] = {37, 100, 0};\n"
	".visible .entry " TARE_PTX_KERNEL "(.param .u64 n)\n"
	"{\n"
	"\t.local .align 8 .b8 room[8];\n"
	"\t.reg .pred %p1;\n"
	"\t.reg .b32 %r<2>;\n"
	"\t.reg .b64 %d<6>;\n"
	"\tld.param.u64 %d1, [n];\n"
	"\tsetp.eq.u64 %p1, %d1, 0;\n"
	"\t@%p1 bra DONE;\n"
	"\tmov.u64 %d2, room;\n"
	"\tcvta.local.u64 %d3, %d2;\n"
	"\tst.local.u64 [%d2], %d1;\n"
	"\tmov.u64 %d4, words;\n"
	"\tcvta.global.u64 %d5, %d4;\n"
	"\t{\n"
	"\t.param .b64 p0;\n"
	"\tst.param.b64 [p0], %d5;\n"
	"\t.param .b64 p1;\n"
	"\tst.param.b64 [p1], %d3;\n"
	"\t.param .b32 back;\n"
	"\tcall.uni (back), vprintf, (p0, p1);\n"
	"\tld.param.b32 %r1, [back];\n"
	"\t}\n"
	"DONE:\n"
	"\tret;\n"
	"}\n";

static const char with_malloc[] = ".extern .func (.param .b64 pointer) malloc (.param .b64 size);\n"
								  ".visible .entry " TARE_PTX_KERNEL "(.param .u64 n)\n"
								  "{\n"
								  "\t.reg .pred %p1;\n"
								  "\t.reg .b64 %d<3>;\n"
								  "\tld.param.u64 %d1, [n];\n"
								  "\tsetp.eq.u64 %p1, %d1, 0;\n"
								  "\t@%p1 bra DONE;\n"
								  "\t{\n"
								  "\t.param .b64 p0;\n"
								  "\tst.param.b64 [p0], %d1;\n"
								  "\t.param .b64 back;\n"
								  "\tcall.uni (back), malloc, (p0);\n"
								  "\tld.param.b64 %d2, [back];\n"
								  "\t}\n"
								  "\tst.global.u64 [%d2], %d1;\n"
								  "DONE:\n"
								  "\tret;\n"
								  "}\n";

static const char with_assert[] = ".extern .func __assertfail (.param .b64 text, .param .b64 file, .param .b32 line, "
								  ".param .b64 function, .param .b64 size);\n"
								  ".visible .entry " TARE_PTX_KERNEL "(.param .u64 n)\n"
								  "{\n"
								  "\t.reg .pred %p1;\n"
								  "\t.reg .b32 %r<2>;\n"
								  "\t.reg .b64 %d<2>;\n"
								  "\tld.param.u64 %d1, [n];\n"
								  "\tsetp.eq.u64 %p1, %d1, 0;\n"
								  "\t@%p1 bra DONE;\n"
								  "\tmov.u32 %r1, 1;\n"
								  "\t{\n"
								  "\t.param .b64 p0;\n"
								  "\tst.param.b64 [p0], %d1;\n"
								  "\t.param .b64 p1;\n"
								  "\tst.param.b64 [p1], %d1;\n"
								  "\t.param .b32 p2;\n"
								  "\tst.param.b32 [p2], %r1;\n"
								  "\t.param .b64 p3;\n"
								  "\tst.param.b64 [p3], %d1;\n"
								  "\t.param .b64 p4;\n"
								  "\tst.param.b64 [p4], %d1;\n"
								  "\tcall.uni __assertfail, (p0, p1, p2, p3, p4);\n"
								  "\t}\n"
								  "DONE:\n"
								  "\tret;\n"
								  "}\n";

static const char parameters[] = ".visible .entry " TARE_PTX_KERNEL "(.param .align 8 .b8 block[%u])\n"
								 "{\n"
								 "\t.reg .pred %%p1;\n"
								 "\t.reg .b64 %%d<3>;\n"
								 "\tld.param.u64 %%d1, [block];\n"
								 "\tld.param.u64 %%d2, [block+%u];\n"
								 "\tsetp.eq.u64 %%p1, %%d1, 0;\n"
								 "\t@%%p1 bra DONE;\n"
								 "\tst.global.u64 [%%d1], %%d2;\n"
								 "DONE:\n"
								 "\tret;\n"
								 "}\n";

static void write_code(struct tare_str *out, unsigned instructions)
{
	tare_str_add(out, ".visible .entry " TARE_PTX_KERNEL "(.param .u64 at)\n"
	                  "{\n"
	                  "\t.reg .pred %p1;\n"
	                  "\t.reg .b32 %r<3>;\n"
	                  "\t.reg .b64 %d<2>;\n"
	                  "\tld.param.u64 %d1, [at];\n"
	                  "\tsetp.eq.u64 %p1, %d1, 0;\n"
	                  "\t@%p1 bra DONE;\n"
	                  "\tmov.u32 %r2, 0;\n");
	/* Volatile: none of them may be left out. */
	for (unsigned i = 6; i < instructions; i += 2)
		tare_str_add(out, "\tld.volatile.global.u32 %r1, [%d1];\n"
		                  "\tadd.u32 %r2, %r2, %r1;\n");
	tare_str_add(out, "\tst.global.u32 [%d1], %r2;\n"
	                  "DONE:\n"
	                  "\tret;\n"
	                  "}\n");
}

void tare_ptx_write(struct tare_str *out, enum tare_ptx what, unsigned size)
{
	tare_str_add(out, head);
	switch (what) {
	case TARE_PTX_PLAIN:
		tare_str_add(out, plain);
		break;
	case TARE_PTX_STACK:
		tare_str_addf(out, stack, size, size / 4, size / 4);
		break;
	case TARE_PTX_PRINTF:
		tare_str_add(out, with_printf);
		break;
	case TARE_PTX_MALLOC:
		tare_str_add(out, with_malloc);
		break;
	case TARE_PTX_ASSERT:
		tare_str_add(out, with_assert);
		break;
	case TARE_PTX_PARAMETERS:
		tare_str_addf(out, parameters, size, size - 8);
		break;
	case TARE_PTX_CODE:
		write_code(out, size);
		break;
	}
}
